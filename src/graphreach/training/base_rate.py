"""The base rate of links: how many of the pairs that could be linked are."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks.sides import Sides


def density(graphs: Sequence[Graph]) -> float:
    """The share of linked pairs among all pairs of the graphs that can be linked, above 0 and below 1.

    Where a graph was read as one with two kinds of nodes (:attr:`graphreach.Graph.sides`), these are the pairs between the
    two.

    Example:
        >>> density([Graph.from_edges([[0, 1, 2], [1, 2, 3]])])
        0.5
    """
    edges, pairs = 0, 0.0
    for graph in graphs:
        edges += graph.num_edges
        pairs += _num_pairs(graph)
    return float(np.clip(edges / max(1.0, pairs), 1e-12, 1 - 1e-12))


def _num_pairs(graph: Graph) -> float:
    """How many pairs of nodes can be linked; in a directed graph a pair counts once for each direction."""
    if graph.sides is None:
        return graph.num_nodes * (graph.num_nodes - 1) / (1 if graph.directed else 2)
    sides = Sides.of(graph)
    left, right = sides.nodes
    return float(len(left) * len(right) * (2 if graph.directed and sides.first is None else 1))


def check_prior(prior: Any) -> None:
    """Refuse what is neither ``"density"`` nor a share.

    Example:
        >>> check_prior("foo")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: prior must be "density" or a share between 0 and 1, got 'foo'
    """
    if isinstance(prior, str) and prior == "density":
        return
    is_number = isinstance(prior, int | float | np.integer | np.floating) and not isinstance(prior, bool)
    if not is_number or not 0 < prior < 1:
        raise InputError(f'prior must be "density" or a share between 0 and 1, got {describe(prior)}')
