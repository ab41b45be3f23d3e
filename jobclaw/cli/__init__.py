"""cli of jobclaw."""
