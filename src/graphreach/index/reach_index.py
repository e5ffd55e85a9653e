"""Reachability to anchors, kept up to date while edges come and go."""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.anchors import AnchorSet, select_anchors
from graphreach.arguments import check_choice, check_flag, check_number
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import compact
from graphreach.graph.change_kernels import ADD, REMOVE, changed_rows
from graphreach.graph.changes import Changes, check_found, resolve_changes
from graphreach.graph.checks import check_graph
from graphreach.graph.updated import sides_after
from graphreach.index.exact_layers import ExactLayers
from graphreach.index.rows import Changed, Rows
from graphreach.index.walk_counts import Turned, WalkCounts
from graphreach.reachability.reachability import check_anchors
from graphreach.reachability.result import Reachability
from graphreach.reachability.sampled import Counting
from graphreach.walks.defaults import NUM_WALKS, WALK_LENGTH
from graphreach.walks.random_walks import check_starts
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count, resolve_walk_length

TOLERANCE = 1e-6
"""Largest error of exact reachability by what updates leave out."""

MOST_STEPS = 65_534
"""Maximum number of jumps of a walk."""


class IndexUpdate(NamedTuple):
    """What an update did.

    Attributes:
        added: Number of edges that were added.
        present: Number of edges in ``add`` that were there already; in a weighted graph their weights grew.
        removed: Number of edges that were removed.
        reweighted: Number of edges that got another weight.
        new_nodes: Positions of the new nodes.
        walks: Number of walks that take another way now; 0 if exact.
        to_anchors: Positions of the nodes whose reachability to anchors changed, ascending.
        from_anchors: Positions of the nodes whose reachability from anchors changed, ascending.
        coverage: The share of nodes from which an anchor is reached after the update; see :attr:`ReachIndex.coverage`.
        error_bound: Largest possible error of an entry after the update; see :attr:`ReachIndex.error_bound`.

    Example:
        >>> import graphreach as gr
        >>> index = gr.ReachIndex(gr.Graph.from_edges([[0, 1], [1, 2]]), [0], num_walks=10, walk_length=2)
        >>> update = index.update(add=[(0, 2), (0, 1)])
        >>> update.added, update.present, update.changed
        (1, 1, array([1, 2]))
    """

    added: int
    present: int
    removed: int
    reweighted: int
    new_nodes: NDArray[np.int64]
    walks: int
    to_anchors: NDArray[np.int64]
    from_anchors: NDArray[np.int64]
    coverage: float
    error_bound: float

    @property
    def changed(self) -> NDArray[np.int64]:
        """Positions of the nodes with another row in either direction, rising."""
        return np.union1d(self.to_anchors, self.from_anchors)


