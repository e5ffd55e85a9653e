"""The demo: links of a graph of communities, found by GraphReach and by a GCN."""

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from graphreach import datasets, nn, plot, training
from graphreach.anchors import select_anchors
from graphreach.graph import Graph
from graphreach.reachability import reachability

METHODS = {"graphreach": "GraphReach", "gcn": "GCN"}
EPOCHS = 100
DECODER = "scaled"
"""Scores by embeddings alone: a pair's own reachability would make the picture of itself."""


class Report(NamedTuple):
    """What the demo found, the test AUC by the names of the models, and where its files are."""

    graph: Graph
    auc: dict[str, float]
    picture: Path
    numbers: Path


class _Scored(NamedTuple):
    auc: float
    scores: NDArray[np.float32]


def run_demo(
    folder: Path, seed: int = 0, epochs: int = EPOCHS, compiling: "subprocess.Popen[bytes] | None" = None
) -> Report:
    """Train both models on the links of Communities, structure only; save ``demo.png`` and the numbers behind it.

    Args:
        folder: Where to save them.
        seed: Random seed of the graph.
        epochs: Number of epochs.
        compiling: The process of :func:`compiling_layers`, to wait for before the layers are used.
    """
    plot.require_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    data = datasets.load("communities", seed=seed)
    graph, labels = data.samples[0].graph, data.samples[0].y
    node = int(np.random.default_rng(seed).integers(graph.num_nodes))

    def score(method: str) -> _Scored:
        model = {"decoder": DECODER}
        settings = training.Settings(task="link", method=method, epochs=epochs, features=False, seed=seed, model=model)
        return _score(training.run(data, settings), node, graph.num_nodes)

    theirs = score("gcn")
    reachability(graph, select_anchors(graph, seed=seed), **nn.PRESETS["best"].reachability)
    if compiling is not None:
        compiling.wait()
    found = {"graphreach": score("graphreach"), "gcn": theirs}
    positions = plot.stress_layout(graph)
    picture, numbers = folder / "demo.png", folder / "demo.csv"
    figure, axes = plot.new_figure(2)
    every = np.concatenate([each.scores for each in found.values()])
    style: dict[str, Any] = {"limits": (every.min(), every.max()), "positions": positions}
    for ax, (method, (auc, scores)) in zip(axes, found.items(), strict=True):
        plot.plot_scores(graph, node, scores, label="score of a link with the circled node", ax=ax, **style)
        ax.set_title(f"{METHODS[method]}: test AUC of links {auc:.3f}")
    figure.savefig(picture, dpi=90)
    _save_numbers(numbers, graph.ids, labels, positions, found)
    return Report(graph, {METHODS[method]: each.auc for method, each in found.items()}, picture, numbers)


def compiling_layers() -> "subprocess.Popen[bytes]":
    """Let another process compile the kernels of GraphReach's layers, which are then found on disk.

    The first run of all compiles for more than a minute; so does this process meanwhile, with all other kernels.
    """
    return subprocess.Popen([sys.executable, "-c", "from graphreach.demo import compile_layers; compile_layers()"])


def compile_layers() -> None:
    """One step of the layers on nothing much, for their kernels."""
    chosen = nn.PRESETS["best"]
    hops = chosen.reachability["hops"]
    values = torch.ones(8, 2, hops)
    positions = nn.Positions.dense(values, values, torch.arange(2))
    model = nn.GraphReach(0, **(chosen.model | {"decoder": DECODER}))
    model(None, positions).sum().backward()


def _score(outcome: training.Outcome, node: int, num_nodes: int) -> _Scored:
    """The test AUC, and the model's scores of the pairs of one node."""
    if outcome.model is None:
        raise RuntimeError("the demo trains its models")
    pairs = torch.stack([torch.full((num_nodes,), node), torch.arange(num_nodes)])
    with torch.no_grad():
        z = outcome.inputs[0].embed(outcome.model.encoder)
        scores = outcome.model.scores(z, pairs).sigmoid()
    return _Scored(outcome.test["auc"], scores.numpy())


def _save_numbers(
    path: Path, ids: NDArray[np.int64], labels: NDArray[np.int64] | None, positions: NDArray[np.float64],
    found: dict[str, _Scored],
) -> None:  # fmt: skip
    columns = [each.scores.round(4) for each in found.values()]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["node", "community", "x", "y", *found])
        writer.writerows(zip(ids, labels if labels is not None else ids, *positions.T.round(4), *columns, strict=True))
