"""All that a report's page shows, as one JSON."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.datasets import Sample
from graphreach.explain import Explainer
from graphreach.explain import Path as LikelyPath
from graphreach.graph.ids import plain_ids
from graphreach.report import figures
from graphreach.report.detail import detail
from graphreach.report.drawing import (
    DECADES,
    on_square,
    pack,
    quantise,
    shown_edges,
    shown_nodes,
    smallest,
    squeeze,
)
from graphreach.report.layout import communities, layout, plane
from graphreach.tasks import Split, check_leaks, metrics
from graphreach.training.outcome import Outcome
from graphreach.training.trainer import CHECKPOINT

REACH_BYTES, POINTS = 1_800_000, 400
"""Maximum size of the reachability that nodes can be coloured by, and maximum number of points of a curve."""

RECORDED = ("settings", "seconds", "peak_memory", "versions", "parameters", "best_epoch", "epochs")
"""Entries of the run's record that the page shows unchanged, where there are such."""

CHECKED, SAME = 1000, 1e-3
"""Number of test examples whose recorded scores are compared with the model's, and the relative tolerance."""


class Listing(NamedTuple):
    """Examples of one kind with their explanations."""

    name: str
    title: str
    about: str
    items: list[Any]


class Content(ABC):
    """What the page shows of one graph of a run, the ``number``-th (from 1) of its data, whatever the task."""

    examples: str
    """What the task's examples are called."""

    def __init__(
        self, folder: Path, outcome: Outcome, name: str, number: int, sample: Sample, split: Split,
        explainer: Explainer, classes: Sequence[Any],
    ) -> None:  # fmt: skip
        self.folder, self.outcome, self.name, self.number = folder, outcome, name, number
        self.sample, self.split, self.explainer, self.classes = sample, split, explainer, classes
        self.scores = self.scores_of("test")
        self.lists = self.listings()
        wanted = {node for each in self.lists for item in each.items for node in self.nodes_of(item)}
        needed = sorted(wanted.union(self.explainer.anchors.tolist()))
        self.nodes = shown_nodes(self.sample.graph, np.array(needed, np.int64))
        self.place = np.full(self.sample.graph.num_nodes, -1, np.int64)
        self.place[self.nodes] = np.arange(len(self.nodes))
        self.notes: list[str] = []

    @property
    def graphs(self) -> int:
        """How many graphs the run has."""
        return len(self.outcome.scores["test"])

    @property
    def title(self) -> str:
        """The data set, and which graph of it."""
        return self.name if self.graphs == 1 else f"{self.name}, graph {self.number} of {self.graphs}"

    def scores_of(self, part: str) -> NDArray[np.float64]:
        """Recorded scores of this graph's examples; none if it has no examples."""
        own = self.outcome.scores[part][self.number - 1]
        return np.empty(0) if own is None else np.asarray(own, np.float64)

    def metrics_of(self, part: str) -> dict[str, float]:
        """Metrics of this graph: as recorded where it is the only one."""
        if self.graphs == 1:
            return finite(self.outcome.record["metrics"][part])
        examples = getattr(self.split, part)
        return finite(metrics(self.split.task, self.scores_of(part), examples)) if len(examples) else {}

    @abstractmethod
    def recomputed(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of some test examples as the model gives them here."""

    @abstractmethod
    def listings(self) -> list[Listing]:
        """Examples that the page explains."""

    @abstractmethod
    def nodes_of(self, item: Any) -> Iterable[int]:
        """Nodes that must be drawn for an explained example."""

    @abstractmethod
    def plain(self, item: Any) -> dict[str, Any]:
        """An explained example as JSON can hold it."""

    @abstractmethod
    def of_task(self) -> dict[str, Any]:
        """Content that only pages of this task have: metrics and scores."""

    def to_dict(self) -> dict[str, Any]:
        """The content of the page, ready for JSON."""
        record, graph = self.outcome.record, self.sample.graph
        self._note_differences()
        self._note_graphs()
        content = {
            "lists": [
                {"name": each.name, "title": each.title, "about": each.about, self.examples: [*map(self.plain, each.items)]}
                for each in self.lists
            ],
            "title": self.title,
            "task": self.split.task,
            "graphs": self.graphs,
            "graph": {
                "nodes": graph.num_nodes, "edges": graph.num_edges, "directed": graph.directed,
                "weighted": graph.weighted,
            },
            "nodes": self._nodes(),
            "detail": self._detail(),
            "edges": self._edges(),
            "groups": self._groups(),
            "anchors": self._anchors(),
            "curves": self._curves(),
            "coverage": [round(each, 5) for each in figures.coverage_curve(self.explainer).tolist()],
            "record": {key: record[key] for key in RECORDED if key in record} | {"leaks": self._leaks()},
        }  # fmt: skip
        return content | self.of_task() | {"notes": self.notes}

    def _leaks(self) -> list[str]:
        """What was found of the shown graph; the record has the first graphs only."""
        recorded: list[str] = self.outcome.record["leaks"]
        return [str(check_leaks(self.split))] if recorded and self.graphs > 1 else recorded

    def _note_differences(self) -> None:
        """Say so if the model does not give the recorded scores, as with other data of the same size."""
        count = len(self.scores)
        chosen = np.unique(np.linspace(0, count - 1, min(count, CHECKED)).astype(np.int64))
        gap = np.abs(self.recomputed(chosen) - self.scores[chosen]) if len(chosen) else np.zeros(1)
        if gap.max() > SAME * max(1.0, np.abs(self.scores).max(initial=0.0)):
            self.notes.append(
                f"The model gives other scores here than the run recorded, by up to {gap.max():.2g}: its data are not "
                "what it was trained with. Explanations are of the scores given here, figures of those recorded."
            )

    def _note_graphs(self) -> None:
        run = self.outcome.record["metrics"]["test"]
        if self.graphs == 1:
            return
        known = {"auc": "the mean of their test AUCs", "pooled_auc": f"the AUC of all their {self.examples} together"}
        figures_of_run = [f"{words} is {run[name]:.4f}" for name, words in known.items() if name in run]
        tested = sum(own is not None for own in self.outcome.scores["test"])
        some = f"the {tested:,} graphs" if tested > 1 else "the only graph"
        whole = f"all {tested:,} graphs" if tested == self.graphs else f"{some} with test {self.examples}"
        over_all = f" Over {whole} {', '.join(figures_of_run)}." if figures_of_run else ""
        self.notes.append(
            f"This is graph {self.number:,} of {self.graphs:,}: pictures, test figures and {self.examples} are of it "
            f"alone, the model and its training are of all.{over_all}"
        )
        if not len(self.scores):
            self.notes.append(f"This graph has no test {self.examples}, so nothing was measured on it.")

    def _nodes(self) -> dict[str, Any]:
        graph, nodes = self.sample.graph, self.nodes
        self._communities = communities(graph)
        part = len(nodes) < graph.num_nodes
        self._large = detail(graph, self._communities, nodes) if part else None
        places = on_square(layout(graph)) if self._large is None else self._large.places
        pointer = graph.indptr.astype(np.int64)
        return {
            "ids": plain_ids(graph.ids[nodes]),
            "graph": pack(places),
            "map": pack(on_square(plane(self.explainer.z[nodes]))),
            "degree": pack(smallest(pointer[nodes + 1] - pointer[nodes])),
        }

    def _detail(self) -> dict[str, Any] | None:
        """What is drawn of what, and circles that stand for whole communities; None where all nodes are drawn."""
        if self._large is None:
            return None
        return {
            "drawn": f"{len(self.nodes):,} of {self.sample.graph.num_nodes:,} nodes drawn: anchors, the {self.examples} "
            "listed on this page, the nodes with most neighbours, and ends of edges drawn at random. A circle stands for "
            "a community, and its number counts all nodes of it; choose one to open it. Drawn nodes with most neighbours "
            "stand in the middle of their circle.",
            "circles": self._large.circles,
        }

    def _edges(self) -> dict[str, Any]:
        edges, total = shown_edges(self.sample.graph, self.nodes)
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
        found = [self.group("community", None, self._communities)]
        if self.sample.y is not None:
            found.insert(0, self._label_group(self.sample.y))
        return found

    def group(self, name: str, names: list[str] | None, own: NDArray[np.int64], **more: Any) -> dict[str, Any]:
        """What nodes can be coloured by: the group of each drawn node and, where not all are drawn, the sizes of groups."""
        part = len(self.nodes) < len(own)
        totals = np.bincount(own).tolist() if part else None
        return {"name": name, "names": names, "of": pack(smallest(own[self.nodes])), "totals": totals, **more}

    def _label_group(self, y: NDArray[Any]) -> dict[str, Any]:
        """The label of each node; nodes with several are a group of their own."""
        if y.ndim == 2:
            names = [*self.class_names(y.shape[1]), "several labels"]
            count = np.count_nonzero(y, axis=1)
            own = np.where(count == 1, y.argmax(axis=1), np.where(count > 1, len(names) - 1, len(names)))
        else:
            names = self.class_names(int(y.max(initial=-1)) + 1)
            own = np.where(y < 0, len(names), y)
        return self.group("label", [*names, "without label"], own)

    def class_names(self, count: int) -> list[str]:
        """Names of at least ``count`` classes; a number where a class has no name."""
        known = [str(each) for each in self.classes]
        return known + [f"class {each}" for each in range(len(known), count)]

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

    def path(self, path: LikelyPath | None) -> dict[str, Any] | None:
        """A path of nodes that are drawn."""
        if path is None:
            return None
        return {"nodes": self.place[list(path.nodes)].tolist(), "chance": short(path.chance)}

    def metrics(self, bounds: dict[str, figures.Bounds]) -> dict[str, Any]:
        """Validation and test metrics, and the intervals that are known."""
        intervals = {
            name: [short(each.low), short(each.high)] for name, each in bounds.items() if not math.isnan(each.low)
        }
        return {part: self.metrics_of(part) for part in ("val", "test")} | {"intervals": intervals}

    def _curves(self) -> dict[str, Any]:
        history = self.outcome.record.get("history", [])
        losses = read_losses(self.folder / CHECKPOINT)
        steps = np.unique(np.linspace(0, len(losses) - 1, min(len(losses), POINTS)).astype(int)).tolist()
        return {
            "loss": [[each + 1, short(losses[each])] for each in steps],
            **{
                name: [[each["epoch"], short(each[name])] for each in history if name in each]
                for name in ("auc", "accuracy")
            },
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


def short(value: float) -> float:
    """Six digits, as many as anyone reads."""
    return float(f"{value:.6g}")


def finite(found: dict[str, float]) -> dict[str, float]:
    """Metrics that are numbers."""
    return {name: short(value) for name, value in found.items() if math.isfinite(value)}
