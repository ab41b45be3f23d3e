"""The one way to fetch an address that came from outside."""
