"""settings of jobclaw."""
