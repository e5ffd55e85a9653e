"""What a page shows of a run on links or pairs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.explain import Explainer, PairExplanation
from graphreach.graph import Graph
from graphreach.report import figures
from graphreach.report.content import Content, Shown, short
from graphreach.report.new_pairs import new_pairs, score_pairs
from graphreach.tasks import Split
from graphreach.tasks.pair_keys import encode, unique

LISTED, ANCHORS = 15, 8
"""Pairs of a list, and anchors that an explanation names."""


@dataclass(frozen=True, eq=False)
class PairList:
    """Pairs with what they are and why they have their scores."""

    name: str
    title: str
    about: str
    pairs: tuple[PairExplanation, ...]

    def nodes(self) -> set[int]:
        """All nodes that must be drawn for it."""
        paths = (path for pair in self.pairs for each in pair.anchors[:ANCHORS] for path in each.paths)
        found = {node for path in paths if path is not None for node in path.nodes}
        return found | {node for pair in self.pairs for node in pair.pair}


def pair_lists(explainer: Explainer, split: Split, whole: Graph, scores: NDArray[Any]) -> list[PairList]:
    """The lists of a run.

    Args:
        explainer: The run on the graph of its split.
        split: The split.
        whole: The graph with all its edges.
        scores: Of the test pairs.
    """
    link = split.task == "link"
    fresh, _ = new_pairs(explainer, _known(split, whole), LISTED, split.seed)
    index, label = split.test.index, split.test.label
    order = np.argsort(scores, kind="stable")
    missed, believed = order[label[order] == 1][:LISTED], order[label[order] == 0][::-1][:LISTED]
    noun, same = ("links", "linked") if link else ("pairs", "of one class")
    rest = "that the graph does not have" if link else "that are in no part of the data"
    return [
        _explained(explainer, "new", f"Most confident new {noun}", f"Pairs {rest}, highest score first.", fresh),
        _explained(
            explainer, "missed", f"Missed {noun}", f"Test pairs that are {same}, lowest score first.", index[:, missed]
        ),
        _explained(
            explainer, "believed", f"Believed {noun}", f"Test pairs that are not {same}, highest score first.",
            index[:, believed],
        ),
    ]  # fmt: skip


def _known(split: Split, whole: Graph) -> NDArray[np.int64]:
    if split.task == "link":
        edges = whole.edge_index
        return unique(encode(edges[:, edges[0] != edges[1]]))
    return unique(np.concatenate([encode(part.index) for part in split.parts().values()]))


def _explained(explainer: Explainer, name: str, title: str, about: str, pairs: NDArray[np.int64]) -> PairList:
    return PairList(name, title, about, tuple(explainer.pair(a, b, ANCHORS) for a, b in pairs.T.tolist()))


VISIBLE = 5e-4
"""Contributions below are in the sum of the others."""


class PairContent(Content):
    """Lists of pairs with their explanations, the AUC, and scores of positives and negatives.

    Args:
        shown: The graph to show.
    """

    examples = "pairs"

    def __init__(self, shown: Shown) -> None:
        self.lists = pair_lists(shown.explainer, shown.split, shown.sample.graph, shown.scores("test"))
        super().__init__(shown, set().union(*(each.nodes() for each in self.lists)))

    def recomputed(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Logits of some test pairs."""
        return score_pairs(self.explainer, self.split.test.index[:, chosen])

    def of_task(self) -> dict[str, Any]:
        """Lists, metrics and scores of pairs."""
        label = self.split.test.label
        bounds = {"auc": figures.auc_interval(self.scores, label, self.split.seed)}
        return {
            "lists": [self._list(each) for each in self.lists],
            "metrics": self.metrics(bounds),
            "scores": figures.histograms(self.scores, label),
        }

    def _list(self, each: PairList) -> dict[str, Any]:
        pairs = [self._pair(pair) for pair in each.pairs]
        return {"name": each.name, "title": each.title, "about": each.about, "pairs": pairs}

    def _pair(self, pair: PairExplanation) -> dict[str, Any]:
        shown = max(1, sum(abs(each.contribution) >= VISIBLE for each in pair.anchors[:ANCHORS]))
        return {
            "nodes": self.place[list(pair.pair)].tolist(),
            "score": short(pair.score),
            "probability": short(pair.probability),
            "terms": [[term.name, short(term.contribution)] for term in pair.terms],
            "anchors": [
                {
                    "node": int(self.place[each.anchor]),
                    "adds": short(each.contribution),
                    "to": [short(value) for value in each.to],
                    "back": [short(value) for value in each.back],
                    "paths": [self.path(path) for path in each.paths],
                }
                for each in pair.anchors[:shown]
            ],
            "others": {"count": len(pair.anchors) - shown, "adds": short(pair.rest(shown))},
        }
