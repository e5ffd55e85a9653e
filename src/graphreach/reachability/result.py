"""The result of a reachability computation."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_whole, describe
from graphreach.by_name import CONVERTERS, find
from graphreach.errors import InputError
from graphreach.graph import Graph

MOST_INVERSE = 1e30
"""Times that a node's share of all weight may go into the whole, for single precision to hold lifts."""


@dataclass(frozen=True, eq=False, repr=False)
class Reachability:
    """How reachable anchors are from nodes and nodes from anchors.

    Attributes:
        to_anchors: ``s(v, a)``, ``[n, k]``: how reachable anchor a is from node v.
        from_anchors: ``s(a, v)``, ``[n, k]``: how reachable node v is from anchor a.
        anchors: Positions of the anchors, ``[k]``.
        hops: ``None``, or L: then both matrices hold the powers 1..L separately, as ``[n, k, L]``.
        method: ``"walks"`` or ``"exact"``.
        similarity: ``"frequency"`` or ``"order"``.
        walk_length: Jumps of a walk.
        num_walks: Walks from each node (``None`` where no number entered the result).
        seed: Random seed for the walks (``None`` if exact).

    Both matrices are single-precision NumPy arrays in the dense layout and :class:`scipy.sparse.csr_array` in the CSR
    layout, with the same numbers; a CSR matrix with hops has ``k * L`` columns, anchor by anchor.

    Example:
        >>> import graphreach as gr
        >>> path = gr.Graph.from_edges([[0, 1], [1, 2]])
        >>> reach = gr.reachability(path, [0], method="exact", walk_length=2)
        >>> reach
        Reachability(num_nodes=3, num_anchors=1, method=exact, similarity=frequency, walk_length=2, layout=dense)
        >>> reach.to_anchors[:, 0], reach.from_anchors[:, 0]
        (array([0.25, 0.25, 0.25], dtype=float32), array([0.25, 0.5 , 0.25], dtype=float32))
    """

    to_anchors: Any
    from_anchors: Any
    anchors: NDArray[np.int64]
    hops: int | None
    method: str
    similarity: str
    walk_length: int
    num_walks: int | None
    seed: int | None

    @property
    def layout(self) -> str:
        """``"dense"`` or ``"csr"``."""
        return "dense" if isinstance(self.to_anchors, np.ndarray) else "csr"

    @property
    def num_nodes(self) -> int:
        """The number of rows."""
        return int(self.to_anchors.shape[0])

    @property
    def num_anchors(self) -> int:
        """The number of anchors."""
        return len(self.anchors)

    def rescaled(
        self, scale: str | None, graph: Graph | None = None, *, num_nodes: int | None = None
    ) -> "Reachability":
        r"""The same on another scale, for models that learn a function of the similarity.

        Args:
            scale: ``None`` (unchanged), ``"counts"`` (visits instead of shares, as in the authors' code), ``"log"`` or
                ``"lift"``. ``"log"`` is :math:`\log(1 + n\,s)`; a node with an average number of visits is near 0.7.
                ``"lift"`` is :math:`\log(1 + s(u, v) / \pi(v))`: how much more often walks from u visit v than its share
                :math:`\pi(v)` of all edges' weight suggests. So hubs look no nearer than other nodes. On an undirected
                graph exact lift is the same in both directions.
            graph: For ``"lift"``, the graph.
            num_nodes: n in ``"log"``, where these are rows of a larger graph.

        Example:
            >>> import graphreach as gr
            >>> reach = gr.reachability(gr.Graph.from_edges([[0, 1], [1, 2]]), [0], walk_length=2, num_walks=10)
            >>> reach.rescaled("counts").from_anchors.sum()
            np.float32(20.0)
        """
        if scale is None:
            return self
        if not isinstance(scale, str) or scale not in ("counts", "log", "lift"):
            raise InputError(f'scale must be None, "counts", "log" or "lift", got {scale!r:.80}')
        if scale == "lift":
            return self._lifted(graph)
        if num_nodes is not None:
            check_whole("num_nodes", num_nodes, 1)
        steps = self.walk_length if self.hops is None else 1
        visits = 1 if self.similarity == "order" else steps * (self.num_walks or 1)
        factor = np.float32(visits if scale == "counts" else num_nodes or self.num_nodes)
        return replace(
            self, **{name: _rescale(getattr(self, name), factor, scale) for name in ("to_anchors", "from_anchors")}
        )

    def _lifted(self, graph: Graph | None) -> "Reachability":
        if not isinstance(graph, Graph) or graph.num_nodes != self.num_nodes:
            got = graph if graph is None or isinstance(graph, Graph) else describe(graph)
            raise InputError(f"graph must be the graph of {self.num_nodes} nodes for scale 'lift', got {got}")
        if self.similarity == "order":
            raise InputError('scale must not be "lift" with similarity="order", which is no share of visits')
        inverse = inverse_shares(graph)
        anchors = np.repeat(inverse[self.anchors], self.hops or 1)
        return replace(
            self,
            to_anchors=_lift(self.to_anchors, np.ones(self.num_nodes, np.float32), anchors),
            from_anchors=_lift(self.from_anchors, inverse, np.ones_like(anchors)),
        )

    def to_torch(self, device: Any = "cpu") -> Any:
        """The same as tensors, as the layers of :mod:`graphreach.nn` read it. Do it once, not at every call.

        Args:
            device: A torch device.

        Returns:
            :class:`graphreach.nn.Positions`.
        """
        return find(CONVERTERS["torch"])(self, device)

    def to_frame(self, ids: Any = None, kind: str = "polars") -> Any:
        """A data frame with one row for each node and anchor of which one can reach the other.

        Columns are ``node``, ``anchor``, ``to_anchor`` and ``from_anchor``, and with hops ``hop``, as ``graphreach reach``
        writes them.

        Args:
            ids: The graph's ids; by default the frame has positions.
            kind: ``"polars"`` or ``"pandas"``.

        Example:
            >>> import graphreach as gr
            >>> path = gr.Graph.from_edge_list([("a", "b"), ("b", "c")])
            >>> gr.reachability(path, [0], method="exact", walk_length=1).to_frame(path.ids).rows()
            [('b', 'a', 0.5, 1.0)]
        """
        from graphreach.graph.outgoing import given_ids, make_frame
        from graphreach.io.results import reachability_columns

        return make_frame(reachability_columns(self, given_ids(ids, self.num_nodes)), kind)

    def __repr__(self) -> str:
        hops = "" if self.hops is None else f"hops={self.hops}, "
        return (
            f"Reachability(num_nodes={self.num_nodes}, num_anchors={self.num_anchors}, method={self.method}, "
            f"similarity={self.similarity}, walk_length={self.walk_length}, {hops}layout={self.layout})"
        )


