"""Settings, preset and graph put together: all that a run does, what it cannot do, and what would have no effect on it."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from graphreach.anchors.select_anchors import resolve_num_anchors
from graphreach.arguments import nearest
from graphreach.errors import InputError
from graphreach.nn.presets import Preset, preset
from graphreach.tasks.examples import PROTOCOLS
from graphreach.training.settings import FITTED, OPTIONS, TRAINED, Frozen, Settings, SplitSettings, TrainingSettings
from graphreach.walks.defaults import NUM_WALKS, WALK_LENGTH

DENSE_BYTES = 2 << 30
"""Position matrices up to which exact reachability is used; beyond it is sampled and compressed."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "pgnn-e": {"similarity_map": "learned"},
    "pgnn-f": {"similarity_map": "learned"},
    "node2vec": {"p": 1.0, "q": 0.5},
}
"""Arguments of models that are no preset's; P-GNN's own code maps distances by a small network, which does better."""


class AnchorPlan(Frozen):
    """Arguments of :func:`graphreach.select_anchors`."""

    num_anchors: int
    strategy: str
    walk_length: int | str
    seed: int


class ReachPlan(Frozen):
    """Arguments of :func:`graphreach.reachability`, and the scale that its result is put on."""

    method: str = "walks"
    similarity: str = "frequency"
    num_walks: int = NUM_WALKS
    walk_length: int | str = WALK_LENGTH
    hops: int | None = None
    seed: int
    layout: str = "auto"
    cache: str | bool | None = None
    scale: str | None

    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`graphreach.reachability`."""
        return self.model_dump(exclude={"scale"})


class Plan(Frozen):
    """All that a run of one method does on a graph.

    Attributes:
        method: Name of the method.
        split: Which examples it is trained and judged on.
        model: Arguments of the model.
        anchors: How anchors are chosen, or None for a method without anchors.
        reachability: How reachability is computed, or None for a method that reads none.
        training: How it is trained, or None for a method that is not.
        seed: Random seed of the run.
    """

    method: str
    split: SplitSettings
    model: dict[str, Any]
    anchors: AnchorPlan | None = None
    reachability: ReachPlan | None = None
    training: TrainingSettings | None = None
    seed: int = 0

    @property
    def reach(self) -> ReachPlan:
        """How reachability is computed; an error for a method that reads none."""
        if self.reachability is None:
            raise TypeError(f"method {self.method} reads no reachability")
        return self.reachability

    def __str__(self) -> str:
        """One line for each group of settings."""
        lines = []
        for name, value in self.model_dump(mode="json", exclude_none=True).items():
            own = ", ".join(f"{key} {each}" for key, each in value.items()) if isinstance(value, dict) else value
            lines.append(f"{name}: {own}")
        return "\n".join(lines)


def resolve(settings: Settings, num_nodes: int, attributes: bool = False, num_anchors: int | None = None) -> Plan:
    """The plan of one method on a graph."""
    name, given = settings.method, settings.model.given()
    split = SplitSettings(**shared(settings, SplitSettings))
    if name in FITTED:
        return Plan(method=name, split=split, model=_fitted_options(settings), seed=settings.seed)
    if name not in TRAINED:
        return Plan(method=name, split=split, model=DEFAULTS.get(name, {}) | given, seed=settings.seed)
    chosen = preset(settings.preset) if name == "graphreach" else None
    own = DEFAULTS.get(name, {}) if chosen is None else chosen.arguments(settings.task, attributes)
    sizes = {"hidden_channels": settings.hidden_channels, "num_layers": settings.num_layers}
    dropout = {} if settings.dropout is None else {"dropout": settings.dropout}
    plan = Plan(
        method=name, split=split, model={**own, **sizes, **dropout, **given}, seed=settings.seed,
        training=TrainingSettings(**shared(settings, TrainingSettings)),
    )  # fmt: skip
    if chosen is None:
        return plan
    count = resolve_num_anchors(settings.num_anchors, num_nodes) if num_anchors is None else num_anchors
    length = settings.anchor_walk_length
    anchors = AnchorPlan(num_anchors=count, strategy=settings.strategy, walk_length=length, seed=settings.seed)
    reach = _reachability(settings, chosen, num_nodes, count)
    model = plan.model | {"hops": reach.hops}  # what is kept apart is what the model reads
    return plan.model_copy(update={"anchors": anchors, "reachability": reach, "model": model})


def reach_options(settings: Settings) -> dict[str, Any]:
    """What preset and settings say about reachability; ``hops`` is the model's where that is set."""
    options = preset(settings.preset).reachability | settings.reachability.given()
    model = settings.model.given()
    return options | ({"hops": model["hops"]} if "hops" in model else {})


