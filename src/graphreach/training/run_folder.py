"""The folder of a run: one run on one content, one process at a time, its files written whole and checked when read."""

import hashlib
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from graphreach.arguments import to_path
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import hash_ids
from graphreach.io.files import remove_orphans
from graphreach.io.model_folder import MODEL
from graphreach.io.records import write_json
from graphreach.tasks import Split
from graphreach.tasks.dataset import Dataset, Sample
from graphreach.training.outcome import Outcome, read_scores, write_scores
from graphreach.training.settings import Settings, first_problem
from graphreach.training.trainer import CHECKPOINT, read_checkpoint

SETTINGS, CONTENT, SOURCE, RECORD = "settings.json", "content.json", "source.json", "record.json"
SCORES, HEAD, LOCK = "scores.npz", "head", ".lock"
REMEDY = "choose another folder, or delete it"

FORMAT = 1
KEYS = ("graph", "features", "labels", "split")

Hashes = dict[str, str | None]


def content_hashes(dataset: Dataset | Sample, splits: Sequence[Split]) -> Hashes:
    """The sha256 of all graphs, of their features, of their labels, and of the examples that the task was cut into."""
    samples, cut = _samples(dataset), list[Any]()
    for split in splits:
        cut.append(split.graph)
        for part in split.parts().values():
            cut += [part.index, part.label, part.candidates]
    return {
        "graph": _digest(sample.graph for sample in samples),
        "features": _digest(None if sample.x is None else np.asarray(sample.x, np.float32) for sample in samples),
        "labels": _digest(None if sample.y is None else np.asarray(sample.y) for sample in samples),
        "split": _digest(cut),
    }


def describe_content(
    dataset: Dataset | Sample, splits: Sequence[Split], walked: Sequence[Graph] | None = None
) -> dict[str, Any]:
    """What ``content.json`` holds: the hashes, and the sizes by which a message can say what differs."""
    samples, hashes = _samples(dataset), content_hashes(dataset, splits)
    if walked is not None:
        hashes["walk graph"] = _digest(walked)
    graphs, classes = [each.graph for each in samples], [each.y for each in samples if each.y is not None]
    sizes = {
        "graph": {
            "graphs": len(graphs),
            "nodes": sum(graph.num_nodes for graph in graphs),
            "edges": sum(graph.num_edges for graph in graphs),
        },
        "features": {"columns": max((sample.x.shape[1] for sample in samples if sample.x is not None), default=0)},
        "labels": {"classes": _count_classes(classes)},
        "split": {part: sum(len(getattr(split, part)) for split in splits) for part in ("train", "val", "test")},
    }
    return {"format": FORMAT, "hashes": hashes, "sizes": sizes}


def _count_classes(each: Sequence[Any]) -> int:
    """How many classes the nodes of several graphs have; of nodes with several labels, how many labels there are."""
    if any(y.ndim == 2 for y in each):
        return max(int(y.shape[-1]) for y in each if y.ndim == 2)
    if not each:
        return 0
    found = np.unique(np.concatenate(each))
    return int(np.count_nonzero(found >= 0))


def content_difference(there: dict[str, Any], here: dict[str, Any], keys: Sequence[str] | None = None) -> str | None:
    """The first of the hashes that differs, with sizes, or None if the contents are the same."""
    names = {"graph": "another graph", "split": "another split of the data", "walk graph": "other weights for walks"}
    for key in keys or [*KEYS, "walk graph"]:
        if there["hashes"].get(key) != here["hashes"].get(key):
            before, now = (_size(key, each) for each in (there, here))
            sizes = f"{before} there, {now} here" if before != now else f"{now} here as there, of other content"
            return f"{names.get(key, f'other {key}')}{f' ({sizes})' if now else ''}"
    return None


def ids_hash(graph: Graph) -> str:
    """The sha256 of a graph's ids in order."""
    digest = hashlib.sha256()
    hash_ids(graph.ids, digest)
    return digest.hexdigest()


def _size(key: str, content: dict[str, Any]) -> str:
    size = content["sizes"].get(key)
    if size is None:
        return ""
    if key != "graph" and content["hashes"].get(key) is None:
        return "none"
    if key == "graph":
        several = f"{size['graphs']} graphs with " if size["graphs"] != 1 else ""
        return f"{several}{size['nodes']} nodes and {size['edges']} edges"
    return ", ".join(f"{value} {name}" for name, value in size.items()) + (" examples" if key == "split" else "")


def _samples(dataset: Dataset | Sample) -> tuple[Sample, ...]:
    return dataset.samples if isinstance(dataset, Dataset) else (dataset,)


