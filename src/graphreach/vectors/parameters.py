"""Arguments of an embedding: which belong to which method, and which defaults follow from the graph."""

from collections.abc import Mapping
from typing import Any

from graphreach.anchors.select_anchors import resolve_num_anchors
from graphreach.anchors.strategies import STRATEGIES
from graphreach.arguments import check_choice, check_flag, check_whole, describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.vectors.node_vectors import VectorOptions
from graphreach.vectors.positions import LENGTHS, default_anchors

METHODS = ("reach", "position", "paper")
"""What makes an embedding."""

DIM = 128
"""Width of an embedding that is not the paper's."""

ATTRIBUTES = ("smooth", "append")
"""How attributes are read: averaged with those of the nodes around, or unchanged."""

PAPER_ONLY = (
    "preset", "hidden_channels", "num_layers", "epochs", "learning_rate", "batch_size", "settings", "engine", "device",
)  # fmt: skip
"""Arguments that only the paper's model has."""


def check_parameters(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Refuse arguments of :class:`graphreach.GraphReachEmbedding` that no graph is needed to refuse.

    Args:
        given: All arguments by name.
        defaults: Their defaults.
    """
    check_choice("method", given["method"], METHODS)
    if given["method"] == "paper":
        _check_paper(given, defaults)
        return
    for name in PAPER_ONLY:
        if not _is_default(given[name], defaults[name]):
            raise InputError(_only_paper(name, given["method"], given[name]))
    if given["dim"] is not None:
        check_whole("dim", given["dim"], 1, 2**16)
    directed = check_flag("directed", given["directed"])
    check_choice("attributes", given["attributes"], ATTRIBUTES)
    if directed and given["method"] == "position":
        raise InputError("directed must be False with method 'position', got True")
    if directed and (given["dim"] or DIM) % 2:
        raise InputError(f"dim must be even with directed=True, got {given['dim']}")
    check_whole("random_state", given["random_state"], 0, 2**32 - 1)
    check_choice("strategy", given["strategy"], ["greedy", *STRATEGIES])


def _check_paper(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    for name in ("dim", "directed", "attributes"):
        if not _is_default(given[name], defaults[name]):
            hint = "num_anchors is its width" if name == "dim" else f"leave {name} out"
            raise InputError(f"{name} must not be given with method 'paper', got {describe(given[name])}: {hint}")


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | float) and value == default)


def _only_paper(name: str, method: str, value: Any) -> str:
    if name == "engine":
        return (
            f"engine must be 'local' with method {method!r}, which computes in this process, got {describe(value)}:"
            " only method='paper' trains on other engines"
        )
    return f"{name} must not be given with method {method!r}, got {describe(value)}: only method='paper' reads it"


def choose_options(given: Mapping[str, Any], graph: Graph) -> VectorOptions:
    """Options of the vectors of a graph.

    Args:
        given: Arguments that :func:`check_parameters` has seen.
        graph: The graph.
    """
    dim, wanted = DIM if given["dim"] is None else int(given["dim"]), given["num_anchors"]
    most = -(-dim // len(LENGTHS))
    if given["directed"] and not graph.directed:
        raise InputError("directed must be False for a graph whose edges have no direction, got True")
    if not (isinstance(wanted, str) and wanted == "auto"):
        count = resolve_num_anchors(wanted, graph.num_nodes)
        if given["method"] == "position" and count > most:
            raise InputError(
                f"num_anchors must be at most {most} with method 'position', half of dim={dim}, as each anchor has"
                f" {len(LENGTHS)} columns, got {count}"
            )
    elif given["method"] == "position":
        count = min(most, graph.num_nodes)
    else:
        count = default_anchors(graph.num_nodes)
    return VectorOptions(
        dim, count, given["strategy"], given["directed"], given["attributes"], int(given["random_state"])
    )
