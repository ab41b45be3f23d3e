"""The job domain that the shipped agents share; the router knows nothing of it."""
