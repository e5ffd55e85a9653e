"""One run of an experiment: what decides its result, doing it, and the results on disk."""

import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from graphreach.attacks import curve
from graphreach.datasets import Dataset, load
from graphreach.errors import InputError
from graphreach.experiments.authors_command import run_with_leak
from graphreach.io.files import replacing
from graphreach.nn.presets import preset
from graphreach.training import Settings, load_run, run
from graphreach.training.harness import make_splits

Leak = Literal["authors-command"]

PAPER = "published"
"""The protocol of the paper's tables, which experiments have unless they name another."""


class Work(BaseModel):
    """All that decides the result of one run.

    Attributes:
        kind: ``train`` (train and score), ``time`` (the same while nothing else runs) or ``attack`` (train, then score
            under attack).
        data: Name of the data set.
        settings: Settings of the run.
        leak: ``authors-command``: walk weights as the authors' command sets them, from labels of the test data.
        attack: Arguments of the attack.
        max_graphs: Use the first graphs alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["train", "time", "attack"] = "train"
    data: str
    settings: Settings
    attack: dict[str, Any] = {}
    leak: Leak | None = None
    max_graphs: int | None = None

    @classmethod
    def make(cls, *, settings: dict[str, Any], **values: Any) -> "Work":
        """Work from plain values, on the paper's split by default; a leak may stand among the settings."""
        own = {"protocol": PAPER, **settings}
        leak = own.pop("leak", None)
        try:
            return cls(settings=Settings(**own), leak=leak, **values)
        except ValidationError as error:
            raise InputError(f"work: {error.errors()[0]['msg']}, got {error.errors()[0]['input']!r}") from None

    @property
    def key(self) -> str:
        """The same for the same work, whatever table asks for it."""
        content = self.describe()  # so that a setting which is added later, at its default, changes no key
        if "graphreach" in self.settings.method.split("+"):
            content["preset"] = preset(self.settings.preset)  # a preset that was changed gives other results
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def describe(self) -> dict[str, Any]:
        """The work in short: what differs from the defaults."""
        dumped: dict[str, Any] = self.model_dump(mode="json", exclude_defaults=True)
        if dumped["settings"]["protocol"] == PAPER:  # the default of experiments
            del dumped["settings"]["protocol"]
        return dumped

    def do(self, folder: Path | None = None) -> dict[str, Any]:
        """Run it, and give what goes into the result; a folder keeps a checkpoint until it is done."""
        data = load(self.data, seed=self.settings.seed)
        if self.max_graphs is not None:
            data = Dataset(data.name, data.samples[: self.max_graphs])
        own = None if folder is None else folder / self.key
        found = self._run(data, own)
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)
        return found

    def _run(self, data: Dataset, folder: Path | None) -> dict[str, Any]:
        """Train, and with ``kind="attack"`` assess the model under attack at every fraction."""
        outcome = run(data, self.settings, folder) if self.leak is None else run_with_leak(data, self.settings, folder)
        found = shorten(outcome.record)
        if self.kind == "attack":
            (split,) = make_splits(data, self.settings)
            trained = outcome if outcome.model is not None or folder is None else load_run(folder)
            found["attack"] = [each.to_dict() for each in curve(trained, split, **self.attack)]
        return found


KEPT = ("best_epoch", "epochs", "training_loss", "parameters", "weights", "test_examples", "peak_memory")

BEFORE = ("anchors", "reachability", "distances", "inputs", "reachability of pairs")
"""Phases before the first epoch."""


def shorten(record: dict[str, Any]) -> dict[str, Any]:
    """What a line of the results keeps of a run's record."""
    kept = {key: record[key] for key in KEPT if key in record}
    if "training_loss" in kept:
        kept["training_loss"] = round(kept["training_loss"], 6)
    seconds = {phase: round(value, 3) for phase, value in record["seconds"].items()}
    if kept.get("epochs") and "training" in seconds:
        to_best = record["seconds"]["training"] * kept["best_epoch"] / kept["epochs"]
        before = sum(record["seconds"].get(phase, 0.0) for phase in BEFORE)
        seconds |= {"to_best": round(to_best, 3), "to_best_and_before": round(to_best + before, 3)}
    metrics = {part: {name: round(value, 6) for name, value in own.items()} for part, own in record["metrics"].items()}
    versions = {"versions": record["versions"]} if "versions" in record else {}
    return {"metrics": metrics, **kept, "seconds": seconds, **versions}


Line = dict[str, Any]


class Store:
    """The results of one table.

    A writer holds a lock, adds its lines to those on disk and puts the new file in the place of the old, so two writers
    lose nothing and a kill leaves the file as it was.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.jsonl"
        self._lock = folder / f".{name}.lock"

    def lines(self) -> list[Line]:
        """Every result; a line that was cut short at the end of the file is left out."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        rows, found = text.splitlines(), []
        for number, row in enumerate(rows, 1):
            if not row.strip():
                continue
            try:
                line = json.loads(row)
            except json.JSONDecodeError:
                if number == len(rows) and not text.endswith("\n"):
                    break
                raise InputError(f"{self.path} line {number} is not JSON; delete that line") from None
            if not isinstance(line, dict) or "key" not in line:
                raise InputError(f"{self.path} line {number} is no result of a run; delete that line")
            found.append(line)
        return found

    def add(self, new: Iterable[Line]) -> None:
        """Add results; one with the key of another takes its place."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._lock):
            merged = {line["key"]: line for line in self.lines()}
            merged |= {line["key"]: line for line in new}
            with replacing(self.path) as partial, partial.open("w", encoding="utf-8") as file:
                for line in sorted(merged.values(), key=_order):
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _order(line: Line) -> tuple[Any, ...]:
    work = line.get("work", {})
    settings = work.get("settings", {})
    return work.get("data", ""), settings.get("method", ""), line["key"]
