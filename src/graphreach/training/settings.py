"""The settings of a run, checked before anything starts."""

import math
import reprlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
)

from graphreach.anchors.strategies import STRATEGIES
from graphreach.arguments import check_choice, nearest, to_list, to_path
from graphreach.errors import InputError
from graphreach.tasks.examples import DEFAULT_PROTOCOLS, check_fractions
from graphreach.walks.defaults import NUM_ANCHORS, STRATEGY

Name = str | int | float

PATIENCE = 250
"""Epochs without a better validation before training stops; at least 50 of them have the later learning rate."""

MOST = 2**53
"""The largest count, which JSON keeps exactly."""

Count = Annotated[int, Field(ge=1, le=MOST)]
Size = Annotated[int, Field(ge=1, le=2**16)]
Layers = Annotated[int, Field(ge=1, le=256)]
Rate = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


class Options(BaseModel):
    """Some arguments of a function: those that were set, which are also all that is stored.

    The default of an option is that of the function that takes it.
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


def _options(name: str, base: type[Options] = Options, **kinds: Any) -> type[Options]:
    """Options of these names and kinds; the name is that of the variable, by which pickle finds the class."""
    own: Any = {option: (kind, None) for option, kind in kinds.items()}
    return create_model(name, __base__=base, __module__=__name__, **own)


EncoderOptions = _options(
    "EncoderOptions", hidden_channels=Size, num_layers=Layers, dropout=Share, decoder=str, input_projection=bool,
    output_activation=str, standardise=bool,
)  # fmt: skip
GraphReachOptions = _options(
    "GraphReachOptions", EncoderOptions, aggregation=str, heads=Size, local=str | None, message_activation=str | None,
    similarity=bool, similarity_map=str | None, hops=Size | None, bias=bool,
)  # fmt: skip
PGNNOptions = _options("PGNNOptions", EncoderOptions, similarity_map=str | None)
MLPOptions = _options("MLPOptions", EncoderOptions, out_channels=Size | None)
NeighbourhoodOptions = _options("NeighbourhoodOptions", MLPOptions, heads=Size)
SkipGramOptions = _options(
    "SkipGramOptions", dim=Size, num_walks=Size, walk_length=Size, window=Size, negatives=Size, epochs=Size, p=Rate,
    q=Rate, learning_rate=Rate, directed=bool, seed=int,
)  # fmt: skip
KatzOptions = _options("KatzOptions", beta=Rate, length=Size)
PageRankOptions = _options("PageRankOptions", damping=Rate, epsilon=Rate, both=bool)
ReachOptions = _options(
    "ReachOptions", steps=Size | str, lengths=list[Size] | str, num_anchors=Size | str, method=str, num_links=Count,
    hidden_channels=Size, num_members=Size,
)  # fmt: skip
ReachClassOptions = _options("ReachClassOptions", num_anchors=Size, strategy=str)
PairReachabilityOptions = _options(
    "PairReachabilityOptions", walk_length=Size | str, method=str, num_walks=Size, seed=int, both=bool
)
ReachabilityOptions = _options(
    "ReachabilityOptions", method=str, similarity=str, num_walks=int, walk_length=int | str, hops=int | None, seed=int,
    layout=str, cache=str | bool | None,
)  # fmt: skip

TRAINED: dict[str, type[Options]] = {
    "graphreach": GraphReachOptions,
    **dict.fromkeys(("pgnn-e", "pgnn-f"), PGNNOptions),
    **dict.fromkeys(("gcn", "sage", "gat", "gin"), NeighbourhoodOptions),
    "mlp": MLPOptions,
    **dict.fromkeys(("gcn-rw", "gcn-laplacian"), NeighbourhoodOptions),
}
"""Options of the methods that are trained epoch by epoch."""

FITTED: dict[str, type[Options]] = {"reach": ReachOptions}
"""Options of the methods that are fitted at once to what is computed of all graphs."""

FITTED_CLASSES: dict[str, type[Options]] = {"reach": ReachClassOptions}
"""Their options where classes of nodes are learned."""

HEURISTICS: dict[str, type[Options]] = {
    **dict.fromkeys(("common-neighbours", "adamic-adar"), Options),
    "katz": KatzOptions,
    "pagerank": PageRankOptions,
    "reachability": PairReachabilityOptions,
}
"""Options of :data:`graphreach.tasks.HEURISTICS`, which are imported when one of them scores."""

OPTIONS: dict[str, type[Options]] = {
    **TRAINED,
    **FITTED,
    **HEURISTICS,
    **dict.fromkeys(("deepwalk", "node2vec"), SkipGramOptions),
    "closure": Options,
}
"""What the setting ``model`` holds, by method."""


def _options_of(method: str, task: str = "link") -> type[Options]:
    """The options of a method on a task, or of several methods that are joined by ``+``."""
    names = method.split("+")
    for name in names:
        check_choice("method", name, OPTIONS)
    if len(names) > 1:
        return AnyOptions
    return FITTED_CLASSES[method] if task == "node" and method in FITTED_CLASSES else OPTIONS[method]


def plain(value: Any, depth: int = 0) -> Any:
    """``value`` if a record can hold it: names, numbers, text and lists of them."""
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


def check_names(content: Any, what: str) -> None:
    """Refuse keys that are no text, at any depth: YAML makes numbers and booleans of ``1:`` and ``on:``."""
    if isinstance(content, Mapping):
        for key, value in content.items():
            if not isinstance(key, str):
                raise InputError(f"{what} must have names as keys, got {key!r}")
            check_names(value, what)
    elif isinstance(content, list):
        for value in content:
            check_names(value, what)


Stored = PlainSerializer(Options.given)


def _anchors(value: Name) -> Name:
    if isinstance(value, str) and value != "log2":
        raise ValueError('must be a number, a share or "log2"')
    if isinstance(value, float) and not 0 < value <= 1:
        raise ValueError("as a share must be above 0 and at most 1")
    if isinstance(value, int) and not 1 <= value <= MOST:
        raise ValueError("must be at least 1, and at most the number of nodes")
    return value


def _strategy(value: str) -> str:
    return check_choice("strategy", value, ["greedy", *STRATEGIES])


class Frozen(BaseModel):
    """Named values that stay as they were checked."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class SplitSettings(Frozen):
    """Which examples a run is trained and judged on."""

    task: Literal["link", "pair", "node"] = "link"
    protocol: Literal["published", "clean", "node-disjoint", "graph-disjoint", "time", "given"] = Field(
        default=None, validate_default=True, description="None: clean for links, node-disjoint for pairs and nodes."
    )
    negatives: Literal["uniform", "same-distance", "common-neighbour", "degree"] = "uniform"
    candidates: int = Field(default=0, ge=0, le=MOST, description="Wrong targets of each link, for MRR and Hits@K.")
    fractions: Annotated[tuple[Rate, Rate, Rate], AfterValidator(check_fractions)] = Field(
        default=(0.8, 0.1, 0.1), description="Training, validation, test."
    )
    max_pairs: Count | None = Field(default=None, description="Maximum number of positive pairs, drawn at random.")
    keep_connected: bool = Field(default=False, description="Links: a spanning forest stays in training.")
    bipartite: bool | None = Field(
        default=None, description="Links: negatives between two sides. None: if the graph was read as one with two."
    )

    @field_validator("protocol", mode="before")
    @classmethod
    def _protocol_of_task(cls, value: Any, info: ValidationInfo) -> Any:
        return DEFAULT_PROTOCOLS.get(info.data.get("task", "link")) if value is None else value


