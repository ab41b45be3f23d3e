"""service of jobclaw."""
