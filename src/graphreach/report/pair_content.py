"""What a page shows of a run on links or pairs."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from graphreach.report import answers, figures
from graphreach.report.calibration import calibration_bins, trust
from graphreach.report.content import Content, Listing, short
from graphreach.report.new_pairs import new_pairs, score_pairs
from graphreach.report.reasons import why_scored
from graphreach.tasks.calibration import reliability
from graphreach.tasks.pair_keys import encode, unique

LISTED, ANCHORS, VISIBLE = 15, 8, 5e-4
"""Pairs of a list, anchors that an explanation names, and the contribution below which they are among the others."""


class PairContent(Content):
    """Lists of pairs with their explanations, the AUC, and scores of positives and negatives."""

    examples = "pairs"

    def listings(self) -> list[Listing]:
        """New pairs that the model is sure of, and test pairs that it was wrong about."""
        link = self.split.task == "link"
        fresh, _ = new_pairs(self.explainer, self._known(), LISTED, self.split.seed)
        index, label = self.split.test.index, self.split.test.label
        order = np.argsort(self.scores, kind="stable")
        missed, believed = order[label[order] == 1][:LISTED], order[label[order] == 0][::-1][:LISTED]
        noun, same = ("links", "linked") if link else ("pairs", "of one class")
        rest = "that the graph does not have" if link else "that are in no part of the data"
        seen = " Neighbours and walks are counted without the links that were held out." if link else ""
        found = [
            ("new", "Best new", f"Pairs {rest}, highest score first.{seen}", fresh),
            ("missed", "Missed", f"Test pairs that are {same}, lowest score first.", index[:, missed]),
            ("believed", "Believed", f"Test pairs that are not {same}, highest score first.", index[:, believed]),
        ]
        return [Listing(name, f"{title} {noun}", about, self.explained(pairs)) for name, title, about, pairs in found]

    def explained(self, pairs: NDArray[np.int64]) -> list[Any]:
        """Explanations of pairs ``[2, m]``."""
        return [self.explainer.pair(a, b, ANCHORS) for a, b in pairs.T.tolist()]

    def _known(self) -> NDArray[np.int64]:
        """Sorted keys of pairs that are not new."""
        if self.split.task == "link":
            edges = self.sample.graph.edge_index
            return unique(encode(edges[:, edges[0] != edges[1]]))
        return unique(np.concatenate([encode(part.index) for part in self.split.parts().values()]))

    def nodes_of(self, item: Any) -> Iterable[int]:
        """Both ends, and nodes on paths to the anchors."""
        paths = (path for each in item.anchors[:ANCHORS] for path in each.paths)
        return set(item.pair).union(*(path.nodes for path in paths if path is not None))

    def recomputed(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Logits of some test pairs."""
        return score_pairs(self.explainer, self.split.test.index[:, chosen])

    def of_task(self) -> dict[str, Any]:
        """The answer, metrics and scores of pairs, and how far probabilities hold."""
        test = self.split.test
        bounds = figures.auc_interval(self.scores, test.label, self.split.seed)
        found = answers.on_pairs(self.split.task, test, bounds, self.split.graph)
        return {
            "answer": {"sentences": [*found.sentences, self.meaning()], "baseline": short_or_none(found.baseline)},
            "metrics": self.metrics({"auc": bounds}),
            "scores": figures.histograms(self.scores, test.label),
            "calibration": self.calibration(),
        }

    def meaning(self) -> str:
        """What the scores of the listed pairs are, as a sentence."""
        return "The scores below are no probabilities: they rank pairs."

    def chances(self, logits: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
        """Scores as probabilities at a base rate, if they are any."""
        chances: NDArray[np.float64] = expit(logits)
        return chances

    def rates(self) -> dict[str, float]:
        """Base rates that probabilities are looked at; that of equally many of both kinds is always among them."""
        return {"even": 0.5}

    def calibration(self) -> dict[str, Any]:
        """How far probabilities hold: errors at each base rate, and bins of test pairs where half are positive.

        With few positives among many pairs nothing could be seen.
        """
        errors: dict[str, Any] = {}
        for part in ("val", "test"):
            logits, label = self.scores_of(part), getattr(self.split, part).label
            each = {name: reliability(self.chances(logits, rate), label, rate) for name, rate in self.rates().items()}
            errors[part] = {name: short(held.error) for name, held in each.items() if held is not None}
        out: dict[str, Any] = {"errors": errors, "bins": [], "probabilities": "prior" in self.rates()}
        if "even" in errors["test"]:
            bins = calibration_bins(self.chances(self.scores, 0.5), self.split.test.label, 0.5)
            noun = "links" if self.split.task == "link" else "of one class"
            out["bins"] = [[short(value) for value in each] for each in bins]
            out["trust"] = trust(bins, errors["test"]["even"], noun, out["probabilities"])
        return out

    def why(self, item: Any) -> str:
        """Why a pair is listed, in one line."""
        return why_scored(self.split.graph, item)

    def plain(self, item: Any) -> dict[str, Any]:
        """The score and what adds up to it."""
        visible = sum(abs(each.contribution) >= VISIBLE for each in item.anchors[:ANCHORS])
        shown = min(len(item.anchors), max(1, visible))
        return {
            "nodes": self.place[list(item.pair)].tolist(),
            "score": short(item.score),
            "probability": short(item.probability),
            "why": self.why(item),
            "terms": [[term.name, short(term.contribution)] for term in item.terms],
            "anchors": [
                {
                    "node": int(self.place[each.anchor]),
                    "adds": short(each.contribution),
                    "to": [short(value) for value in each.to],
                    "back": [short(value) for value in each.back],
                    "paths": [self.path(path) for path in each.paths],
                }
                for each in item.anchors[:shown]
            ],
            "others": {"count": len(item.anchors) - shown, "adds": short(item.rest(shown))},
        }


def short_or_none(value: float | None) -> float | None:
    """Six digits of a figure that may be missing."""
    return None if value is None else short(value)
