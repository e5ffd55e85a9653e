"""A run of method ``reach`` on a graph: scores of pairs or classes of nodes, and where nodes stand among the anchors."""

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_pairs, describe
from graphreach.errors import InputError
from graphreach.explain.explainer import Explainer
from graphreach.explain.links import SHOWN, PlacedPair, explain_links
from graphreach.explain.pair_groups import LinkExplanation
from graphreach.graph import Graph
from graphreach.pairs.position import positions
from graphreach.reachability import reachability
from graphreach.reachability.classes import POSITION_LENGTHS
from graphreach.training.class_run import ClassRun
from graphreach.training.loaded_run import Features, LoadedRun
from graphreach.training.reach_run import ReachRun
from graphreach.training.trained_run import TrainedRun

RELATION = "of one class"
"""What pairs of a run that does not learn links are."""


class ReachExplainer(Explainer):
    """A run of method ``reach`` on a graph, whose positions are computed once for many explanations.

    Args:
        run: The run, as :func:`graphreach.training.load_run` gives it.
        graph: The graph to look at.
        x: Features, if the run was trained with them.

    Attributes:
        reach: Reachability of the anchors, for the longest walks that the run reads.
        z: Positions of the nodes relative to the anchors, ``[n, k]``.
    """

    def __init__(self, run: LoadedRun | TrainedRun, graph: Graph, x: Features = None) -> None:
        if not isinstance(run, ReachRun | ClassRun):
            raise InputError(f"run must be of method reach, as load_run gives it, got {describe(run)}")
        self.run, self.graph, self.walk_graph = run, graph, graph  # type: ignore[assignment]
        if isinstance(run, ClassRun):
            self.chances = run.embed(graph, x)
            anchors, length = run.scorer.match(graph).positions, max(POSITION_LENGTHS)
        else:
            self.known, self.scorer = run.embed(graph, x), run.scorer
            anchors, length = self.known.features.anchors, max(run.scorer.recipe.lengths)
        self.reach = reachability(graph, anchors, method="auto", walk_length=length)
        self.z: NDArray[np.float32] = positions(graph, anchors, (length,)).nodes[0]

    def class_probabilities(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The probability of each class for some nodes, ``[m, classes]``."""
        return self.run.class_probabilities(self.chances, nodes)  # type: ignore[arg-type,return-value]

    def scores(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Logits of pairs ``[2, m]`` of positions."""
        self._check_pairs()
        return self.scorer.score(self.known, check_pairs(pairs, self.graph.num_nodes))

    def pair(self, a: int, b: int, num_anchors: int = SHOWN) -> LinkExplanation:  # type: ignore[override]
        """Why a pair of positions has its probability; see :func:`explain_reach_pair`."""
        (found,) = self.pairs(np.array([[a], [b]]), num_anchors)
        return found.explanation

    def pairs(self, pairs: NDArray[np.int64], num_anchors: int = SHOWN) -> list[PlacedPair]:
        """Why pairs ``[2, m]`` of positions have their probabilities, with positions of the nodes that are named."""
        self._check_pairs()
        listed = check_pairs(pairs, self.graph.num_nodes)
        rate = self.scorer.rate(self.graph)
        return explain_links(self.known, self.scorer, listed, rate, RELATION, num_anchors)

    def _check_pairs(self) -> None:
        if self.run.settings.task == "node":
            raise InputError("run must be of task link or pair to explain pairs, got task node")


def explain_reach_pair(
    run: ReachRun, graph: Graph, pair: tuple[int, int], x: Features = None, num_anchors: int = SHOWN
) -> LinkExplanation:
    """Why a run of method ``reach`` gives a pair of positions its probability.

    Args:
        run: The run, as :func:`graphreach.training.load_run` gives it.
        graph: The graph to look at.
        pair: Positions of two different nodes.
        x: Features, if the run was trained with them.
        num_anchors: Number of anchors to name.
    """
    pairs, rate = np.array(pair)[:, None], run.scorer.rate(graph)
    (found,) = explain_links(run.embed(graph, x), run.scorer, pairs, rate, RELATION, num_anchors)
    return found.explanation
