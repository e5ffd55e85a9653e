"""All that a report's page shows, as one JSON."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.datasets import Dataset
from graphreach.explain import Explainer, PairExplanation
from graphreach.explain import Path as LikelyPath
from graphreach.explain.pair_explanation import plain_ids
from graphreach.graph import Graph
from graphreach.report import figures
from graphreach.report.communities import communities
from graphreach.report.layout import layout, plane
from graphreach.report.packing import DECADES, on_square, pack, quantise, smallest, squeeze
from graphreach.report.pair_lists import ANCHORS, PairList, pair_lists
from graphreach.report.shown import MAX_EDGES, MAX_NODES, shown_edges, shown_nodes
from graphreach.tasks import Split
from graphreach.training.outcome import Outcome
from graphreach.training.trainer import CHECKPOINT

REACH_BYTES = 1_800_000
"""Of the reachability that the page can be coloured by."""

RECORDED = (
    "settings", "seconds", "peak_memory", "versions", "leaks", "parameters", "best_epoch", "epochs",
)  # fmt: skip
"""Of the run's record, as it is."""

VISIBLE = 5e-4
"""Contributions below are in the sum of the others."""

POINTS = 400
"""Of a curve."""


class Content:
    """What the page shows of a run.

    Args:
        folder: Of the run.
        outcome: What it found.
        dataset: Its data.
        split: Its split.
        explainer: The model on the split's graph.
        classes: Names of the classes, if they have any.
    """

    def __init__(
        self,
        folder: Path,
        outcome: Outcome,
        dataset: Dataset,
        split: Split,
        explainer: Explainer,
        classes: Sequence[Any],
    ) -> None:
        self.folder, self.outcome, self.sample, self.split = folder, outcome, dataset[0], split
        self.explainer, self.classes, self.title = explainer, classes, dataset.name
        self.scores = np.asarray(outcome.scores["test"][0], np.float64)
        self.lists = pair_lists(explainer, split, self.sample.graph, self.scores)
        wanted = set(explainer.anchors.tolist()).union(*(each.nodes() for each in self.lists))
        self.nodes = shown_nodes(self.sample.graph, np.array(sorted(wanted), np.int64), MAX_NODES)
        self.place = np.full(self.sample.graph.num_nodes, -1, np.int64)
        self.place[self.nodes] = np.arange(len(self.nodes))
        self.notes: list[str] = []

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        record, graph = self.outcome.record, self.sample.graph
        content = {
            "title": self.title,
            "task": self.split.task,
            "graph": {
                "nodes": graph.num_nodes, "edges": graph.num_edges, "directed": graph.directed,
                "weighted": graph.weighted,
            },
            "nodes": self._nodes(),
            "edges": self._edges(),
            "groups": self._groups(),
            "anchors": self._anchors(),
            "lists": [self._list(each) for each in self.lists],
            "metrics": self._metrics(),
            "curves": self._curves(),
            "scores": figures.histograms(self.scores, self.split.test.label),
            "coverage": [round(each, 5) for each in figures.coverage_curve(self.explainer).tolist()],
            "record": {key: record[key] for key in RECORDED},
        }  # fmt: skip
        return content | {"notes": self.notes}

    def _nodes(self) -> dict[str, Any]:
        graph, nodes = self.sample.graph, self.nodes
        if len(nodes) < graph.num_nodes:
            self.notes.append(
                f"The graph has {graph.num_nodes:,} nodes; {len(nodes):,} are shown: the anchors, the pairs below, "
                "and nodes around them."
            )
        sub = _induced(graph, nodes)
        self._communities = communities(sub)
        return {
            "ids": plain_ids(graph, tuple(nodes.tolist())),
            "graph": pack(on_square(layout(sub))),
            "map": pack(on_square(plane(self.explainer.z)[nodes])),
            "degree": pack(smallest(self._neighbours())),
        }

    def _neighbours(self) -> NDArray[np.int64]:
        pointer = self.sample.graph.indptr.astype(np.int64)
        return pointer[self.nodes + 1] - pointer[self.nodes]

    def _edges(self) -> dict[str, Any]:
        edges, total = shown_edges(self.sample.graph, self.nodes, MAX_EDGES)
        if edges.shape[1] < total:
            self.notes.append(f"{edges.shape[1]:,} of the {total:,} edges between these nodes are drawn.")
        seen = self.split.graph.to_scipy()
        ends = self.nodes[edges]
        held = np.asarray(seen[ends[0], ends[1]] == 0).ravel() & np.asarray(seen[ends[1], ends[0]] == 0).ravel()
        if held.any():
            self.notes.append(
                "Scores, reachability and embeddings are those of the graph that the model was trained on: "
                "edges held out for validation and test are drawn paler, and the model has not seen them."
            )
        return {"ends": pack(smallest(edges.T)), "held": pack(np.packbits(held))}

    def _groups(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [{"name": "community", "names": None, "of": pack(smallest(self._communities))}]
        y = self.sample.y
        if y is not None:
            count = int(y.max(initial=-1)) + 1
            names = [str(each) for each in self.classes] or [f"class {each}" for each in range(count)]
            own = np.where(y[self.nodes] < 0, count, y[self.nodes])
            found.insert(0, {"name": "label", "names": [*names, "without label"], "of": pack(smallest(own))})
        return found

    def _anchors(self) -> dict[str, Any]:
        anchors = self.explainer.anchors
        kept = min(len(anchors), max(1, REACH_BYTES // len(self.nodes)))
        if kept < len(anchors):
            self.notes.append(f"Nodes can be coloured by reachability to the first {kept} of {len(anchors)} anchors.")
        shares = self.explainer.rows(self.nodes)[0]
        greatest = float(shares.max(initial=0.0))
        levels = quantise(shares[:, :kept], greatest)
        return {
            "nodes": self.place[anchors].tolist(),
            "walk_length": self.explainer.reach.walk_length,
            "reach": {"anchors": kept, "greatest": greatest, "decades": DECADES, "data": squeeze(levels.T)},
        }

    def _list(self, each: PairList) -> dict[str, Any]:
        pairs = [self._pair(pair) for pair in each.pairs]
        return {"name": each.name, "title": each.title, "about": each.about, "pairs": pairs}

    def _pair(self, pair: PairExplanation) -> dict[str, Any]:
        shown = max(1, sum(abs(each.contribution) >= VISIBLE for each in pair.anchors[:ANCHORS]))
        return {
            "nodes": self.place[list(pair.pair)].tolist(),
            "score": _short(pair.score),
            "probability": _short(pair.probability),
            "terms": [[term.name, _short(term.contribution)] for term in pair.terms],
            "anchors": [
                {
                    "node": int(self.place[each.anchor]),
                    "adds": _short(each.contribution),
                    "to": [_short(value) for value in each.to],
                    "back": [_short(value) for value in each.back],
                    "paths": [self._path(path) for path in each.paths],
                }
                for each in pair.anchors[:shown]
            ],
            "others": {"count": len(pair.anchors) - shown, "adds": _short(pair.rest(shown))},
        }  # fmt: skip

    def _path(self, path: LikelyPath | None) -> dict[str, Any] | None:
        if path is None:
            return None
        return {"nodes": self.place[list(path.nodes)].tolist(), "chance": _short(path.chance)}

    def _metrics(self) -> dict[str, Any]:
        record, test = self.outcome.record["metrics"], self.split.test
        bounds = figures.auc_interval(self.scores, test.label, self.split.seed)
        counts = {"positives": int((test.label == 1).sum()), "negatives": int((test.label == 0).sum())}
        interval = None if math.isnan(bounds.low) else [_short(bounds.low), _short(bounds.high)]
        return {part: _finite(record[part]) for part in ("val", "test")} | {"auc_interval": interval, **counts}

    def _curves(self) -> dict[str, Any]:
        history = self.outcome.record.get("history", [])
        losses = read_losses(self.folder / CHECKPOINT)
        steps = np.unique(np.linspace(0, len(losses) - 1, min(len(losses), POINTS)).astype(int)).tolist()
        return {
            "loss": [[each + 1, _short(losses[each])] for each in steps],
            "auc": [[each["epoch"], _short(each["auc"])] for each in history if "auc" in each],
        }


def read_losses(path: Path) -> list[float]:
    """The training loss of every epoch, from a run's last checkpoint; none if it was deleted."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            losses: list[float] = json.loads(file.metadata()["progress"])["losses"]
    except (SafetensorError, OSError, ValueError, KeyError, TypeError):
        return []
    return losses


def _induced(graph: Graph, nodes: NDArray[np.int64]) -> Graph:
    if len(nodes) == graph.num_nodes:
        return graph
    return Graph.from_scipy(graph.to_scipy()[nodes][:, nodes], graph.directed)


def _short(value: float) -> float:
    """Six digits, as many as anyone reads."""
    return float(f"{value:.6g}")


def _finite(found: dict[str, float]) -> dict[str, float]:
    return {name: _short(value) for name, value in found.items() if math.isfinite(value)}
