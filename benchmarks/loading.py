"""Reading a file of edges into a graph, against polars reading the same file.

``python -m benchmarks.loading [--edges N]`` writes two tab-separated files of random edges on 2**21 nodes, one
with integer ids and one with ids such as ``user_123456``, and reports how many times longer ``read_graph``
takes than ``polars.read_csv`` in the same process. Both are warm and alternate; the best of the rounds counts.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from graphreach.io import read_graph

NUM_NODES = 2**21
BARS = {"integer ids": 6.0, "string ids": 12.0}


def write_edges(path: Path, num_edges: int, text: bool, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    # The minimum of two draws gives small ids more edges, as real graphs have hubs.
    ends = [rng.integers(0, NUM_NODES, (2, num_edges), dtype=np.uint32).min(axis=0) for _ in range(2)]
    frame = pl.DataFrame({"source": ends[0], "target": ends[1]})
    if text:
        frame = frame.select(pl.format("user_{}", pl.all()))
    frame.write_csv(path, separator="\t", include_header=False)


def seconds(task: Callable[[], Any]) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def compare(path: Path, rounds: int) -> tuple[float, float]:
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(seconds(lambda: pl.read_csv(path, separator="\t", has_header=False)))
        ours.append(seconds(lambda: read_graph(path)))
    return min(ours), min(theirs)


def run(num_edges: int = 30_000_000, rounds: int = 3) -> dict[str, Any]:
    """Return one record a file: what, ours_seconds, theirs_seconds, ratio, bar."""
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for what, bar in BARS.items():
            path = Path(folder, "edges.tsv")
            write_edges(path, 1000, text=what == "string ids")
            read_graph(path)
            write_edges(path, num_edges, text=what == "string ids")
            ours, theirs = compare(path, rounds)
            records.append(
                {
                    "what": f"read {num_edges:,} tab-separated edges, {what}, against polars.read_csv",
                    "ours_seconds": ours,
                    "theirs_seconds": theirs,
                    "ratio": ours / theirs,
                    "bar": bar,
                }
            )
            path.unlink()
    return {"name": "loading", "num_edges": num_edges, "rounds": rounds, "ratios": records}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=30_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'what':<72}{'ours':>8}{'polars':>8}{'ratio':>7}{'bar':>6}")
    for record in run(arguments.edges, arguments.rounds)["ratios"]:
        print(
            f"{record['what']:<72}{record['ours_seconds']:>7.2f}s{record['theirs_seconds']:>7.2f}s"
            f"{record['ratio']:>7.2f}{record['bar']:>6.0f}"
        )


if __name__ == "__main__":
    main()
