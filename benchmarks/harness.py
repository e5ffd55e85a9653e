"""What every benchmark shares: rows, alternating timers, results as JSON, the table in the README."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
README = FOLDER / "README.md"
MARKERS = ("<!-- results: begin -->", "<!-- results: end -->")
THREADS = 2
# Every process of a benchmark, ours or a peer's, gets the same number of threads.
THREAD_VARIABLES = ("NUMBA_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS")


@dataclass
class Row:
    """One line of the table: `measured` (in `unit`) is held against `limit` ("at least" or "at most")."""

    what: str
    limit: str
    bar: float
    measured: float
    unit: str = "times"
    sizes: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def met(self) -> bool:
        """Whether the bar is reached."""
        return self.measured >= self.bar if self.limit == "at least" else self.measured <= self.bar

    def as_dict(self) -> dict[str, Any]:
        """All fields and the verdict, ready for JSON."""
        return {**asdict(self), "met": self.met}


def timed(function: Callable[[], Any]) -> float:
    """Seconds of one call; its result is dropped before the clock of the next call starts."""
    start = time.perf_counter()
    result = function()
    seconds = time.perf_counter() - start
    del result
    return seconds


def alternate(sides: Mapping[str, Callable[[], Any]], rounds: int, warm_up: bool = True) -> dict[str, list[float]]:
    """Seconds of each side, taken in turn, so that a busy machine slows them alike."""
    if warm_up:
        for function in sides.values():
            function()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, function in sides.items():
            seconds[name].append(timed(function))
    return seconds


def summary(seconds: list[float]) -> dict[str, Any]:
    """Median, best and all values of one side."""
    return {"median": statistics.median(seconds), "best": min(seconds), "seconds": seconds}


def ratios(numerator: list[float], denominator: list[float]) -> dict[str, float]:
    """The ratio of the medians, and that of the best values."""
    return {
        "of_medians": statistics.median(numerator) / statistics.median(denominator),
        "of_best": min(numerator) / min(denominator),
    }


def peak_gigabytes() -> float:
    """Peak resident memory of this process so far, in units of 10**9 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e9


def environment() -> dict[str, Any]:
    """What the figures depend on, and nothing that says whose machine it was."""
    packages = ("graphreach", "numpy", "numba", "scipy", "polars", "torch")
    return {
        "python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in packages},
        "cpus": os.cpu_count(),
        "threads": THREADS,
    }


def thread_environment() -> dict[str, str]:
    """The environment of a child process: the number of threads is fixed, and they sleep while they wait.

    The latter is what ``import graphreach`` asks for, here also for a torch that is imported before it.
    """
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(THREADS)), "OMP_WAIT_POLICY": "PASSIVE"}


def write_atomically(path: Path, text: str) -> None:
    """Replace a file in one step, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.replace(path)


def resumed(
    path: Path, keys: Iterable[dict[str, Any]], compute: Callable[..., dict[str, Any]], save: bool = True
) -> list[dict[str, Any]]:
    """One record per key: that of the file of earlier runs if it has one, else computed and added to the file."""
    known = [json.loads(line) for line in path.read_text().splitlines()] if save and path.exists() else []
    found = []
    for key in keys:
        record = next((each for each in known if key.items() <= each.items()), None)
        if record is None:
            record = key | compute(**key)
            known.append(record)
            if save:
                write_atomically(path, "".join(json.dumps(each) + "\n" for each in known))
        print(json.dumps(record), flush=True)
        found.append(record)
    return found


def write_result(name: str, rows: list[Row]) -> None:
    """Save the rows of one benchmark as results/<name>.json."""
    record = {
        "name": name,
        "command": f"python -m benchmarks {name}",
        "environment": environment(),
        "rows": [row.as_dict() for row in rows],
    }
    write_atomically(RESULTS / f"{name}.json", json.dumps(record, indent=1) + "\n")


def describe(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """The cells "bar", "measured" and "met" of a row."""
    unit = row["unit"]
    return (
        f"{row['limit']} {row['bar']:g} {unit}",
        f"{row['measured']:.3g} {unit}",
        "met" if row["met"] else "**missed**",
    )


def write_table(names: list[str]) -> None:
    """Regenerate the README's table from the saved results, in the order of `names`."""
    lines = ["| what | bar | measured | | command |", "|---|---|---|---|---|"]
    for name in names:
        path = RESULTS / f"{name}.json"
        if path.exists():
            record = json.loads(path.read_text())
            command = f"`{record['command']}`"
            lines += [f"| {' | '.join([row['what'], *describe(row), command])} |" for row in record["rows"]]
    begin, end = MARKERS
    before, rest = README.read_text().split(begin)
    after = rest.split(end)[1]
    write_atomically(README, f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}")
