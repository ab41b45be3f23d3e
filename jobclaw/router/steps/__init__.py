"""router/steps of jobclaw."""
