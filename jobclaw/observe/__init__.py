"""observe of jobclaw."""
