"""Makes the daemon's doings visible: the explanation of a decision."""
