"""Explanations of a trained run on a graph."""

import math
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit

from graphreach.arguments import check_pairs, check_whole, describe
from graphreach.errors import InputError
from graphreach.explain.explanations import AnchorTerm, NearAnchor, NodeExplanation, PairExplanation, Term
from graphreach.explain.likely_paths import likely_paths
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.nn.decoders import PairTerms
from graphreach.nn.graph_reach import GraphReach
from graphreach.reachability import Reachability
from graphreach.tasks.dataset import Sample
from graphreach.training.methods import choose_anchors, model_reachability, reach_inputs
from graphreach.training.trained_run import TrainedRun
from graphreach.walks.random_walks import check_starts

THERE, BACK = "reachability, first to second", "reachability, second to first"
PATHS = 10
"""Anchors that paths are looked for to."""


class Explainer:
    """A trained run on a graph, whose reachability and embeddings are computed once for many explanations.

    Args:
        run: A trained run of method ``graphreach``.
        graph: The graph to look at: all edges, as ``graphreach predict`` does, or the graph of the run's split.
        x: Features, if the run was trained with them.
        walk_graph: The graph that walks see, if it has other weights than ``graph``.

    Attributes:
        reach: Reachability as the model reads it, as shares of visits.
        z: Embeddings ``[n, d]``.

    Example:
        >>> import tempfile
        >>> import graphreach as gr
        >>> grid = gr.datasets.load("grid")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     settings = gr.training.Settings(preset="paper", num_anchors=4, epochs=1, evaluate_every=1)
        ...     _ = gr.training.run(grid, settings, folder)
        ...     explainer = Explainer(gr.training.TrainedRun(folder), grid[0].graph)
        >>> explainer.pair(0, 1).pair, len(explainer.pair(0, 1).anchors)
        ((0, 1), 4)
    """

    def __init__(
        self, run: TrainedRun, graph: Graph, x: NDArray[np.float32] | None = None, *, walk_graph: Graph | None = None
    ) -> None:
        if not isinstance(run, TrainedRun):
            raise InputError(f"run must be a TrainedRun, got {describe(run)}")
        check_graph(graph)
        if walk_graph is not None:
            check_graph(walk_graph, "walk_graph")
        if x is not None:
            x = Sample(graph, x).x
        if run.settings.method != "graphreach" or not isinstance(run.model.encoder, GraphReach):
            raise InputError(f"run must be of method graphreach to be explained by anchors, got {run.settings.method}")
        run.check_features(x)
        table = run.model.encoder.table
        if table is not None and table.num_embeddings != graph.num_nodes:
            raise InputError(
                f"graph must have the {table.num_embeddings} nodes that the run learned vectors of (identity), "
                f"got {graph.num_nodes}: neither another graph nor one of several can be explained"
            )
        seen, x = graph if walk_graph is None else walk_graph, x if run.settings.features else None
        plan, anchors = run.plan(graph.num_nodes, x is not None), run.anchors_on(graph)
        if anchors is None:
            anchors = choose_anchors(seen, plan)
        self.run, self.graph, self.walk_graph, self.encoder = run, graph, seen, run.model.encoder
        self.reach: Reachability = model_reachability(seen, anchors, plan)
        inputs = reach_inputs(seen, x, plan, self.reach)
        self.z: NDArray[np.float32] = np.concatenate(list(inputs.blocks(self.encoder)))

    @property
    def anchors(self) -> NDArray[np.int64]:
        """Positions of the anchors, ``[k]``."""
        return self.reach.anchors

    def class_probabilities(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The probability of each class for some nodes, ``[m, classes]``."""
        return self.run.class_probabilities(self.z, nodes).astype(np.float64)

    def terms(self, pairs: NDArray[np.int64]) -> PairTerms:
        """What adds up to the logits of pairs ``[2, m]`` of positions; with :class:`graphreach.nn.PairTerms.total`.

        Links of the graph are left out of it for their own reachability, as in training.
        """
        if self.run.settings.task == "node":
            raise InputError("run must be of task link or pair to explain pairs, got task node")
        pairs = check_pairs(pairs, self.graph.num_nodes)
        nodes, index = np.unique(pairs, return_inverse=True)
        z = torch.from_numpy(self.z[nodes])
        own = self.run.pair_reach(pairs, self.graph)
        return self.encoder.explain(z, torch.from_numpy(index.reshape(pairs.shape)), own)

    def scores(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Logits of pairs ``[2, m]`` of positions."""
        return self.terms(pairs).total

    def pair(self, a: int, b: int, paths: int = PATHS) -> PairExplanation:
        """Why the pair has its score.

        Args:
            a: Position of the first end.
            b: Position of the second.
            paths: How many of the first anchors to find paths to.
        """
        check_whole("paths", paths, 0)
        ends = check_starts(self.graph, [a, b], "pair").astype(np.int64)
        if ends[0] == ends[1]:
            raise InputError(f"pair must be two different nodes, got {a} twice")
        terms = self.terms(ends[:, None])
        own = terms.anchors[0]
        order = np.argsort(-np.abs(own), kind="stable")
        others = _other_terms(terms, self.encoder)
        score = math.fsum([*own, *(term.contribution for term in others)])
        to, back = self.rows(ends)
        length = self.reach.walk_length
        found = [likely_paths(self.walk_graph, int(end), self.anchors[order[:paths]], length) for end in ends]
        anchors = [
            AnchorTerm(
                int(self.anchors[i]), float(own[i]), (float(to[0, i]), float(to[1, i])),
                (float(back[0, i]), float(back[1, i])),
                (found[0][rank], found[1][rank]) if rank < paths else (None, None),
            )
            for rank, i in enumerate(order.tolist())
        ]  # fmt: skip
        first, second = ends.tolist()
        return PairExplanation(
            self.graph, (first, second), self.run.settings.task, self._linked(first, second), score, float(expit(score)),
            tuple(anchors), tuple(others), self.reach.walk_length,
        )  # fmt: skip

    def node(self, a: int, paths: int = PATHS) -> NodeExplanation:
        """Where the node stands among the anchors.

        Args:
            a: Position.
            paths: How many of the first anchors to find paths to.
        """
        check_whole("paths", paths, 0)
        node = check_whole("node", a, 0, self.graph.num_nodes - 1)
        (to,), (back,) = self.rows(np.array([node]))
        order = np.lexsort((-back, -to))
        found = likely_paths(self.walk_graph, node, self.anchors[order[:paths]], self.reach.walk_length)
        anchors = [
            NearAnchor(int(self.anchors[i]), float(to[i]), float(back[i]), found[rank] if rank < paths else None)
            for rank, i in enumerate(order.tolist())
        ]
        graph, (count, labels) = self.graph, self._components
        return NodeExplanation(
            graph, node, bool(np.isin(node, self.anchors)), int(graph.indptr[node + 1]) - int(graph.indptr[node]),
            float(graph.degree[node]), float(np.mean(graph.degree < graph.degree[node])),
            int(np.count_nonzero(labels == labels[node])), count, self._meets_anchor(node),
            int(np.count_nonzero(to)), tuple(anchors), self.reach.walk_length,
        )  # fmt: skip

    def rows(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """s(v, a) and s(a, v) of some nodes, both ``[m, k]``; of steps kept apart, their mean."""
        shares = []
        for matrix in (self.reach.to_anchors, self.reach.from_anchors):
            rows: Any = matrix[nodes]
            dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
            shares.append(dense.reshape(len(nodes), len(self.anchors), -1).mean(2, dtype=np.float64))
        return shares[0], shares[1]

    def _linked(self, a: int, b: int) -> bool:
        graph = self.graph
        there, back = (graph.indices[graph.indptr[u] : graph.indptr[u + 1]] for u in (a, b))
        return bool(np.any(there == b) or np.any(back == a))

    @cached_property
    def _components(self) -> tuple[int, NDArray[np.int32]]:
        from scipy.sparse.csgraph import connected_components

        count, labels = connected_components(self.graph.to_scipy(), directed=False)
        return int(count), labels

    @cached_property
    def _jumps(self) -> Any:
        """Probabilities of jumps, turned so that a distribution is multiplied from the left."""
        from scipy.sparse import diags_array

        degree = self.walk_graph.degree
        inverse = np.divide(1.0, degree, out=np.zeros(len(degree)), where=degree > 0)
        return (diags_array(inverse) @ self.walk_graph.to_scipy()).T.tocsr()

    def _meets_anchor(self, node: int) -> float:
        """The chance to be absorbed by an anchor within the walk's length; the start itself is no meeting."""
        others = self.anchors[self.anchors != node]
        at, met = np.zeros(self.graph.num_nodes), 0.0
        at[node] = 1.0
        for _ in range(self.reach.walk_length):
            at = self._jumps @ at
            met += float(at[others].sum())
            at[others] = 0.0
        return min(met, 1.0)


def explain_pair(
    run: TrainedRun, graph: Graph, a: int, b: int, x: NDArray[np.float32] | None = None
) -> PairExplanation:
    """Why a run gives a pair of positions its score; see :class:`Explainer` for many at a time."""
    return Explainer(run, graph, x).pair(a, b)


def explain_node(run: TrainedRun, graph: Graph, a: int, x: NDArray[np.float32] | None = None) -> NodeExplanation:
    """Where a node of a run stands among the anchors; see :class:`Explainer` for many at a time."""
    return Explainer(run, graph, x).node(a)


def _other_terms(terms: PairTerms, encoder: GraphReach) -> list[Term]:
    found = [] if encoder.local is None else [Term("neighbourhood", float(terms.neighbourhood[0]))]
    if terms.reachability.size:
        found += [
            Term(name, float(each.sum())) for name, each in zip((THERE, BACK), terms.reachability[0], strict=True)
        ]
    return [*found, Term("bias", terms.bias)] if terms.bias else found
