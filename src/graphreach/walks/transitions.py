"""Where a walk can go from each node, in the form the kernels read."""

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.walks.kernels import build_alias


class Transitions(NamedTuple):
    """CSR of out-edges and, for weighted graphs, the alias table; unpacked into a kernel's first arguments.

    Without ``indptr``, ``indices`` are walks that were taken elsewhere, ``[starts * num_walks * walk_length]``.
    """

    indptr: NDArray[Any] | None
    indices: NDArray[Any]
    alias: NDArray[np.uint32] | None


_tables: "WeakKeyDictionary[Graph, Transitions]" = WeakKeyDictionary()


def transitions(graph: Graph) -> Transitions:
    """The transition structure of ``graph``: p(e) = w_e / sum of w_e' over the node's out-edges (section 2).

    The alias table of a weighted graph is built once and kept as long as the graph.
    """
    if graph.weights is None:
        return Transitions(graph.indptr, graph.indices, None)
    if graph not in _tables:
        alias = np.empty(3 * len(graph.indices), np.uint32)
        build_alias(graph.indptr, graph.indices, graph.weights, alias)
        alias.flags.writeable = False  # as in the shared memory of a cluster's nodes: one version of each kernel
        _tables[graph] = Transitions(graph.indptr, graph.indices, alias)
    return _tables[graph]
