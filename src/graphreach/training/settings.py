"""What a run is made of, checked before anything starts."""

import difflib
import math
import reprlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from graphreach.arguments import to_list, to_path
from graphreach.errors import InputError
from graphreach.tasks.split import DEFAULT_PROTOCOLS
from graphreach.training.settings_text import change, check_names, read_yaml

Name = str | int | float

MOST = 2**53
"""The largest count, which JSON keeps exactly."""

Count = Annotated[int, Field(ge=1, le=MOST)]
Rate = Annotated[float, Field(allow_inf_nan=False)]


def _plain(value: Any, depth: int = 0) -> Any:
    """``value`` if a record can hold it: names, numbers, text and lists of them."""
    if isinstance(value, np.generic):
        value = value.item()
    if depth > 8:
        raise ValueError("must not be nested so deeply")
    if isinstance(value, Mapping):
        check_names(value, "settings")
        return {key: _plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, depth + 1) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must hold finite numbers")
    if value is not None and not isinstance(value, bool | int | float | str):
        raise ValueError("must hold numbers, text, and lists or mappings of these")
    return value


def _shares(value: tuple[float, float, float]) -> tuple[float, float, float]:
    from graphreach.tasks.parts import check_fractions

    check_fractions(value)
    return value


def _anchors(value: Name) -> Name:
    if isinstance(value, str) and value != "log2":
        raise ValueError('must be a number, a share or "log2"')
    if isinstance(value, float) and not 0 < value <= 1:
        raise ValueError("as a share must be above 0 and at most 1")
    if isinstance(value, int) and not 1 <= value <= MOST:
        raise ValueError("must be at least 1, and at most the number of nodes")
    return value


def _strategy(value: str) -> str:
    from graphreach.anchors.strategies import STRATEGIES

    names = ["greedy", *STRATEGIES]
    if value not in names:
        raise InputError(f"strategy must be one of {', '.join(names)}, got {value!r}{nearest(value, names)}")
    return value


Options = Annotated[dict[str, Any], AfterValidator(_plain)]


