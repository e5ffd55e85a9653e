"""The method ``reach`` in the harness: one head for the pairs of all graphs, kept in the run's folder and loaded again."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_pairs, describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.graph.matching import match_ids
from graphreach.io.model_folder import MODEL
from graphreach.pairs import check_attributes
from graphreach.progress import Clock
from graphreach.tasks import Split
from graphreach.tasks.calibration import reliability
from graphreach.training.loaded_run import Features, LoadedRun, Positions, check_features, used_features
from graphreach.training.model import Scores
from graphreach.training.pair_learning import learn_pairs
from graphreach.training.pair_options import PairOptions
from graphreach.training.pair_scorer import KnownGraph, PairExamples, PairScorer
from graphreach.training.settings import Settings


def fit_splits(splits: Sequence[Split], settings: Settings, clock: Clock) -> tuple[PairScorer, list[KnownGraph]]:
    """Learn the training pairs of all graphs; returns the scorer and what is known of each graph."""
    parts = []
    for split in splits:
        x = used_features(settings, split.x)
        attributes = None if x is None else check_attributes(x, split.graph.num_nodes)
        parts.append(PairExamples(split.graph, split.train.index, split.train.label, attributes))
    options = PairOptions(**settings.model.given())
    return learn_pairs(parts, options, settings.task == "link", settings.seed, clock=clock)


def save_scorer(scorer: PairScorer, settings: Settings, folder: Path) -> None:
    """Keep the head and what it needs, as :meth:`graphreach.LinkPredictor.load` reads it too."""
    options = PairOptions(**settings.model.given()).as_dict()
    drawn = {"negatives": "uniform", "prior": "density", "start": None, "random_state": settings.seed}
    scorer.save(folder / MODEL, estimator=options | drawn)


def calibration(scorer: PairScorer, splits: Sequence[Split], scores: dict[str, Scores]) -> dict[str, float]:
    """The base rate that probabilities assume, and the expected calibration error there of each part with both kinds.

    Args:
        scorer: What scored the pairs.
        splits: The split of each graph.
        scores: Logits of the graphs' pairs, by the name of the part.
    """
    errors = {"prior": scorer.prior}
    for part, found in scores.items():
        logits = np.concatenate([np.empty(0) if own is None else own for own in found])
        label = np.concatenate([getattr(split, part).label for split in splits])
        held = reliability(scorer.probabilities(logits), label, scorer.prior)
        if held is not None:
            errors[part] = held.error
    return errors


class ReachRun(LoadedRun):
    """A run of method ``reach``: a head that scores pairs by what describes them in any graph.

    A graph that has all the anchors of the run keeps them. Another one gets anchors of its own, which is said, unless they
    were asked for.

    Args:
        folder: Folder of the run.
        settings: Settings of the run.
        new_anchors: Whether every graph gets anchors of its own.

    Attributes:
        scorer: The head, its recipe and the base rate that scores of a graph's pairs assume.
    """

    def __init__(self, folder: Path, settings: Settings, new_anchors: bool = False) -> None:
        self.settings, self.new_anchors = settings, new_anchors
        self.scorer = PairScorer.load(folder / MODEL, "model of method reach")[0]
        if self.scorer.links != (settings.task == "link"):
            raise InputError(f"{folder / MODEL} must hold a model of task {settings.task}; train it again")

    @property
    def meaning(self) -> str:
        """What scores are, whatever the graph."""
        if self.scorer.links:
            return "scores are probabilities where links are as frequent as among all pairs of the graph asked about"
        return self._assumed(self.scorer.prior)

    def meaning_of(self, z: Any) -> str:
        """The base rate that scores of pairs of one graph assume."""
        return self._assumed(self.scorer.rate(z.graph))

    def _assumed(self, rate: float) -> str:
        positive = "are links" if self.scorer.links else "are of one class"
        return f"scores are probabilities where {100 * rate:.3g}% of all pairs asked about {positive}"

    def embed(self, graph: Graph, x: Features = None) -> KnownGraph:
        """What describes the pairs of a graph, with the features of its nodes if the run was trained with some."""
        width = self.scorer.node_channels
        known = self.scorer.on(check_graph(graph), self.new_anchors, check_features(self.settings, x, width))
        wanted = self.scorer.anchors
        if wanted is not None and not self.new_anchors:
            missing = int(np.count_nonzero(match_ids(wanted, graph.ids) < 0))
            if missing:
                warnings.warn(
                    f"the graph lacks {missing} of {len(wanted)} anchors of the run, so it gets anchors of its own",
                    stacklevel=2,
                )
        return known

    def logits(self, z: Any, pairs: Positions, graph: Graph) -> NDArray[Any]:
        """Logits where half of the pairs are positive; a link of the graph is left out of it for its own pair."""
        if not isinstance(z, KnownGraph):
            raise InputError(f"z must be what embed(graph) gave, got {describe(z)}")
        return self.scorer.score(z, check_pairs(pairs, z.graph.num_nodes))

    def score_pairs(self, z: Any, pairs: Positions, graph: Graph) -> NDArray[Any]:
        """Probabilities where the share of positives among the pairs is ``scorer.rate(graph)``."""
        logits = self.logits(z, pairs, graph)
        return self.scorer.probabilities(logits, self.scorer.rate(z.graph))
