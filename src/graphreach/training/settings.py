"""What a run is made of, checked before anything starts."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphreach.errors import InputError

Name = str | int | float


class Settings(BaseModel):
    """All that decides the result of a run, besides the graph.

    Example:
        >>> Settings(task="link", epochs=20).learning_rate
        0.01
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    task: Literal["link", "pair", "node"] = "link"
    protocol: Literal["published", "clean", "node-disjoint", "graph-disjoint"] = "published"
    negatives: Literal["uniform", "same-distance", "common-neighbour"] = "uniform"
    candidates: int = Field(default=0, ge=0, description="Wrong targets of each link, for MRR and Hits@K.")
    fractions: tuple[float, float, float] = Field(default=(0.8, 0.1, 0.1), description="Training, validation, test.")
    max_pairs: int | None = Field(default=None, ge=1, description="Sample at most so many positive pairs.")

    method: str = "graphreach"
    preset: Literal["best", "paper", "authors"] = "best"
    features: bool = Field(
        default=True, description="Whether attributes are used, if there are any (S+T); else structure (S)."
    )
    identity: bool = Field(default=False, description="Transductive: each node has a vector of its own.")
    hidden_channels: int = Field(default=32, ge=1)
    num_layers: int = Field(default=2, ge=1)
    dropout: float | None = Field(default=None, ge=0, lt=1, description="None: what the method has by default.")
    model: dict[str, Any] = Field(default={}, description="Other arguments of the model.")
    parts: dict[str, dict[str, Any]] = Field(
        default={}, description="Of methods joined by +: settings of one of them, over the others'."
    )
    num_anchors: Name = "log2"
    strategy: str = "greedy"
    anchor_walk_length: Annotated[int, Field(ge=1)] | Literal["diameter"] = Field(
        default="diameter", description="Jumps of the walks that anchors are chosen by."
    )
    reachability: dict[str, Any] = Field(
        default={}, description="Arguments of graphreach.reachability, over the preset's."
    )
    scale: Literal["preset", "none", "counts", "log", "lift"] = "preset"
    walk_weights: Literal["train-labels"] | None = None
    resample: bool = Field(default=False, description="P-GNN: draw anchor sets anew in every epoch.")

    epochs: int = Field(default=1000, ge=1)
    patience: int | None = Field(
        default=None, ge=1, description="Stop after so many epochs without a better validation."
    )
    evaluate_every: int = Field(default=10, ge=1)
    choose_by: Literal["auc", "hard_auc", "accuracy"] = Field(
        default="auc", description="The validation metric that the model is chosen by; all but auc are of task node."
    )
    learning_rate: float = Field(default=0.01, gt=0)
    later_learning_rate: float = Field(default=0.001, gt=0)
    drop_after: int = Field(default=200, ge=1, description="Epochs before the later learning rate.")
    weight_decay: float = Field(default=0.0005, ge=0)
    graphs_per_batch: int = Field(default=8, ge=1)
    pairs_per_epoch: int | None = Field(
        default=None, ge=2, description="Training pairs drawn in each epoch; None: all."
    )
    pairs_per_step: int | None = Field(default=None, ge=2, description="Pairs of a step on a graph too large for one.")
    seed: int = Field(default=0, ge=0, lt=2**32)

    @classmethod
    def read(cls, file: Path | None = None, changes: Iterable[str] = (), **values: Any) -> Self:
        """Settings from a YAML file, then ``key=value`` texts, then arguments that are not None.

        Example:
            >>> Settings.read(None, ["epochs=5", "model.heads=2"]).model
            {'heads': 2}
        """
        merged: dict[str, Any] = {} if file is None else _read_yaml(file)
        for text in changes:
            _change(merged, text)
        merged |= {key: value for key, value in values.items() if value is not None}
        return cls.make(**merged)

    @classmethod
    def make(cls, **values: Any) -> Self:
        """Settings, or one sentence that says what is wrong."""
        for key in values:
            if key not in cls.model_fields:
                raise InputError(f"settings must not hold {key!r}{nearest(key, cls.model_fields)}")
        try:
            return cls(**values)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"] if not isinstance(part, int))
            message = first["msg"][0].lower() + first["msg"][1:]
            raise InputError(f"{place or 'settings'}: {message}, got {first['input']!r}") from None

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


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"config must be a YAML file, got {file}, which does not exist") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"config {file} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise InputError(f"config {file} must hold key: value lines, got {type(content).__name__}")
    return content


def _change(values: dict[str, Any], text: str) -> None:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError(f"set must be key=value, got {text!r}")
    try:
        parsed = yaml.safe_load(value)
    except yaml.YAMLError:
        parsed = value
    *groups, last = key.strip().split(".")
    place = values
    for group in groups:
        place = place.setdefault(group, {})
        if not isinstance(place, dict):
            raise InputError(f"set must not give a part of {group!r}, which is a single value, got {text!r}")
    place[last] = parsed
