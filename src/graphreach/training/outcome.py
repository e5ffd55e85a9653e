"""The result of a run, and of several runs together."""

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach import nn
from graphreach.errors import InputError
from graphreach.io.files import replacing
from graphreach.tasks import Split
from graphreach.training.inputs import Inputs
from graphreach.training.model import Scores, TaskModel, measure
from graphreach.training.settings import Settings

DAMAGED = (
    OSError, ValueError, LookupError, EOFError, MemoryError, NotImplementedError, RuntimeError, SyntaxError, TypeError,
    ArithmeticError, AttributeError, zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError,
)  # fmt: skip
"""What numpy and zipfile raise for a damaged archive of arrays, or for an array alone."""


@dataclass
class Outcome:
    """What a run found.

    Attributes:
        record: Settings, plan, metrics, times, memory and versions: what ``record.json`` holds.
        scores: Scores of validation and test examples, one array per graph (None where it has none).
        model: The trained model, or None if nothing was trained or the run was read from its folder.
        inputs: What the model read of each graph, in order.
        losses: Training loss of each epoch, if the run was trained just now.
    """

    record: dict[str, Any]
    scores: dict[str, Scores] = field(default_factory=dict)
    model: TaskModel | None = None
    inputs: list[Inputs] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    @property
    def test(self) -> dict[str, float]:
        """Metrics of the test examples."""
        found: dict[str, float] = self.record["metrics"]["test"]
        return found

    def pick_graph(self, number: int | None = None, name: str = "number") -> int:
        """The number, from 1 on, of a graph of the run; by default of the one with most test examples.

        Args:
            number: Number that was asked for.
            name: What the argument is called where it was given.

        Example:
            >>> Outcome({}, {"test": [None, np.zeros(5), np.zeros(3)]}).pick_graph()
            2
        """
        sizes = [0 if own is None else len(own) for own in self.scores["test"]]
        return int(np.argmax(sizes)) + 1 if number is None else check_graph_number(number, len(sizes), name)


def check_graph_number(number: int, count: int, name: str = "number") -> int:
    """Refuse a number that no graph of the run has."""
    if not isinstance(number, int) or not 1 <= number <= count:
        having = "1, the only graph of the run" if count == 1 else f"from 1 to {count}, the graphs of the run"
        raise InputError(f"{name} must be {having}, got {number}")
    return number


def load_arrays(path: Path, what: str) -> dict[str, Any]:
    """The arrays of an archive, none of which is unpickled; a damaged file is refused in one sentence."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            # np.load gives bytes for a member that is no array.
            return {name: np.asarray(file[name]) for name in file.files}
    except FileNotFoundError:
        raise InputError(f"folder must hold {path.name} of a run, got none in {path.parent}") from None
    except DAMAGED:
        raise InputError(f"{path} is not a whole file of {what}; delete the run's folder and train again") from None


def write_scores(path: Path, scores: dict[str, Scores]) -> None:
    """Write the scores of all graphs, whole or not at all."""
    arrays: dict[str, Any] = {f"{part}_count": np.array(len(each)) for part, each in scores.items()}
    for part, each in scores.items():
        arrays |= {f"{part}_{i}": own for i, own in enumerate(each) if own is not None}
    with replacing(path) as partial:
        np.savez_compressed(partial, **arrays)


def read_scores(path: Path, record: dict[str, Any]) -> dict[str, Scores]:
    """Read the scores that belong to a record."""
    arrays, graphs = load_arrays(path, "scores"), record["data"]["graphs"]
    found: dict[str, Scores] = {}
    for part in ("val", "test"):
        count = arrays.get(f"{part}_count", np.array(-1))
        found[part] = [arrays.get(f"{part}_{i}") for i in range(graphs)]
        whole = count.shape == () and count.dtype.kind in "iu" and int(count) == graphs
        for own in found[part]:
            whole = whole and (
                own is None or (own.ndim in (1, 2) and own.dtype.kind in "fiu" and not np.isnan(own).any())
            )
        if not whole:
            raise InputError(
                f"{path} must hold {part} scores of {graphs} graphs, each a number or one for each class; delete the run's"
                " folder and train again"
            )
    tested = sum(len(own) for own in found["test"] if own is not None)
    if tested != record["test_examples"]:
        raise InputError(
            f"{path} must hold scores of {record['test_examples']} test examples, got {tested}; delete the run's folder and"
            " train again"
        )
    return found


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
            flat = [_flat(each["val"]) for each in (scores, other.scores)]
            fusion = nn.LateFusion().fit(flat[0], flat[1], truth)
            scores = {part: _joined(fusion.score, scores[part], other.scores[part]) for part in ("val", "test")}
            weight = fusion.weight_
        weights.append(weight)
    record = {
        **{name: value for name, value in first.record.items() if name != "calibration"},  # sums are no probabilities
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
    return _joined(lambda a, b: (1 - weight) * a + weight * b, first, second)


def _flat(scores: Scores) -> NDArray[Any]:
    return np.concatenate([each for each in scores if each is not None])


def _joined(join: Callable[..., NDArray[Any]], first: Scores, second: Scores) -> Scores:
    """The scores of two methods, joined graph by graph."""
    return [None if a is None or b is None else join(a, b) for a, b in zip(first, second, strict=True)]
