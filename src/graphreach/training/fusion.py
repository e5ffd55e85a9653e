"""Methods that are trained apart and scored together."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.nn.late_fusion import LateFusion
from graphreach.tasks import Split, metrics
from graphreach.training.evaluation import Scores, summarise
from graphreach.training.outcome import Outcome
from graphreach.training.settings import Settings


def fuse(settings: Settings, splits: list[Split], outcomes: dict[str, Outcome]) -> Outcome:
    """Scores of the methods, added one after the other with weights chosen on validation."""
    (_, first), *others = outcomes.items()
    scores, weights = first.scores, []
    truth = np.concatenate([split.val.label for split in splits if len(split.val.label)])
    for _, other in others:
        fusion = LateFusion().fit(_flat(scores["val"]), _flat(other.scores["val"]), truth)
        scores = {part: _add(fusion, scores[part], other.scores[part]) for part in ("val", "test")}
        weights.append(fusion.weight_)
    record = {
        **first.record,
        "settings": settings.model_dump(mode="json"),
        "metrics": {part: _metrics(splits, scores[part], part) for part in ("val", "test")},
        "seconds": {
            f"{name} {phase}": value
            for name, each in outcomes.items()
            for phase, value in each.record["seconds"].items()
        },
        "weights": weights,
        "parts": {name: each.record["metrics"] for name, each in outcomes.items()},
    }
    return Outcome(record, scores)


def _metrics(splits: list[Split], scores: Scores, part: str) -> dict[str, float]:
    examples = [getattr(split, part) for split in splits]
    pairs = zip(examples, scores, strict=True)
    rows = [metrics(splits[0].task, own, each) for each, own in pairs if own is not None]
    return summarise(rows, examples, scores)


def _flat(scores: Scores) -> NDArray[Any]:
    return np.concatenate([each for each in scores if each is not None])


def _add(fusion: LateFusion, first: Scores, second: Scores) -> Scores:
    return [None if a is None or b is None else fusion.score(a, b) for a, b in zip(first, second, strict=True)]
