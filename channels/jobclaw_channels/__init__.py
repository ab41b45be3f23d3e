"""The channels shipped with jobclaw; each one is a plugin of the core."""
