"""A run of method ``reach`` on a graph: scores of pairs, and where nodes stand among the anchors."""

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_pairs, describe
from graphreach.errors import InputError
from graphreach.explain.explainer import PATHS, Explainer
from graphreach.explain.explanations import PairExplanation, Term
from graphreach.explain.pair_groups import group_shares
from graphreach.graph import Graph
from graphreach.pairs.position import positions
from graphreach.reachability import reachability
from graphreach.training.loaded_run import LoadedRun
from graphreach.training.reach_run import ReachRun
from graphreach.training.trained_run import TrainedRun
from graphreach.walks.random_walks import check_starts

BASE = "training pairs, on average"
"""The term of a score that no group of features has added yet."""


class ReachExplainer(Explainer):
    """A run of method ``reach`` on a graph, whose positions are computed once for many explanations.

    Args:
        run: The run, as :func:`graphreach.training.load_run` gives it.
        graph: The graph to look at.

    Attributes:
        reach: Reachability of the anchors, for the longest walks that the run reads.
        z: Positions of the nodes relative to the anchors, ``[n, k]``.
    """

    def __init__(self, run: LoadedRun | TrainedRun, graph: Graph) -> None:
        if not isinstance(run, ReachRun):
            raise InputError(f"run must be of method reach, as load_run gives it, got {describe(run)}")
        self.run, self.graph, self.walk_graph = run, graph, graph  # type: ignore[assignment]
        self.known, self.scorer = run.embed(graph), run.scorer
        anchors, length = self.known.features.anchors, max(run.scorer.recipe.lengths)
        self.reach = reachability(graph, anchors, method="auto", walk_length=length)
        self.z: NDArray[np.float32] = positions(graph, anchors, (length,)).nodes[0]

    def scores(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Logits of pairs ``[2, m]`` of positions."""
        return self.scorer.score(self.known, check_pairs(pairs, self.graph.num_nodes))

    def pair(self, a: int, b: int, paths: int = PATHS) -> PairExplanation:
        """The score of a pair as what each group of features adds to it; see :func:`group_shares`."""
        first, second = check_starts(self.graph, [a, b], "pair").tolist()
        row = self.known.describe(np.array([[first], [second]]))
        score = self.scorer.logits(row)
        chance = self.scorer.probabilities(score)
        shares = group_shares(self.scorer.logits, row[0], self.scorer.background, self.scorer.names)
        terms = (Term(BASE, shares.base), *(Term(name, value) for name, value in shares.groups.items()))
        return PairExplanation(
            self.graph, (first, second), self.run.settings.task, self._linked(first, second), float(score[0]),
            float(chance[0]), (), terms, self.reach.walk_length, calibrated=True,
        )  # fmt: skip
