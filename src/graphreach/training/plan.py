"""Settings, preset and graph put together: all that a run does, with nothing left to defaults."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from graphreach.anchors.select_anchors import resolve_num_anchors
from graphreach.nn.presets import Preset, preset
from graphreach.training.options import TRAINED
from graphreach.training.settings import Settings, SplitSettings, TrainingSettings
from graphreach.walks.defaults import NUM_WALKS, WALK_LENGTH

DENSE_BYTES = 2 << 30
"""Position matrices up to which exact reachability is used; beyond it is sampled and compressed."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "pgnn-e": {"similarity_map": "learned"},
    "pgnn-f": {"similarity_map": "learned"},
    "node2vec": {"p": 1.0, "q": 0.5},
}
"""Arguments of models that are no preset's; P-GNN's own code maps distances by a small network, and does better so."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class AnchorPlan(_Frozen):
    """Arguments of :func:`graphreach.select_anchors`."""

    num_anchors: int
    strategy: str
    walk_length: int | str
    seed: int


class ReachPlan(_Frozen):
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


class Plan(_Frozen):
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
    """The plan of one method on a graph.

    Args:
        settings: Settings of the run.
        num_nodes: Number of nodes of the graph.
        attributes: Whether its nodes have features that the model reads.
        num_anchors: Number of anchors, if it is known.

    Example:
        >>> plan = resolve(Settings(preset="paper", model={"heads": 2}), 400)
        >>> plan.anchors.num_anchors, plan.reachability.walk_length, plan.model["heads"], plan.training.epochs
        (64, 'diameter', 2, 1000)
    """
    name, given = settings.method, settings.model.given()
    split = SplitSettings(**_shared(settings, SplitSettings))
    if name not in TRAINED:
        return Plan(method=name, split=split, model=DEFAULTS.get(name, {}) | given, seed=settings.seed)
    chosen = preset(settings.preset) if name == "graphreach" else None
    own = DEFAULTS.get(name, {}) if chosen is None else chosen.arguments(settings.task, attributes)
    sizes = {"hidden_channels": settings.hidden_channels, "num_layers": settings.num_layers}
    dropout = {} if settings.dropout is None else {"dropout": settings.dropout}
    plan = Plan(
        method=name, split=split, model={**own, **sizes, **dropout, **given}, seed=settings.seed,
        training=TrainingSettings(**_shared(settings, TrainingSettings)),
    )  # fmt: skip
    if chosen is None:
        return plan
    count = resolve_num_anchors(settings.num_anchors, num_nodes) if num_anchors is None else num_anchors
    length = settings.anchor_walk_length
    anchors = AnchorPlan(num_anchors=count, strategy=settings.strategy, walk_length=length, seed=settings.seed)
    return plan.model_copy(
        update={"anchors": anchors, "reachability": _reachability(settings, chosen, num_nodes, count)}
    )


def reach_options(settings: Settings) -> dict[str, Any]:
    """What preset and settings say about reachability; ``hops`` is the model's where that is set.

    Example:
        >>> reach_options(Settings(model={"hops": 3}))
        {'method': 'exact', 'hops': 3}
    """
    options = preset(settings.preset).reachability | settings.reachability.given()
    model = settings.model.given()
    return options | ({"hops": model["hops"]} if "hops" in model else {})


def _reachability(settings: Settings, chosen: Preset, num_nodes: int, num_anchors: int) -> ReachPlan:
    options = {"seed": settings.seed} | reach_options(settings)
    if 8 * num_nodes * num_anchors * (options.get("hops") or 1) > DENSE_BYTES:
        options |= {"method": "walks", "layout": "csr"}
    scale = {"preset": chosen.scale, "none": None}.get(settings.scale, settings.scale)
    return ReachPlan(**options, scale=scale)


def _shared(settings: Settings, kind: type[BaseModel]) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in kind.model_fields}
