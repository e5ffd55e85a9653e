"""Scores of a pre-trained model before and after an attack (section 4.5 of the paper)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphreach.arguments import check_choice, check_number, describe, to_list
from graphreach.attacks.assessment import Assessment, Tally
from graphreach.attacks.attack import Attack, clique, hubs, noise
from graphreach.auc import count_concordant
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.matching import match_ids
from graphreach.progress import Clock, track
from graphreach.reachability.reachability import cheaper_method
from graphreach.tasks import Split, label_weights
from graphreach.tasks.examples import check_split, stream
from graphreach.threads import one_torch_thread
from graphreach.training.inputs import PairReach
from graphreach.training.loaded_run import LoadedRun
from graphreach.training.methods import find_method
from graphreach.training.model import TaskModel
from graphreach.training.outcome import Outcome
from graphreach.training.plan import Plan, resolve
from graphreach.training.reach_run import ReachRun
from graphreach.training.settings import Settings
from graphreach.training.trained_run import TrainedRun
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count, resolve_walk_length

Kind = Callable[[Split, float, int], Attack]
PUBLISHED = {"link": "hubs", "pair": "clique"}
"""The paper's attack on each task."""


@dataclass(frozen=True, eq=False)
class Victim:
    """A pre-trained model with its anchors, which stay the same whatever happens to the graph.

    Reachability, distances and adjacency are computed again on the changed graph by the run's own settings. What a setting
    measured on the graph before is part of the model and stays, such as a walk length that is the diameter. P-GNN's sets
    depend only on the seed and the number of nodes, so they stay the same.

    Attributes:
        model: The model, in evaluation mode.
        settings: Settings of its run.
        plan: What the run does on a graph.
        anchors: Positions of its anchors, or None.
        split: The run's split.
    """

    model: TaskModel
    settings: Settings
    plan: Plan
    anchors: NDArray[np.int64] | None
    split: Split

    @classmethod
    def of(cls, run: Outcome | TrainedRun, split: Split) -> "Victim":
        """The model of a run that has just ended, or of a run's folder."""
        if isinstance(run, TrainedRun):
            model, settings, anchors = run.model, run.settings, _positions(run.anchors, split.graph)
        else:
            if run.model is None or len(run.inputs) != 1:
                graphs = run.record.get("data", {}).get("graphs", 1)
                got = f"one of {graphs} graphs" if graphs != 1 else "one without its model; read its folder by load_run"
                raise InputError(f"run must be a trained model of one graph, got {got}")
            model, settings, anchors = run.model, Settings(**run.record["settings"]), run.inputs[0].anchors
            if run.inputs[0].num_nodes != split.graph.num_nodes:
                raise InputError(
                    f"split must be the run's, on {run.inputs[0].num_nodes} nodes, got {split.graph.num_nodes} nodes"
                )
        _check_task(settings, split)
        model.eval()
        return cls(model, settings, _as_trained(settings, split, anchors), anchors, split)

    @torch.no_grad()
    @one_torch_thread()
    def scores(self, graph: Graph) -> NDArray[np.float32]:
        """Logits of the split's test pairs with this graph to look at, ``[m]``."""
        split, settings, encoder = replace(self.split, graph=graph), self.settings, self.model.encoder
        seen = label_weights(split) if settings.walk_weights == "train-labels" else graph
        x = split.x if settings.features else None
        inputs = find_method(settings.method).inputs(seen, x, self.plan, Clock(), self.anchors)
        nodes, pairs = np.unique(split.test.index, return_inverse=True)
        z = inputs.embed_some(encoder, torch.from_numpy(nodes))
        reader = PairReach.for_decoder(encoder.decoder)
        reach = None if reader is None else reader.compute(graph, split.test.index)
        index = torch.from_numpy(pairs.reshape(split.test.index.shape))
        out: NDArray[np.float32] = self.model.scores(z, index, reach).float().numpy()
        return out