def _digest(parts: Any) -> str | None:
    """One hash for graphs and arrays in order, or None if all of them are missing."""
    digest, found = hashlib.sha256(b"graphreach content 1"), False
    for part in parts:
        found = found or part is not None
        if part is None:
            digest.update(b"none;")
        elif isinstance(part, Graph):
            digest.update(f"graph {part.content_hash};".encode())
        else:
            array = part.astype(np.int64, copy=False) if part.dtype.kind in "iub" else part
            digest.update(f"array {array.dtype.str} {array.shape};".encode())
            if array.dtype.kind == "O":  # its bytes would be addresses
                digest.update(repr(array.tolist()).encode())
            elif array.size:
                digest.update(np.ascontiguousarray(array).data.cast("B"))
    return digest.hexdigest() if found else None


class File(BaseModel):
    """What a JSON file must hold; it may hold more."""

    model_config = ConfigDict(extra="allow", strict=True, protected_namespaces=())


def _file(**kinds: Any) -> Any:
    """What a file or a part of one must have, by name; ``(kind, None)`` may be missing."""
    own: Any = {name: kind if isinstance(kind, tuple) else (kind, ...) for name, kind in kinds.items()}
    return create_model("File", __base__=File, **own)


_SIZES, _HASH = _file(graphs=int, nodes=int, edges=int), str | None

RECORD_FILE = _file(
    settings=_file(method=str, task=str), data=_SIZES, seconds=dict[str, float], test_examples=int,
    metrics=_file(val=dict[str, float], test=dict[str, float]), best_epoch=(int, None), epochs=(int, None),
    leaks=(list[str], None), cluster=(_file(workers=int, cores=int, nodes=int), None),
    calibration=(_file(prior=float, val=(float, None), test=(float, None)), None),
)  # fmt: skip
"""``record.json``, which a run has when it has ended."""

CONTENT_FILE = _file(
    format=Literal[1], hashes=_file(graph=_HASH, features=_HASH, labels=_HASH, split=_HASH),
    sizes=_file(graph=_SIZES, features=_file(columns=int), labels=_file(classes=int), split=dict[str, int]),
)  # fmt: skip
"""``content.json``: what a run was trained on."""

SOURCE_FILE = _file(
    graph=str, options=dict[str, Any], features=str | None, classes=list[Any],
    labels=(_file(path=str, column=str | None) | None, None), test_pairs=(str | None, None), val_pairs=(str | None, None),
)  # fmt: skip
"""``source.json``: how the command line read the data of a run."""

CLASSES_FILE = _file(classes=(list[Any], None))