def _reachability(settings: Settings, chosen: Preset, num_nodes: int, num_anchors: int) -> ReachPlan:
    options = {"seed": settings.seed} | reach_options(settings)
    if 8 * num_nodes * num_anchors * (options.get("hops") or 1) > DENSE_BYTES:
        options |= {"method": "walks", "layout": "csr"}
    scale = {"preset": chosen.scale, "none": None}.get(settings.scale, settings.scale)
    return ReachPlan(**options, scale=scale)


def shared(settings: Settings, kind: type[BaseModel]) -> dict[str, Any]:
    """The settings of one group, by name."""
    return {name: getattr(settings, name) for name in kind.model_fields}


READERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("reachability", "num_anchors", "strategy", "anchor_walk_length", "scale", "preset"), ("graphreach",)
    ),
    "resample": ("pgnn-e", "pgnn-f"),
    "features": (*TRAINED, *FITTED),
    **dict.fromkeys(
        (
            "identity", "hidden_channels", "num_layers", "dropout", "walk_weights", "epochs", "patience",
            "evaluate_every", "choose_by", "learning_rate", "later_learning_rate", "drop_after", "weight_decay",
            "graphs_per_batch", "pairs_per_epoch", "pairs_per_step", "device",
        ),
        tuple(TRAINED),
    ),
}  # fmt: skip
"""Settings that only some methods read."""


def check_run(settings: Settings, num_graphs: int = 1) -> None:
    """Refuse settings that no run can have.

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
    untrained = [name for name in names if name not in TRAINED and name not in FITTED]
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
    if settings.walk_weights is not None and settings.method in FITTED:
        raise InputError(f"walk_weights must be None for method {settings.method!r}, got {settings.walk_weights!r}")
    if task == "node" and num_graphs > 1 and {"graphreach", *FITTED}.intersection(names):
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


def check_labels(settings: Settings, several: bool) -> None:
    """Refuse labels that a method cannot learn.

    Args:
        settings: Settings of the run.
        several: Whether nodes have several labels.
    """
    others = [name for name in settings.method.split("+") if name not in FITTED]
    if several and settings.task == "node" and (others or "+" in settings.method):
        raise InputError(
            f"method must be {' or '.join(FITTED)} where nodes have several labels, got {settings.method!r}, which learns"
            " one class per node"
        )


def check_effect(settings: Settings) -> None:
    """Refuse settings of a method's parts that are wrong, and those that would change nothing, as nobody asks for that."""
    names = settings.method.split("+")
    if len(names) > 1:
        for name in names:
            check_effect(settings.part(name))
    elif settings.method == "graphreach":
        _check_reachability(settings)
    elif settings.method in FITTED:
        _check_fitted(settings)


def _fitted_options(settings: Settings) -> dict[str, Any]:
    """All options of a method that is fitted at once, checked."""
    if settings.task == "node":
        from graphreach.training.class_scorer import ClassOptions

        return ClassOptions(**settings.model.given()).as_dict()
    from graphreach.training.pair_options import PairOptions

    return PairOptions(**settings.model.given()).as_dict()


def _check_fitted(settings: Settings) -> None:
    try:
        _fitted_options(settings)
    except InputError as error:
        raise InputError(f"model.{error}") from None


def _check_reachability(settings: Settings) -> None:
    given, model, options = settings.reachability.given(), settings.model.given(), reach_options(settings)
    if "walk_length" in given and options.get("hops") is not None:
        raise InputError(
            f"reachability.walk_length must not be given where steps are kept apart, as hops={options['hops']} is then the "
            "length of the walks; set model.hops (null: steps together)"
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


def _instead(name: str, methods: set[str]) -> str:
    """Where a method takes the setting among its own options, or which method reads it."""
    fitted = sorted(methods.intersection(FITTED))
    if not fitted:
        return ""
    own = [each for each in fitted if name in OPTIONS[each].model_fields]
    return f"; set model.{name}" if own else "; --model graphreach trains a model that reads it"


def check_read(methods: Iterable[str], changed: Iterable[str]) -> None:
    """Refuse settings that none of several methods reads."""
    listed, asked = list(methods), list(changed)
    names = {part for each in listed for part in each.split("+")}
    shown = " or ".join(repr(each) for each in listed)
    for name in asked:
        readers = READERS.get(name)
        if readers and not names.intersection(readers):
            wanted = "a method that is trained" if set(readers) >= set(TRAINED) else f"method {' or '.join(readers)}"
            raise InputError(f"{name} must go with {wanted}, it has no effect on {shown}{_instead(name, names)}")
    if "parts" in asked and not any("+" in each for each in listed):
        raise InputError(f"parts must go with methods joined by +, got {shown}")
