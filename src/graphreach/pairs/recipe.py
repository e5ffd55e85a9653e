"""Which columns describe a pair, and how they are computed: chosen once for a graph, kept by what learns from them."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice, check_whole, describe
from graphreach.errors import InputError
from graphreach.graph import Graph

NUM_ANCHORS, MANY_ANCHORS = 128, 512
"""Anchors that positions are measured against; more helped only where a graph is in many pieces."""

WHOLE = 0.75
"""Share of the nodes in the largest piece from which on the others hardly matter."""

PIECES_NODES = 50_000
"""Nodes of a graph at most that gets many anchors: positions take n x k numbers for each length."""

STEPS, MOST_STEPS, LONG_STEPS = 4, 8, 12
"""Jumps between the ends of a pair: at least, on most graphs, and on those with long paths."""

LENGTHS, LONG_LENGTHS = (4, 10), (5, 15, 40)
"""Jumps of the walks to anchors."""

LONG = 6
"""Mean distance in hops from which on paths are long, as in road and power networks."""

SEARCHED = 4_000_000
"""Edges that are looked at to tell."""

BUDGET = 1_000_000_000
"""Edges looked at for all pairs: some three seconds. Three times as many cost one step more, which adds little."""

MANY = 100_000
"""Pairs that a method is chosen for where their number is not known."""

PROBES = 32
"""Nodes whose neighbourhoods the cost is estimated by."""

NUM_WALKS = 128
"""Walks from each end where exact powers would cost too much."""

WALK_STEPS = 5
"""Jumps between the ends of a pair that meeting walks count."""


@dataclass(frozen=True)
class PairRecipe:
    """The columns of a pair.

    Attributes:
        steps: Largest number of jumps between the ends.
        lengths: Jumps of the walks to anchors; positions are compared for each.
        num_anchors: Number of anchors, at most the number of nodes.
        method: ``"exact"`` powers, ``"walks"`` that meet, for graphs with hubs, or ``"auto"``, chosen by cost on the graph
            that pairs are described in.
        num_walks: Walks from each end, with ``"walks"``.
        directed: Whether directions count.
        own_edge: Whether the edge between the ends of a pair is seen, and one step between them a column: right for a
            relation other than being linked.
    """

    steps: int = STEPS
    lengths: tuple[int, ...] = LENGTHS
    num_anchors: int = NUM_ANCHORS
    method: str = "exact"
    num_walks: int = NUM_WALKS
    directed: bool = False
    own_edge: bool = False

    @property
    def first_step(self) -> int:
        """The smallest number of jumps between the ends."""
        return 1 if self.own_edge else 2

    def __post_init__(self) -> None:
        check_choice("method", self.method, ("exact", "walks", "auto"))
        check_whole("num_anchors", self.num_anchors, 1)
        check_whole("num_walks", self.num_walks, 1, 2**20)
        most = 64 if self.method == "exact" else 4 if self.directed else 6
        check_whole("steps", self.steps, 2)
        if self.steps > most:
            raise InputError(f"steps must be from 2 to {most} with method {self.method!r}, got {self.steps!r}")
        if not isinstance(self.lengths, tuple | list) or not self.lengths:
            raise InputError(f"lengths must be a list of numbers of jumps, got {describe(self.lengths)}")
        for length in self.lengths:
            check_whole("lengths", length, 1, 1000)
        object.__setattr__(self, "lengths", tuple(int(length) for length in self.lengths))
        for name in ("steps", "num_anchors", "num_walks"):
            object.__setattr__(self, name, int(getattr(self, name)))  # small types of numpy would overflow

    def as_dict(self) -> dict[str, Any]:
        """Plain values, to be written."""
        return asdict(self) | {"lengths": list(self.lengths)}

    def resolved(self, graph: Graph) -> "PairRecipe":
        """The recipe with the method that a graph can afford for many pairs."""
        if self.method != "auto":
            return self
        affordable = _affordable_steps(graph, MANY, self.steps)
        return replace(self, method="exact" if affordable == self.steps else "walks")

    @classmethod
    def for_graph(cls, graph: Graph, num_pairs: int, **given: Any) -> "PairRecipe":
        """The recipe for some pairs of a graph: as many steps as its paths want and the number of pairs allows.

        Args:
            graph: The graph.
            num_pairs: Roughly how many pairs are described.
            given: Attributes that are chosen already.
        """
        long = _has_long_paths(graph)
        values: dict[str, Any] = {
            "lengths": LONG_LENGTHS if long else LENGTHS,
            "num_anchors": max(1, min(_num_anchors(graph), graph.num_nodes)),
            "directed": graph.directed,
        }
        values |= given
        if "method" not in given and "steps" not in given:
            steps = _affordable_steps(graph, num_pairs, LONG_STEPS if long else MOST_STEPS)
            walks = steps < STEPS
            values |= {
                "method": "walks" if walks else "exact",
                "steps": (4 if graph.directed else WALK_STEPS) if walks else steps,
            }
        elif "steps" not in given:
            walks = isinstance(given["method"], str) and given["method"] != "exact"
            values["steps"] = (4 if graph.directed else WALK_STEPS) if walks else STEPS
        return cls(**values)


def _num_anchors(graph: Graph) -> int:
    """More anchors for a small graph in many pieces, most of which would have none."""
    if graph.num_nodes > PIECES_NODES or not len(graph.indices):
        return NUM_ANCHORS
    from scipy.sparse.csgraph import connected_components

    _, piece = connected_components(graph.to_scipy(np.float32), directed=False)
    sizes = np.bincount(piece)
    sizes = sizes[sizes >= 3]  # a pair of nodes has nobody else to be linked to, as seen from an anchor
    many = len(sizes) > NUM_ANCHORS // 2 and sizes.max() < WHOLE * sizes.sum()
    return MANY_ANCHORS if many else NUM_ANCHORS


def _has_long_paths(graph: Graph) -> bool:
    """Whether nodes that are connected are far apart: by searches from a few nodes, fewer in a large graph."""
    if not len(graph.indices):
        return False
    count = int(np.clip(SEARCHED // len(graph.indices), 2, PROBES))
    starts = graph.indices[np.random.default_rng(1).integers(0, len(graph.indices), count)]
    found = np.concatenate([_distances(graph, int(start)) for start in starts])
    return len(found) > 0 and bool(found.mean() >= LONG)


def _distances(graph: Graph, start: int) -> NDArray[np.int64]:
    """Hops from a node to each of the others that it reaches, in no order."""
    indptr, seen = graph.indptr, np.zeros(graph.num_nodes, np.bool_)
    seen[start] = True
    at, sizes = np.array([start]), []
    while len(at):
        begin, size = indptr[at].astype(np.int64), (indptr[at + 1] - indptr[at]).astype(np.int64)
        entries = np.repeat(begin - np.cumsum(size) + size, size) + np.arange(size.sum())
        new = np.zeros(graph.num_nodes, np.bool_)
        new[graph.indices[entries]] = True
        at = np.flatnonzero(new & ~seen)
        seen[at] = True
        sizes.append(len(at))
    return np.repeat(np.arange(1, len(sizes) + 1), sizes)


def _affordable_steps(graph: Graph, num_pairs: int, most: int) -> int:
    """The largest number of steps whose exact powers stay within :data:`BUDGET`; 1 if not even two do."""
    nodes = np.flatnonzero(graph.degree > 0)
    if not len(nodes) or not num_pairs:
        return most
    rng = np.random.default_rng(0)
    often = graph.indices[rng.integers(0, len(graph.indices), PROBES // 2)]  # ends of edges, as those of links are
    probes = np.concatenate([rng.choice(nodes, PROBES // 2), often])
    sources, steps, spread = min(num_pairs, len(nodes)), 1, [0.0]
    pulled = math.inf
    for cost in _hop_edges(graph, probes.astype(np.int64), most):
        spread.append(spread[-1] + sources * cost)
        if len(spread) == 3:
            pulled = spread[2] / sources * num_pairs  # the last two steps may be taken from the targets instead
        steps = len(spread) - 1
        if spread[max(0, steps - 2)] + min(pulled, spread[steps] - spread[max(0, steps - 2)]) > BUDGET:
            return steps - 1
    return steps


def _hop_edges(graph: Graph, probes: NDArray[np.int64], hops: int) -> Iterator[float]:
    """The mean number of edges that a step looks at, for steps 1, 2, ... from the probes."""
    from scipy.sparse import csr_array

    adjacency = graph.to_scipy(np.float32)
    sizes = np.diff(graph.indptr.astype(np.int64))
    at = csr_array((np.ones(len(probes), np.float32), (np.arange(len(probes)), probes)), (len(probes), graph.num_nodes))
    for hop in range(hops):
        yield float(sizes[at.indices].sum() / len(probes))
        if hop < hops - 1:
            at = at @ adjacency
            at.data[:] = 1.0
