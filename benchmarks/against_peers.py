"""Walks against other engines: same graph, same walks, one process each, taking turns."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import venv
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.harness import FOLDER, THREADS, Row, thread_environment
from benchmarks.rmat import store_graph

WALK_LENGTH = 20
REQUIREMENTS = {
    "ensmallen": ["ensmallen==0.8.100"],
    "pecanpy": ["pecanpy==2.0.9", "numpy<2"],
    "fastrp": ["fastrp==0.1.1", "scipy"],
    "cleora": ["pycleora==3.2.1", "numpy", "scipy"],
    "nodevectors": ["nodevectors==0.1.23"],
    "scikit-network": ["scikit-network==0.33.5"],
    "louvain-ne": ["scikit-network==0.31.0", "numpy<2", "scipy<1.13"],
}


def peer_folder(peer: str) -> Path:
    """Where the environment of a peer is, or will be."""
    return FOLDER.parent / f".venv-{peer}"


def is_installed(peer: str) -> bool:
    """Whether the environment of a peer was made."""
    return (peer_folder(peer) / ".ready").exists()


def peer_python(peer: str) -> str:
    """The interpreter of .venv-<peer>, which is made when missing."""
    folder = peer_folder(peer)
    python = folder / "bin" / "python"
    if not is_installed(peer):
        print(f"creating the environment of {peer}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS[peer]], check=True, stdout=sys.stderr)
        (folder / ".ready").touch()
    return str(python)


class Engine:
    """A walk engine in a process of its own; each call of :meth:`turn` is one timed turn."""

    def __init__(self, python: str, script: str, graph: Path, num_walks: int, *flags: str) -> None:
        command = [python, f"peers/{script}", str(graph), str(num_walks), str(WALK_LENGTH), *flags]
        self._process = subprocess.Popen(
            command,
            cwd=FOLDER,
            env=thread_environment(),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.settings = self._read()
        self.turns: list[dict[str, Any]] = []

    def _read(self) -> dict[str, Any]:
        # Progress bars and banners of a peer may share its standard output; an answer is a line of JSON.
        for line in self._process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        raise RuntimeError(f"{self._process.args[1]} ended with exit code {self._process.wait()} before it answered")

    def turn(self) -> None:
        """Measure once."""
        self._process.stdin.write("turn\n")
        self._process.stdin.flush()
        self.turns.append(self._read())

    @property
    def rates(self) -> list[float]:
        """Steps per second of each turn."""
        return [turn["steps"] / turn["seconds"] for turn in self.turns]

    def summary(self) -> dict[str, Any]:
        """Settings, rates in millions of steps per second, and the raw turns."""
        return {
            **self.settings,
            "threads": THREADS,
            "median_million_steps_per_second": statistics.median(self.rates) / 1e6,
            "best_million_steps_per_second": max(self.rates) / 1e6,
            "turns": self.turns,
        }

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.stdin.close()
        if kind is not None:
            self._process.kill()
        self._process.wait()


def compare(what: str, bar: float, ours: Engine, peers: list[Engine], rounds: int, sizes: dict[str, Any]) -> Row:
    """Let all engines take turns; the bar is for the first peer, the others are reported beside it."""
    edges = {engine.settings["directed_edges"] for engine in (ours, *peers)}
    if len(edges) != 1:
        raise RuntimeError(f"the engines must walk on the same graph, got {sorted(edges)} directed edges")
    for _ in range(rounds):
        for engine in (ours, *peers):
            engine.turn()
    medians = [statistics.median(ours.rates) / statistics.median(peer.rates) for peer in peers]
    best = [max(ours.rates) / max(peer.rates) for peer in peers]
    raw = {
        "ratio_of_medians": medians[0],
        "ratio_of_best": best[0],
        "ours": ours.summary(),
        "peer": peers[0].summary(),
    }
    notes = ["Graph building, warm-up and compilation beforehand are not timed; both sides store their walks."]
    if len(peers) > 1:
        raw["other_settings_of_the_peer"] = [
            {"ratio_of_medians": ratio, **peer.summary()} for ratio, peer in zip(medians[1:], peers[1:], strict=True)
        ]
        notes += [
            f"Against {peer.settings['call']}, {peer.settings['num_walks']} walks a node: {ratio:.3g} times."
            for ratio, peer in zip(medians[1:], peers[1:], strict=True)
        ]
    return Row(
        what,
        "at least",
        bar,
        medians[0],
        sizes={**sizes, "directed_edges": edges.pop()},
        raw=raw,
        notes=notes,
    )


def ensmallen(quick: bool, *, scale: int, weighted: bool, num_walks: int, bar: float) -> list[Row]:
    """random_walks against ensmallen's complete_walks."""
    rounds = 2 if quick else 7
    flags = ["--weighted"] if weighted else []
    python = peer_python("ensmallen")
    with tempfile.TemporaryDirectory() as folder:
        graph = store_graph(Path(folder), scale, weighted)
        with (
            Engine(sys.executable, "graphreach_walks.py", graph, num_walks, *flags) as ours,
            Engine(python, "ensmallen_walks.py", graph, num_walks, *flags) as peer,
            Engine(python, "ensmallen_walks.py", graph, num_walks, *flags, "--all-neighbours") as unlimited,
        ):
            what = f"{'weighted' if weighted else 'uniform'} walks, R-MAT 2^{scale}, against ensmallen"
            return [compare(what, bar, ours, [peer, unlimited], rounds, {"scale": scale, "num_walks": num_walks})]


def pecanpy(quick: bool, *, scale: int, num_walks: int, bar: float) -> list[Row]:
    """random_walks against PecanPy's simulate_walks, and beside it fewer walks and the kernel below it."""
    rounds = 1 if quick else 5
    python = peer_python("pecanpy")
    with tempfile.TemporaryDirectory() as folder:
        graph = store_graph(Path(folder), scale)
        with (
            Engine(sys.executable, "graphreach_walks.py", graph, num_walks) as ours,
            Engine(python, "pecanpy_walks.py", graph, num_walks) as peer,
            Engine(python, "pecanpy_walks.py", graph, 10) as few,
            Engine(python, "pecanpy_walks.py", graph, num_walks, "--kernel") as kernel,
        ):
            what = f"uniform walks, R-MAT 2^{scale}, against PecanPy first-order"
            sizes = {"scale": scale, "num_walks": num_walks}
            return [compare(what, bar, ours, [peer, few, kernel], rounds, sizes)]


# Walks a node: so many that a call of the peer takes about a second or more.
BENCHMARKS = {
    "uniform-14-ensmallen": partial(ensmallen, scale=14, weighted=False, num_walks=200, bar=3),
    "uniform-18-ensmallen": partial(ensmallen, scale=18, weighted=False, num_walks=10, bar=4),
    "uniform-20-ensmallen": partial(ensmallen, scale=20, weighted=False, num_walks=3, bar=4),
    "weighted-14-ensmallen": partial(ensmallen, scale=14, weighted=True, num_walks=20, bar=15),
    "weighted-18-ensmallen": partial(ensmallen, scale=18, weighted=True, num_walks=2, bar=15),
    "uniform-14-pecanpy": partial(pecanpy, scale=14, num_walks=50, bar=100),
}
