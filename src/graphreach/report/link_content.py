"""What a page shows of a run of method ``reach`` on links or pairs."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.explain.links import PlacedPair
from graphreach.explain.pair_groups import TITLES
from graphreach.explain.reach_explainer import ReachExplainer
from graphreach.report.content import short
from graphreach.report.pair_content import PairContent
from graphreach.report.reasons import why_linked

BASE = "average training pair"
"""The term of a score that no group of features has added yet."""


class LinkContent(PairContent):
    """Lists of pairs with what each group of features adds, paths, and anchors; and how far probabilities hold."""

    explainer: ReachExplainer

    def explained(self, pairs: NDArray[np.int64]) -> list[Any]:
        """Explanations of pairs ``[2, m]``, computed together."""
        return self.explainer.pairs(pairs)

    def nodes_of(self, item: PlacedPair) -> Iterable[int]:
        """Both ends, nodes on the paths between them, and the anchors that both are near to."""
        return {*item.nodes, *item.anchors}.union(*(path.nodes for path in item.paths))

    def meaning(self) -> str:
        """The base rate that probabilities assume."""
        scorer = self.explainer.scorer
        rate, where = scorer.rate(self.explainer.graph), "this graph" if scorer.links else "training"
        one = "a link" if scorer.links else "of one class"
        odds = f"1 in {1 / rate:,.0f} pairs is {one}" if rate < 0.1 else f"{rate:.0%} of all pairs are {self._noun}"
        return f"The probabilities below are those where {odds}, as in {where}."

    @property
    def _noun(self) -> str:
        return "links" if self.split.task == "link" else "of one class"

    def chances(self, logits: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
        """Probabilities at a base rate."""
        return self.explainer.scorer.probabilities(logits, rate)

    def rates(self) -> dict[str, float]:
        """The base rate that the run assumes, and that of equally many of both kinds."""
        return {"prior": self.explainer.scorer.prior} | super().rates()

    def calibration(self) -> dict[str, Any]:
        """How far probabilities hold, with the base rate that the run assumes."""
        return super().calibration() | {"prior": short(self.explainer.scorer.prior)}

    def why(self, item: PlacedPair) -> str:
        """Why a pair is listed, in one line."""
        return why_linked(self.split.graph, item)

    def plain(self, item: PlacedPair) -> dict[str, Any]:
        """The score, what adds up to it in words and figures, the paths and the anchors."""
        found = item.explanation
        groups = sorted(found.groups.items(), key=lambda group: -abs(group[1]))
        nearness = zip(item.anchors, found.anchors, strict=True)
        return {
            "nodes": self.place[list(item.nodes)].tolist(),
            "score": short(found.logit),
            "probability": short(found.probability),
            "why": self.why(item),
            "base": [BASE, short(found.base)],
            "groups": [
                {"name": name, "title": TITLES.get(name, name), "adds": short(value), "words": item.words.get(name, "")}
                for name, value in groups
            ],
            "paths": [self.path(path) for path in item.paths],
            "anchors": [
                {"node": int(self.place[node]), "lift": [short(each.first), short(each.second)]}
                for node, each in nearness
            ],
        }
