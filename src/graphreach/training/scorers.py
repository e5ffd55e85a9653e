"""Methods without an encoder to train: heuristics, walks with skip-gram, and closure of the training pairs."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.nn.skip_gram import SkipGram
from graphreach.tasks import HEURISTICS, Split, closure_scores, score
from graphreach.training.plan import resolve
from graphreach.training.settings import Settings

Scorer = Callable[[NDArray[np.int64]], NDArray[Any]]


def _heuristic(name: str) -> Callable[[Split, Settings], Scorer]:
    def make(split: Split, settings: Settings) -> Scorer:
        return lambda pairs: score(name, split.graph, pairs, **settings.model.given())

    return make


def _skip_gram(split: Split, settings: Settings) -> Scorer:
    arguments = resolve(settings, split.graph.num_nodes).model
    return SkipGram(**({"seed": settings.seed} | arguments)).fit(split.graph).score_pairs


def _closure(split: Split, settings: Settings) -> Scorer:
    return lambda pairs: closure_scores(split, pairs)


SCORERS: dict[str, Callable[[Split, Settings], Scorer]] = {
    **{name: _heuristic(name) for name in HEURISTICS},
    "deepwalk": _skip_gram,
    "node2vec": _skip_gram,
    "closure": _closure,
}
"""From a split to a function that scores pairs ``[2, m]``."""
