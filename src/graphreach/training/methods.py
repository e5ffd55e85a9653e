"""Every model that is trained, by its name: what it reads and how it is built."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from graphreach.anchors import select_anchors
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn import MLP, PGNN, Adjacency, GraphReach, Neighbourhood, anchor_sets
from graphreach.nn.encodings import laplacian_encodings, random_walk_encodings
from graphreach.nn.presets import preset
from graphreach.nn.similarity_map import MAX_LEVELS
from graphreach.reachability import Reachability, reachability
from graphreach.training.clock import Clock
from graphreach.training.inputs import WHOLE_GRAPH_NODES, Inputs
from graphreach.training.settings import Settings, nearest

Features = NDArray[np.float32] | None
DENSE_BYTES = 2 << 30
"""Position matrices up to which exact reachability is used; beyond it is sampled and compressed."""

ENCODING = 16
"""Columns of random-walk and Laplacian encodings."""


PGNN_OPTIONS = {"similarity_map": "learned"}
"""P-GNN's own code maps distances by a small network, and does better so."""


class Method(NamedTuple):
    """A model in the harness.

    Attributes:
        inputs: From graph, features, settings, a clock, (for a graph seen before) anchors, and where to walk (as arguments
            of :func:`graphreach.reachability`) to :class:`Inputs`.
        build: From the width of the features, the number of nodes (None without identity) and settings to a model.
        epoch_inputs: What is drawn anew in an epoch: from graph, inputs and a seed; None if nothing ever is.
    """

    inputs: Callable[..., Inputs]
    build: Callable[[int, int | None, Settings], nn.Module]
    epoch_inputs: Callable[[Graph, Inputs, int], Inputs] | None = None


def _graphreach_inputs(
    graph: Graph, x: Features, settings: Settings, clock: Clock, anchors: NDArray[np.int64] | None = None, **place: Any
) -> Inputs:
    if anchors is None:
        with clock.phase("anchors"):
            anchors = choose_anchors(graph, settings, **place)
    with clock.phase("reachability"):
        reach = model_reachability(graph, anchors, settings, **place)
    with clock.phase("inputs"):
        return reach_inputs(graph, x, settings, reach)


def choose_anchors(graph: Graph, settings: Settings, **place: Any) -> NDArray[np.int64]:
    """The anchors of a run on a graph.

    Example:
        >>> star = Graph.from_edges([[0, 0, 0, 0], [1, 2, 3, 4]])
        >>> choose_anchors(star, Settings(num_anchors=1, anchor_walk_length=1)).tolist()
        [0]
    """
    length = settings.anchor_walk_length
    chosen = select_anchors(
        graph, settings.num_anchors, settings.strategy, walk_length=length, seed=settings.seed, **place
    )
    return chosen.anchors


def model_reachability(graph: Graph, anchors: NDArray[np.int64], settings: Settings, **place: Any) -> Reachability:
    """The reachability that a run of ``graphreach`` reads, before it is put on the preset's scale.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> model_reachability(path, np.array([1]), Settings(preset="best")).hops
        4
    """
    options = reachability_options(settings)
    if 8 * graph.num_nodes * len(anchors) * (options.get("hops") or 1) > DENSE_BYTES:
        options |= {"method": "walks", "layout": "csr"}
    reach: Reachability = named(
        "reachability", reachability, graph, anchors, **{"seed": settings.seed, **options, **place}
    )
    return reach


def reachability_options(settings: Settings) -> dict[str, Any]:
    """How a run's reachability is computed, as arguments of :func:`graphreach.reachability`.

    Example:
        >>> reachability_options(Settings(preset="paper"))["num_walks"]
        50
    """
    options = {**preset(settings.preset).reachability, **settings.reachability}
    if "hops" in settings.model:
        options["hops"] = settings.model["hops"]
    return options


def reach_scale(settings: Settings) -> str | None:
    """The scale that a run's reachability is put on.

    Example:
        >>> reach_scale(Settings(preset="best"))
        'log'
    """
    return {"preset": preset(settings.preset).scale, "none": None}.get(settings.scale, settings.scale)


