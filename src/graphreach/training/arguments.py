"""Settings of model and reachability against what these take, before anything is computed with them."""

import inspect
import math
import types
from collections.abc import Callable, Iterable
from typing import Any, Union, get_args, get_origin

from graphreach.errors import InputError
from graphreach.nn import MLP, PGNN, GraphReach, Neighbourhood
from graphreach.nn.presets import preset
from graphreach.nn.skip_gram import SkipGram
from graphreach.reachability import reachability
from graphreach.tasks import HEURISTICS
from graphreach.training.methods import METHODS
from graphreach.training.scorers import SCORERS
from graphreach.training.settings import Settings, nearest

MODELS: dict[str, Callable[..., Any]] = {
    "graphreach": GraphReach,
    "pgnn-e": PGNN,
    "pgnn-f": PGNN,
    **dict.fromkeys(("gcn", "sage", "gat", "gin", "gcn-rw", "gcn-laplacian"), Neighbourhood),
    "mlp": MLP,
    "deepwalk": SkipGram,
    "node2vec": SkipGram,
    "closure": lambda: None,
    **HEURISTICS,
}
"""What ``settings.model`` holds arguments of, by method."""

GIVEN = ("in_channels", "num_nodes", "kind", "graph", "pairs", "anchors", "engine", "address", "partitions")
"""Arguments that follow from the data, from other settings or from where a run takes place."""

TRAINED = ("graphreach", "pgnn-e", "pgnn-f", "gcn", "sage", "gat", "gin", "mlp", "gcn-rw", "gcn-laplacian")
"""Methods with a model that is trained epoch by epoch."""

READERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("reachability", "num_anchors", "strategy", "anchor_walk_length", "scale", "preset"), ("graphreach",)
    ),
    "resample": ("pgnn-e", "pgnn-f"),
    **dict.fromkeys(
        (
            "features", "identity", "hidden_channels", "num_layers", "dropout", "walk_weights", "epochs", "patience",
            "evaluate_every", "choose_by", "learning_rate", "later_learning_rate", "drop_after", "weight_decay",
            "graphs_per_batch", "pairs_per_epoch", "pairs_per_step",
        ),
        TRAINED,
    ),
}  # fmt: skip
"""Settings that only some methods read."""

LARGEST = 2**16
"""Layers, heads, steps and channels of a model."""

KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text", types.NoneType: "null"}


def check_arguments(settings: Settings) -> None:
    """Refuse methods that are not known, and settings of model and reachability that these do not take.

    Example:
        >>> check_arguments(Settings(model={"head": 2}))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: model must not hold 'head' for method 'graphreach'; did you mean 'heads'?
    """
    names, known = settings.method.split("+"), [*METHODS, *SCORERS]
    for name in names:
        if name not in known:
            raise InputError(f"method must be one of {', '.join(known)}, got {name!r}{nearest(name, known)}")
    if len(names) > 1:
        common = settings.model_dump(exclude={"parts", "model"}, exclude_unset=True)
        for name in names:
            check_arguments(Settings.make(**{**common, **settings.parts.get(name, {}), "method": name}))
        return
    if settings.method in MODELS:
        _check("model", settings.model, MODELS[settings.method], f" for method {settings.method!r}")
    _check("reachability", settings.reachability, reachability, "")
    if settings.method == "graphreach":
        _check_effect(settings)


def check_changes(settings: Settings, changed: Iterable[str]) -> None:
    """Refuse settings that were asked for one by one and that the method does not read.

    Those of a file are not looked at, as a file may serve several methods.

    Example:
        >>> check_changes(Settings(method="gcn", num_anchors=5), ["num_anchors"])
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: num_anchors must go with method graphreach, it has no effect on 'gcn'
    """
    if "method" in settings.model_fields_set:
        check_read([settings.method], changed)