def read_json(path: Path, kind: type[File] = File) -> dict[str, Any]:
    """The JSON object of a file, or one sentence that says what is wrong with it."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
        kind.model_validate(found)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"folder must hold {path.name} of a run, got none in {path.parent}") from None
    except ValidationError as error:
        raise InputError(f"{path} must be what training wrote; {first_problem(error, depth=3)}") from None
    except (ValueError, RecursionError):  # also text that is not UTF-8
        raise InputError(f"{path} is not a whole JSON file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class RunFolder:
    """What a run keeps: settings, hashes of its data, where they came from, model, checkpoint, scores and record."""

    def __init__(self, path: str | Path) -> None:
        self.path = to_path("folder", path)
        if os.path.lexists(self.path) and not self.path.is_dir():
            raise InputError(f"folder must be a folder of a run, or a new name for one, got the file {self.path}")

    @property
    def finished(self) -> bool:
        """Whether the run has ended: its record is written last."""
        return (self.path / RECORD).exists()

    @property
    def begun(self) -> bool:
        """Whether there are results of a run, or of one of the methods that are joined in it, to lose or to mix with."""
        if not self.path.is_dir():
            return False
        places = [self.path]
        if (self.path / SETTINGS).exists():
            method = read_json(self.path / SETTINGS).get("method")
            parts = method.split("+") if isinstance(method, str) else []
            places += [self.path / part for part in parts if len(parts) > 1]
        return any((place / name).exists() for place in places for name in (RECORD, SCORES, CHECKPOINT, MODEL))

    @property
    def settings(self) -> Settings:
        """The settings of the run; what is wrong with them is said of the file."""
        path = self.path / SETTINGS
        values = read_json(path)
        try:
            return Settings(**values)
        except InputError as error:
            raise InputError(f"{path} must hold the settings of a run: {error}") from None

    @property
    def content(self) -> dict[str, Any] | None:
        """Hashes and sizes of what the run was trained on; None if an earlier version trained it."""
        path = self.path / CONTENT
        return read_json(path, CONTENT_FILE) if path.exists() else None

    @property
    def record(self) -> dict[str, Any]:
        """The record of the run, which has ended."""
        return read_json(self.path / RECORD, RECORD_FILE)

    @property
    def source(self) -> dict[str, Any]:
        """How the data are read again; a part of several methods' run has it in the folder above."""
        own = self.path.resolve()
        above = RunFolder(own.parent)
        inside = not (own / SOURCE).exists() and all((above.path / name).exists() for name in (SETTINGS, SOURCE))
        part = inside and own.name in above.settings.method.split("+")
        return {"labels": None} | read_json((above if part else self).path / SOURCE, SOURCE_FILE)

    def outcome(self) -> Outcome:
        """What the run found, without its model."""
        record = self.record
        return Outcome(record, read_scores(self.path / SCORES, record))

    def save(self, outcome: Outcome) -> None:
        """Write scores, then the record: a folder with a record is a finished run."""
        write_scores(self.path / SCORES, outcome.scores)
        write_json(self.path / RECORD, outcome.record)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out of the folder, which is made if it is missing."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / LOCK)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout:
            raise InputError(
                f"folder {self.path} is in use by another process; wait until it has ended, or choose another folder"
            ) from None
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"folder {self.path} must be one that can be written to, got {reason}") from None
        try:
            remove_orphans(self.path)
            yield
        finally:
            lock.release()

    def start(self, settings: Settings, content: dict[str, Any], source: dict[str, Any] | None) -> None:
        """Write what a run is made of to its folder, which has been checked and locked.

        If a run continues or has ended, only ``source.json`` changes, and only if the same data were read from another
        place.
        """
        if not self.begun:
            write_json(self.path / SETTINGS, settings.model_dump(mode="json"))
            write_json(self.path / CONTENT, content)
        if self.has_other_source(source):
            write_json(self.path / SOURCE, source)

    def has_other_source(self, source: dict[str, Any] | None) -> bool:
        """Whether the folder says something else about where the data came from."""
        path = self.path / SOURCE
        return source is not None and (not path.exists() or read_json(path) != source)

    def check_same_settings(self, settings: Settings) -> None:
        """Refuse a folder that holds a run of other settings; nothing is written."""
        if not self.begun:
            return
        if not (self.path / SETTINGS).exists():
            if (self.path / CHECKPOINT).exists():
                read_checkpoint(self.path / CHECKPOINT)
            raise InputError(f"folder {self.path} holds a run without {SETTINGS}, so that nothing says which; {REMEDY}")
        found = settings.differences(self.settings)
        if found:
            raise InputError(f"folder {self.path} holds a run of other settings ({'; '.join(found[:3])}); {REMEDY}")

    def check_same_content(self, here: dict[str, Any], source: dict[str, Any] | None = None) -> None:
        """Refuse a folder that holds a run on another graph, features, labels or split; nothing is written.

        A finished run of an earlier version, which kept no hashes, is compared by its numbers of nodes, edges and test
        examples, with a warning. An interrupted one is refused: nothing says what it was trained on.
        """
        if not self.begun:
            return
        there = self.content
        if there is not None:
            difference = content_difference(there, here) or self._other_classes(source)
        elif self.finished:
            difference = self.other_numbers(here)
            if difference is None:
                warnings.warn(
                    f"the run in {self.path} was made by a version that kept no {CONTENT}: it is taken for a run on the"
                    " same data, as its numbers agree",
                    stacklevel=4,
                )
        else:
            raise InputError(
                f"folder {self.path} holds an interrupted run without {CONTENT}, so that nothing says which graph it was"
                f" trained on; {REMEDY}"
            )
        if difference:
            raise InputError(f"folder {self.path} holds a run on {difference}; {REMEDY}")

    def other_numbers(self, here: dict[str, Any]) -> str | None:
        """How data differ in size from those of a run that kept no hashes, or None."""
        record, sizes = self.record, here["sizes"]
        there = {name: record["data"][name] for name in sizes["graph"]} | {"test examples": record["test_examples"]}
        now = sizes["graph"] | {"test examples": sizes["split"]["test"]}
        before, after = (", ".join(f"{each[name]} {name}" for name in now) for each in (there, now))
        return None if there == now else f"other data ({before} there, {after} here)"

    def _other_classes(self, source: dict[str, Any] | None) -> str | None:
        """Labels whose classes have other names are other labels, though they are numbered the same."""
        path = self.path / SOURCE
        if source is None or not path.exists():
            return None
        there, here = read_json(path, CLASSES_FILE).get("classes", []), source.get("classes", [])
        return None if there == here else f"other labels (classes {there[:5]} there, {here[:5]} here)"
