"""The graph that walks, anchors and reachability are computed on."""

import hashlib
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_flag, to_integers
from graphreach.errors import InputError
from graphreach.graph.build import CSR, RELATIVE_TOLERANCE, Edges, build_csr, compact
from graphreach.graph.constructors import Constructors
from graphreach.graph.ids import hash_ids
from graphreach.graph.lookup import IdLookup
from graphreach.graph.reading import Reading
from graphreach.graph.times import first_times, latest_times

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Graph(Constructors):
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
        weights: ``None``, or ``float64`` weights, one per entry of ``indices``.
        directed: Whether edges have a direction.
        ids: The user's node ids in index order, ``[n]``.
        time: ``None``, or one number per entry of ``indices``: when an edge was made, the latest time where it
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
        """Return the adjacency matrix as a scipy ``csr_array``.

        A matrix holds neither ids nor times, and of a graph all of whose weights are one not that it is weighted: read it
        back by ``Graph.from_scipy(matrix, directed=graph.directed, ids=graph.ids)``.

        Args:
            dtype: Type of its numbers.

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

    def to_networkx(self) -> Any:
        """Return a networkx ``Graph``, or ``DiGraph`` if edges have a direction, whose nodes are the ids.

        Edges have the attributes ``weight`` and ``time`` where the graph has these, and ``first_time`` if an edge was made
        more than once; nodes have ``bipartite`` where there are two kinds of them. :meth:`from_networkx` reads all of this
        back; give it ``self_loops=True`` if there are self-loops. Only the order of an updated graph's nodes is lost, as
        ids are sorted, and so it is with the other conversions.

        Example:
            >>> G = Graph.from_edge_list([("ann", "bob", 2.0)], nodes=["cid"]).to_networkx()
            >>> G.nodes, G.edges(data="weight")
            (NodeView(('ann', 'bob', 'cid')), EdgeDataView([('ann', 'bob', 2.0)]))
        """
        from graphreach.graph.outgoing import to_networkx

        return to_networkx(self)

    def to_pyg(self, dtype: Any = None) -> Any:
        """Return a PyTorch Geometric ``Data`` with ``edge_index``, where undirected edges have both directions.

        It has ``edge_weight``, ``edge_time`` (``edge_first_time``) and ``sides`` where the graph has these, and ``ids``
        where ids are not the positions: a tensor of numbers, else a list. A ``Data`` does not say whether it is directed,
        and :meth:`from_pyg` keeps the order of its nodes unless it is given ids: read it back by
        ``Graph.from_pyg(data, directed=graph.directed, ids=graph.ids)``.

        Args:
            dtype: Type of the weights, by default ``torch.float32``; with ``torch.float64`` they are exact.

        Example:
            >>> Graph.from_edge_list([("ann", "bob"), ("bob", "cid")]).to_pyg()
            Data(edge_index=[2, 4], num_nodes=3, ids=[3])
        """
        from graphreach.graph.outgoing import to_pyg

        return to_pyg(self, dtype)

    def to_frame(self, kind: str = "polars", source: str = "source", target: str = "target") -> Any:
        """Return the edges as a data frame with one row per edge, an undirected edge once.

        Columns are ``source``, ``target`` and, where the graph has these, ``weight`` and ``time``; ``first_time`` is added
        if an edge was made more than once. A frame holds no nodes without edges and no direction: read it back by
        ``Graph.from_frame(frame, directed=graph.directed, nodes=graph.ids)``. Of two kinds of nodes, sources are of the
        first; text ids in columns with names such as ``user`` and ``item`` are two kinds again when they are read back.

        Args:
            kind: ``"polars"`` or ``"pandas"``.
            source: Name of the column of sources.
            target: Name of the column of targets.

        Example:
            >>> Graph.from_edge_list([("ann", "bob", 2.0), ("cid", "ann", 1.0)]).to_frame().rows()
            [('ann', 'bob', 2.0), ('ann', 'cid', 1.0)]
        """
        from graphreach.graph.outgoing import edge_columns, make_frame

        return make_frame(edge_columns(self, source, target), kind)

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
        at the ends of changed edges are made again; ``indptr``, ``indices`` and ``weights`` are joined at their first use.

        Args:
            add: Edges by the ids of their nodes: pairs ``(u, v)``, for a weighted graph triples ``(u, v, weight)``, an
                array ``[m, 2]`` or ``[m, 3]``, a data frame read as by :meth:`from_frame`, or the edges of another graph.
                Unweighted, an edge that is there changes nothing; weighted, its weight grows. Repeated edges are
                merged as described above, and those of weight zero are dropped.
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
        first = edges.time if edges.first_time is None else edges.first_time
        graph.first_time = first_times(graph, edges.source, edges.target, first)
    if directed is None:
        graph = graph._undirected_if_symmetric()
    if edges.two_kinds or edges.sides is not None:
        graph.sides = _sides(edges) if edges.sides is None else edges.sides
    graph.reading = edges.reading
    return graph


def _sides(edges: Edges) -> NDArray[np.int8]:
    """0 for sources and 1 for targets of edges between two kinds of nodes."""
    sides = np.full(len(edges.ids), -1, np.int8)
    sides[edges.source], sides[edges.target] = 0, 1
    sides.flags.writeable = False
    return sides