def _rescale(matrix: Any, factor: np.float32, scale: str) -> Any:
    if isinstance(matrix, np.ndarray):
        scaled = factor * matrix
        if scale == "log":
            return np.log1p(scaled)
        whole = np.rint(scaled)
        # counts are whole up to rounding; expected visits of the exact method are not
        return whole if np.all(np.abs(scaled - whole) < 1e-2) else scaled
    copy = matrix.copy()
    copy.data = _rescale(copy.data, factor, scale)
    return copy


def inverse_shares(graph: Graph) -> NDArray[np.float32]:
    """One over the share of all edges' weight that arrives at each node; zero where none does."""
    arriving = graph.transpose().degree
    out: NDArray[np.float64] = np.divide(arriving.sum(), arriving, out=np.zeros(graph.num_nodes), where=arriving > 0)
    if len(out) and out.max() > MOST_INVERSE:
        raise InputError(
            f"a node's weight must be at least {1 / MOST_INVERSE:g} of the whole graph's for lift, which divides by it, "
            f"got {1 / out.max():g} at position {int(out.argmax())}"
        )
    return out.astype(np.float32)


def _lift(matrix: Any, rows: NDArray[np.float32], columns: NDArray[np.float32]) -> Any:
    """log(1 + rows * matrix * columns), dense [n, k] or [n, k, L] or compressed."""
    if isinstance(matrix, np.ndarray):
        flat = matrix.reshape(len(matrix), -1)
        return np.log1p(flat * rows[:, None] * columns).reshape(matrix.shape)
    copy = matrix.copy()
    copy.data = np.log1p(copy.data * np.repeat(rows, np.diff(copy.indptr)) * columns[copy.indices])
    return copy