class ModelSettings(Frozen):
    """Which model is trained, and its size."""

    method: str = "graphreach"
    preset: Literal["best", "paper", "authors"] = "best"
    features: bool = Field(default=True, description="Whether features of nodes are used, if there are any.")
    identity: bool = Field(default=False, description="Transductive: each node has a vector of its own.")
    hidden_channels: int = Field(default=32, ge=1, le=2**16)
    num_layers: int = Field(default=2, ge=1, le=256)
    dropout: Rate | None = Field(default=None, ge=0, lt=1, description="None: what the method has by default.")
    model: Annotated[Options, Stored] = Field(
        default=Options(), validate_default=True, description="Other arguments of the model."
    )
    parts: Annotated[dict[str, dict[str, Any]], AfterValidator(plain)] = Field(
        default={}, description="Of methods joined by +: settings of one of them, over the others'."
    )


class ReachSettings(Frozen):
    """How anchors are chosen and what the model reads of the graph."""

    num_anchors: Annotated[Name, AfterValidator(_anchors)] = NUM_ANCHORS
    strategy: Annotated[str, AfterValidator(_strategy)] = STRATEGY
    anchor_walk_length: Count | Literal["diameter"] = Field(
        default="diameter", description="Jumps of the walks that anchors are chosen by."
    )
    reachability: Annotated[Options, Stored] = Field(
        default=ReachabilityOptions(),
        validate_default=True,
        description="Arguments of graphreach.reachability, over the preset's.",
    )
    scale: Literal["preset", "none", "counts", "log", "lift"] = "preset"
    walk_weights: Literal["train-labels"] | None = None
    resample: bool = Field(default=False, description="P-GNN: draw new anchor sets in every epoch.")


class TrainingSettings(Frozen):
    """How long and how a model is trained."""

    epochs: Count = 1000
    patience: Count | None = Field(
        default=PATIENCE,
        description="Number of epochs without a better validation after which training stops; None: it does not.",
    )
    evaluate_every: Count = 10
    choose_by: Literal["auc", "hard_auc", "accuracy"] = Field(
        default="auc", description="The validation metric that the model is chosen by; all but auc are of task node."
    )
    learning_rate: Rate = Field(default=0.01, gt=0)
    later_learning_rate: Rate = Field(default=0.001, gt=0)
    drop_after: Count = Field(default=200, description="Epochs before the later learning rate.")
    weight_decay: Rate = Field(default=0.0005, ge=0)
    graphs_per_batch: Count = 8
    pairs_per_epoch: int | None = Field(
        default=None, ge=2, le=MOST, description="Training pairs drawn in each epoch; None: all."
    )
    pairs_per_step: int | None = Field(
        default=None, ge=2, le=MOST, description="Pairs of a step on a graph too large for one."
    )
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="auto: CUDA where there is a GPU.")