class ReachIndex:
    r"""Reachability of all nodes to anchors and back, kept up to date under batches of edges that come, go or change their
    weights, and of new nodes.

    By walks, the result after any updates equals :func:`graphreach.reachability` of the changed graph bit for bit. The
    random numbers of a walk are a hash of (seed, start, walk, step), so a walk that never leaves a changed node for another
    neighbour stays the same. The index knows for each node which walks leave it at which step. An update looks at the
    walks that leave the ends of its edges, and follows those that take another way, before and after.

    Exact reachability is updated by what a change adds to each power of the transition matrix. Changes that are too small
    are not passed on; they are summed up in :attr:`error_bound`, which stays below ``tolerance``.

    Anchors stay. :attr:`coverage` follows the graph, and :meth:`gain` says how much more newly chosen anchors would cover.

    Args:
        graph: The graph before any update.
        anchors: Positions of the anchors, such as the result of :func:`select_anchors`.
        method: ``"walks"`` or ``"exact"``.
        similarity: ``"frequency"``, or ``"order"`` with walks.
        num_walks: Walks from each node.
        walk_length: Jumps of a walk, or ``"diameter"``, which is that of the first graph.
        hops: L keeps the first L steps separate, as in :func:`graphreach.reachability`.
        seed: Random seed of the walks.
        steady: Whether walkers draw neighbours such that a changed row affects few of them, on a hub as on any other
            node. By default walks are those of :func:`graphreach.reachability`, of which a new neighbour changes a
            third of those that leave the node. Steady walks are other walks with the same distribution: the result
            equals that of a new index with ``steady=True``. For unweighted graphs.
        tolerance: Largest error of exact reachability from nodes to anchors.

    Example:
        >>> import graphreach as gr
        >>> star = gr.Graph.from_edges([[0, 0, 0], [1, 2, 3]])
        >>> index = gr.ReachIndex(star, [0], num_walks=10, walk_length=2)
        >>> update = index.update(add=[(3, 4)], remove=[(0, 1)])
        >>> index.graph, update.new_nodes
        (Graph(num_nodes=5, num_edges=3, directed=False, weighted=False), array([4]))
        >>> anew = gr.reachability(index.graph, [0], num_walks=10, walk_length=2)
        >>> bool((index.reachability().to_anchors == anew.to_anchors).all())
        True
    """

    def __init__(
        self,
        graph: Graph,
        anchors: ArrayLike | AnchorSet,
        method: str = "walks",
        similarity: str = "frequency",
        num_walks: int = NUM_WALKS,
        walk_length: int | str = WALK_LENGTH,
        hops: int | None = None,
        seed: int = 0,
        *,
        steady: bool = False,
        tolerance: float = TOLERANCE,
    ) -> None:
        check_graph(graph)
        self.anchors = check_anchors(graph, anchors)
        check_choice("method", method, ("walks", "exact"))
        check_choice("similarity", similarity, ("frequency", "order"))
        if similarity == "order" and (method == "exact" or hops is not None):
            raise InputError('similarity must be "frequency" with method="exact" or hops, got "order"')
        self.method, self.similarity = method, similarity
        self.num_walks, self.seed = check_count("num_walks", num_walks), check_seed(seed)
        self.walk_length = resolve_walk_length(graph, walk_length, hops=hops)
        if self.walk_length > MOST_STEPS:
            raise InputError(f"walk_length must be at most {MOST_STEPS} for an index, got {self.walk_length}")
        self.hops = None if hops is None else self.walk_length
        self.steady = check_flag("steady", steady)
        if steady and (method == "exact" or graph.weighted):
            what = "a weighted graph" if graph.weighted else 'method="exact"'
            raise InputError(f"steady must be False with {what}, got True: it is about walks that take each edge alike")
        self.tolerance = check_number("tolerance", tolerance, 0.0, 1.0)
        self.directed, self.weighted = graph.directed, graph.weighted
        self._lookup, self._sides = graph._lookup, graph.sides
        self._graph: Graph | None = graph
        self._walks: WalkCounts | None = None
        self._exact: list[ExactLayers] = []
        if method == "walks":
            counting = Counting(similarity, self.num_walks, self.walk_length, self.hops)
            self._walks = WalkCounts(graph, self.anchors, counting, self.seed, self.steady)
        else:
            self._exact = [
                ExactLayers(graph, self.anchors, self.walk_length, self.tolerance, hops is not None, backward)
                for backward in ([False, True] if graph.directed else [False])
            ]
        self._is_whole = True
        self._covered, self._num_covered = np.zeros(0, np.bool_), 0
        self._note_coverage(np.arange(self.num_nodes))

    @property
    def _rows(self) -> Rows:
        return self._exact[0].rows if self._walks is None else self._walks.rows

    @property
    def num_nodes(self) -> int:
        """The current number of nodes."""
        return self._rows.num_nodes

    @property
    def num_anchors(self) -> int:
        """The number of anchors."""
        return len(self.anchors)

    @property
    def graph(self) -> Graph:
        """The current graph, without times. After an update it is put together at the first access."""
        if self._graph is None:
            self._check_whole()
            rows = self._rows.csr()
            csr = compact(rows.pointer, rows.targets, rows.weights if self.weighted else None)
            self._graph = Graph(csr, self._lookup.ids, self.directed)
            self._graph.__dict__["_lookup"], self._graph.sides = self._lookup, self._sides
        return self._graph

    @property
    def ids(self) -> NDArray[Any]:
        """Ids of the nodes in the order of their positions."""
        return self._lookup.ids

    def index_of(self, ids: Any) -> Any:
        """The position of an id, or of each of several, as :meth:`Graph.index_of` gives it."""
        return self._lookup.find(ids)

    def update(
        self,
        add: Any = None,
        remove: Any = None,
        weights: Any = None,
        *,
        nodes: Iterable[Hashable] = (),
        self_loops: bool = False,
    ) -> IndexUpdate:
        """Add, remove and reweight edges; see :meth:`Graph.updated` for the forms of each.

        An update that is refused changes nothing. After an interrupted update the index refuses further use.

        Args:
            add: Edges by their ids: pairs, or triples with weights.
            remove: Edges to remove.
            weights: Triples with the new weights of edges.
            nodes: Ids of new nodes without edges.
            self_loops: Whether to add edges from a node to itself.
        """
        self._check_whole()
        check_flag("self_loops", self_loops)
        changes = resolve_changes(
            self._lookup, add, remove, weights, nodes=nodes, directed=self.directed, weighted=self.weighted,
            self_loops=self_loops,
        )  # fmt: skip
        before = self.num_nodes
        new, old, found = self._changed(changes, self._rows)
        check_found(changes, found, self._lookup)
        sides = None if self._sides is None else sides_after(self._sides, changes, self._lookup)
        arriving = self._arriving(changes) if self._exact and self.directed else None
        self._is_whole, self._graph, self._sides = False, None, sides
        if len(changes.ids):
            self._lookup = self._lookup.extended(changes.ids)
        turned = self._put(new, old, arriving, len(self._lookup))
        fresh = np.arange(before, self.num_nodes)
        self._note_coverage(np.union1d(turned.to_rows, fresh) if len(fresh) else turned.to_rows)
        self._is_whole = True
        is_added = changes.kind == ADD
        present, removed = int(np.count_nonzero(is_added & found)), int(np.count_nonzero(changes.kind == REMOVE))
        added = int(np.count_nonzero(is_added)) - present
        reweighted = len(found) - added - present - removed
        return IndexUpdate(
            added, present, removed, reweighted, fresh, turned.walks, turned.to_rows, turned.from_rows, self.coverage,
            self.error_bound,
        )  # fmt: skip

    def _check_whole(self) -> None:
        if not self._is_whole:
            raise InputError("index must be made anew: an update of it was interrupted, got one that is half done")

    def _changed(self, changes: Changes, of: Rows) -> tuple[Changed, Changed, NDArray[np.bool_]]:
        """Rows of the touched nodes, of which some come with this update, now and before; and which edges were there."""
        known = int(np.searchsorted(changes.touched, self.num_nodes))
        rows, late = of.taken(changes.touched[:known]), len(changes.touched) - known
        if late:
            ends = [np.full(late, pointer[-1]) for pointer in (rows.pointer, rows.walk_pointer)]
            rows = rows._replace(
                nodes=changes.touched, pointer=np.concatenate([rows.pointer, ends[0]]),
                walk_pointer=np.concatenate([rows.walk_pointer, ends[1]]),
            )  # fmt: skip
        pointer, targets, weights, found = changed_rows(
            changes.touched, rows.pointer, rows.targets, rows.weights, changes.source, changes.target, changes.weight,
            changes.kind, self.directed,
        )  # fmt: skip
        return of.changed(changes.touched, pointer, targets, weights, rows), rows, found

    def _arriving(self, changes: Changes) -> Changed:
        """The rows of edges that arrive at nodes, of those where they change."""
        order = np.lexsort((changes.source, changes.target))  # rows are made of changes in their order
        turned = changes._replace(
            source=changes.target[order], target=changes.source[order], touched=np.unique(changes.target),
            weight=changes.weight[order] if self.weighted else changes.weight, kind=changes.kind[order],
        )  # fmt: skip
        return self._changed(turned, self._exact[0].arriving)[0]

    def _put(self, new: Changed, old: Changed, arriving: Changed | None, num_nodes: int) -> Turned:
        if self._walks is not None:
            self._walks.grow(num_nodes)
            return self._walks.put(new, old)
        changed = []
        for layers in self._exact:
            layers.grow(num_nodes)
            changed.append(layers.put(new, old, arriving))
        return Turned(0, changed[0], changed[1] if self.directed else self._turned_back(changed[0], new.nodes))

    def _turned_back(self, changed: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Nodes with another s(a, v) in an undirected graph: it has deg(v) / deg(a), which change at the ends of edges."""
        layers = self._exact[0]
        listed = [changed, ends[(layers.rows_of(ends) > 0).any(axis=1)]]
        columns = np.flatnonzero(np.isin(self.anchors, ends))
        if len(columns):
            listed.append(layers.reaching(columns))
        return np.unique(np.concatenate(listed))

    def to_anchors(self, nodes: Any = None) -> NDArray[np.float32]:
        """s(v, a) of some nodes, or of all, ``[m, k]``, or ``[m, k, L]`` with hops.

        Args:
            nodes: Positions, or None.
        """
        self._check_whole()
        return self._to_anchors(slice(None) if nodes is None else check_starts(self, nodes, "nodes").astype(np.int64))

    def _to_anchors(self, chosen: Any) -> NDArray[np.float32]:
        rows = self._exact[0].rows_of(chosen) if self._walks is None else self._walks.to_rows(chosen)
        return rows if self.hops is None else rows.reshape(len(rows), len(self.anchors), self.hops)

    def reachability(self, layout: str = "dense") -> Reachability:
        """Both directions for all nodes, as :func:`graphreach.reachability` gives them for the current graph.

        Args:
            layout: ``"dense"`` or ``"csr"``.
        """
        self._check_whole()
        check_choice("layout", layout, ("dense", "csr"))
        if self._walks is not None:
            to, back = self._walks.to_matrix(layout), self._walks.from_matrix(layout)
        else:
            to = self._exact[0].matrix(layout)
            back = self._exact[1].matrix(layout) if self.directed else self._turned_round(to)
        if self.hops is not None and layout == "dense":
            to, back = (matrix.reshape(self.num_nodes, len(self.anchors), self.hops) for matrix in (to, back))
        exact = self.method == "exact"
        return Reachability(
            to, back, self.anchors, hops=self.hops, method=self.method, similarity=self.similarity,
            walk_length=self.walk_length, num_walks=None if exact else self.num_walks, seed=None if exact else self.seed,
        )  # fmt: skip

    def _turned_round(self, to: Any) -> Any:
        """s(a, v) from s(v, a) in an undirected graph: deg(v) s(v, a) = deg(a) s(a, v)."""
        inverse = self._exact[0].inverse[: self.num_nodes]
        degree = np.divide(1.0, inverse, out=np.zeros(len(inverse)), where=inverse > 0)
        columns = np.repeat(inverse[self.anchors], self.hops or 1)
        if isinstance(to, np.ndarray):
            return (to * degree[:, None] * columns).astype(np.float32)
        back = to.copy()
        back.data = (to.data * np.repeat(degree, np.diff(to.indptr)) * columns[to.indices]).astype(np.float32)
        return back

    @property
    def error_bound(self) -> float:
        """The largest error of an entry of ``to_anchors`` from what updates left out, before rounding; 0 with walks."""
        return max((layers.error_bound for layers in self._exact), default=0.0)

    @property
    def coverage(self) -> float:
        """The share of nodes from which an anchor other than the node itself is reached.

        With updated exact powers, values up to :attr:`error_bound` do not count as reached.
        """
        return self._num_covered / self.num_nodes

    def _note_coverage(self, nodes: NDArray[np.int64]) -> None:
        if len(self._covered) < self.num_nodes:
            self._covered = np.concatenate([self._covered, np.zeros(self.num_nodes - len(self._covered), np.bool_)])
        order, noise = np.argsort(self.anchors), max((layers.noise for layers in self._exact[:1]), default=0.0)
        anchors = self.anchors[order]
        for begin in range(0, len(nodes), 1 << 16):
            some = nodes[begin : begin + (1 << 16)]
            rows = self._to_anchors(some).reshape(len(some), len(self.anchors), -1)
            reached = np.asarray((rows > noise).any(axis=2))
            place = np.minimum(np.searchsorted(anchors, some), len(anchors) - 1)
            own = np.flatnonzero(anchors[place] == some)
            reached[own, order[place[own]]] = False
            now = reached.any(axis=1)
            self._num_covered += int(np.count_nonzero(now)) - int(np.count_nonzero(self._covered[some]))
            self._covered[some] = now

    def gain(self) -> float:
        """How much more of the nodes the same number of newly chosen greedy anchors would cover, as a share, at least 0.

        This chooses such anchors, which takes as long as the first selection.
        """
        chosen = select_anchors(
            self.graph, len(self.anchors), num_walks=self.num_walks, walk_length=self.walk_length, seed=self.seed
        )
        return max(0.0, chosen.coverage - self.coverage)

    def wants_other_anchors(self, share: float = 0.05) -> bool:
        """Whether newly chosen anchors would cover more nodes, by more than a given share of all.

        Args:
            share: Share of all nodes. If fewer are uncovered, the answer is no without choosing anchors.
        """
        check_number("share", share, 0.0, 1.0)
        return 1.0 - self.coverage > share and self.gain() > share

    @property
    def bytes_per_step(self) -> float:
        """Memory of the lists of walks that pass each node, for each of their entries; 0 with exact powers."""
        if self._walks is None:
            return 0.0
        return self._walks.nbytes / max(1, self._walks.lists.num_entries)

    def __repr__(self) -> str:
        return (
            f"ReachIndex(num_nodes={self.num_nodes}, num_anchors={len(self.anchors)}, method={self.method}, "
            f"similarity={self.similarity}, walk_length={self.walk_length})"
        )
