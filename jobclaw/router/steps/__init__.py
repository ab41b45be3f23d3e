"""The seven steps of the router, one file each; none knows another."""
