"""The columns that describe a pair: direct reachability, position, degree, return."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.anchors import select_anchors
from graphreach.arguments import check_flag, check_pairs, describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.limits import check_memory
from graphreach.pairs.direct import edge_weights, exact_between, sampled_between, without_edges
from graphreach.pairs.own_edge import Between, OwnEdge, without_own_edge
from graphreach.pairs.position import (
    ALIKE,
    COMPARED,
    OwnRows,
    compare,
    in_degree,
    mean_powers,
    positions,
    to_lift,
    volume,
)
from graphreach.pairs.recipe import PairRecipe
from graphreach.pairs.updated_means import updated_means
from graphreach.walks.random_walks import check_starts
from graphreach.walks.rng import check_seed

ANCHOR_WALK = 10
"""Jumps of the walks that anchors are chosen by."""

GEOMETRIC = 1e5
"""Scale of the geometric mean of both directions, below whose inverse it counts for nothing."""

RETURNS = (2, 3, 4)
"""Steps of the return probabilities that are columns."""

NEVER = 1e-6
"""Stands for a return probability of zero in a logarithm."""

GROUPS = ("direct", "position", "degree", "return")
"""Groups of columns; a column's name begins with that of its group."""

OTHER_KIND = {
    True: "graph must be directed, as the one that was learned from, got an undirected one; fit(graph) learns from it, or "
    "read it with directed=True (--directed)",
    False: "graph must be undirected, as the one that was learned from, got a directed one; fit(graph) learns from it, or "
    "read it with directed=False (--undirected)",
}
"""What is said of a graph that is not directed as the recipe is."""

Array = NDArray[np.float32]


class PairFacts(NamedTuple):
    """What stands behind the columns of pairs, of both nodes in the order asked for, without the pair's own edge.

    Attributes:
        degree: Degrees, ``[2, m]``; in a directed graph that from the first node and that to the second.
        mean_degree: The mean degree of the graph, ``[m]``.
        back: P^t(u, u) of both nodes for each t of :data:`RETURNS`, ``[2, m, 3]``.
        place: Log-lift of walks between both nodes and the anchors, the mean over the lengths, ``[2, m, k]``; in a
            directed graph of walks from the first node to the anchors and from the anchors to the second.
    """

    degree: NDArray[np.float64]
    mean_degree: NDArray[np.float64]
    back: NDArray[np.float64]
    place: Array

    def of(self, pair: int) -> "PairFacts":
        """Those of one pair, without the axis of pairs."""
        return PairFacts(self.degree[:, pair], self.mean_degree[pair], self.back[:, pair], self.place[:, pair])

    def turned(self, pairs: NDArray[np.int64]) -> "PairFacts":
        """With both nodes of some pairs exchanged."""
        for part in (self.degree, self.back, self.place):
            part[:, pairs] = part[::-1, pairs].copy()
        return self


class _Seen(NamedTuple):
    """What walks do between the nodes of pairs, of an undirected graph in ascending order."""

    pairs: NDArray[np.int64]
    linked: NDArray[np.bool_]
    edge: OwnEdge
    into: NDArray[np.float64]
    between: Between
    own: OwnRows | None


