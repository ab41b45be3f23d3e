"""The operators' console: server-rendered pages behind a login."""
