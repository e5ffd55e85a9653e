"""Whole runs: GraphReach against P-GNN on Cora, the command on graphs of all kinds, and on a million nodes."""

from __future__ import annotations

import json
import os
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


RAW_FILES = {
    "ca-AstroPh.txt.gz": [],
    "email-Enron.txt.gz": [],
    "soc-Epinions1.txt.gz": ["--directed"],
    "chicago_regional.csv.gz": ["--directed", "--weight", "capacity"],
    "facebook_edges.csv.gz": [],
}


def raw_files(quick: bool) -> list[Row]:
    """`graphreach embed` on raw files: AUC of held-out links beside common neighbours' and node2vec's."""
    folder = Path(os.environ["GRAPHREACH_DATA"]) / "graphs"
    rows = []
    for name, options in list(RAW_FILES.items())[: 1 if quick else None]:
        record = embed(folder / name, "--compare", *options, *(["--epochs", "2"] if quick else []))
        auc = record["auc"]
        notes = [", ".join(f"{method} {value:.4f}" for method, value in auc.items())]
        rows.append(
            Row(
                f"AUC of {record['held_out_links']} held-out links, `graphreach embed {name}`, beside "
                + " and ".join(f"{value:.3f} ({method})" for method, value in auc.items() if method != "graphreach"),
                "at least", 0.5, auc["graphreach"], "AUC", sizes={"nodes": record["nodes"]}, raw=record, notes=notes,
            )
        )  # fmt: skip
    return rows


def million(quick: bool) -> list[Row]:
    """`graphreach embed` on a million nodes and 16 million edges."""
    scale, edges = (14, 1 << 18) if quick else (20, 16_500_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rmat.parquet")
        kept = simple_edges(np.concatenate([rmat_edges(scale, edges), ring(1 << scale)], 1))
        pl.DataFrame({"source": kept[0], "target": kept[1]}).write_parquet(path)
        record = embed(path)
    minutes, gigabytes = record["seconds"]["total"] / 60, record["peak_memory"] / 1e9
    sizes = {"nodes": record["nodes"], "edges": int(kept.shape[1])}
    what = f"`graphreach embed`, R-MAT, {record['nodes']:,} nodes, {kept.shape[1]:,} edges"
    return [
        Row(f"{what}, time", "at most", 30, minutes, "minutes", sizes=sizes, raw=record),
        Row(f"{what}, peak memory", "at most", 12, gigabytes, "GB", sizes=sizes),
    ]


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


BENCHMARKS = {"pgnn": against_pgnn, "embed-files": raw_files, "embed-million": million}