def check_read(methods: Iterable[str], changed: Iterable[str]) -> None:
    """Refuse settings that none of several methods reads.

    Args:
        methods: Names of methods, which may be joined by ``+``.
        changed: Names of the settings that were asked for.

    Example:
        >>> check_read(["graphreach", "common-neighbours"], ["epochs"])
        >>> check_read(["common-neighbours"], ["epochs"])
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: epochs must go with a method that is trained, it has no effect on 'common-neighbours'
    """
    listed, asked = list(methods), list(changed)
    names = {part for each in listed for part in each.split("+")}
    shown = " or ".join(repr(each) for each in listed)
    for name in asked:
        readers = READERS.get(name)
        if readers and not names.intersection(readers):
            wanted = "a method that is trained" if readers == TRAINED else f"method {' or '.join(readers)}"
            raise InputError(f"{name} must go with {wanted}, it has no effect on {shown}")
    if "parts" in asked and not any("+" in each for each in listed):
        raise InputError(f"parts must go with methods joined by +, got {shown}")


def _check(group: str, options: dict[str, Any], function: Callable[..., Any], where: str) -> None:
    taken = {name: each for name, each in inspect.signature(function).parameters.items() if name not in GIVEN}
    for name, value in options.items():
        if name not in taken:
            hint = nearest(name, taken) if taken else "; it takes no settings of its own"
            raise InputError(f"{group} must not hold {name!r}{where}{hint}")
        if not _fits(value, taken[name].annotation):
            kinds = " or ".join(KINDS[each] for each in _kinds(taken[name].annotation))
            raise InputError(f"{group}.{name} must be {kinds}, got {value!r:.80}")
        if group == "model" and name != "seed":
            _check_size(name, value)


def _check_size(name: str, value: Any) -> None:
    """Refuse numbers that no model can have; what the settings hold themselves has the same bounds here."""
    if name in Settings.model_fields and value is not None:
        try:
            Settings.make(**{name: value})
        except InputError as error:
            raise InputError(f"model.{error}") from None
    elif type(value) is int and not 1 <= value <= LARGEST:
        raise InputError(f"model.{name} must be between 1 and {LARGEST}, got {value}")


def _kinds(annotation: Any) -> list[Any]:
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return [part for part in parts if part in KINDS]


def _fits(value: Any, annotation: Any) -> bool:
    kinds = _kinds(annotation)
    if not kinds:  # an annotation that names no plain kind is left to the function's own checks
        return True
    if isinstance(value, float) and not math.isfinite(value):
        return False
    found = type(value)
    return found in kinds or (found is int and float in kinds)


def _check_effect(settings: Settings) -> None:
    """Refuse settings of reachability that would change nothing, as nobody asks for that."""
    given = settings.reachability
    options = {**preset(settings.preset).reachability, **given}
    hops = settings.model.get("hops", options.get("hops"))
    if "walk_length" in given and hops is not None:
        raise InputError(
            f"reachability.walk_length must not be given where steps are kept apart, as hops={hops} is then the length "
            "of the walks; set model.hops and reachability.hops (null: steps together)"
        )
    exact = options.get("method") == "exact" and options.get("similarity", "frequency") == "frequency"
    if {"hops"} <= given.keys() & settings.model.keys() and given["hops"] != settings.model["hops"]:
        raise InputError(
            f"reachability.hops must be the model's, {settings.model['hops']}, as model.hops is what both take, "
            f"got {given['hops']}"
        )
    if "seed" in given and exact:
        raise InputError('reachability.seed must not be given with method "exact", which has nothing random')
    if settings.anchor_walk_length != "diameter" and settings.strategy != "greedy":
        raise InputError(
            f"anchor_walk_length must go with strategy greedy, it has no effect on {settings.strategy!r}, which does "
            "without walks"
        )
    if "num_walks" in given and exact:
        raise InputError(
            'reachability.num_walks must not be given with method "exact", which takes no walks; '
            "set reachability.method=walks"
        )
