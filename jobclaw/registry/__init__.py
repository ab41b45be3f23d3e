"""registry of jobclaw."""
