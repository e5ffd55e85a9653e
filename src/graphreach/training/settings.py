"""What a run is made of, checked before anything starts."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from graphreach.anchors.strategies import STRATEGIES
from graphreach.arguments import check_choice, nearest, to_list, to_path
from graphreach.errors import InputError
from graphreach.tasks.parts import check_fractions
from graphreach.tasks.split import DEFAULT_PROTOCOLS
from graphreach.training.options import Options, ReachabilityOptions, first_problem, options_of, plain
from graphreach.training.settings_text import change, read_yaml
from graphreach.walks.defaults import NUM_ANCHORS, STRATEGY

Name = str | int | float

MOST = 2**53
"""The largest count, which JSON keeps exactly."""

Count = Annotated[int, Field(ge=1, le=MOST)]
Rate = Annotated[float, Field(allow_inf_nan=False)]
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


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class SplitSettings(_Frozen):
    """Which examples a run is trained and judged on."""

    task: Literal["link", "pair", "node"] = "link"
    protocol: Literal["published", "clean", "node-disjoint", "graph-disjoint"] = Field(
        default=None, validate_default=True, description="None: clean for links, node-disjoint for pairs and nodes."
    )
    negatives: Literal["uniform", "same-distance", "common-neighbour"] = "uniform"
    candidates: int = Field(default=0, ge=0, le=MOST, description="Wrong targets of each link, for MRR and Hits@K.")
    fractions: Annotated[tuple[Rate, Rate, Rate], AfterValidator(check_fractions)] = Field(
        default=(0.8, 0.1, 0.1), description="Training, validation, test."
    )
    max_pairs: Count | None = Field(default=None, description="Maximum number of positive pairs, drawn at random.")

    @field_validator("protocol", mode="before")
    @classmethod
    def _protocol_of_task(cls, value: Any, info: ValidationInfo) -> Any:
        return DEFAULT_PROTOCOLS.get(info.data.get("task", "link")) if value is None else value


class ModelSettings(_Frozen):
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


class ReachSettings(_Frozen):
    """How anchors are chosen and what the model reads of the graph."""

    num_anchors: Annotated[Name, AfterValidator(_anchors)] = NUM_ANCHORS
    strategy: Annotated[str, AfterValidator(_strategy)] = STRATEGY
    anchor_walk_length: Count | Literal["diameter"] = Field(
        default="diameter", description="Jumps of the walks that anchors are chosen by."
    )
    reachability: Annotated[ReachabilityOptions, Stored] = Field(
        default=ReachabilityOptions(),
        validate_default=True,
        description="Arguments of graphreach.reachability, over the preset's.",
    )
    scale: Literal["preset", "none", "counts", "log", "lift"] = "preset"
    walk_weights: Literal["train-labels"] | None = None
    resample: bool = Field(default=False, description="P-GNN: draw anchor sets anew in every epoch.")


class TrainingSettings(_Frozen):
    """How long and how a model is trained."""

    epochs: Count = 1000
    patience: Count | None = Field(
        default=None, description="Number of epochs without a better validation after which training stops."
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
            if isinstance(value, bool) and field is not None and field.annotation is not bool:
                raise InputError(f"{key}: input should not be true or false, got {value!r}")
        try:
            super().__init__(**own)
        except ValidationError as error:
            raise InputError(_sentence(error)) from None

    @field_validator("model", "reachability", mode="plain")
    @classmethod
    def _options(cls, value: Any, info: ValidationInfo) -> Options:
        method = info.data.get("method", "graphreach")
        kind = options_of(method) if info.field_name == "model" else ReachabilityOptions
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

        What they hold for the model and for reachability is checked against the arguments of these.

        Example:
            >>> Settings.read(None, ["epochs=5", "model.heads=2"]).model.given()
            {'heads': 2}
        """
        from graphreach.training.plan import check_effect, check_read

        merged: dict[str, Any] = {} if file is None else read_yaml(to_path("file", file))
        changed = [change(merged, text) for text in to_list("changes", changes, "a list of texts key=value")]
        merged |= {key: value for key, value in values.items() if value is not None}
        settings = cls(**merged)
        check_effect(settings)
        if "method" in settings.model_fields_set:  # a file may serve several methods
            check_read([settings.method], changed)
        return settings

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Settings with some of them changed, which are checked as all others are.

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
        """What differs, as text; a run may go on on another device."""
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