class Settings(BaseModel):
    """All that decides the result of a run, besides the graph.

    Example:
        >>> Settings(task="link", epochs=20).learning_rate
        0.01
        >>> Settings(task="pair").protocol  # pairs of test nodes are unseen; "published" is the paper's split
        'node-disjoint'
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    task: Literal["link", "pair", "node"] = "link"
    protocol: Literal["published", "clean", "node-disjoint", "graph-disjoint"] = Field(
        default=None, validate_default=True, description="None: clean for links, node-disjoint for pairs and nodes."
    )
    negatives: Literal["uniform", "same-distance", "common-neighbour"] = "uniform"
    candidates: int = Field(default=0, ge=0, le=MOST, description="Wrong targets of each link, for MRR and Hits@K.")
    fractions: Annotated[tuple[Rate, Rate, Rate], AfterValidator(_shares)] = Field(
        default=(0.8, 0.1, 0.1), description="Training, validation, test."
    )
    max_pairs: Count | None = Field(default=None, description="Sample at most so many positive pairs.")

    method: str = "graphreach"
    preset: Literal["best", "paper", "authors"] = "best"
    features: bool = Field(
        default=True, description="Whether attributes are used, if there are any (S+T); else structure (S)."
    )
    identity: bool = Field(default=False, description="Transductive: each node has a vector of its own.")
    hidden_channels: int = Field(default=32, ge=1, le=2**16)
    num_layers: int = Field(default=2, ge=1, le=256)
    dropout: Rate | None = Field(default=None, ge=0, lt=1, description="None: what the method has by default.")
    model: Options = Field(default={}, description="Other arguments of the model.")
    parts: Annotated[dict[str, dict[str, Any]], AfterValidator(_plain)] = Field(
        default={}, description="Of methods joined by +: settings of one of them, over the others'."
    )
    num_anchors: Annotated[Name, AfterValidator(_anchors)] = "log2"
    strategy: Annotated[str, AfterValidator(_strategy)] = "greedy"
    anchor_walk_length: Count | Literal["diameter"] = Field(
        default="diameter", description="Jumps of the walks that anchors are chosen by."
    )
    reachability: Options = Field(default={}, description="Arguments of graphreach.reachability, over the preset's.")
    scale: Literal["preset", "none", "counts", "log", "lift"] = "preset"
    walk_weights: Literal["train-labels"] | None = None
    resample: bool = Field(default=False, description="P-GNN: draw anchor sets anew in every epoch.")

    epochs: Count = 1000
    patience: Count | None = Field(default=None, description="Stop after so many epochs without a better validation.")
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
    seed: int = Field(default=0, ge=0, lt=2**32)

    def __init__(self, **values: Any) -> None:
        """Check all values; what is wrong is said in one sentence."""
        own = {key: value.item() if isinstance(value, np.generic) else value for key, value in values.items()}
        fields = type(self).model_fields
        for key, value in own.items():
            if key not in fields:
                raise InputError(f"settings must not hold {key!r}{nearest(key, fields)}")
            if isinstance(value, bool) and fields[key].annotation is not bool:
                raise InputError(f"{key}: input should not be true or false, got {value!r}")
        try:
            super().__init__(**own)
        except ValidationError as error:
            raise InputError(_sentence(error)) from None

    @field_validator("protocol", mode="before")
    @classmethod
    def _protocol_of_task(cls, value: Any, info: ValidationInfo) -> Any:
        return DEFAULT_PROTOCOLS.get(info.data.get("task", "link")) if value is None else value

    @classmethod
    def read(cls, file: Path | None = None, changes: Iterable[str] = (), **values: Any) -> Self:
        """Settings from a YAML file, then ``key=value`` texts, then arguments that are not None.

        What they hold for the model and for reachability is checked against the arguments of these.

        Example:
            >>> Settings.read(None, ["epochs=5", "model.heads=2"]).model
            {'heads': 2}
        """
        from graphreach.training.arguments import check_arguments, check_changes

        merged: dict[str, Any] = {} if file is None else read_yaml(to_path("file", file))
        changed = [change(merged, text) for text in to_list("changes", changes, "a list of texts key=value")]
        merged |= {key: value for key, value in values.items() if value is not None}
        settings = cls.make(**merged)
        check_arguments(settings)
        check_changes(settings, changed)
        return settings

    @classmethod
    def make(cls, **values: Any) -> Self:
        """Settings, or one sentence that says what is wrong.

        Example:
            >>> Settings.make(epoch=3)
            Traceback (most recent call last):
            ...
            graphreach.errors.InputError: settings must not hold 'epoch'; did you mean 'epochs'?
        """
        return cls(**values)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Settings with some of them changed, which are checked as all others are.

        Example:
            >>> Settings(epochs=5).model_copy(update={"seed": 2}).seed
            2
        """
        own = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**own, **(update or {})})

    def differences(self, other: "Settings") -> list[str]:
        """What differs, as text."""
        mine, theirs = self.model_dump(mode="json"), other.model_dump(mode="json")
        return [f"{key} {theirs[key]!r} there and {mine[key]!r} here" for key in mine if mine[key] != theirs[key]]


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at what was probably meant.

    Example:
        >>> nearest("epoch", ["epochs", "seed"])
        "; did you mean 'epochs'?"
    """
    near = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"


def _sentence(error: ValidationError) -> str:
    """What is wrong first, with the setting's name and a value that is not too long to read."""
    first = error.errors()[0]
    raised = first.get("ctx", {}).get("error")
    if isinstance(raised, InputError):
        return str(raised)
    place = ".".join(str(part) for part in first["loc"][:1]) or "settings"
    value = reprlib.repr(first["input"])
    if isinstance(raised, ValueError):
        return f"{place} {raised}, got {value}"
    return f"{place}: {first['msg'][0].lower()}{first['msg'][1:]}, got {value}"
