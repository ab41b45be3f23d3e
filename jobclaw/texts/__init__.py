"""texts of jobclaw."""
