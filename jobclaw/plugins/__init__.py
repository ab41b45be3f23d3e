"""plugins of jobclaw."""
