"""All methods by their names: what a model reads and how it is built, or how pairs are scored without a model."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import Module

from graphreach import nn, tasks
from graphreach.anchors import select_anchors
from graphreach.arguments import check_choice
from graphreach.graph import Graph
from graphreach.progress import Clock
from graphreach.reachability import Reachability, reachability
from graphreach.tasks.examples import Split
from graphreach.training.inputs import WHOLE_GRAPH_NODES, Inputs
from graphreach.training.plan import Plan, resolve
from graphreach.training.settings import HEURISTICS, Settings
from graphreach.walks.engine import Engine

Features = NDArray[np.float32] | None
Scorer = Callable[[NDArray[np.int64]], NDArray[Any]]
ENCODING = 16
"""Columns of random-walk and Laplacian encodings."""


class Method(NamedTuple):
    """A model in the harness.

    Attributes:
        inputs: From graph, features, plan, a clock, (for a graph seen before) anchors, and the engine that walks to
            :class:`Inputs`.
        encoder: Name of the model in :mod:`graphreach.nn`, which is imported when it is built.
        first: Arguments of the model before the width of the features.
        epoch_inputs: Draws what changes from epoch to epoch, from graph, inputs and a seed; None if nothing does.
    """

    inputs: Callable[..., Inputs]
    encoder: str
    first: tuple[str, ...] = ()
    epoch_inputs: Callable[[Graph, Inputs, int], Inputs] | None = None

    def build(self, in_channels: int, num_nodes: int | None, plan: Plan) -> Module:
        """A model for features of this width; with a vector for each of ``num_nodes`` nodes, unless that is None."""
        model: Module = getattr(nn, self.encoder)(*self.first, in_channels, num_nodes=num_nodes, **plan.model)
        return model


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
    """The anchors of a run on a graph."""
    if plan.anchors is None:
        raise TypeError(f"method {plan.method} has no anchors")
    return select_anchors(graph, **plan.anchors.model_dump(), engine=engine).anchors


def model_reachability(
    graph: Graph, anchors: NDArray[np.int64], plan: Plan, engine: Engine | str = "local"
) -> Reachability:
    """The reachability that a run of ``graphreach`` reads, before it is put on the preset's scale."""
    return reachability(graph, anchors, **plan.reach.arguments(), engine=engine)


def reach_inputs(graph: Graph, x: Features, plan: Plan, reach: Reachability) -> Inputs:
    """What the model reads of a graph whose reachability is known."""
    positions = reach.rescaled(plan.reach.scale, graph).to_torch()
    if graph.num_nodes > WHOLE_GRAPH_NODES and positions.hops is None:
        _ = positions.levels  # once, not for the rows of every step
    local = plan.model.get("local") is not None
    neighbours = nn.Adjacency.from_graph(graph).without_weights() if local else None
    return Inputs(_tensor(x), positions, graph.num_nodes, neighbours, reach.anchors)


def _pgnn(hops: int | None) -> Method:
    def inputs(graph: Graph, x: Features, plan: Plan, clock: Clock, *_: Any, **__: Any) -> Inputs:
        with clock.phase("distances"):
            return epoch_inputs(graph, Inputs(_tensor(x), None, graph.num_nodes), plan.seed)

    def epoch_inputs(graph: Graph, before: Inputs, seed: int) -> Inputs:
        return Inputs(before.x, nn.anchor_sets(graph, max_distance=hops, seed=seed), before.num_nodes)

    return Method(inputs, "PGNN", epoch_inputs=epoch_inputs)


def _neighbourhood(kind: str, encodings: str | None = None) -> Method:
    def inputs(graph: Graph, x: Features, plan: Plan, clock: Clock, *_: Any, **__: Any) -> Inputs:
        parts = [] if x is None else [x]
        if encodings is not None:
            with clock.phase("encodings"):
                parts.append(getattr(nn, encodings)(graph, ENCODING, seed=plan.seed))
        with clock.phase("inputs"):
            adjacency = nn.Adjacency.from_graph(graph)
        return Inputs(_tensor(np.concatenate(parts, 1) if parts else None), adjacency, graph.num_nodes)

    return Method(inputs, "Neighbourhood", (kind,))


def _mlp_inputs(graph: Graph, x: Features, *_: Any, **__: Any) -> Inputs:
    return Inputs(_tensor(np.ones((graph.num_nodes, 1), np.float32) if x is None else x), None, graph.num_nodes)


def _tensor(x: Features) -> torch.Tensor | None:
    return None if x is None else torch.from_numpy(np.ascontiguousarray(x, np.float32))


METHODS: dict[str, Method] = {
    "graphreach": Method(_graphreach_inputs, "GraphReach"),
    "pgnn-e": _pgnn(None),
    "pgnn-f": _pgnn(2),
    **{kind: _neighbourhood(kind) for kind in ("gcn", "sage", "gat", "gin")},
    "mlp": Method(_mlp_inputs, "MLP"),
    "gcn-rw": _neighbourhood("gcn", "random_walk_encodings"),
    "gcn-laplacian": _neighbourhood("gcn", "laplacian_encodings"),
}
"""Models that are trained epoch by epoch."""


def _heuristic(split: Split, settings: Settings) -> Scorer:
    return lambda pairs: tasks.score(settings.method, split.graph, pairs, **settings.model.given())


def _skip_gram(split: Split, settings: Settings) -> Scorer:
    arguments = resolve(settings, split.graph.num_nodes).model
    scorer: Scorer = nn.SkipGram(**({"seed": settings.seed} | arguments)).fit(split.graph).score_pairs
    return scorer


def _closure(split: Split, settings: Settings) -> Scorer:
    return lambda pairs: tasks.closure_scores(split, pairs)


SCORERS: dict[str, Callable[[Split, Settings], Scorer]] = {
    **dict.fromkeys(HEURISTICS, _heuristic),
    **dict.fromkeys(("deepwalk", "node2vec"), _skip_gram),
    "closure": _closure,
}
"""From a split to a function that scores pairs ``[2, m]``."""


def find_method(name: str) -> Method:
    """The method of that name."""
    return METHODS[check_choice("method", name, METHODS)]
