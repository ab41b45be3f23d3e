"""router of jobclaw."""