@dataclass(frozen=True, eq=False)
class ReachVictim:
    """A run of method ``reach``: its network, recipe and anchors stay, what describes a pair is computed again.

    Links are learned from graphs without them, so the edge that colluders add between the nodes of a pair is left out. For
    another relation the edge is read.

    Attributes:
        run: The run.
        split: The run's split.
    """

    run: ReachRun
    split: Split

    @classmethod
    def of(cls, run: ReachRun, split: Split) -> "ReachVictim":
        """The run of a folder, on one graph and with the anchors that it was trained with."""
        if run.scorer.anchors is None:
            raise InputError("run must be a trained model of one graph, got one of several graphs")
        if run.new_anchors:
            raise InputError("run must keep its anchors, got one that was loaded with new_anchors=True")
        _positions(run.scorer.anchors, split.graph)
        return cls(run, split)

    @property
    def settings(self) -> Settings:
        """Settings of the run."""
        return self.run.settings

    def scores(self, graph: Graph) -> NDArray[Any]:
        """Logits of the split's test pairs with this graph to look at, ``[m]``."""
        known = self.run.embed(graph, self.split.x if self.settings.features else None)
        return self.run.logits(known, self.split.test.index, graph)


def find_victim(run: Outcome | TrainedRun | LoadedRun, split: Split) -> Victim | ReachVictim:
    """What is attacked of a run."""
    if not isinstance(run, Outcome | TrainedRun | LoadedRun):
        raise InputError(f"run must be an Outcome or what load_run gives, got {describe(run)}")
    check_split(split)
    if not isinstance(run, LoadedRun):
        return Victim.of(run, split)
    _check_task(run.settings, split)
    if not isinstance(run, ReachRun):
        raise InputError(f"run must have one model, got one of method {run.settings.method!r}")
    return ReachVictim.of(run, split)


def _check_task(settings: Settings, split: Split) -> None:
    if settings.task == "node":
        raise InputError("run must score pairs (task link or pair), got one of task node")
    if settings.task != split.task:
        raise InputError(f"split must be of the run's task {settings.task!r}, got {split.task!r}")


def _positions(ids: list[Any] | None, graph: Graph) -> NDArray[np.int64] | None:
    if ids is None:
        return None
    found = match_ids(ids, graph.ids)
    if (found < 0).any():
        missing = ids[int(np.argmax(found < 0))]
        raise InputError(f"split must be on the run's graph, got one without the anchor {missing!r}")
    return found


def _as_trained(settings: Settings, split: Split, anchors: NDArray[np.int64] | None) -> Plan:
    """The plan of the run with what it leaves to the graph filled in as it was in training."""
    attributes = settings.features and split.x is not None
    plan = resolve(settings, split.graph.num_nodes, attributes, None if anchors is None else len(anchors))
    reach = plan.reachability
    if reach is None or anchors is None:
        return plan
    length = reach.hops or resolve_walk_length(split.graph, reach.walk_length)
    found: dict[str, Any] = {} if reach.hops else {"walk_length": length}
    if reach.method == "auto":
        found["method"] = cheaper_method(split.graph, len(anchors), reach.similarity, reach.num_walks, length)
    return plan.model_copy(update={"reachability": reach.model_copy(update=found)})


KINDS: dict[str, Kind] = {
    "clique": lambda split, fraction, seed: clique(split.graph, fraction, seed),
    "hubs": lambda split, fraction, seed: hubs(split.graph, split.test.negatives, fraction, seed=seed),
    "noise": lambda split, fraction, seed: noise(split.graph, fraction, seed),
}
"""A function from a split, a fraction and a seed to an attack."""


