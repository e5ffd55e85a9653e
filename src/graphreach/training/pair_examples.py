"""Pairs to learn from: links of a graph and others, or listed pairs of any other relation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import describe, pair_rows, to_array
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import plain_ids
from graphreach.tasks.degree_negatives import draw_by_degree
from graphreach.tasks.link_split import find_sides
from graphreach.tasks.pair_keys import Keys, Pairs, draw_pairs, encode, unique
from graphreach.training.pair_options import FEWEST_LINKS, num_others
from graphreach.training.pair_scorer import PairExamples

NEGATIVES = ("uniform", "degree")


def link_examples(graph: Graph, negatives: str, num_links: int, attributes: bool, seed: int) -> PairExamples:
    """Some links and as many pairs that are none, or a few times as many with attributes.

    Args:
        graph: The graph; if it was read as one with two kinds of nodes, other pairs are between the two as well.
        negatives: ``"uniform"``, or ``"degree"`` for pairs whose ends are drawn in proportion to their degree.
        num_links: Maximum number of links.
        attributes: Whether attributes of nodes are read.
        seed: Random seed.
    """
    edges = graph.edge_index
    links = edges[:, edges[0] != edges[1] if graph.directed else edges[0] < edges[1]]
    if links.shape[1] < FEWEST_LINKS:
        raise InputError(f"graph must have at least {FEWEST_LINKS} links to learn from, got {links.shape[1]}")
    rng = np.random.default_rng([seed, 0])
    chosen = links[:, np.sort(rng.permutation(links.shape[1])[:num_links])]
    others = _draw(rng, graph, negatives, num_others(chosen.shape[1], attributes), unique(encode(links)))
    if not others.shape[1]:
        between = "" if graph.sides is None else " between its two kinds of nodes"
        raise InputError(f"graph must have pairs{between} that are not linked to learn from, got none")
    truth = np.repeat([1, 0], [chosen.shape[1], others.shape[1]])
    return PairExamples(graph, np.concatenate([chosen, others], axis=1), truth)


def relation_examples(graph: Graph, pairs: Any, y: Any) -> PairExamples:
    """Listed pairs of a relation and others; a pair that is listed as both is refused.

    Args:
        graph: The graph.
        pairs: Rows ``(u, v)`` of node ids.
        y: 1 or 0 for each of them.
    """
    first, second = pair_rows(pairs)
    truth = read_kinds(y)
    if len(truth) != len(first):
        raise InputError(f"y must have one entry for each of {len(first)} pairs, got {len(truth)}")
    check_both_kinds(truth, "learn from")
    listed = np.stack([graph.index_of(first), graph.index_of(second)])
    _check_repeats(graph, listed, truth)
    return PairExamples(graph, listed, truth)


def _check_repeats(graph: Graph, pairs: NDArray[np.int64], truth: NDArray[np.int64]) -> None:
    """Refuse a pair that is listed as both kinds; in an undirected graph, turned round it is the same pair."""
    ends = pairs if graph.directed else np.sort(pairs, axis=0)
    keys = ends[0] * graph.num_nodes + ends[1]
    wrong = np.flatnonzero(np.isin(keys, keys[truth == 1]) & np.isin(keys, keys[truth == 0]))
    if len(wrong):
        a, b = plain_ids(graph.ids[pairs[:, wrong[0]]])
        raise InputError(f"y must be the same wherever a pair is listed, got both 1 and 0 for {a!r} and {b!r}")


def check_both_kinds(truth: NDArray[np.int64], what: str) -> None:
    """Refuse kinds of pairs that are all the same; ``what`` is what they are for."""
    if not 0 < int(truth.sum()) < len(truth):
        got = f"{truth[0]} alone" if len(truth) else "none"
        raise InputError(f"y must have pairs of both kinds, 1 and 0, to {what}, got {got}")


def read_kinds(y: Any) -> NDArray[np.int64]:
    """Kinds of pairs as 0 and 1."""
    array = to_array("y", y)
    if array.ndim != 1 or not np.isin(array, (0, 1)).all():
        raise InputError(f"y must be a list of 1 and 0, got {describe(y)}")
    return array.astype(np.int64)


def _draw(rng: np.random.Generator, graph: Graph, negatives: str, size: int, taken: Keys) -> Pairs:
    """Up to ``size`` different pairs outside ``taken``, between the two kinds of nodes if the graph has two."""
    sides = find_sides(graph, None)
    if negatives == "uniform":
        return draw_pairs(rng, graph.num_nodes, size, taken) if sides is None else sides.draw(rng, size, taken)
    return _by_degree(rng, graph, size, taken) if sides is None else draw_by_degree(graph, size, taken, rng, sides)


def _by_degree(rng: np.random.Generator, graph: Graph, size: int, taken: NDArray[np.int64]) -> Pairs:
    """Different pairs outside ``taken`` whose ends are drawn in proportion to their degree: they are ends of edges."""
    found = np.empty((2, 0), np.int64)
    edges = graph.edge_index
    for _ in range(50):
        drawn = np.stack([edges[side][rng.integers(0, edges.shape[1], 2 * size)] for side in (0, 1)])
        drawn = np.concatenate([found, drawn[:, drawn[0] != drawn[1]]], axis=1)
        keys = encode(drawn)
        _, first = np.unique(keys, return_index=True)
        first = np.sort(first[~np.isin(keys[first], taken)])
        found = drawn[:, first[:size]]
        if found.shape[1] == size:
            break
    return found
