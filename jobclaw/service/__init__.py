"""What the command line, the API and the console share."""
