"""Measuring in CPU time of this process, the same way in every benchmark.

CPU time, since the machines that run this are shared; the median of several rounds, since one
round may meet a garbage collection. Each benchmark prints a table, or JSON with `--json`.
"""

import argparse
import ctypes
import gc
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

ROUNDS = 7
_PAGE_BYTES = 4096


class Figure(msgspec.Struct, frozen=True):
    """One measured value, and the goal it is held against (`spec/quality.md`)."""

    name: str
    value: float
    unit: str
    goal: str = ""
    met: bool | None = None


def at_most(name: str, value: float, limit: float, unit: str) -> Figure:
    """A figure that should not exceed a limit."""
    return Figure(name, round(value, 3), unit, f"≤ {limit:g}", value <= limit)


def at_least(name: str, value: float, limit: float, unit: str) -> Figure:
    """A figure that should reach a limit."""
    return Figure(name, round(value, 3), unit, f"≥ {limit:g}", value >= limit)


def cpu_us(work: Callable[[], object], *, repeat: int, rounds: int = ROUNDS) -> float:
    """Microseconds of CPU for one call: the median round of `repeat` calls each."""
    work()
    return statistics.median(_round_us(work, repeat) for _ in range(rounds))


def _round_us(work: Callable[[], object], repeat: int) -> float:
    gc.collect()
    started = time.process_time_ns()
    for _ in range(repeat):
        work()
    return (time.process_time_ns() - started) / repeat / 1000


def resident_mb() -> float:
    """What this process holds in memory, after giving free pages back (Linux with glibc)."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * _PAGE_BYTES / 1e6


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options every benchmark has."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--json", action="store_true", help="print JSON")
    return options


def report(figures: Sequence[Figure], *, as_json: bool) -> None:
    """Print the figures."""
    if as_json:
        print(
            json.dumps([msgspec.to_builtins(figure) for figure in figures], ensure_ascii=False)
        )
        return
    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        verdict = {None: "", True: "met", False: "MISSED"}[figure.met]
        value = f"{figure.value:>14,.3f} {figure.unit:<4}"
        print(f"{figure.name:<{width}} {value} {figure.goal:<10} {verdict}".rstrip())
