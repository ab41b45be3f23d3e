"""storage of jobclaw."""
