"""Anchor selection and its result."""

import inspect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors.bipartite import CollectVisits, bipartite_graph
from graphreach.anchors.strategies import STRATEGIES, Strategy, check_chosen, consensus
from graphreach.arguments import check_choice, describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.limits import check_memory
from graphreach.walks.defaults import NUM_ANCHORS, NUM_WALKS, STRATEGY, WALK_LENGTH
from graphreach.walks.engine import AnyGraph, Engine, Job, Transitions, Walker, find_engine
from graphreach.walks.kernels import bitmap
from graphreach.walks.rng import check_seed, hash_nodes
from graphreach.walks.visits import count_visits, equal_weights
from graphreach.walks.walk_length import check_count, resolve_walk_length

MAX_VISITS = 1 << 25
"""Visits that selection looks at before it turns to a sample of starts: about a second and a few hundred megabytes."""

SELECT, MEASURE = 0x2545F4914F6CDD1D, 0x369DEA0F31A53F85
"""Separate the random numbers of the two samples of starts from each other and from those of the walks."""

LOG_ODDS = math.log(100)
"""a in the bounds: each fails with probability exp(-a) = 0.01."""


@dataclass(frozen=True, eq=False, repr=False)
class AnchorSet:
    r"""Anchors, best first, and how well they cover the graph. Works as an integer array of positions.

    Attributes:
        anchors: Positions of the anchors, ``[k]``.
        coverage: The share of nodes from which a walk reaches an anchor, :math:`|\rho(A)| / n`; an estimate from
            ``num_starts`` nodes if these are fewer than all.
        upper_bound: An upper bound of the share that the best k anchors could cover.
        coverage_lower: A lower bound of the coverage: the coverage itself if all nodes were looked at, else one that
            holds with probability 0.99 (as does ``upper_bound``).
        num_starts: How many nodes' walks the coverage was measured on.
        strategy: Name of the strategy.

    Example:
        >>> import graphreach as gr
        >>> star = gr.Graph.from_edges([[0, 0, 0], [1, 2, 3]])
        >>> anchors = gr.select_anchors(star, 1, strategy="degree", walk_length=1)
        >>> anchors
        AnchorSet(1 anchor of 4 nodes, coverage=0.75, upper_bound=1.00, strategy=degree)
        >>> anchors[0], len(anchors)
        (np.int64(0), 1)
    """

    anchors: NDArray[np.int64]
    coverage: float
    upper_bound: float
    coverage_lower: float
    num_starts: int
    num_nodes: int
    strategy: str

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        # NumPy before version 2 knows no None
        return np.asarray(self.anchors, dtype) if copy is None else np.array(self.anchors, dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.anchors)

    def __iter__(self) -> Iterator[np.int64]:
        return iter(self.anchors)

    def __getitem__(self, item: Any) -> Any:
        return self.anchors[item]

    def to_frame(self, ids: Any = None, kind: str = "polars") -> Any:
        """A data frame with one row per anchor: its ``rank``, 1 for the best, and ``anchor``.

        Args:
            ids: The graph's ids; by default the frame has positions.
            kind: ``"polars"`` or ``"pandas"``.

        Example:
            >>> import graphreach as gr
            >>> star = gr.Graph.from_edge_list([("hub", "a"), ("hub", "b"), ("hub", "c")])
            >>> gr.select_anchors(star, 1, strategy="degree").to_frame(star.ids).rows()
            [(1, 'hub')]
        """
        from graphreach.graph.outgoing import given_ids, make_frame

        known = given_ids(ids, self.num_nodes)
        return make_frame({"rank": np.arange(1, len(self) + 1), "anchor": known[self.anchors]}, kind)

    def __repr__(self) -> str:
        noun = "anchor" if len(self) == 1 else "anchors"
        return (
            f"AnchorSet({len(self)} {noun} of {self.num_nodes} nodes, coverage={self.coverage:.2f}, "
            f"upper_bound={self.upper_bound:.2f}, strategy={self.strategy})"
        )


