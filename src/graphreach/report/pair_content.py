"""What a page shows of a run on links or pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.explain import PairExplanation
from graphreach.report import figures
from graphreach.report.content import Content, Shown, short
from graphreach.report.new_pairs import score_pairs
from graphreach.report.pair_lists import ANCHORS, PairList, pair_lists

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
