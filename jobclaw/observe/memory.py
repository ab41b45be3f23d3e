"""How the process collects garbage."""

from __future__ import annotations

import gc

YOUNG, MIDDLE, OLD = 50_000, 20, 50


def calm_collector() -> None:
    """Look for cycles less often, and never again among what the start has made.

    A message makes some hundred objects and no cycles; with the default thresholds the
    collector takes a sixth of the time and more (bench/accept.py).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
