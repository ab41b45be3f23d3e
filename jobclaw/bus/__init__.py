"""bus of jobclaw."""