def assess(
    run: Outcome | TrainedRun | LoadedRun,
    split: Split,
    kind: str | Kind | None = None,
    fraction: float = 0.1,
    *,
    groups: int = 5,
    seed: int | None = None,
) -> Assessment:
    """How much of its AUC a trained model loses when groups of colluders add edges.

    The model is not trained again. Each group attacks the graph of the split, which the model has seen. Test pairs with a
    colluder at one end or both are scored before and after. Groups depend only on the split and the seed, so methods that
    share them face the same colluders.

    Differs from the authors' code, which attacks a graph with the test edges in it (links) or one of same-label pairs
    (pairs), and averages the AUC over groups with few pairs. Here comparisons are added up.

    Args:
        run: What :func:`graphreach.training.run` returned with its model, or what :func:`graphreach.training.load_run`
            gives of its folder, which is needed for method ``reach``; of task link or pair, on one graph.
        split: The split of that run.
        kind: ``"clique"``, ``"hubs"`` (links only), ``"noise"``, or a function from split, fraction and seed to an
            :class:`Attack`; by default the paper's, hubs for links and a clique for pairs.
        fraction: Share of the nodes that collude; for noise, of the edges that are added.
        groups: How many groups attack, one at a time.
        seed: Random seed for the groups; by default that of the split.

    Example:
        >>> import graphreach as gr
        >>> data = gr.datasets.load("communities")
        >>> settings = gr.training.Settings(task="pair", protocol="published", method="gcn", epochs=2)
        >>> outcome = gr.training.run(data, settings)
        >>> found = assess(outcome, gr.tasks.split(data.samples[0], "pair", "published"), groups=2)
        >>> found.kind, found.colluders, found.any.comparisons > found.both.comparisons
        ('clique', (40, 40), True)
    """
    return curve(run, split, [fraction], kind, groups=groups, seed=seed)[0]


def curve(
    run: Outcome | TrainedRun | LoadedRun,
    split: Split,
    fractions: Sequence[float],
    kind: str | Kind | None = None,
    *,
    groups: int = 5,
    seed: int | None = None,
) -> list[Assessment]:
    """Assessments at several fractions, one each.

    Args:
        run: See :func:`assess`, as for the other arguments.
        split: See :func:`assess`.
        fractions: Shares of colluders.
        kind: See :func:`assess`.
        groups: See :func:`assess`.
        seed: See :func:`assess`.

    Example:
        >>> import graphreach as gr
        >>> data = gr.datasets.load("communities")
        >>> outcome = gr.training.run(data, gr.training.Settings(method="gcn", epochs=2))
        >>> found = curve(outcome, gr.tasks.split(data.samples[0], "link"), [0.05, 0.1], groups=1)
        >>> [each.colluders for each in found]
        [(20,), (40,)]
    """
    victim = find_victim(run, split)
    name, attack = _find_kind(kind, split.task)
    groups, seed = check_count("groups", groups), check_seed(split.seed if seed is None else seed)
    fractions = [check_number("fractions", each, 0) for each in to_list("fractions", fractions, "a list of shares")]
    if not len(split.test):
        raise InputError("split must have test pairs, got none")
    tasks = [(fraction, group_seed(seed, group)) for fraction in fractions for group in range(groups)]
    before = victim.scores(split.graph)
    found = [
        _attacked(victim, before, attack(split, fraction, own), name, float(fraction), seed)
        for fraction, own in track(tasks, len(tasks), "attacks")
    ]
    return [reduce(Assessment.__add__, found[i : i + groups]) for i in range(0, len(found), groups)]


def group_seed(seed: int, group: int) -> int:
    """The seed of one group."""
    return int(stream(seed, "group", group).integers(2**63))


def _attacked(
    victim: Victim | ReachVictim, before: NDArray[Any], attack: Attack, kind: str, fraction: float, seed: int
) -> Assessment:
    """What one group does."""
    after, pairs, label = victim.scores(attack.graph), victim.split.test.index, victim.split.test.label
    tallies = (_tally(before, after, label, attack.involves(pairs, ends)) for ends in ("any", "both"))
    counts = (len(attack.colluders),), (attack.edges.shape[1],)
    return Assessment(kind, fraction, seed, victim.settings.method, victim.settings.task, *counts, *tallies)


def _tally(before: NDArray[Any], after: NDArray[Any], label: NDArray[np.int64], chosen: NDArray[np.bool_]) -> Tally:
    positive = label[chosen] == 1
    won = [(float(count_concordant(scores[chosen], positive)[0][0]),) for scores in (before, after)]
    return Tally((int(positive.sum()),), (int((~positive).sum()),), *won)


def _find_kind(kind: str | Kind | None, task: str) -> tuple[str, Kind]:
    if callable(kind):
        return getattr(kind, "__name__", type(kind).__name__), kind
    name = check_choice("kind", PUBLISHED[task] if kind is None else kind, KINDS)
    if name == "hubs" and task != "link":
        raise InputError(f"kind 'hubs' must be used on a run of task link, got one of task {task}; use 'clique'")
    return name, KINDS[name]
