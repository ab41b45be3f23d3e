"""The daemon's one web server: REST API, operator console, health, and channels' own routes."""
