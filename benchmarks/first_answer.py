"""From a file to recommended links: the first command after an installation, which compiles, and the ones after it."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.first_picture import KEPT
from benchmarks.harness import FOLDER, Row, timed

PEOPLE, FRIENDS, CIRCLE = 300, 1000, 15
ROUNDS = 3
RECOMMEND = ("recommend", "friends.csv", "--top", "5")
OTHERS = {
    "embed": ("embed", "friends.csv", "-o", "vectors.parquet"),
    "train": ("train", "friends.csv", "--labels", "groups.csv", "-o", "run"),
}
"""Commands without a bar, measured cold once."""


def write_files(folder: Path) -> None:
    """A thousand friendships, most of them within circles, and the circle of each person."""
    rng, edges = np.random.default_rng(0), set()
    while len(edges) < FRIENDS:
        u = int(rng.integers(PEOPLE))
        v = u // CIRCLE * CIRCLE + int(rng.integers(CIRCLE)) if rng.random() < 0.8 else int(rng.integers(PEOPLE))
        if u != v:
            edges.add((min(u, v), max(u, v)))
    rows = "".join(f"p{u:03d},p{v:03d}\n" for u, v in sorted(edges))
    (folder / "friends.csv").write_text(f"person,friend\n{rows}")
    people = sorted({each for edge in edges for each in edge})
    (folder / "groups.csv").write_text("person,group\n" + "".join(f"p{u:03d},g{u // CIRCLE % 4}\n" for u in people))


class Installation:
    """A copy of the package without anything that Python or numba compiled, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        ignored = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
        shutil.copytree(FOLDER.parent / "src", folder / "src", ignore=ignored)
        write_files(folder)

    def run(self, *arguments: str) -> dict[str, float]:
        """Seconds of a command on the clock and of CPUs."""
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment["PYTHONPATH"] = str(self._folder / "src")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        clock = timed(
            lambda: subprocess.run(
                [sys.executable, *arguments], cwd=self._folder, env=environment, check=True, capture_output=True
            )
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {"seconds": clock, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def _least(runs: list[dict[str, float]]) -> float:
    return min(each["seconds"] for each in runs)


def first_answer(quick: bool) -> list[Row]:
    """`recommend` on an own file: cold, then again; beside the import of torch in the same minutes."""
    with tempfile.TemporaryDirectory() as name:
        own = Installation(Path(name))
        cold = own.run("-m", "graphreach", *RECOMMEND)
        warm, torch = [], []
        for _ in range(1 if quick else ROUNDS):
            warm.append(own.run("-m", "graphreach", *RECOMMEND))
            torch.append(own.run("-c", "import torch"))
    others: dict[str, Any] = {}
    for verb, arguments in ({} if quick else OTHERS).items():
        with tempfile.TemporaryDirectory() as name:
            others[verb] = Installation(Path(name)).run("-m", "graphreach", *arguments)
    sizes = {"people": PEOPLE, "edges": FRIENDS}
    load = f"Load average of the machine at the end: {os.getloadavg()[1]:.1f} with {os.cpu_count()} CPUs."
    what = "`graphreach recommend` on an own file of 1,000 edges"
    notes = ["No compiled kernel and no .pyc of the package at first.", load]
    raw = {"cold": cold, "others, cold": others}
    ratio = _least(warm) / _least(torch)
    return [
        Row(f"{what}, first run of an installation", "at most", 20, cold["seconds"], "seconds", sizes, raw, notes),
        Row(
            f"{what}, later runs", "at most", 3, _least(warm), "seconds", sizes,
            {"warm": warm, "import torch": torch, "times the import of torch": ratio}, [load],
        ),
    ]  # fmt: skip


BENCHMARKS = {"first-answer": first_answer}
