"""Whole runs: GraphReach against P-GNN on Cora, the command on graphs of all kinds, and on a million nodes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.harness import Row, alternate, ratios, summary, thread_environment
from benchmarks.rmat import rmat_edges, simple_edges
from graphreach import datasets, training

MILLION = 1_000_000


def against_pgnn(quick: bool) -> list[Row]:
    """Anchors and walks, or distances, and 100 epochs of links on Cora, structure only, the same kernels for both."""
    cora = datasets.load("cora")
    common: dict[str, Any] = {"task": "link", "features": False, "epochs": 5 if quick else 100, "evaluate_every": 10}
    ours = training.Settings(method="graphreach", preset="paper", **common)
    theirs = training.Settings(method="pgnn-e", resample=True, **common)
    sides = {"graphreach": lambda: training.run(cora, ours), "pgnn-e": lambda: training.run(cora, theirs)}
    seconds = alternate(sides, 1 if quick else 3)
    ratio = ratios(seconds["pgnn-e"], seconds["graphreach"])
    return [
        Row(
            "GraphReach (`paper`, attention, with anchors and walks) against P-GNN-E (anchor sets drawn in every epoch), "
            "links of Cora, 100 epochs",
            "at least", 2, ratio["of_medians"], sizes={"nodes": 2708, "epochs": common["epochs"]},
            raw={name: summary(each) for name, each in seconds.items()} | {"ratio": ratio},
        )
    ]  # fmt: skip


def million(quick: bool) -> list[Row]:
    """`graphreach embed` on a million nodes and 16 million edges."""
    scale, edges = (14, 1 << 18) if quick else (20, 16_500_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rmat.parquet")
        kept = simple_edges(np.concatenate([rmat_edges(scale, edges), ring(1 << scale)], 1))
        pl.DataFrame({"source": kept[0], "target": kept[1]}).write_parquet(path)
        record, untrained = embed(path), embed(path, "--method", "position")
    minutes, gigabytes = record["seconds"]["total"] / 60, record["peak_memory"] / 1e9
    sizes = {"nodes": record["nodes"], "edges": int(kept.shape[1])}
    where = f"R-MAT, {record['nodes']:,} nodes, {kept.shape[1]:,} edges, width {record['width']}"
    return [
        Row(f"`graphreach embed`, {where}, time", "at most", 6, minutes, "minutes", sizes=sizes, raw=record),
        Row(f"`graphreach embed`, {where}, peak memory", "at most", 8, gigabytes, "GB", sizes=sizes),
        Row(
            f"`graphreach embed --method position`, {where}, time", "at most", 1, untrained["seconds"]["total"] / 60,
            "minutes", sizes=sizes, raw=untrained,
        ),
    ]  # fmt: skip


def ring(nodes: int) -> NDArray[np.uint32]:
    """A ring, so that every node has an edge."""
    order = np.arange(nodes, dtype=np.uint32)
    return np.stack([order, np.roll(order, -1)])


def embed(graph: Path, *options: str) -> dict[str, Any]:
    """Run the command in a process of its own; returns its record."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record.json")
        command = [
            sys.executable, "-m", "graphreach", "embed", str(graph), "-o", str(Path(folder, "embedding.parquet")),
            "--record", str(record), *options,
        ]  # fmt: skip
        subprocess.run(command, check=True, env=thread_environment(), stdout=subprocess.DEVNULL)
        found: dict[str, Any] = json.loads(record.read_text())
    return found


BENCHMARKS = {"pgnn": against_pgnn, "embed-million": million}
