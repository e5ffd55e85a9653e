"""Methods that are trained apart and scored together."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.nn.late_fusion import LateFusion
from graphreach.tasks import Split
from graphreach.training.evaluation import Scores, measure
from graphreach.training.outcome import Outcome
from graphreach.training.settings import Settings


def fuse(settings: Settings, splits: list[Split], outcomes: dict[str, Outcome]) -> Outcome:
    """Scores of the methods, added one after the other with weights chosen on validation."""
    (_, first), *others = outcomes.items()
    scores, weights = first.scores, []
    truth = np.concatenate([split.val.label for split in splits if len(split.val.label)])
    for _, other in others:
        if splits[0].task == "node":
            weight = _best_weight(splits, scores["val"], other.scores["val"], settings.choose_by)
            scores = {part: _mix(weight, scores[part], other.scores[part]) for part in ("val", "test")}
        else:
            fusion = LateFusion().fit(_flat(scores["val"]), _flat(other.scores["val"]), truth)
            scores = {part: _add(fusion, scores[part], other.scores[part]) for part in ("val", "test")}
            weight = fusion.weight_
        weights.append(weight)
    record = {
        **first.record,
        "settings": settings.model_dump(mode="json"),
        "metrics": {part: measure(splits, scores[part], part) for part in ("val", "test")},
        "seconds": {
            f"{name} {phase}": value
            for name, each in outcomes.items()
            for phase, value in each.record["seconds"].items()
        },
        "weights": weights,
        "parts": {name: each.record["metrics"] for name, each in outcomes.items()},
    }
    return Outcome(record, scores)


def _best_weight(splits: list[Split], first: Scores, second: Scores, metric: str) -> float:
    """The share of the second's probabilities with which validation nodes are classified best."""
    weights = [step / 20 for step in range(21)]
    return max(weights, key=lambda weight: measure(splits, _mix(weight, first, second), "val")[metric])


def _mix(weight: float, first: Scores, second: Scores) -> Scores:
    pairs = zip(first, second, strict=True)
    return [None if a is None or b is None else (1 - weight) * a + weight * b for a, b in pairs]


def _flat(scores: Scores) -> NDArray[Any]:
    return np.concatenate([each for each in scores if each is not None])


def _add(fusion: LateFusion, first: Scores, second: Scores) -> Scores:
    return [None if a is None or b is None else fusion.score(a, b) for a, b in zip(first, second, strict=True)]
