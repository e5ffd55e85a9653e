"""How much longer training takes on a busy machine: ``python -m tools.load``.

The same training is timed alone and beside four processes that compute all the time: with threads that sleep while they
wait, as the package sets it, and with threads that spin as OpenMP has it by default. Times and their ratio go to
``results/robustness/load.json``. Run it on a machine with nothing else to do.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent.parent / "results" / "robustness" / "load.json"

WAYS: dict[str, dict[str, str]] = {"package": {}, "spinning": {"GOMP_SPINCOUNT": "300000"}}
"""Environment of each way to wait; the number is the one that GNU's OpenMP has by default."""

CHOICES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")

BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(10**6))"
"""Ends with the process that started it."""


def train(epochs: int) -> float:
    """Seconds of a training, after a first one that compiles and loads kernels."""
    import time

    import graphreach as gr
    from tools.threads import sample

    data = sample()
    settings = gr.training.Settings(task="link", features=True, epochs=1)
    gr.training.run(data, settings, check=False)
    began = time.monotonic()
    gr.training.run(data, settings.model_copy(update={"epochs": epochs}), check=False)
    return time.monotonic() - began


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that compute all the time within the block.

    Example:
        >>> with busy(1):
        ...     pass
    """
    others = [subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]) for _ in range(count)]
    try:
        yield
    finally:
        for each in others:
            each.kill()
            each.wait()


def seconds(load: int, environment: dict[str, str], epochs: int) -> float:
    """Time of a training in a process of its own beside ``load`` busy ones."""
    command = [sys.executable, "-m", "tools.load", "--train", "--epochs", str(epochs)]
    bare = {key: value for key, value in os.environ.items() if key not in CHOICES}
    with busy(load):
        done = subprocess.run(command, check=True, capture_output=True, text=True, env={**bare, **environment})
    return float(done.stdout.split()[-1])


def measure(load: int, repeats: int, epochs: int, ways: list[str]) -> dict[str, Any]:
    """Seconds by way and load, in turns, and how many times longer the median at the load is."""
    found: dict[str, dict[str, list[float]]] = {way: {"0": [], str(load): []} for way in ways}
    for _ in range(repeats):
        for way in ways:
            for each in (0, load):
                found[way][str(each)].append(round(seconds(each, WAYS[way], epochs), 2))
                print(way, "load", each, found[way][str(each)][-1], "s", file=sys.stderr)
    ratios = {
        way: round(statistics.median(times[str(load)]) / statistics.median(times["0"]), 2)
        for way, times in found.items()
    }
    return {
        "command": f"python -m tools.load --repeats {repeats} --epochs {epochs} --ways {' '.join(ways)}",
        "cpus": len(os.sched_getaffinity(0)),
        "busy_processes": load,
        "epochs": epochs,
        "seconds": found,
        "times_longer": ratios,
    }


def main() -> None:
    """Measure, or be the measured process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--load", type=int, default=4, help="Busy processes beside the training.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS), help="Ways to wait.")
    parser.add_argument("--output", type=Path, default=RESULT)
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        print(train(options.epochs))
        return
    result = measure(options.load, options.repeats, options.epochs, options.ways)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