def pair_features(
    graph: Graph, pairs: ArrayLike, *, exclude_own_edge: bool = True, anchors: ArrayLike | None = None, seed: int = 0,
    **recipe: Any,
) -> tuple[Array, list[str]]:  # fmt: skip
    r"""Describe pairs of nodes by reachability, for a learner of links or of any other relation.

    All columns are computed from the graph without the pair's own edge, as a link that has to be predicted has none. With
    :math:`d` the (weighted) degrees and :math:`\mathrm{lift}_t(u, v) = P^t(u, v) \, vol / d_v`:

    - *direct*: :math:`\log(1 + \mathrm{lift}_t)` and :math:`\log(1 + 10^5 \sqrt{P^t(u, v) P^t(v, u)})` for
      t = 2 .. ``steps``;
    - *position*: mean product, cosine, mean absolute difference and overlap of the two rows of log(1 + lift) to greedy
      anchors, averaged over walks of each of ``lengths``;
    - *degree*: log(1 + smaller) and log(1 + larger) degree, divided by the mean weight of an edge, so that the unit of
      the weights changes nothing;
    - *return*: log(P^t(u, u) + P^t(v, v)) and their difference.

    In an undirected graph a pair and its reverse have the same features. In a directed one both directions are columns of
    their own, so are in- and out-degrees, and positions are those of walks to the anchors and from them.

    With ``method="exact"``, renumbering the nodes changes nothing as long as the anchors are the same nodes: where they are
    given, or where all nodes are anchors, as in a graph with at most ``num_anchors`` nodes. Otherwise they are chosen by
    walks whose random numbers depend on the positions of nodes, so that a graph whose nodes are renumbered gets some other
    anchors, as it does with another ``seed``.

    Args:
        graph: The graph.
        pairs: Positions of different nodes, ``[2, m]``, as ``edge_index`` is.
        exclude_own_edge: Whether the edge between the nodes of a pair is left out, both directions of it in a directed
            graph; the result is that of deleting it. Pairs that have an edge take longer than those that have none. With
            ``method="walks"`` the edges of all listed pairs are left out together.
        anchors: Positions of the anchors; by default greedy ones.
        seed: Random seed for the anchors and for walks.
        recipe: ``steps``, ``lengths``, ``num_anchors``, ``method`` and ``num_walks`` of
            :class:`graphreach.pairs.PairRecipe`; by default what suits the graph.

    Returns:
        Features ``[m, f]`` and their names.

    Example:
        >>> import graphreach as gr
        >>> square = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> features, names = pair_features(square, [[0, 0], [1, 2]], steps=2, lengths=(2,))
        >>> names[:2]
        ['direct.lift_2', 'direct.mean_2']
        >>> features[:, 0].round(3)  # two paths of length 2 join opposite corners
        array([0.   , 1.099], dtype=float32)
    """
    listed = check_pairs(pairs, check_graph(graph).num_nodes)
    unknown = [name for name in recipe if name not in ("steps", "lengths", "num_anchors", "method", "num_walks")]
    if unknown:
        raise InputError(f"{unknown[0]} must be one of steps, lengths, num_anchors, method, num_walks")
    chosen = PairRecipe.for_graph(graph, listed.shape[1], **recipe)
    found = PairFeatures(graph, chosen, anchors, seed)
    return found.describe(listed, exclude_own_edge), found.names