class Settings(TrainingSettings, ReachSettings, ModelSettings, SplitSettings):
    """All that decides the result of a run, besides the graph.

    Example:
        >>> Settings(task="link", epochs=20).learning_rate
        0.01
        >>> Settings(epoch=3)
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: settings must not hold 'epoch'; did you mean 'epochs'?
        >>> Settings(task="pair").protocol  # pairs of test nodes are unseen; "published" is the paper's split
        'node-disjoint'
    """

    seed: int = Field(default=0, ge=0, lt=2**32)

    def __init__(self, **values: Any) -> None:
        """Check all values; what is wrong is said in one sentence."""
        own = {key: value.item() if isinstance(value, np.generic) else value for key, value in values.items()}
        for key, value in own.items():
            field = type(self).model_fields.get(key)
            kinds = () if field is None else (field.annotation, *get_args(field.annotation))
            if isinstance(value, bool) and kinds and bool not in kinds:
                raise InputError(f"{key}: input should not be true or false, got {value!r}")
        try:
            super().__init__(**own)
        except ValidationError as error:
            raise InputError(_sentence(error)) from None

    @field_validator("model", "reachability", mode="plain")
    @classmethod
    def _options(cls, value: Any, info: ValidationInfo) -> Options:
        method = info.data.get("method", "graphreach")
        kind = _options_of(method, info.data.get("task", "link")) if info.field_name == "model" else ReachabilityOptions
        if not isinstance(value, Options | Mapping):
            raise ValueError("must be names and values")
        try:
            return kind(**plain(value))
        except ValidationError as error:
            where = f" for method {method!r}" if info.field_name == "model" else ""
            raise InputError(_sentence(error, str(info.field_name), kind, where)) from None

    @classmethod
    def read(cls, file: Path | None = None, changes: Iterable[str] = (), **values: Any) -> Self:
        """Settings from a YAML file, then ``key=value`` texts, then arguments that are not None.

        Settings of the model and of reachability are checked against the arguments of these.

        Example:
            >>> Settings.read(None, ["epochs=5", "model.heads=2"]).model.given()
            {'heads': 2}
        """
        from graphreach.training.plan import check_effect, check_read
        from graphreach.training.settings_text import change, read_yaml

        merged: dict[str, Any] = {} if file is None else read_yaml(to_path("file", file))
        changed = [change(merged, text) for text in to_list("changes", changes, "a list of texts key=value")]
        merged |= {key: value for key, value in values.items() if value is not None}
        settings = cls(**merged)
        check_effect(settings)
        if "method" in settings.model_fields_set:  # a file may serve several methods
            check_read([settings.method], changed)
        return settings

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Settings with some of them changed; they are checked like all others.

        Example:
            >>> Settings(epochs=5).model_copy(update={"seed": 2}).seed
            2
        """
        own = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**own, **(update or {})})

    def part(self, method: str) -> Self:
        """The settings of one of several methods that are joined by ``+``.

        Example:
            >>> Settings(method="gcn+mlp", epochs=5, parts={"mlp": {"epochs": 3}}).part("mlp").epochs
            3
        """
        common = {name: getattr(self, name) for name in self.model_fields_set if name not in ("parts", "model")}
        return type(self)(**{**common, **self.parts.get(method, {}), "method": method})

    def differences(self, other: "Settings") -> list[str]:
        """What differs, as text, except for the device: a run may continue on another one."""
        mine, theirs = (each.model_dump(mode="json", exclude={"device"}) for each in (self, other))
        return [f"{key} {theirs[key]!r} there and {mine[key]!r} here" for key in mine if mine[key] != theirs[key]]


def _sentence(error: ValidationError, group: str = "", kind: type[BaseModel] = Settings, where: str = "") -> str:
    """What is wrong first, with the setting's name and a value that is not too long to read."""
    first = error.errors()[0]
    raised = first.get("ctx", {}).get("error")
    if isinstance(raised, InputError):
        return str(raised)
    name = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        known = list(kind.model_fields)
        hint = nearest(name, known) or (f"; known are {', '.join(known)}" if known else "; it takes no settings")
        return f"{group or 'settings'} must not hold {name!r}{where}{hint}"
    return first_problem(error, group)


def first_problem(error: ValidationError, group: str = "", depth: int = 1) -> str:
    """The first thing that pydantic found wrong, with its place and a value that is not too long to read."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in (group, *first["loc"][:depth]) if part != "") or "settings"
    raised = first.get("ctx", {}).get("error")
    message = f" {raised}" if isinstance(raised, ValueError) else f": {first['msg'][0].lower()}{first['msg'][1:]}"
    return f"{place}{message}, got {reprlib.repr(first['input'])}"
