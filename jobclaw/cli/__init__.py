"""The command line: reads arguments, calls the services, shows what they say. Loads no SDK.

Exit codes: 0 done, 1 failed, 2 wrong usage, 65 damaged store, 73 workspace held by another
process, 74 input/output, 78 wrong configuration, 130 interrupted.
"""

from __future__ import annotations


def main() -> None:
    """Run the command that the arguments name, and end the process with its exit code."""
    from jobclaw.cli.root import run  # noqa: PLC0415 - `import jobclaw.cli` must stay free

    raise SystemExit(run())
