"""Graphs from arrays, lists, frames and the graphs of other libraries."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import as_frame, check_flag
from graphreach.graph import convert
from graphreach.graph.build import Edges, Reduce

if TYPE_CHECKING:
    from graphreach.graph.graph import Graph


class Constructors:
    """What makes a :class:`graphreach.Graph`; its other half computes on one."""

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
            >>> from graphreach import Graph
            >>> graph = Graph.from_edges([[0, 1], [1, 2]], ids=["c", "a", "b"])
            >>> graph.ids
            array(['a', 'b', 'c'], dtype='<U1')
            >>> graph.edge_index
            array([[0, 0, 1, 2],
                   [1, 2, 0, 0]])
        """
        edges = convert.edges_from_index(edge_index, num_nodes, edge_weight, ids)
        return _build(edges, check_flag("directed", directed), reduce, self_loops)

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
            >>> from graphreach import Graph
            >>> Graph.from_edge_list([("ann", "bob"), ("bob", 7)], nodes=["cid"]).ids
            array([7, 'ann', 'bob', 'cid'], dtype=object)
        """
        if as_frame(edges) is not None:
            return cls.from_frame(edges, directed=directed, nodes=nodes, reduce=reduce, self_loops=self_loops)
        parts = convert.edges_from_list(edges, nodes)
        return _build(parts, check_flag("directed", directed), reduce, self_loops)

    @classmethod
    def from_networkx(
        cls,
        G: Any,
        weight: str | None = "weight",
        directed: bool | None = None,
        *,
        time: str | None = "time",
        reduce: Reduce | None = None,
        self_loops: bool = False,
    ) -> "Graph":
        """Make a graph from a networkx graph; parallel edges of a multigraph are added if weighted.

        If all nodes with edges have the attribute ``bipartite``, 0 or 1 as in networkx, and no edge is between nodes of
        one kind, the graph has two kinds of nodes.

        Args:
            G: Any of networkx' four graph classes.
            weight: The edge attribute with the weight; as in networkx, edges without it weigh one. If no edge
                has it, the graph is unweighted; ``None`` ignores weights.
            directed: By default as ``G`` is.
            time: The edge attribute with times. It is read if all edges have it and it holds numbers; ``None`` ignores it.
            reduce: See :meth:`from_edges`.
            self_loops: See :meth:`from_edges`.

        Example:
            >>> from graphreach import Graph
            >>> import networkx as nx
            >>> Graph.from_networkx(nx.karate_club_graph(), weight=None)
            Graph(num_nodes=34, num_edges=78, directed=False, weighted=False)
        """
        edges, is_directed = convert.edges_from_networkx(G, weight, time)
        return _build(edges, is_directed if directed is None else directed, reduce, self_loops)

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        directed: bool | None = None,
        *,
        ids: Sequence[Hashable] | NDArray[Any] | None = None,
        reduce: Reduce | None = None,
        self_loops: bool = False,
    ) -> "Graph":
        """Make a graph from a PyTorch Geometric ``Data`` or ``EdgeIndex``.

        If a ``Data`` has the tensors ``edge_time`` and ``sides``, they are the times and the two kinds of nodes.

        Args:
            data: A ``Data`` with ``edge_index`` (and ``edge_weight``) or with the transposed ``adj_t``, or an
                ``EdgeIndex``. Values of ``adj_t`` that are all one mean an unweighted graph.
            directed: By default ``False`` if every edge has its reverse with an equal weight, else ``True``.
            ids: The id of each node; nodes are renumbered by their sorted order.
            reduce: See :meth:`from_edges`.
            self_loops: See :meth:`from_edges`.

        Example:
            >>> from graphreach import Graph
            >>> from types import SimpleNamespace
            >>> data = SimpleNamespace(edge_index=[[0, 1], [1, 2]], num_nodes=4)
            >>> Graph.from_pyg(data)
            Graph(num_nodes=4, num_edges=2, directed=True, weighted=False)
        """
        return _build(convert.edges_from_pyg(data, ids), directed, reduce, self_loops)

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
            >>> from graphreach import Graph
            >>> import scipy.sparse
            >>> Graph.from_scipy(scipy.sparse.csr_array([[0, 2], [2, 0]]))
            Graph(num_nodes=2, num_edges=1, directed=False, weighted=True)
        """
        return _build(convert.edges_from_scipy(A, ids), directed, reduce, self_loops)

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
        """Make a graph from a pandas or polars data frame with one row per edge.

        Args:
            frame: The edges; ids may be of any hashable kind but not missing.
            source: The column of sources; by default one with a usual name (source, from, src, u, ...), else
                the first that is no index and does not look like weights or times.
            target: The column of targets; by default one with a usual name (target, to, dst, v, ...), else
                the second.
            weight: The column of weights; by default (``None``) one with a usual name (weight, w, value), if
                there is one; ``False`` ignores it.
            directed: Whether an edge leads from its source to its target only.
            time: The column of times, as in :func:`graphreach.read_graph`. A further column ``first_time`` may hold
                the times at which edges were made first.
            bipartite: Whether sources and targets are two kinds of nodes, as in :func:`graphreach.read_graph`.
            nodes: Ids of nodes to keep even if they have no edge.
            reduce: See :meth:`from_edges`.
            self_loops: See :meth:`from_edges`.

        Example:
            >>> from graphreach import Graph
            >>> import polars as pl
            >>> Graph.from_frame(pl.DataFrame({"from": ["a", "b"], "to": ["b", "c"], "weight": [1.0, 2.0]}))
            Graph(num_nodes=3, num_edges=2, directed=False, weighted=True)
        """
        from graphreach.graph.columns import Asked
        from graphreach.graph.frames import edges_from_frame

        edges = edges_from_frame(frame, Asked(source, target, weight, time), nodes, bipartite)
        return _build(edges, check_flag("directed", directed), reduce, self_loops)


def _build(edges: Edges, directed: bool | None, reduce: str | None, self_loops: bool) -> "Graph":
    from graphreach.graph.graph import build_graph

    return build_graph(edges, directed, reduce, self_loops)
