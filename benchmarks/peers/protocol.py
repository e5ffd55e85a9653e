"""How a walk engine is measured: build and warm up once, then one timed turn per line on standard input.

Only the standard library, so that it runs in every engine's own environment.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

# Short calls are repeated until a turn has lasted this long.
TURN_SECONDS = 1.0


def turn(make_walks: Callable[[int], Any], count_steps: Callable[[Any], int], seed: int) -> dict[str, Any]:
    """Call `make_walks` with fresh seeds for at least TURN_SECONDS; only the calls are timed."""
    steps = calls = 0
    seconds = 0.0
    while seconds < TURN_SECONDS:
        start = time.perf_counter()
        walks = make_walks(seed * 1000 + calls)
        seconds += time.perf_counter() - start
        steps += count_steps(walks)
        calls += 1
        # Two results alive at once would double the memory of an engine.
        del walks
    return {"steps": steps, "seconds": seconds, "calls": calls}


def serve(settings: dict[str, Any], make_walks: Callable[[int], Any], count_steps: Callable[[Any], int]) -> None:
    """Warm up, announce the settings, then answer every line on standard input with one turn as JSON."""
    count_steps(make_walks(1))
    print(json.dumps(settings), flush=True)
    for number, _ in enumerate(sys.stdin):
        print(json.dumps(turn(make_walks, count_steps, number + 2)), flush=True)
