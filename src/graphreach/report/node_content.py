"""What a page shows of a run of node classification."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.explain import NodeExplanation
from graphreach.report import answers, figures
from graphreach.report.content import Content, Listing, short
from graphreach.report.drawing import pack, smallest
from graphreach.tasks.label_sets import likeliest_labels

LISTED, ANCHORS = 15, 6
"""Nodes of a list, and anchors that are named for each."""


def is_right(scores: NDArray[Any], label: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether the likeliest class of each row is its label, or one of its labels ``[m, classes]``."""
    if not len(scores):
        return np.zeros(0, np.bool_)
    best = scores.argmax(1)
    right: NDArray[np.bool_] = label[np.arange(len(best)), best] if label.ndim == 2 else best == label
    return right


def mistakes(scores: NDArray[Any], label: NDArray[Any]) -> NDArray[np.int64]:
    """Places of the rows whose likeliest class is not the label, or none of the labels, the surest first."""
    order = np.argsort(-scores.max(1, initial=0.0), kind="stable")
    return order[~is_right(scores, label)[order]]


def margins(scores: NDArray[Any], label: NDArray[Any] | None = None) -> NDArray[Any]:
    """Difference between the probabilities of the two likeliest classes.

    With labels ``[m, classes]``, of which a row has k, between the probabilities of the k-th and the next.
    """
    if scores.shape[1] < 2:
        return np.ones(len(scores))
    if label is not None and label.ndim == 2:
        ordered, count = -np.sort(-scores, axis=1), np.count_nonzero(label, axis=1)
        each, last = np.arange(len(scores)), scores.shape[1] - 1
        gap = ordered[each, np.maximum(count - 1, 0)] - ordered[each, np.minimum(count, last)]
        return np.where(count > last, 1.0, gap)
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    out: NDArray[Any] = first - second
    return out


TOP, WHOLE = 5, 65535
"""Classes whose probability is kept of every node, and the number that stands for 1."""

PARTS = ("", "training", "validation", "test")