def select_anchors(
    graph: AnyGraph,
    num_anchors: int | float | str = NUM_ANCHORS,
    strategy: str | Strategy = STRATEGY,
    num_walks: int = NUM_WALKS,
    walk_length: int | str = WALK_LENGTH,
    seed: int = 0,
    *,
    num_starts: int | None = None,
    engine: Engine | str = "local",
) -> AnchorSet:
    r"""Choose the nodes that positions are measured against, as in section 3.2 of the
    `"GraphReach" <https://arxiv.org/abs/2008.09657>`_ paper.

    A node u covers another node v if a walk from v visits u. ``"greedy"`` draws five samples of 30% of the walks, runs
    Algorithm 2 on each and takes the nodes chosen most often. Ties go to the greater summed marginal coverage, then to
    the more visited node, then to a seeded hash. The evaluation is lazy; when everything that can be covered is covered,
    a new round begins with nothing covered. One greedy run up to its saturation reaches at least :math:`1 - 1/e` of the
    best coverage. For the consensus, the result holds the coverage on all walks and an upper bound of the best one.

    On graphs with more than :data:`MAX_VISITS` visits, anchors are selected on the walks of a random sample of starts and
    their coverage is measured on another, independent one. With :math:`\Lambda` of :math:`\theta` starts covered and
    :math:`a = \ln 100`, each of these bounds holds with probability 0.99 (martingale bounds, as in OPIM):

    .. math::
        |\rho(A)| / n &\ge \left(\left(\sqrt{\Lambda + 2a/9} - \sqrt{a/2}\right)^2 - a/18\right) / \theta \\
        |\rho(A^*)| / n &\le \left(\sqrt{\Lambda^u + a/2} + \sqrt{a/2}\right)^2 / \theta

    where :math:`\Lambda^u` bounds what any k nodes cover in the sample that was selected on.

    Args:
        graph: The graph.
        num_anchors: A number, a share of the nodes (a float up to 1), or ``"log2"``, which is
            :math:`\lfloor \log_2 n \rfloor^2`, at most n.
        strategy: ``"greedy"``, ``"random"``, ``"degree"``, ``"pagerank"``, or a function
            ``(graph, num_anchors, seed)`` that returns positions.
        num_walks: Walks from each start, :math:`n_w`.
        walk_length: Jumps of a walk, :math:`l_w`, or ``"diameter"``.
        seed: Random seed for walks and for breaking ties. The walks are those of :func:`random_walks` and
            :func:`reachability` with this seed.
        num_starts: Number of starts for selection, and again for measuring the coverage; by default all where that is
            affordable.
        engine: ``"local"``, ``"ray"``, or an engine such as :class:`graphreach.cluster.Ray`; the anchors are the same.

    Example:
        >>> import graphreach as gr
        >>> two_stars = gr.Graph.from_edges([[0, 0, 0, 4, 4, 4], [1, 2, 3, 5, 6, 7]])
        >>> sorted(gr.select_anchors(two_stars, 2, walk_length=1))
        [np.int64(0), np.int64(4)]
    """
    if not hasattr(graph, "can_move"):  # a partitioned graph has it
        check_graph(graph)
    k = resolve_num_anchors(num_anchors, graph.num_nodes)
    name, function = _resolve_strategy(strategy)
    num_walks, seed = check_count("num_walks", num_walks), check_seed(seed)
    length = resolve_walk_length(graph, walk_length)
    check_memory(8 * num_walks * length, f"walks of {num_walks} x {length} jumps from one node", "lower num_walks")
    size = _sample_size(graph.num_nodes, num_walks * length, num_starts)
    where = find_engine(engine)
    where.in_parts(graph)
    if function is not None:
        anchors = check_chosen(_choose(function, name, graph, k, seed), k, graph.num_nodes, name)
        with where.walker(graph) as walker:
            return _measure(walker, anchors, name, num_walks, length, seed, size, can_move(graph))
    with where.walker(graph) as walker:
        starts = _sample(graph.num_nodes, size, seed ^ SELECT)
        walks = bipartite_graph(walker, starts, CollectVisits(num_walks=num_walks, length=length, seed=seed))
        anchors = consensus(walks, k)
        bound = walks.optimum_bound(k)
        if size == graph.num_nodes:
            coverage = walks.covered_by(anchors) / size
            return AnchorSet(anchors, coverage, bound / size, coverage, size, size, name)
        return _measure(walker, anchors, name, num_walks, length, seed, size, optimum_upper(bound, size))


def _choose(function: Strategy, name: str, graph: Any, k: int, seed: int) -> Any:
    if not isinstance(graph, Graph) and name in ("degree", "pagerank"):
        raise InputError(f"strategy must be greedy, random or a function on a partitioned graph, got {name!r}")
    try:
        inspect.signature(function).bind(graph, k, seed)
    except TypeError:
        raise InputError(f"strategy {name} must be a function of graph, num_anchors and seed, but it is not") from None
    return function(graph, k, seed)


def _measure(
    walker: Walker, anchors: NDArray[np.int64], name: str, num_walks: int, length: int, seed: int, size: int,
    upper: float,
) -> AnchorSet:  # fmt: skip
    """Count covered starts on a sample that the anchors were not selected on."""
    n = walker.num_nodes
    starts = _sample(n, size, seed ^ MEASURE)
    covered = reached_starts(walker, starts, anchors, num_walks, length, seed)
    coverage = covered / len(starts)
    lower = coverage if size == n else coverage_lower(covered, size)
    return AnchorSet(anchors, coverage, max(upper, coverage), lower, size, n, name)


