"""Features of a million pairs by walks that meet, against exact powers; and links of a graph with a million nodes."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import graphreach as gr
from benchmarks.harness import Row
from benchmarks.rmat import rmat_edges, simple_edges
from graphreach.auc import auc
from graphreach.tasks.pair_keys import draw_pairs, encode, unique

RECIPE: dict[str, Any] = {"steps": 5, "lengths": (4, 10)}
HELD_OUT = 0.05


def _described(graph: gr.Graph, pairs: NDArray[np.int64], method: str, links: int) -> tuple[float, NDArray[Any]]:
    """Seconds that describing the pairs takes, and their scores by a head trained on features of that method."""
    model = gr.LinkPredictor(prior=0.5, method=method, num_links=links, start=None, **RECIPE).fit(graph)
    anchors = graph.index_of(model.anchors_)
    gr.pair_features(graph, pairs[:, :100], anchors=anchors, method=method, **RECIPE)  # compiled, if it was not
    began = time.perf_counter()
    features, _ = gr.pair_features(graph, pairs, anchors=anchors, method=method, **RECIPE)
    return time.perf_counter() - began, model.logits(features)


def million(quick: bool) -> list[Row]:
    """Features of L = 5 of a million pairs of an R-MAT graph with a million edges: walks against exact powers."""
    scale, num_edges, num_pairs, links = (12, 1 << 14, 1 << 13, 500) if quick else (17, 1 << 20, 1_000_000, 20_000)
    rng = np.random.default_rng(0)
    edges = simple_edges(rmat_edges(scale, num_edges)).astype(np.int64)
    hidden = np.zeros(edges.shape[1], np.bool_)
    hidden[rng.permutation(edges.shape[1])[: int(HELD_OUT * edges.shape[1])]] = True
    graph = gr.Graph.from_edges(edges[:, ~hidden], num_nodes=1 << scale)
    others = draw_pairs(rng, graph.num_nodes, num_pairs - int(hidden.sum()), unique(encode(edges)))
    pairs = np.concatenate([edges[:, hidden], others], axis=1)
    truth = np.arange(pairs.shape[1]) < hidden.sum()
    found = {method: _described(graph, pairs, method, links) for method in ("walks", "exact")}
    values = {method: auc(scores, truth) for method, (_, scores) in found.items()}
    sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges, "pairs": pairs.shape[1], "steps": RECIPE["steps"]}
    raw = {
        "seconds": {method: seconds for method, (seconds, _) in found.items()},
        "auc": values,
        "links learned from": links,
    }
    ratio = found["exact"][0] / found["walks"][0]
    what = "features of a million pairs, R-MAT with a million edges, L = 5"
    return [
        Row(f"{what}: exact powers against walks that meet", "at least", 10, ratio, sizes=sizes, raw=raw),
        Row(f"{what}: AUC of exact less that of walks", "at most", 0.002, values["exact"] - values["walks"], "AUC"),
    ]


def train_million(quick: bool) -> list[Row]:
    """The whole of ``graphreach train`` for links of an R-MAT graph with 2^20 nodes, from a file of edges."""
    scale = 12 if quick else 20
    edges = simple_edges(rmat_edges(scale))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        pl.DataFrame({"source": edges[0], "target": edges[1]}).write_csv(path)
        command = [sys.executable, "-m", "graphreach", "train", str(path), "--output", str(Path(folder) / "run")]
        began = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        minutes = (time.perf_counter() - began) / 60
    print(done.stdout, done.stderr, flush=True)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
    sizes = {"nodes": 1 << scale, "edges": edges.shape[1]}
    what = f"graphreach train, links of R-MAT 2^{scale}, from a file"
    return [
        Row(
            f"{what}: whole run", "at most", 10, minutes, "minutes", sizes=sizes, raw={"said": done.stdout.splitlines()}
        ),
        Row(f"{what}: peak memory", "at most", 10, memory, "GB", sizes=sizes),
    ]


BENCHMARKS: dict[str, Any] = {"million-pair-features": million, "train-million": train_million}
