"""What a run found, and its folder."""

import struct
import tokenize
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphreach.errors import InputError
from graphreach.io.files import replacing
from graphreach.training.evaluation import Scores
from graphreach.training.inputs import Inputs
from graphreach.training.model import TaskModel
from graphreach.training.record import read_dict, write_json

RECORD, SETTINGS, SCORES = "record.json", "settings.json", "scores.npz"
EPOCHS = ("best_epoch", "epochs")
AGAIN = "delete the run's folder and train again"
DAMAGED = (
    OSError, ValueError, LookupError, EOFError, MemoryError, NotImplementedError, RuntimeError, SyntaxError, TypeError,
    ArithmeticError, zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError,
)  # fmt: skip
"""What numpy and zipfile raise for a damaged archive of arrays."""


@dataclass
class Outcome:
    """What a run found.

    Attributes:
        record: Settings, metrics, times, memory and versions: what ``record.json`` holds.
        scores: Scores of validation and test examples, one array a graph (None where it has none).
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
            number: What was asked for.
            name: What the argument is called where it was given.

        Example:
            >>> Outcome({}, {"test": [None, np.zeros(5), np.zeros(3)]}).pick_graph()
            2
        """
        sizes = [0 if own is None else len(own) for own in self.scores["test"]]
        return int(np.argmax(sizes)) + 1 if number is None else check_number(number, len(sizes), name)


def check_number(number: int, count: int, name: str = "number") -> int:
    """Refuse a number that no graph of the run has.

    Example:
        >>> check_number(3, 7)
        3
    """
    if not isinstance(number, int) or not 1 <= number <= count:
        having = "1, the only graph of the run" if count == 1 else f"from 1 to {count}, the graphs of the run"
        raise InputError(f"{name} must be {having}, got {number}")
    return number


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a finished run, with all that others read of it."""
    path = folder / RECORD
    kinds: dict[str, Any] = {"settings": dict, "data": dict, "metrics": dict, "seconds": dict, "test_examples": int}
    record = read_dict(path, kinds)
    _check_part(path, record, "settings", {"method": str, "task": str})
    _check_part(path, record, "data", {"graphs": int, "nodes": int, "edges": int})
    _check_part(path, record, "metrics", {"val": dict, "test": dict})
    if "cluster" in record:
        _check_part(path, record, "cluster", {"workers": int, "cores": int, "nodes": int})
    numbers = [record["seconds"], *record["metrics"].values(), {key: record[key] for key in EPOCHS if key in record}]
    for values in numbers:
        odd = [name for name, value in values.items() if isinstance(value, bool) or not isinstance(value, int | float)]
        if odd:
            raise InputError(f"{path} must have a number as {odd[0]!r}, got {values[odd[0]]!r}")
    leaks = record.get("leaks", [])
    if not isinstance(leaks, list) or not all(isinstance(each, str) for each in leaks):
        raise InputError(f"{path} must have a list of sentences as 'leaks', got {leaks!r:.80}")
    if ("best_epoch" in record) != ("epochs" in record):
        raise InputError(f"{path} must have both of {' and '.join(EPOCHS)}, got one")
    return record


def _check_part(path: Path, record: dict[str, Any], part: str, kinds: dict[str, type]) -> None:
    values = record[part]
    for key, kind in kinds.items():
        if not isinstance(values, dict) or not isinstance(values.get(key), kind) or isinstance(values[key], bool):
            raise InputError(f"{path} must have {part}.{key}, as training wrote it, got {values!r:.80}")


def read_outcome(folder: Path) -> Outcome:
    """A finished run from its folder, without its model."""
    record, path = read_record(folder), folder / SCORES
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            # np.load gives bytes for a member that is no array.
            arrays = {name: np.asarray(file[name]) for name in file.files}
    except FileNotFoundError:
        raise InputError(f"folder must hold {SCORES} of a run, got none in {folder}") from None
    except (*DAMAGED, AttributeError):  # AttributeError: an array alone, not an archive of arrays
        raise InputError(f"{path} is not a whole file of scores; {AGAIN}") from None
    scores = {part: _scores(path, arrays, part, record["data"]["graphs"]) for part in ("val", "test")}
    tested = sum(len(own) for own in scores["test"] if own is not None)
    if tested != record["test_examples"]:
        raise InputError(f"{path} must hold scores of {record['test_examples']} test examples, got {tested}; {AGAIN}")
    return Outcome(record, scores)


def _scores(path: Path, arrays: dict[str, Any], part: str, graphs: int) -> Scores:
    count = arrays.get(f"{part}_count")
    if count is None or count.shape != () or count.dtype.kind not in "iu" or int(count) != graphs:
        raise InputError(f"{path} must hold {part} scores of {graphs} graphs; {AGAIN}")
    found = [arrays.get(f"{part}_{i}") for i in range(graphs)]
    for own in found:
        if own is not None and (own.ndim not in (1, 2) or own.dtype.kind not in "fiu" or np.isnan(own).any()):
            raise InputError(f"{path} must hold one score, or one for each class, of each example; {AGAIN}")
    return found


def save_outcome(folder: Path, outcome: Outcome) -> None:
    """Write scores, then the record: a folder with a record is a finished run."""
    scores = outcome.scores
    arrays: dict[str, Any] = {f"{part}_count": np.array(len(each)) for part, each in scores.items()}
    for part, each in scores.items():
        arrays |= {f"{part}_{i}": own for i, own in enumerate(each) if own is not None}
    with replacing(folder / SCORES) as partial:
        np.savez_compressed(partial, **arrays)
    write_json(folder / RECORD, outcome.record)
