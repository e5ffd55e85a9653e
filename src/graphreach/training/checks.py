"""What a run cannot do, and what would have no effect on it, said before anything is trained."""

from collections.abc import Iterable

from graphreach.arguments import nearest
from graphreach.errors import InputError
from graphreach.tasks.split import PROTOCOLS
from graphreach.training.options import TRAINED
from graphreach.training.plan import reach_options
from graphreach.training.settings import Settings

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
        tuple(TRAINED),
    ),
}  # fmt: skip
"""Settings that only some methods read."""


def check_run(settings: Settings, num_graphs: int = 1) -> None:
    """Refuse settings that no run on so many graphs can have.

    Args:
        settings: Settings of the run.
        num_graphs: Number of graphs of the data set.

    Example:
        >>> check_run(Settings(task="node", method="common-neighbours"))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: method must be one that classifies nodes for task 'node', got 'common-neighbours', \
which scores pairs
    """
    names, task = settings.method.split("+"), settings.task
    untrained = [name for name in names if name not in TRAINED]
    if task == "node" and untrained:
        raise InputError(
            f"method must be one that classifies nodes for task 'node', got {untrained[0]!r}, which scores pairs"
        )
    if settings.choose_by != "auc" and task != "node":
        raise InputError(f"choose_by must be 'auc' for task {task!r}, got {settings.choose_by!r}")
    if settings.protocol not in PROTOCOLS[task]:
        allowed = ", ".join(PROTOCOLS[task])
        raise InputError(f"protocol must be one of {allowed} for task {task}, got {settings.protocol!r}")
    if settings.protocol == "graph-disjoint" and num_graphs == 1:
        raise InputError("protocol 'graph-disjoint' must have several graphs to deal out, got one")
    if settings.walk_weights is not None and task == "link":
        raise InputError(f"walk_weights must be None for task link, which has no labels, got {settings.walk_weights!r}")
    if task == "node" and num_graphs > 1 and "graphreach" in names:
        raise InputError(
            f"task 'node' must have one graph, whose anchors the classes are learned from, got {num_graphs}"
        )
    if len(names) > 1 and settings.model.given():
        raise InputError(
            f"model must be given in parts, for one of {settings.method} at a time, got {settings.model.given()!r}"
        )
    if settings.parts and len(names) == 1:
        raise InputError(f"parts must go with methods joined by +, got {settings.method!r}")
    unknown = [name for name in settings.parts if name not in names]
    if unknown:
        raise InputError(
            f"parts must name methods of {settings.method}, got {unknown[0]!r}{nearest(unknown[0], names)}"
        )
    check_effect(settings)


def check_effect(settings: Settings) -> None:
    """Refuse settings of a method's parts that are wrong, and those that would change nothing, as nobody asks for that.

    Example:
        >>> check_effect(Settings(reachability={"num_walks": 10}))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: reachability.num_walks must not be given with method "exact", which takes no walks; \
set reachability.method=walks
    """
    names = settings.method.split("+")
    if len(names) > 1:
        for name in names:
            check_effect(settings.part(name))
    elif settings.method == "graphreach":
        _check_reachability(settings)


def _check_reachability(settings: Settings) -> None:
    given, model, options = settings.reachability.given(), settings.model.given(), reach_options(settings)
    if "walk_length" in given and options.get("hops") is not None:
        raise InputError(
            f"reachability.walk_length must not be given where steps are kept apart, as hops={options['hops']} is then the "
            "length of the walks; set model.hops and reachability.hops (null: steps together)"
        )
    if {"hops"} <= given.keys() & model.keys() and given["hops"] != model["hops"]:
        raise InputError(
            f"reachability.hops must be the model's, {model['hops']}, as model.hops is what both take, got {given['hops']}"
        )
    exact = options.get("method") == "exact" and options.get("similarity", "frequency") == "frequency"
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
            wanted = "a method that is trained" if readers == tuple(TRAINED) else f"method {' or '.join(readers)}"
            raise InputError(f"{name} must go with {wanted}, it has no effect on {shown}")
    if "parts" in asked and not any("+" in each for each in listed):
        raise InputError(f"parts must go with methods joined by +, got {shown}")