class PairFeatures:
    """Describes pairs of one graph; anchors and positions are computed once.

    Args:
        graph: The graph.
        recipe: Which columns, and how.
        anchors: Positions of the anchors; by default greedy ones.
        seed: Random seed for the anchors and for walks.
    """

    def __init__(self, graph: Graph, recipe: PairRecipe, anchors: ArrayLike | None = None, seed: int = 0) -> None:
        if recipe.directed != graph.directed:
            raise InputError(OTHER_KIND[recipe.directed])
        self.graph, self.recipe, self.seed = graph, recipe.resolved(graph), check_seed(seed)
        self.anchors = self._anchors(anchors)
        self._into = in_degree(graph)
        self._nodes: dict[str, list[Array]] = {}
        self._means: dict[str, list[Array]] = {}

    def _anchors(self, given: ArrayLike | None) -> NDArray[np.int64]:
        if given is not None:
            found = check_starts(self.graph, given, "anchors").astype(np.int64)
            if not len(found) or len(np.unique(found)) < len(found):
                raise InputError(f"anchors must be different nodes, at least one, got {describe(given)}")
            return found
        count = min(self.recipe.num_anchors, self.graph.num_nodes)
        return select_anchors(self.graph, count, walk_length=ANCHOR_WALK, seed=self.seed).anchors

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.names_of(self.recipe)

    @staticmethod
    def names_of(recipe: PairRecipe) -> list[str]:
        """Names of the columns of a recipe."""
        ways = ("forward", "back") if recipe.directed else ("lift",)
        direct = [f"direct.{way}_{t}" for t in range(recipe.first_step, recipe.steps + 1) for way in (*ways, "mean")]
        sides = ("to", "from", "cross") if recipe.directed else ("to",)
        position = [
            f"position.{what}_{length}" + (f"_{side}" if recipe.directed else "")
            for side in sides
            for length in recipe.lengths
            for what in COMPARED
        ]
        ends = ("out_first", "in_first", "out_second", "in_second") if recipe.directed else ("low", "high")
        back = [f"return.{what}_{t}" for t in RETURNS for what in ("sum", "gap")]
        return direct + position + [f"degree.{end}" for end in ends] + back

    def describe(self, pairs: NDArray[np.int64], exclude_own_edge: bool = True) -> Array:
        """Features of pairs ``[2, m]``, ``[m, f]``."""
        features, seen = self._seen(pairs, exclude_own_edge)
        return features._columns(seen)[0]

    def facts(self, pairs: NDArray[np.int64], exclude_own_edge: bool = True) -> tuple[Array, PairFacts]:
        """Features of pairs ``[2, m]`` as :meth:`describe` gives them, and what stands behind them of both nodes."""
        features, seen = self._seen(pairs, exclude_own_edge)
        columns, ends = features._columns(seen)
        found = PairFacts(
            np.stack([seen.edge.degree[0], seen.into[1]]),
            (volume(features.graph) - seen.edge.weight.sum(axis=0)) / self.graph.num_nodes,
            np.stack([seen.between[end, end, list(RETURNS)].T for end in (0, 1)]),
            features._place(seen, ends),
        )
        return columns, found.turned(np.flatnonzero(pairs[0] != seen.pairs[0]))

    def _place(self, seen: "_Seen", ends: dict[str, list[Array]]) -> Array:
        """Mean positions of both nodes of each pair, without its own edge, ``[2, m, k]``."""
        count, found = np.count_nonzero(seen.linked), []
        for end, side in enumerate(("to", "from" if self.graph.directed else "to")):
            rows = np.mean([nodes[seen.pairs[end]] for nodes in self.positions(side)], axis=0)
            if count:
                own = slice(end * count, (end + 1) * count)
                rows[seen.linked] = np.mean([nodes[own] for nodes in ends[side]], axis=0)
            found.append(rows)
        return np.stack(found)

    def _seen(self, pairs: NDArray[np.int64], exclude_own_edge: bool) -> tuple["PairFeatures", "_Seen"]:
        """The graph as pairs are described by it, which walks see without their edges; and what walks do between them."""
        check_flag("exclude_own_edge", exclude_own_edge)
        same = np.flatnonzero(pairs[0] == pairs[1])
        if len(same):
            (node,) = self.graph.ids[pairs[0, same[:1]]].tolist()
            raise InputError(f"pairs must be of two different nodes, got {node!r} with itself")
        check_memory(
            8 * 40 * pairs.shape[1] * self.recipe.steps,
            f"features of {pairs.shape[1]} pairs",
            "give fewer pairs at a time",
        )
        if not self.graph.directed:
            pairs = np.sort(pairs, axis=0)  # so that a pair and its reverse agree in every bit
        weight = np.stack([edge_weights(self.graph, side) for side in (pairs, pairs[::-1])])
        linked: NDArray[np.bool_] = np.logical_and((weight > 0).any(axis=0), exclude_own_edge)
        if self.recipe.method == "walks" and linked.any():
            seen = without_edges(self.graph, pairs[:, linked])
            return PairFeatures(seen, self.recipe, self.anchors, self.seed)._seen(pairs, exclude_own_edge)
        none = np.zeros_like(weight)
        edge = OwnEdge(np.where(linked, weight, none), self.graph.degree[pairs] - np.where(linked, weight, none))
        into = self._into[pairs] - np.where(linked, weight[::-1], none)
        steps = max(self.recipe.steps, *RETURNS)
        between = np.zeros((2, 2, steps + 1, pairs.shape[1]))
        own = None
        if linked.any():
            far = max(steps, *self.recipe.lengths)
            after = without_own_edge(exact_between(self.graph, pairs[:, linked], far, far), edge.take(linked))
            own = OwnRows(pairs[:, linked], after, edge.take(linked), into[:, linked])
            between[..., linked] = after[:, :, : steps + 1]
        if not linked.all():
            between[..., ~linked] = self._between(pairs[:, ~linked], steps)
        return self, _Seen(pairs, linked, edge, into, between, own)

    def _columns(self, seen: "_Seen") -> tuple[Array, dict[str, list[Array]]]:
        """All columns, and positions of the ends of pairs whose own edge is left out."""
        out = np.empty((seen.pairs.shape[1], len(self.names)), np.float32)
        self._simple(out, seen.between, seen.edge, seen.into)
        return out, self._positions(out, seen.pairs, seen.linked, seen.own)

    def _between(self, pairs: NDArray[np.int64], steps: int) -> Between:
        if self.recipe.method == "walks":
            return sampled_between(self.graph, pairs, self.recipe.steps, self.recipe.num_walks, self.seed)
        return exact_between(self.graph, pairs, steps, max(RETURNS))

    def _mean_weight(self, edge: OwnEdge) -> NDArray[np.float64] | float:
        """The mean weight of the edges but each pair's own."""
        if self.graph.weights is None:
            return 1.0
        count = len(self.graph.weights) - np.count_nonzero(edge.weight, axis=0)
        total = volume(self.graph) - edge.weight.sum(axis=0)
        found: NDArray[np.float64] = np.divide(total, count, out=np.ones(count.shape), where=(count > 0) & (total > 0))
        return found

    def _simple(self, out: Array, between: Between, edge: OwnEdge, into: NDArray[np.float64]) -> None:
        """Columns of direct reachability, degree and return."""
        recipe, column = self.recipe, 0
        lost = edge.weight.sum(axis=0) if recipe.directed else 2 * edge.weight[0]
        lift = np.divide(volume(self.graph) - lost, into, out=np.zeros(into.shape), where=into > 0)
        for t in range(recipe.first_step, recipe.steps + 1):
            there, back = between[0, 1, t], between[1, 0, t]
            for value in (there * lift[1], back * lift[0])[: 2 if recipe.directed else 1]:
                out[:, column] = np.log1p(value)
                column += 1
            out[:, column] = np.log1p(GEOMETRIC * np.sqrt(there * back))
            column += 1
        column += ALIKE * len(recipe.lengths) * (3 if recipe.directed else 1)
        if recipe.directed:
            ends = np.stack([edge.degree[0], into[0], edge.degree[1], into[1]])
        else:
            ends = np.sort(edge.degree, axis=0)
        unit = self._mean_weight(edge)
        for each in ends:
            out[:, column] = np.log1p(np.maximum(each, 0.0) / unit)
            column += 1
        for t in RETURNS:
            first, second = between[0, 0, t], between[1, 1, t]
            out[:, column] = np.log(first + second + NEVER)
            out[:, column + 1] = np.abs(first - second)
            column += 2

    def positions(self, side: str = "to") -> list[Array]:
        """Positions of all nodes relative to the anchors, ``[n, k]`` for each of the recipe's lengths.

        Args:
            side: ``"to"`` for walks from nodes to anchors, ``"from"`` for walks from anchors to nodes.
        """
        if side not in self._nodes:
            if side in self._means:
                self._nodes[side] = to_lift(self.graph, self.anchors, side, self._means[side])
            else:
                self._nodes[side] = positions(self.graph, self.anchors, self.recipe.lengths, side).nodes
        return self._nodes[side]

    @property
    def sides(self) -> tuple[str, ...]:
        """The directions of the walks between nodes and anchors from which positions come."""
        return ("to", "from") if self.graph.directed else ("to",)

    def means(self, side: str = "to") -> list[Array]:
        """Mean powers between all nodes and the anchors, which :meth:`positions` scales; kept once they are asked for.

        Args:
            side: See :meth:`positions`.
        """
        if side not in self._means:
            self._means[side] = mean_powers(self.graph, self.anchors, self.recipe.lengths, side).nodes
        return self._means[side]

    def follow(self, before: "PairFeatures") -> NDArray[np.bool_]:
        """Take over from an earlier graph what has not changed, and tell which nodes have changed.

        These are nodes with another degree, or another reachability to or from the anchors, than in the earlier graph. New
        nodes have changed, and if there are other anchors all nodes have. The sum of all degrees, by which reachability is
        scaled and which every added edge changes, does not count.

        Args:
            before: Features of the graph as it was; its nodes are the first ones of this graph, in the same order.
        """
        n = before.graph.num_nodes
        found = np.ones(self.graph.num_nodes, np.bool_)
        if not np.array_equal(self.anchors, before.anchors):
            return found
        found[:n] = (self.graph.degree[:n] != before.graph.degree) | (self._into[:n] != before._into)
        for side in self.sides:
            then = before.means(side)
            now = updated_means(before.graph, then, self.graph, self.anchors, self.recipe.lengths, side)
            self._means[side] = now.means
            rows = np.arange(n) if now.touched is None else now.touched[now.touched < n]
            for own, old in zip(now.means, then, strict=True):
                found[rows] |= (own[rows] != old[rows]).any(axis=1)
        return found

    def _positions(
        self, out: Array, pairs: NDArray[np.int64], linked: NDArray[np.bool_], own: OwnRows | None
    ) -> dict[str, list[Array]]:
        recipe = self.recipe
        column = (recipe.steps - recipe.first_step + 1) * (3 if recipe.directed else 2)
        ends: dict[str, list[Array]] = {}
        for side in self.sides:
            if own is None:
                self.positions(side)
            else:
                found = positions(self.graph, self.anchors, recipe.lengths, side, own)
                self._nodes[side], ends[side] = found.nodes, found.ends
        block = np.empty((pairs.shape[1], ALIKE), np.float32)
        for one, other in (("to", "to"), ("from", "from"), ("to", "from")) if recipe.directed else (("to", "to"),):
            for number in range(len(recipe.lengths)):
                compare(self._nodes[one][number], self._nodes[other][number], pairs, block)
                if own is not None:
                    count = own.pairs.shape[1]
                    part, rows = np.empty((count, ALIKE), np.float32), np.arange(2 * count).reshape(2, count)
                    compare(ends[one][number], ends[other][number], rows, part)
                    block[linked] = part
                out[:, column : column + ALIKE] = block
                column += ALIKE
        return ends


def both_isolated(features: Array, names: Sequence[str]) -> NDArray[np.bool_]:
    """Which of the described pairs consist of two nodes without any edge, except for the one that is left out."""
    degrees = [column for column, name in enumerate(names) if name.startswith("degree.")]
    found: NDArray[np.bool_] = (features[:, degrees] == 0).all(axis=1)
    return found
