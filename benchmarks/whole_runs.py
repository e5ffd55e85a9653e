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

from benchmarks.harness import Row, alternate, ratios, summary, thread_environment, timed
from benchmarks.links import read_raw
from benchmarks.rmat import rmat_edges, simple_edges
from graphreach import GraphReachEmbedding, datasets, training
from graphreach.io.embeddings import read_embedding
from graphreach.nearest import NearestNodes

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
        vectors = Path(folder, "vectors.parquet")
        record, untrained = embed(path, vectors), embed(path, Path(folder, "position.parquet"), "--method", "position")
        nearest = one_nearest(vectors)
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
        Row(
            f"nearest 10 of one node, after loading, {where}", "at most", 50, 1000 * nearest["median"], "ms", sizes=sizes,
            raw=nearest,
        ),
    ]  # fmt: skip


def one_nearest(path: Path, queries: int = 50) -> dict[str, Any]:
    """Seconds to find the nearest nodes of one node of an embedding, for some nodes."""
    _, vectors = read_embedding(path)
    near = NearestNodes(vectors)
    asked = np.random.default_rng(0).integers(0, len(vectors), queries + 1)
    near.of(asked[-1])
    return summary([timed(lambda one=one: near.of(one)) for one in asked[:-1]])


def all_nearest(quick: bool) -> list[Row]:
    """How many of the nearest nodes of all nodes the approximate index finds, on an embedding of a graph of people."""
    graph = datasets.load("communities")[0].graph if quick else read_raw("soc-Epinions1.txt.gz")
    vectors = GraphReachEmbedding(dim=128).fit(graph).embedding_
    near = NearestNodes(vectors)
    seconds = timed(lambda: near.all(top=10))
    found, _ = near.all(top=10)
    linked = np.flatnonzero(vectors.any(axis=1))
    asked = np.random.default_rng(0).permutation(linked)[:2000]
    exact, _ = near.of(asked, top=10)
    recall = float(np.mean([len(np.intersect1d(*each)) for each in zip(found[asked], exact, strict=True)])) / 10
    what = "recall of the nearest 10 of all nodes by the approximate index, soc-Epinions1, 128 columns"
    sizes = {"nodes": graph.num_nodes, "asked": len(asked)}
    return [Row(what, "at least", 0.95, recall, "recall", sizes=sizes, raw={"seconds": seconds})]


def ring(nodes: int) -> NDArray[np.uint32]:
    """A ring, so that every node has an edge."""
    order = np.arange(nodes, dtype=np.uint32)
    return np.stack([order, np.roll(order, -1)])


def embed(graph: Path, vectors: Path, *options: str) -> dict[str, Any]:
    """Run the command in a process of its own, with the name of its output; returns its record."""
    record = vectors.with_suffix(".json")
    command = [
        sys.executable, "-m", "graphreach", "embed", str(graph), "-o", str(vectors), "--record", str(record), *options,
    ]  # fmt: skip
    subprocess.run(command, check=True, env=thread_environment(), stdout=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads(record.read_text())
    return found


BENCHMARKS = {"pgnn": against_pgnn, "embed-million": million, "nearest-all": all_nearest}
