"""The graph that walks, anchors and reachability are computed on."""

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import as_frame, check_flag, to_integers
from graphreach.errors import InputError
from graphreach.graph import convert
from graphreach.graph.build import CSR, RELATIVE_TOLERANCE, Edges, Reduce, build_csr, compact
from graphreach.graph.ids import hash_ids
from graphreach.graph.lookup import IdLookup
from graphreach.graph.reading import Reading
from graphreach.graph.times import first_times, latest_times

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Graph:
    r"""A directed or undirected, weighted or unweighted graph in compressed sparse rows.

    Make one by :meth:`from_edges`, :meth:`from_edge_list`, :meth:`from_networkx`, :meth:`from_pyg`,
    :meth:`from_scipy`, :meth:`from_frame` or :func:`graphreach.read_graph`. All of them merge edges by the
    same rules:

    - Unweighted: repeats, and the two directions of an undirected edge, are one edge.
    - Weighted: repeats in one direction are added first. If an undirected edge is listed in both directions
      and the two sums are equal (within a relative 1e-9), it is one edge with that weight; if they differ,
      that is an error unless ``reduce`` says how to merge them. ``reduce`` applies to every edge that is
      listed in both directions, so ``"sum"`` adds equal weights as well.
    - Edges of weight zero carry no walk and are dropped; their nodes stay.
    - Self-loops are dropped unless ``self_loops=True``; their nodes stay.

    Nodes are numbered by the sorted order of their ids (numbers, then strings, then other kinds), so the
    order in which edges come changes nothing. In a graph made by :meth:`updated` known nodes keep their positions, as
    random numbers of walks depend on them, and new nodes follow.

    Attributes:
        indptr: Row pointers, ``[n + 1]``, ``uint32`` (``int64`` from :math:`2^{32}` entries on).
        indices: Neighbours, sorted within each row, ``uint16`` up to :math:`2^{16}` nodes, else ``uint32``.
            An undirected edge is stored in both directions, a directed one at its source.
        weights: ``None``, or ``float64`` weights beside ``indices``.
        directed: Whether edges have a direction.
        ids: The user's node ids in index order, ``[n]``.
        time: ``None``, or one number per entry beside ``indices``: when an edge was made, the latest time where it
            repeats. Nothing but splits is computed from it, so it is no part of :attr:`content_hash`.
        first_time: The same with the earliest time.
        sides: ``None``, or 0 for sources and 1 for targets where the file or frame has two kinds of nodes, such as users
            and items, ``[n]``; -1 for nodes without an edge.
        reading: ``None``, or how the file or frame was read: which columns were used, which ignored, what assumed.

    Example:
        >>> graph = Graph.from_edges([[0, 1, 2], [1, 2, 0]])
        >>> graph
        Graph(num_nodes=3, num_edges=3, directed=False, weighted=False)
        >>> graph.indices
        array([1, 2, 0, 2, 0, 1], dtype=uint16)
    """

    time: NDArray[np.float64] | None = None
    first_time: NDArray[np.float64] | None = None
    sides: NDArray[np.int8] | None = None
    reading: Reading | None = None

    def __init__(self, csr: CSR, ids: NDArray[Any], directed: bool) -> None:
        self.indptr, self.indices, self.weights = csr
        self.ids = ids
        self.directed = directed
        for array in (self.indptr, self.indices, self.weights, self.ids):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def from_edges(
        cls,
        edge_index: ArrayLike,
        num_nodes: int | None = None,
        edge_weight: ArrayLike | None = None,
        directed: bool = False,
        *,
        ids: Sequence[Hashable] | NDArray[Any] | None = None,
        reduce: Reduce | None = None,
        self_loops: bool = False,
    ) -> "Graph":
        """Make a graph from an integer array ``[2, m]`` of sources and targets.

        Args:
            edge_index: Positions ``0..n-1``; an array of shape ``[2, 2]`` is read as ``[2, m]``.
            num_nodes: The number of nodes; by default the number of ``ids``, or one more than the largest
                position.
            edge_weight: One finite number of at least zero an edge.
            directed: Whether an edge leads from its source to its target only.
            ids: The id of each position. Nodes are renumbered by the sorted order of these ids.
            reduce: How to merge different weights in the two directions of an undirected edge: ``"sum"``,
                ``"mean"``, ``"max"`` or ``"min"``.
            self_loops: Whether to keep edges from a node to itself.

        Example:
            >>> graph = Graph.from_edges([[0, 1], [1, 2]], ids=["c", "a", "b"])
            >>> graph.ids
            array(['a', 'b', 'c'], dtype='<U1')
            >>> graph.edge_index
            array([[0, 0, 1, 2],
                   [1, 2, 0, 0]])
        """
        edges = convert.edges_from_index(edge_index, num_nodes, edge_weight, ids)
        return build_graph(edges, check_flag("directed", directed), reduce, self_loops)

    @classmethod
    def from_edge_list(
        cls,
        edges: Iterable[Sequence[Any]],
        directed: bool = False,
        *,
        nodes: Iterable[Hashable] = (),
        reduce: Reduce | None = None,
        self_loops: bool = False,
    ) -> "Graph":
        """Make a graph from pairs ``(u, v)`` or triples ``(u, v, weight)`` of any hashable ids.

        Args:
            edges: The pairs, or the triples; not some of each. A data frame is read as by :meth:`from_frame`.
            directed: Whether an edge leads from ``u`` to ``v`` only.
            nodes: Ids of nodes to keep even if they have no edge.
            reduce: See :meth:`from_edges`.
            self_loops: See :meth:`from_edges`.

        Example:
            >>> Graph.from_edge_list([("ann", "bob"), ("bob", 7)], nodes=["cid"]).ids
            array([7, 'ann', 'bob', 'cid'], dtype=object)
        """
        if as_frame(edges) is not None:
            return cls.from_frame(edges, directed=directed, nodes=nodes, reduce=reduce, self_loops=self_loops)
        parts = convert.edges_from_list(edges, nodes)
        return build_graph(parts, check_flag("directed", directed), reduce, self_loops)

    @classmethod
    def from_networkx(
        cls,
        G: Any,
        weight: str | None = "weight",
        directed: bool | None = None,
        *,
        reduce: Reduce | None = None,
        self_loops: bool = False,
    ) -> "Graph":
        """Make a graph from a networkx graph; parallel edges of a multigraph are added if weighted.

        Args:
            G: Any of networkx' four graph classes.
            weight: The edge attribute with the weight; as in networkx, edges without it weigh one. If no edge
                has it, the graph is unweighted; ``None`` ignores weights.
            directed: By default as ``G`` is.
            reduce: See :meth:`from_edges`.
            self_loops: See :meth:`from_edges`.

        Example:
            >>> import networkx as nx
            >>> Graph.from_networkx(nx.karate_club_graph(), weight=None)
            Graph(num_nodes=34, num_edges=78, directed=False, weighted=False)
        """
        edges, is_directed = convert.edges_from_networkx(G, weight)
        return build_graph(edges, is_directed if directed is None else directed, reduce, self_loops)

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        directed: bool | None = None,
        *,
        reduce: Reduce | None = None,
        self_loops: bool = False,
    ) -> "Graph":
        """Make a graph from a PyTorch Geometric ``Data`` or ``EdgeIndex``.

        Args:
            data: A ``Data`` with ``edge_index`` (and ``edge_weight``) or with the transposed ``adj_t``, or an
                ``EdgeIndex``. Values of ``adj_t`` that are all one mean an unweighted graph.
            directed: By default ``False`` if every edge has its reverse with an equal weight, else ``True``.
            reduce: See :meth:`from_edges`.
            self_loops: See :meth:`from_edges`.

        Example:
            >>> from types import SimpleNamespace
            >>> data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 2]]), num_nodes=4)
            >>> Graph.from_pyg(data)
            Graph(num_nodes=4, num_edges=2, directed=True, weighted=False)
        """
        return build_graph(convert.edges_from_pyg(data), directed, reduce, self_loops)

    @classmethod
    def from_scipy(
        cls,
        A: Any,
        directed: bool | None = None,
        *,
        ids: Sequence[Hashable] | NDArray[Any] | None = None,
        reduce: Reduce | None = None,
        self_loops: bool = False,
    ) -> "Graph":
        """Make a graph from a square scipy sparse matrix with ``A[u, v]`` the weight of the edge from u to v.

        Args:
            A: Any scipy sparse matrix or array. Values that are all one mean an unweighted graph; zeros are
                no edges.
            directed: By default ``False`` if ``A`` is symmetric, else ``True``.
            ids: The id of each row; nodes are renumbered by their sorted order.
            reduce: See :meth:`from_edges`.
            self_loops: See :meth:`from_edges`.

        Example:
            >>> import scipy.sparse
            >>> Graph.from_scipy(scipy.sparse.csr_array([[0, 2], [2, 0]]))
            Graph(num_nodes=2, num_edges=1, directed=False, weighted=True)
        """
        return build_graph(convert.edges_from_scipy(A, ids), directed, reduce, self_loops)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        source: str | None = None,
        target: str | None = None,
        weight: str | bool | None = None,
        directed: bool = False,
        *,
        time: str | bool | None = None,
        bipartite: bool | None = None,
        nodes: Iterable[Hashable] = (),
        reduce: Reduce | None = None,
        self_loops: bool = False,
    ) -> "Graph":
        """Make a graph from a pandas or polars data frame with one row an edge.

        Args:
            frame: The edges; ids may be of any hashable kind but not missing.
            source: The column of sources; by default one with a usual name (source, from, src, u, ...), else
                the first that is no index and does not look like weights or times.
            target: The column of targets; by default one with a usual name (target, to, dst, v, ...), else
                the second.
            weight: The column of weights; by default (``None``) one with a usual name (weight, w, value), if
                there is one; ``False`` ignores it.
            directed: Whether an edge leads from its source to its target only.
            time: The column of times, as in :func:`graphreach.read_graph`.
            bipartite: Whether sources and targets are two kinds of nodes, as in :func:`graphreach.read_graph`.
            nodes: Ids of nodes to keep even if they have no edge.
            reduce: See :meth:`from_edges`.
            self_loops: See :meth:`from_edges`.

        Example:
            >>> import polars as pl
            >>> Graph.from_frame(pl.DataFrame({"from": ["a", "b"], "to": ["b", "c"], "weight": [1.0, 2.0]}))
            Graph(num_nodes=3, num_edges=2, directed=False, weighted=True)
        """
        from graphreach.graph.columns import Asked
        from graphreach.graph.frames import edges_from_frame

        edges = edges_from_frame(frame, Asked(source, target, weight, time), nodes, bipartite)
        return build_graph(edges, check_flag("directed", directed), reduce, self_loops)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.ids)

    @cached_property
    def num_edges(self) -> int:
        """The number of edges; an undirected edge counts once, and so does a self-loop."""
        if self.directed:
            return len(self.indices)
        return (len(self.indices) + int(np.count_nonzero(self.edge_index[0] == self.indices))) // 2

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self.weights is not None

    @cached_property
    def degree(self) -> NDArray[np.float64]:
        """The sum of weights (or the number) of each node's outgoing edges, ``[n]``.

        Example:
            >>> Graph.from_edges([[0, 1], [1, 2]]).degree
            array([1., 2., 1.])
        """
        if self.weights is None:
            degree = self._row_sizes().astype(np.float64)
        else:
            degree = np.zeros(self.num_nodes)
            filled = np.flatnonzero(self.indptr[1:] > self.indptr[:-1])
            if len(filled):
                degree[filled] = np.add.reduceat(self.weights, self.indptr[filled].astype(np.intp))
        degree.flags.writeable = False
        return degree

    @property
    def edge_index(self) -> NDArray[np.int64]:
        """Sources and targets of all entries, ``[2, nnz]``; an undirected edge appears in both directions.

        Example:
            >>> Graph.from_edges([[0], [1]]).edge_index
            array([[0, 1],
                   [1, 0]])
        """
        edge_index = np.empty((2, len(self.indices)), np.int64)
        edge_index[0] = np.repeat(np.arange(self.num_nodes), self._row_sizes())
        edge_index[1] = self.indices
        return edge_index

    def to_scipy(self, dtype: Any = np.float64) -> "csr_array":
        """Return the adjacency matrix as a scipy ``csr_array`` of numbers of this type.

        Example:
            >>> Graph.from_edges([[0], [1]]).to_scipy().toarray()
            array([[0., 1.],
                   [1., 0.]])
        """
        from scipy.sparse import csr_array

        values = np.ones(len(self.indices), dtype) if self.weights is None else self.weights.astype(dtype)
        index_type = np.int32 if max(len(self.indices), self.num_nodes) < 2**31 else np.int64
        indices, indptr = self.indices.astype(index_type), self.indptr.astype(index_type)
        return csr_array((values, indices, indptr), shape=(self.num_nodes, self.num_nodes))

    def transpose(self) -> "Graph":
        """Return the graph with every edge reversed; an undirected graph is its own transpose.

        Example:
            >>> Graph.from_edges([[0], [1]], directed=True).transpose().edge_index
            array([[1],
                   [0]])
        """
        return self._transposed if self.directed else self

    @cached_property
    def _transposed(self) -> "Graph":
        graph = Graph(self._transposed_csr(), self.ids, directed=True)
        graph.__dict__["_transposed"] = self
        return graph

    def _transposed_csr(self) -> CSR:
        other = self.to_scipy(np.int8 if self.weights is None else np.float64).T.tocsr()
        return compact(other.indptr, other.indices, None if self.weights is None else other.data)

    def _undirected_if_symmetric(self) -> "Graph":
        """Return the undirected graph with the same entries if there is one, else the graph itself."""
        other = self._transposed_csr()
        if not (np.array_equal(self.indptr, other.indptr) and np.array_equal(self.indices, other.indices)):
            return self
        weights = self.weights
        if weights is not None and other.weights is not None:
            if not np.allclose(weights, other.weights, rtol=RELATIVE_TOLERANCE, atol=0):
                return self
            weights = np.maximum(weights, other.weights)
        graph = Graph(CSR(self.indptr, self.indices, weights), self.ids, directed=False)
        if self.time is not None and self.first_time is not None:
            source, target = self.edge_index.astype(np.uint32)
            graph.time = latest_times(graph, source, target, self.time)
            graph.first_time = first_times(graph, source, target, self.first_time)
        return graph

    def updated(
        self,
        add: Any = None,
        remove: Any = None,
        weights: Any = None,
        *,
        nodes: Iterable[Hashable] = (),
        time: ArrayLike | None = None,
        self_loops: bool = False,
    ) -> "Graph":
        """Return a new graph with edges added, removed or given other weights, in time proportional to what changes.

        Nodes that are known keep their positions, and those whose edges are removed stay. New nodes get the positions
        after them, sorted among themselves, so the order of the edges in one call changes nothing. The rows of the nodes
        at the ends of changed edges are made anew; ``indptr``, ``indices`` and ``weights`` are joined at their first use.

        Args:
            add: Edges by the ids of their nodes: pairs ``(u, v)``, for a weighted graph triples ``(u, v, weight)``, an
                array ``[m, 2]`` or ``[m, 3]``, a data frame read as by :meth:`from_frame`, or the edges of another graph.
                Unweighted, an edge that is there changes nothing; weighted, its weight grows. Edges that are listed more
                than once are merged as described above, and those of weight zero are dropped.
            remove: Edges to remove, which must be there, in the same forms without weights.
            weights: Triples with the new positive weights of edges that are there.
            nodes: Ids of nodes to add even if they have no edge; those that are known stay as they are.
            time: One number per edge in ``add``, needed if this graph has times and ``add`` has none. An edge that is there
                keeps the latest and the earliest of its times.
            self_loops: Whether to add edges from a node to itself.

        An edge may be listed in one of ``add``, ``remove`` and ``weights`` only. If the graph has two kinds of nodes, new
        nodes are of the kind that their edges imply. The result has no :attr:`reading`.

        Example:
            >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "dan")])
            >>> grown = graph.updated(add=[("dan", "cid")], remove=[("ann", "bob")])
            >>> grown
            Graph(num_nodes=4, num_edges=2, directed=False, weighted=False)
            >>> grown.ids
            array(['ann', 'bob', 'dan', 'cid'], dtype='<U3')
        """
        from graphreach.graph.updated import update

        return update(self, add, remove, weights, nodes, time, self_loops)

    def rows(self, nodes: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64] | None]:
        """Return the rows of some nodes; of an updated graph, without joining its arrays.

        Args:
            nodes: Positions.

        Returns:
            ``ptr [len(nodes) + 1]``, and the neighbours and weights of all these nodes one row after the other.

        Example:
            >>> graph = Graph.from_edges([[0, 1], [1, 2]])
            >>> graph.rows([2, 1])
            (array([0, 1, 3]), array([1, 0, 2], dtype=uint32), None)
        """
        from graphreach.graph.updated import rows_of

        positions = np.atleast_1d(to_integers("nodes", nodes))
        if positions.ndim != 1:
            raise InputError(f"nodes must be a one-dimensional array of positions, got shape {positions.shape}")
        if positions.size and not 0 <= positions.min() <= positions.max() < self.num_nodes:
            wrong = positions.min() if positions.min() < 0 else positions.max()
            raise InputError(f"nodes must be positions between 0 and {self.num_nodes - 1}, got {wrong}")
        return rows_of(self, positions)

    def _row_sizes(self) -> NDArray[np.int64]:
        pointers = self.indptr.astype(np.int64)
        return pointers[1:] - pointers[:-1]

    def index_of(self, ids: Any) -> Any:
        """Return the position of an id, or of each of several ids.

        Args:
            ids: One id, or a list, array, Series or other iterable of ids. A tuple is one id if it is the id
                of a node.

        Returns:
            An ``int`` for one id, else an ``int64`` array.

        Example:
            >>> graph = Graph.from_edge_list([("a", "b"), ("b", "c")])
            >>> graph.index_of("b"), graph.index_of(["c", "a"])
            (1, array([2, 0]))
        """
        return self._lookup.find(ids)

    @cached_property
    def _lookup(self) -> IdLookup:
        return IdLookup(self.ids)

    @cached_property
    def content_hash(self) -> str:
        """The sha256 of ids in their order, edges, weights and directedness; equal for equal graphs, whatever made them.

        Graphs whose nodes have other positions differ, as caches keep arrays by position.

        Example:
            >>> graph, same = Graph.from_edges([[0, 1], [1, 2]]), Graph.from_edges([[2, 1], [1, 0]])
            >>> graph.content_hash == same.content_hash
            True
        """
        digest = hashlib.sha256(b"graphreach graph 1")
        digest.update(f"{self.num_nodes} {len(self.indices)} {self.directed} {self.weighted}".encode())
        hash_ids(self.ids, digest)
        for array, kind in ((self.indptr, np.int64), (self.indices, np.uint32), (self.weights, np.float64)):
            if array is not None:
                for begin in range(0, len(array), 2**20):
                    digest.update(array[begin : begin + 2**20].astype(kind, copy=False).data)
        return digest.hexdigest()

    def __repr__(self) -> str:
        return (
            f"Graph(num_nodes={self.num_nodes}, num_edges={self.num_edges}, "
            f"directed={self.directed}, weighted={self.weighted})"
        )


def build_graph(edges: Edges, directed: bool | None, reduce: str | None, self_loops: bool) -> Graph:
    """Merge edges into a graph; ``directed=None`` makes it undirected where pattern and weights are symmetric."""
    if directed is not None:
        directed = check_flag("directed", directed)
    csr = build_csr(edges, directed=directed is not False, reduce=reduce, self_loops=self_loops)
    graph = Graph(csr, edges.ids, directed is not False)
    if edges.time is not None:
        graph.time = latest_times(graph, edges.source, edges.target, edges.time)
        graph.first_time = first_times(graph, edges.source, edges.target, edges.time)
    if directed is None:
        graph = graph._undirected_if_symmetric()
    if edges.two_kinds:
        graph.sides = _sides(edges)
    graph.reading = edges.reading
    return graph


def _sides(edges: Edges) -> NDArray[np.int8]:
    """0 for sources and 1 for targets of edges between two kinds of nodes."""
    sides = np.full(len(edges.ids), -1, np.int8)
    sides[edges.source], sides[edges.target] = 0, 1
    sides.flags.writeable = False
    return sides
