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
from graphreach.tasks.calibration import reliability

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

    def of_task(self) -> dict[str, Any]:
        """Lists, metrics and scores of pairs, and their calibration."""
        return super().of_task() | {"calibration": self._calibration()}

    def _calibration(self) -> dict[str, Any]:
        """How far probabilities hold: at the base rate of the run, and where half of the pairs are positive.

        The bins are of the test pairs where half are positive: of few positives among many pairs nothing could be seen.
        """
        scorer = self.explainer.scorer
        errors: dict[str, Any] = {}
        for part in ("val", "test"):
            logits, label = self.scores_of(part), getattr(self.split, part).label
            rates = {"prior": scorer.prior, "even": 0.5}
            found = {name: reliability(scorer.probabilities(logits, rate), label, rate) for name, rate in rates.items()}
            errors[part] = {name: short(each.error) for name, each in found.items() if each is not None}
        bins = [] if found["even"] is None else [[short(value) for value in each] for each in found["even"].bins]
        return {"prior": short(scorer.prior), "errors": errors, "bins": bins}

    def plain(self, item: PlacedPair) -> dict[str, Any]:
        """The score, what adds up to it in words and figures, the paths and the anchors."""
        found = item.explanation
        groups = sorted(found.groups.items(), key=lambda group: -abs(group[1]))
        nearness = zip(item.anchors, found.anchors, strict=True)
        return {
            "nodes": self.place[list(item.nodes)].tolist(),
            "score": short(found.logit),
            "probability": short(found.probability),
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