class NodeContent(Content):
    """Lists of nodes with their places, probabilities of classes, accuracy and AUC, and how sure predictions were."""

    examples = "nodes"

    def __init__(self, *shown: Any) -> None:
        super().__init__(*shown)
        self.chances = self.explainer.class_probabilities(self.nodes)

    def listings(self) -> list[Listing]:
        """Test nodes that the model was wrong about, and those it was least sure of."""
        test = self.split.test
        wrong = mistakes(self.scores, test.label)[:LISTED]
        unsure = np.argsort(margins(self.scores, test.label), kind="stable")[:LISTED]
        about_wrong = "Test nodes whose class was predicted wrongly, highest probability first."
        about_unsure = "Test nodes whose two likeliest classes are closest, right or wrong."
        if test.several:
            about_wrong = "Test nodes whose likeliest label is none of theirs, highest probability first."
            about_unsure = "Test nodes whose last predicted label is closest to the next, right or wrong."
        return [
            Listing("wrong", "Wrong and sure of it", about_wrong, self._explained(test.index[wrong])),
            Listing("unsure", "Least certain", about_unsure, self._explained(test.index[unsure])),
        ]

    def _explained(self, nodes: NDArray[np.int64]) -> list[NodeExplanation]:
        return [self.explainer.node(each, ANCHORS) for each in nodes.tolist()]

    def nodes_of(self, item: NodeExplanation) -> Iterable[int]:
        """The node, and those on paths to its anchors."""
        paths = [anchor.path for anchor in item.anchors[:ANCHORS]]
        return {item.node}.union(*(path.nodes for path in paths if path is not None))

    def recomputed(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probabilities of some test nodes' classes."""
        return self.explainer.class_probabilities(self.split.test.index[chosen])

    def of_task(self) -> dict[str, Any]:
        """The answer, predictions, metrics and confidence."""
        label = self.split.test.label
        right = is_right(self.scores, label).astype(np.int64)
        intervals = (figures.label_intervals if label.ndim == 2 else figures.node_intervals)(
            self.scores, label, self.split.seed
        )
        return {
            "answer": self._answer(intervals),
            "predictions": self._predictions(),
            "metrics": self.metrics(intervals),
            "scores": figures.histograms(self.scores.max(1), right, bounds=(0.0, 1.0)),
        }

    def _answer(self, bounds: dict[str, figures.Bounds]) -> dict[str, Any]:
        """How good the predictions are compared with the baseline, by class, and which classes are confused."""
        test, train = self.split.test, self.split.train
        names = self.class_names(self.scores.shape[1])
        if test.several:
            labels = answers.on_labels(test, train, bounds)
            predicted: NDArray[Any] = likeliest_labels(self.scores, test.label.sum(axis=1))
            base = {name: short(value) for name, value in labels.baseline.items()}
            found: dict[str, Any] = {"sentences": labels.sentences, "baselines": base}
        else:
            predicted = self.scores.argmax(1)
            cells = answers.confusion(test.label, predicted)
            told = answers.on_classes(self.scores, test, train, bounds["accuracy"], names)
            found = {
                "sentences": told.sentences, "baselines": {"accuracy": short(told.baseline)},
                "majority": told.majority, "cells": cells, "confused": answers.confused(cells, names),
            }  # fmt: skip
        rows = answers.class_rows(test.label, predicted, len(names))
        return found | {"classes": [[each.number, *map(short, each[1:4]), each.support] for each in rows]}

    def _groups(self) -> list[dict[str, Any]]:
        label, community = super()._groups()
        names = self.class_names(self.chances.shape[1])
        best = self.explainer.class_probabilities(np.arange(self.sample.graph.num_nodes)).argmax(1)
        guess = self.group("predicted class", names, best, like=0)
        return [label, guess, community]

    def plain(self, item: NodeExplanation) -> dict[str, Any]:
        """The node's place in words, and its anchors."""
        near = [each for each in item.anchors[:ANCHORS] if each.to > 0 or each.back > 0]
        return {
            "node": int(self.place[item.node]),
            "words": item.sentences(),
            "anchors": [
                {
                    "node": int(self.place[each.anchor]), "to": short(each.to), "back": short(each.back),
                    "path": self.path(each.path),
                }
                for each in near
            ],
        }  # fmt: skip

    def _predictions(self) -> dict[str, Any]:
        """The likeliest classes of every drawn node, the class of its label, and the part that it is an example of."""
        count = min(TOP, self.chances.shape[1])
        top = np.argsort(-self.chances, axis=1, kind="stable")[:, :count]
        known, several = self.sample.y, self.split.test.several
        if known is None:
            y = np.full(len(self.nodes), -1, np.int64)
        elif several:  # the likeliest of a node's labels
            own = known[self.nodes]
            y = np.where(own.any(1), np.where(own, self.chances, -1.0).argmax(1), -1)
        else:
            y = np.where(known[self.nodes] < self.chances.shape[1], known[self.nodes], -1)
        missing = (y >= 0) & (top != y[:, None]).all(1)
        top[missing, -1] = y[missing]
        shares = np.take_along_axis(self.chances, top, 1)
        part = np.zeros(self.sample.graph.num_nodes, np.uint8)
        for number, examples in enumerate(self.split.parts().values(), 1):
            part[examples.index] = number
        return {
            "width": count,
            "classes": pack(smallest(top)),
            "shares": pack(np.rint(shares * WHOLE).astype(np.uint16)),
            "part": pack(part[self.nodes]),
            "parts": PARTS,
            "truth": _ragged(known[self.nodes]) if several and known is not None else None,
        }


def _ragged(labels: NDArray[np.bool_]) -> dict[str, Any]:
    """The labels of each node, one after the other, and where those of each node end."""
    ends = np.cumsum(np.count_nonzero(labels, axis=1))
    return {"classes": pack(smallest(np.nonzero(labels)[1])), "ends": pack(smallest(ends))}
