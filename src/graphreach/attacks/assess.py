"""Scores of a pre-trained model before and after an attack (section 4.5 of the paper)."""

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice, check_number, to_list
from graphreach.attacks.assessment import Assessment, Tally
from graphreach.attacks.attack import GROUP, Attack, clique, hubs, noise
from graphreach.attacks.victim import Victim
from graphreach.auc import count_concordant
from graphreach.errors import InputError
from graphreach.progress import track
from graphreach.tasks import Split
from graphreach.tasks.examples import stream
from graphreach.training.outcome import Outcome
from graphreach.training.trained_run import TrainedRun
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count

Kind = Callable[[Split, float, int], Attack]

KINDS: dict[str, Kind] = {
    "clique": lambda split, fraction, seed: clique(split.graph, fraction, seed),
    "hubs": lambda split, fraction, seed: hubs(split.graph, split.test.negatives, fraction, seed=seed),
    "noise": lambda split, fraction, seed: noise(split.graph, fraction, seed),
}
"""From a split, a fraction and a seed to an attack."""

PUBLISHED = {"link": "hubs", "pair": "clique"}
"""The paper's attack on each task."""


def assess(
    run: Outcome | TrainedRun,
    split: Split,
    kind: str | Kind | None = None,
    fraction: float = 0.1,
    *,
    groups: int = 5,
    seed: int | None = None,
) -> Assessment:
    """How much of its AUC a trained model loses when groups of colluders add edges.

    The model is not trained again. Each group attacks the split's graph, the one that the model has seen, and the test
    pairs with a colluder at one end at least, or at both ends, are scored before and after. Groups depend on the split and
    the seed alone, so methods that share them meet the same colluders.

    Differs from the authors' code, which attacks a graph with the test edges in it (links) or one of same-label pairs
    (pairs), and averages the AUC of groups of a few pairs; here comparisons are added up.

    Args:
        run: What :func:`graphreach.training.run` returned, or the :class:`graphreach.training.TrainedRun` of its folder; of
            task link or pair, on one graph.
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
    run: Outcome | TrainedRun,
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
    victim = Victim.of(run, split)
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
    return int(stream(seed, GROUP, group).integers(2**63))


def _attacked(victim: Victim, before: NDArray[np.float32], attack: Attack, kind: str, fraction: float, seed: int
              ) -> Assessment:  # fmt: skip
    """What one group does."""
    after, pairs, label = victim.scores(attack.graph), victim.split.test.index, victim.split.test.label
    tallies = (_tally(before, after, label, attack.involves(pairs, ends)) for ends in ("any", "both"))
    counts = (len(attack.colluders),), (attack.edges.shape[1],)
    return Assessment(kind, fraction, seed, victim.settings.method, victim.settings.task, *counts, *tallies)


def _tally(
    before: NDArray[np.float32], after: NDArray[np.float32], label: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> Tally:
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
