"""What a run found, and its folder."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphreach.errors import InputError
from graphreach.files import replacing
from graphreach.training.evaluation import Scores
from graphreach.training.inputs import Inputs
from graphreach.training.model import TaskModel
from graphreach.training.record import read_json, write_json
from graphreach.training.settings import Settings

RECORD, SETTINGS, SCORES = "record.json", "settings.json", "scores.npz"


@dataclass
class Outcome:
    """What a run found.

    Attributes:
        record: Settings, metrics, times, memory and versions: what ``record.json`` holds.
        scores: Scores of validation and test examples, one array a graph (None where it has none).
        model: The trained model, or None if nothing was trained or the run was read from its folder.
        inputs: What the model read of each graph, in order.
    """

    record: dict[str, Any]
    scores: dict[str, Scores] = field(default_factory=dict)
    model: TaskModel | None = None
    inputs: list[Inputs] = field(default_factory=list)

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


def claim(folder: Path, settings: Settings) -> None:
    """Refuse a folder that holds a run of other settings."""
    path = folder / SETTINGS
    if path.exists():
        other = Settings.make(**read_json(path))
        differences = settings.differences(other)
        if differences:
            raise InputError(
                f"folder {folder} holds a run of other settings ({'; '.join(differences[:3])}); "
                "choose another folder, or delete it"
            )
    else:
        write_json(path, settings.model_dump(mode="json"))


def read_outcome(folder: Path) -> Outcome:
    """A finished run from its folder, without its model."""
    scores: dict[str, Scores] = {"val": [], "test": []}
    with np.load(folder / SCORES) as file:
        for part in scores:
            count = int(file[f"{part}_count"])
            scores[part] = [file.get(f"{part}_{i}") for i in range(count)]
    return Outcome(read_json(folder / RECORD), scores)


def save_outcome(folder: Path, outcome: Outcome) -> None:
    """Write scores, then the record: a folder with a record is a finished run."""
    scores = outcome.scores
    arrays: dict[str, Any] = {f"{part}_count": np.array(len(each)) for part, each in scores.items()}
    for part, each in scores.items():
        arrays |= {f"{part}_{i}": own for i, own in enumerate(each) if own is not None}
    with replacing(folder / SCORES) as partial:
        np.savez_compressed(partial, **arrays)
    write_json(folder / RECORD, outcome.record)
