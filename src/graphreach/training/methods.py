"""Every method by its name: what a model reads and how it is built, or how pairs are scored without one."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from graphreach.anchors import select_anchors
from graphreach.arguments import check_choice
from graphreach.graph import Graph
from graphreach.nn import MLP, PGNN, Adjacency, GraphReach, Neighbourhood, anchor_sets
from graphreach.nn.encodings import laplacian_encodings, random_walk_encodings
from graphreach.nn.skip_gram import SkipGram
from graphreach.reachability import Reachability, reachability
from graphreach.tasks import HEURISTICS, Split, closure_scores, score
from graphreach.training.inputs import WHOLE_GRAPH_NODES, Inputs
from graphreach.training.plan import Plan, resolve
from graphreach.training.settings import Settings
from graphreach.walks.engine import Engine


class Clock:
    """Adds up the seconds of named phases.

    Example:
        >>> clock = Clock()
        >>> with clock.phase("anchors"):
        ...     pass
        >>> list(clock.seconds)
        ['anchors']
    """

    def __init__(self, seconds: dict[str, float] | None = None) -> None:
        self.seconds = dict(seconds or {})

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what happens inside."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


Features = NDArray[np.float32] | None
Scorer = Callable[[NDArray[np.int64]], NDArray[Any]]

ENCODING = 16
"""Columns of random-walk and Laplacian encodings."""


class Method(NamedTuple):
    """A model in the harness.

    Attributes:
        inputs: From graph, features, plan, a clock, (for a graph seen before) anchors, and the engine that walks to
            :class:`Inputs`.
        build: From the width of the features, the number of nodes (None without identity) and the plan to a model.
        epoch_inputs: What is drawn anew in an epoch: from graph, inputs and a seed; None if nothing ever is.
    """

    inputs: Callable[..., Inputs]
    build: Callable[[int, int | None, Plan], nn.Module]
    epoch_inputs: Callable[[Graph, Inputs, int], Inputs] | None = None


def _graphreach_inputs(
    graph: Graph,
    x: Features,
    plan: Plan,
    clock: Clock,
    anchors: NDArray[np.int64] | None = None,
    engine: Engine | str = "local",
) -> Inputs:
    if anchors is None:
        with clock.phase("anchors"):
            anchors = choose_anchors(graph, plan, engine=engine)
    with clock.phase("reachability"):
        reach = model_reachability(graph, anchors, plan, engine=engine)
    with clock.phase("inputs"):
        return reach_inputs(graph, x, plan, reach)


def choose_anchors(graph: Graph, plan: Plan, engine: Engine | str = "local") -> NDArray[np.int64]:
    """The anchors of a run on a graph.

    Example:
        >>> star = Graph.from_edges([[0, 0, 0, 0], [1, 2, 3, 4]])
        >>> choose_anchors(star, resolve(Settings(num_anchors=1, anchor_walk_length=1), 5)).tolist()
        [0]
    """
    if plan.anchors is None:
        raise TypeError(f"method {plan.method} has no anchors")
    return select_anchors(graph, **plan.anchors.model_dump(), engine=engine).anchors


def model_reachability(
    graph: Graph, anchors: NDArray[np.int64], plan: Plan, engine: Engine | str = "local"
) -> Reachability:
    """The reachability that a run of ``graphreach`` reads, before it is put on the preset's scale.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> model_reachability(path, np.array([1]), resolve(Settings(preset="best"), 3)).hops
        4
    """
    return reachability(graph, anchors, **plan.reach.arguments(), engine=engine)


def reach_inputs(graph: Graph, x: Features, plan: Plan, reach: Reachability) -> Inputs:
    """What the model reads of a graph whose reachability is known.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> plan = resolve(Settings(preset="paper"), 3)
        >>> reach_inputs(path, None, plan, model_reachability(path, np.array([1]), plan)).num_nodes
        3
    """
    positions = reach.rescaled(plan.reach.scale, graph).to_torch()
    if graph.num_nodes > WHOLE_GRAPH_NODES and positions.hops is None:
        _ = positions.levels  # once, not for the rows of every step
    local = plan.model.get("local") is not None
    neighbours = Adjacency.from_graph(graph).without_weights() if local else None
    return Inputs(_tensor(x), positions, graph.num_nodes, neighbours, reach.anchors)


def _build_graphreach(in_channels: int, num_nodes: int | None, plan: Plan) -> nn.Module:
    return GraphReach(in_channels, num_nodes=num_nodes, **plan.model)


def _pgnn(hops: int | None) -> Method:
    def inputs(
        graph: Graph, x: Features, plan: Plan, clock: Clock, anchors: Any = None, engine: Engine | str = "local"
    ) -> Inputs:
        with clock.phase("distances"):
            structure = anchor_sets(graph, max_distance=hops, seed=plan.seed)
        return Inputs(_tensor(x), structure, graph.num_nodes)

    def epoch_inputs(graph: Graph, before: Inputs, seed: int) -> Inputs:
        return Inputs(before.x, anchor_sets(graph, max_distance=hops, seed=seed), before.num_nodes)

    def build(in_channels: int, num_nodes: int | None, plan: Plan) -> nn.Module:
        return PGNN(in_channels, num_nodes=num_nodes, **plan.model)

    return Method(inputs, build, epoch_inputs)


def _neighbourhood(kind: str, encode: Callable[..., NDArray[np.float32]] | None = None) -> Method:
    def inputs(
        graph: Graph, x: Features, plan: Plan, clock: Clock, anchors: Any = None, engine: Engine | str = "local"
    ) -> Inputs:
        parts = [] if x is None else [x]
        if encode is not None:
            with clock.phase("encodings"):
                parts.append(encode(graph, ENCODING, seed=plan.seed))
        with clock.phase("inputs"):
            adjacency = Adjacency.from_graph(graph)
        return Inputs(_tensor(np.concatenate(parts, 1) if parts else None), adjacency, graph.num_nodes)

    def build(in_channels: int, num_nodes: int | None, plan: Plan) -> nn.Module:
        return Neighbourhood(kind, in_channels, num_nodes=num_nodes, **plan.model)

    return Method(inputs, build)


def _mlp_inputs(
    graph: Graph, x: Features, plan: Plan, clock: Clock, anchors: Any = None, engine: Engine | str = "local"
) -> Inputs:
    return Inputs(_tensor(np.ones((graph.num_nodes, 1), np.float32) if x is None else x), None, graph.num_nodes)


def _build_mlp(in_channels: int, num_nodes: int | None, plan: Plan) -> nn.Module:
    return MLP(in_channels, num_nodes=num_nodes, **plan.model)


def _tensor(x: Features) -> torch.Tensor | None:
    return None if x is None else torch.from_numpy(np.ascontiguousarray(x, np.float32))


METHODS: dict[str, Method] = {
    "graphreach": Method(_graphreach_inputs, _build_graphreach),
    "pgnn-e": _pgnn(None),
    "pgnn-f": _pgnn(2),
    "gcn": _neighbourhood("gcn"),
    "sage": _neighbourhood("sage"),
    "gat": _neighbourhood("gat"),
    "gin": _neighbourhood("gin"),
    "mlp": Method(_mlp_inputs, _build_mlp),
    "gcn-rw": _neighbourhood("gcn", random_walk_encodings),
    "gcn-laplacian": _neighbourhood("gcn", laplacian_encodings),
}
"""Models that are trained epoch by epoch."""


def _heuristic(name: str) -> Callable[[Split, Settings], Scorer]:
    def make(split: Split, settings: Settings) -> Scorer:
        return lambda pairs: score(name, split.graph, pairs, **settings.model.given())

    return make


def _skip_gram(split: Split, settings: Settings) -> Scorer:
    arguments = resolve(settings, split.graph.num_nodes).model
    return SkipGram(**({"seed": settings.seed} | arguments)).fit(split.graph).score_pairs


def _closure(split: Split, settings: Settings) -> Scorer:
    return lambda pairs: closure_scores(split, pairs)


SCORERS: dict[str, Callable[[Split, Settings], Scorer]] = {
    **{name: _heuristic(name) for name in HEURISTICS},
    "deepwalk": _skip_gram,
    "node2vec": _skip_gram,
    "closure": _closure,
}
"""From a split to a function that scores pairs ``[2, m]``."""


def find_method(name: str) -> Method:
    """The method of that name.

    Example:
        >>> find_method("gcn").epoch_inputs is None
        True
    """
    return METHODS[check_choice("method", name, METHODS)]
