"""The nodes of a report: test nodes that the model was wrong about, and those it was least sure of."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.explain import Explainer, NodeExplanation
from graphreach.tasks import Examples

LISTED, ANCHORS = 15, 6
"""Nodes of a list, and anchors that are named for each."""


@dataclass(frozen=True, eq=False)
class NodeList:
    """Nodes with their places among the anchors."""

    name: str
    title: str
    about: str
    nodes: tuple[NodeExplanation, ...]

    def drawn(self) -> set[int]:
        """All nodes that must be drawn for it."""
        paths = (anchor.path for node in self.nodes for anchor in node.anchors[:ANCHORS])
        return {node.node for node in self.nodes}.union(*(path.nodes for path in paths if path is not None))


def node_lists(explainer: Explainer, test: Examples, scores: NDArray[Any]) -> list[NodeList]:
    """The lists of a run of task node.

    Args:
        explainer: The run on its graph.
        test: The test nodes.
        scores: Probabilities of their classes, ``[m, classes]``.
    """
    wrong, unsure = mistakes(scores, test.label)[:LISTED], np.argsort(margins(scores), kind="stable")[:LISTED]
    return [
        _explained(
            explainer, "wrong", "Wrong and sure of it",
            "Test nodes whose class was predicted wrongly, highest probability first.", test.index[wrong],
        ),
        _explained(
            explainer, "unsure", "Least certain",
            "Test nodes whose two likeliest classes are closest, right or wrong.", test.index[unsure],
        ),
    ]  # fmt: skip


def mistakes(scores: NDArray[Any], label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of the rows whose likeliest class is not the label, the surest first."""
    order = np.argsort(-scores.max(1, initial=0.0), kind="stable")
    return order[scores[order].argmax(1) != label[order]] if len(order) else order


def margins(scores: NDArray[Any]) -> NDArray[Any]:
    """By how much the likeliest class is likelier than the next."""
    if scores.shape[1] < 2:
        return np.ones(len(scores))
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    out: NDArray[Any] = first - second
    return out


def _explained(explainer: Explainer, name: str, title: str, about: str, nodes: NDArray[np.int64]) -> NodeList:
    return NodeList(name, title, about, tuple(explainer.node(each, ANCHORS) for each in nodes.tolist()))
