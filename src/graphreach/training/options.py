"""Arguments of models and of reachability that settings may hold: typed, frozen, and only those that were set."""

import math
import reprlib
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphreach.arguments import check_choice
from graphreach.errors import InputError
from graphreach.tasks import HEURISTICS

UNSET: Any = None
"""The default of every option; what an option is without being set, the function that takes it decides."""

Size = Annotated[int, Field(ge=1, le=2**16)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


class Options(BaseModel):
    """Some arguments of a function: those that were set, which are also all that is stored.

    Example:
        >>> GraphReachOptions(heads=2).given(), GraphReachOptions(heads=2) == {"heads": 2}
        ({'heads': 2}, True)
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())

    def given(self) -> dict[str, Any]:
        """The options that were set, by name."""
        own = {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}
        return own | (self.model_extra or {})

    def __eq__(self, other: object) -> bool:
        return self.given() == (other.given() if isinstance(other, Options) else other)

    def __hash__(self) -> int:
        return hash(str(self.given()))


class AnyOptions(Options):
    """Options of several methods, which are checked where each of them gets its own."""

    model_config = ConfigDict(extra="allow")


class EncoderOptions(Options):
    """What all trained models take."""

    hidden_channels: Size = UNSET
    num_layers: Annotated[int, Field(ge=1, le=256)] = UNSET
    dropout: Share = UNSET
    decoder: str = UNSET
    input_projection: bool = UNSET
    output_activation: str = UNSET
    standardise: bool = UNSET


class GraphReachOptions(EncoderOptions):
    """Arguments of :class:`graphreach.nn.GraphReach`."""

    aggregation: str = UNSET
    heads: Size = UNSET
    local: str | None = UNSET
    message_activation: str | None = UNSET
    similarity: bool = UNSET
    similarity_map: str | None = UNSET
    hops: Size | None = UNSET
    bias: bool = UNSET


class PGNNOptions(EncoderOptions):
    """Arguments of :class:`graphreach.nn.PGNN`."""

    similarity_map: str | None = UNSET


class MLPOptions(EncoderOptions):
    """Arguments of :class:`graphreach.nn.MLP`."""

    out_channels: Size | None = UNSET


class NeighbourhoodOptions(MLPOptions):
    """Arguments of :class:`graphreach.nn.Neighbourhood`."""

    heads: Size = UNSET


class SkipGramOptions(Options):
    """Arguments of :class:`graphreach.nn.SkipGram`."""

    dim: Size = UNSET
    num_walks: Size = UNSET
    walk_length: Size = UNSET
    window: Size = UNSET
    negatives: Size = UNSET
    epochs: Size = UNSET
    p: Number = UNSET
    q: Number = UNSET
    learning_rate: Number = UNSET
    directed: bool = UNSET
    seed: int = UNSET


class KatzOptions(Options):
    """Arguments of the heuristic ``katz``."""

    beta: Number = UNSET
    length: Size = UNSET


class PageRankOptions(Options):
    """Arguments of the heuristic ``pagerank``."""

    damping: Number = UNSET
    epsilon: Number = UNSET
    both: bool = UNSET


class PairReachabilityOptions(Options):
    """Arguments of the heuristic ``reachability``."""

    walk_length: Size | str = UNSET
    method: str = UNSET
    num_walks: Size = UNSET
    seed: int = UNSET
    both: bool = UNSET


class ReachabilityOptions(Options):
    """Arguments of :func:`graphreach.reachability`."""

    method: str = UNSET
    similarity: str = UNSET
    num_walks: int = UNSET
    walk_length: int | str = UNSET
    hops: int | None = UNSET
    seed: int = UNSET
    layout: str = UNSET
    cache: str | bool | None = UNSET


TRAINED: dict[str, type[Options]] = {
    "graphreach": GraphReachOptions,
    **dict.fromkeys(("pgnn-e", "pgnn-f"), PGNNOptions),
    **dict.fromkeys(("gcn", "sage", "gat", "gin"), NeighbourhoodOptions),
    "mlp": MLPOptions,
    **dict.fromkeys(("gcn-rw", "gcn-laplacian"), NeighbourhoodOptions),
}
"""Options of the methods that are trained epoch by epoch."""

OPTIONS: dict[str, type[Options]] = {
    **TRAINED,
    **dict.fromkeys(HEURISTICS, Options),
    **dict.fromkeys(("deepwalk", "node2vec"), SkipGramOptions),
    "closure": Options,
    "katz": KatzOptions,
    "pagerank": PageRankOptions,
    "reachability": PairReachabilityOptions,
}
"""What the setting ``model`` holds, by method."""


def options_of(method: str) -> type[Options]:
    """The options of a method, or of several that are joined by ``+``.

    Example:
        >>> options_of("gcn")
        <class 'graphreach.training.options.NeighbourhoodOptions'>
    """
    names = method.split("+")
    for name in names:
        check_choice("method", name, OPTIONS)
    return OPTIONS[method] if len(names) == 1 else AnyOptions


def plain(value: Any, depth: int = 0) -> Any:
    """``value`` if a record can hold it: names, numbers, text and lists of them.

    Example:
        >>> plain({"heads": np.int64(2)})
        {'heads': 2}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if depth > 8:
        raise ValueError("must not be nested so deeply")
    if isinstance(value, Options):
        return value.given()
    if isinstance(value, Mapping):
        check_names(value, "settings")
        return {key: plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, depth + 1) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must hold finite numbers")
    if value is not None and not isinstance(value, bool | int | float | str):
        raise ValueError("must hold numbers, text, and lists or mappings of these")
    return value


def first_problem(error: ValidationError, group: str = "", depth: int = 1) -> str:
    """The first thing that pydantic found wrong, with its place and a value that is not too long to read.

    Example:
        >>> try:
        ...     GraphReachOptions(heads=0)
        ... except ValidationError as error:
        ...     first_problem(error, "model")
        'model.heads: input should be greater than or equal to 1, got 0'
    """
    first = error.errors()[0]
    place = ".".join(str(part) for part in (group, *first["loc"][:depth]) if part != "") or "settings"
    raised = first.get("ctx", {}).get("error")
    message = f" {raised}" if isinstance(raised, ValueError) else f": {first['msg'][0].lower()}{first['msg'][1:]}"
    return f"{place}{message}, got {reprlib.repr(first['input'])}"


def check_names(content: Any, what: str) -> None:
    """Refuse keys that are no text, at any depth: YAML makes numbers and booleans of ``1:`` and ``on:``.

    Example:
        >>> check_names({"model": {1: 2}}, "config a.yaml")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: config a.yaml must have names as keys, got 1
    """
    if isinstance(content, Mapping):
        for key, value in content.items():
            if not isinstance(key, str):
                raise InputError(f"{what} must have names as keys, got {key!r}")
            check_names(value, what)
    elif isinstance(content, list):
        for value in content:
            check_names(value, what)