def reach_inputs(graph: Graph, x: Features, settings: Settings, reach: Reachability) -> Inputs:
    """What the model reads of a graph whose reachability is known.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> settings = Settings(preset="paper")
        >>> reach_inputs(path, None, settings, model_reachability(path, np.array([1]), settings)).num_nodes
        3
    """
    chosen = preset(settings.preset)
    positions = reach.rescaled(reach_scale(settings), graph).to_torch()
    if graph.num_nodes > WHOLE_GRAPH_NODES and positions.hops is None:
        positions.levels(MAX_LEVELS)  # once, not for the rows of every step
    model = {**chosen.arguments(settings.task, x is not None), **settings.model}
    local = model.get("local") is not None
    neighbours = Adjacency.from_graph(graph).without_weights() if local else None
    return Inputs(_tensor(x), positions, graph.num_nodes, neighbours, reach.anchors)


def _build_graphreach(in_channels: int, num_nodes: int | None, settings: Settings) -> nn.Module:
    defaults = preset(settings.preset).arguments(settings.task, in_channels > 0)
    model: nn.Module = named("model", GraphReach, in_channels, **_arguments(defaults, num_nodes, settings))
    return model


def _pgnn(hops: int | None) -> Method:
    def inputs(
        graph: Graph, x: Features, settings: Settings, clock: Clock, anchors: Any = None, **place: Any
    ) -> Inputs:
        with clock.phase("distances"):
            structure = anchor_sets(graph, max_distance=hops, seed=settings.seed)
        return Inputs(_tensor(x), structure, graph.num_nodes)

    def epoch_inputs(graph: Graph, before: Inputs, seed: int) -> Inputs:
        return Inputs(before.x, anchor_sets(graph, max_distance=hops, seed=seed), before.num_nodes)

    def build(in_channels: int, num_nodes: int | None, settings: Settings) -> nn.Module:
        model: nn.Module = named("model", PGNN, in_channels, **_arguments(PGNN_OPTIONS, num_nodes, settings))
        return model

    return Method(inputs, build, epoch_inputs)


def _neighbourhood(kind: str, encode: Callable[..., NDArray[np.float32]] | None = None) -> Method:
    def inputs(
        graph: Graph, x: Features, settings: Settings, clock: Clock, anchors: Any = None, **place: Any
    ) -> Inputs:
        parts = [] if x is None else [x]
        if encode is not None:
            with clock.phase("encodings"):
                parts.append(encode(graph, ENCODING, seed=settings.seed))
        with clock.phase("inputs"):
            adjacency = Adjacency.from_graph(graph)
        return Inputs(_tensor(np.concatenate(parts, 1) if parts else None), adjacency, graph.num_nodes)

    def build(in_channels: int, num_nodes: int | None, settings: Settings) -> nn.Module:
        model: nn.Module = named("model", Neighbourhood, kind, in_channels, **_arguments({}, num_nodes, settings))
        return model

    return Method(inputs, build)


def _mlp_inputs(
    graph: Graph, x: Features, settings: Settings, clock: Clock, anchors: Any = None, **place: Any
) -> Inputs:
    return Inputs(_tensor(np.ones((graph.num_nodes, 1), np.float32) if x is None else x), None, graph.num_nodes)


def _build_mlp(in_channels: int, num_nodes: int | None, settings: Settings) -> nn.Module:
    model: nn.Module = named("model", MLP, in_channels, **_arguments({}, num_nodes, settings))
    return model


def _arguments(defaults: dict[str, Any], num_nodes: int | None, settings: Settings) -> dict[str, Any]:
    widths = {"hidden_channels": settings.hidden_channels, "num_layers": settings.num_layers, "num_nodes": num_nodes}
    dropout = {} if settings.dropout is None else {"dropout": settings.dropout}
    return {**defaults, **widths, **dropout, **settings.model}


def named(what: str, function: Callable[..., Any], *values: Any, **options: Any) -> Any:
    """Call a function with options of a user; one that it does not know gets a sentence."""
    try:
        inspect.signature(function).bind(*values, **options)
    except TypeError as error:
        raise InputError(f"settings of {what} must be its arguments: {error}") from None
    return function(*values, **options)


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


def find_method(name: str) -> Method:
    """The method of that name.

    Example:
        >>> find_method("gcn").epoch_inputs is None
        True
    """
    if name not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {name!r}{nearest(name, METHODS)}")
    return METHODS[name]