@dataclass(frozen=True, kw_only=True)
class CountReached(Job):
    """How many starts have a walk that visits a node of ``wanted``, other than the start itself."""

    def walk(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any] | None = None) -> int:
        """The number for some starts."""
        assert self.wanted is not None
        column = np.zeros(64 * len(self.wanted), np.uint32)  # one for all anchors
        column.flags.writeable = False
        visits = np.empty((len(starts), 1), np.float32)
        weights = equal_weights(self.length, self.steps)
        self.run(count_visits, table, starts, self.wanted, column, 1, weights, 1, False, False, 1.0, visits)
        return int(np.count_nonzero(visits))


def reached_starts(
    walker: Walker, starts: NDArray[np.uint32], anchors: NDArray[Any], num_walks: int, length: int, seed: int
) -> int:
    """How many of ``starts`` have a walk that visits an anchor (other than the start itself); nothing is stored."""
    job = CountReached(num_walks=num_walks, length=length, seed=seed, wanted=bitmap(anchors, walker.num_nodes))
    return sum(count for _, count in walker.map(job, starts, "measuring coverage"))


def coverage_lower(covered: int, num_starts: int) -> float:
    """A lower bound of the true coverage when ``covered`` of ``num_starts`` random starts are covered."""
    a = LOG_ODDS
    bound = (math.sqrt(covered + 2 * a / 9) - math.sqrt(a / 2)) ** 2 - a / 18
    return min(covered, max(0.0, bound)) / num_starts


def optimum_upper(bound: int, num_starts: int) -> float:
    """An upper bound of the best coverage when no k nodes cover more than ``bound`` of ``num_starts`` random starts."""
    a = LOG_ODDS
    return min(1.0, (math.sqrt(bound + a / 2) + math.sqrt(a / 2)) ** 2 / num_starts)


def can_move(graph: Any) -> float:
    """The share of nodes with a neighbour other than themselves: what every node as an anchor would cover."""
    if not isinstance(graph, Graph):
        return float(graph.can_move)
    degree = np.diff(graph.indptr.astype(np.int64))
    first = np.zeros(graph.num_nodes, np.int64)
    has = degree > 0
    first[has] = graph.indices[graph.indptr[:-1][has]]
    stuck = (degree == 0) | ((degree == 1) & (first == np.arange(graph.num_nodes)))
    return float(1.0 - stuck.mean())


def resolve_num_anchors(num_anchors: int | float | str, num_nodes: int) -> int:
    """The number of anchors that the argument means."""
    if num_nodes == 0:
        raise InputError("graph must have at least one node to choose anchors from, got none")
    if isinstance(num_anchors, str):
        if num_anchors != "log2":
            raise InputError(f'num_anchors must be a number, a share or "log2", got {describe(num_anchors)}')
        return min(num_nodes, max(1, math.floor(math.log2(num_nodes)) ** 2))
    if isinstance(num_anchors, float | np.floating):
        if not 0 < num_anchors <= 1:
            raise InputError(f"num_anchors as a share must be above 0 and at most 1, got {num_anchors}")
        return max(1, round(float(num_anchors) * num_nodes))
    if isinstance(num_anchors, bool) or not isinstance(num_anchors, int | np.integer):
        raise InputError(f'num_anchors must be a number, a share or "log2", got {describe(num_anchors)}')
    if not 1 <= num_anchors <= num_nodes:
        raise InputError(f"num_anchors must be between 1 and {num_nodes} (the number of nodes), got {num_anchors}")
    return int(num_anchors)


def _resolve_strategy(strategy: Any) -> tuple[str, Strategy | None]:
    """Name and function; the greedy needs walks and has none."""
    if callable(strategy):
        return getattr(strategy, "__name__", type(strategy).__name__), strategy
    name = check_choice("strategy", strategy, ["greedy", *STRATEGIES], more=" or a function")
    return name, STRATEGIES.get(name)


def _sample_size(num_nodes: int, visits_per_start: int, num_starts: int | None) -> int:
    if num_starts is not None:
        return min(num_nodes, check_count("num_starts", num_starts))
    return min(num_nodes, max(1, MAX_VISITS // visits_per_start))


def _sample(num_nodes: int, size: int, seed: int) -> NDArray[np.uint32]:
    """A random sample of starts, sorted."""
    nodes = np.arange(num_nodes, dtype=np.uint32)
    if size == num_nodes:
        return nodes
    order = hash_nodes(seed, nodes)
    return np.sort(np.argpartition(order, size)[:size]).astype(np.uint32)
