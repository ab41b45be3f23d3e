"""`python -m jobclaw`."""

from jobclaw.cli import main

main()
