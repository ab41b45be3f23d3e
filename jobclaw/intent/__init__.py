"""intent of jobclaw."""
