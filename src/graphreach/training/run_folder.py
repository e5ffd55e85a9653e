"""The folder of a run: one run on one content, one process at a time."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphreach.errors import InputError
from graphreach.io.files import remove_orphans
from graphreach.training.checkpoint import CHECKPOINT, check_checkpoint
from graphreach.training.content import CONTENT, FORMAT, KEYS, content_difference
from graphreach.training.outcome import RECORD, SCORES, SETTINGS
from graphreach.training.record import read_dict, write_json
from graphreach.training.settings import Settings

MODEL, HEAD, SOURCE, LOCK = "model", "head", "source.json", ".lock"
"""Names of what a run's folder holds, beside those of its outcome."""

WORK = (RECORD, SCORES, CHECKPOINT, MODEL)
"""What makes a folder that of a run: without any of them there is nothing to lose or to mix with."""

REMEDY = "choose another folder, or delete it"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run's folder, which is made if it is missing.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, locked(Path(folder, "run")):
        ...     Path(folder, "run").is_dir()
        True
    """
    from filelock import FileLock, Timeout

    check_folder(folder)
    lock = FileLock(folder / LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(
            f"folder {folder} is in use by another process; wait until it has ended, or choose another folder"
        ) from None
    except OSError as error:
        raise InputError(f"folder {folder} must be one that can be written to, got {error.strerror or error}") from None
    try:
        remove_orphans(folder)
        yield
    finally:
        lock.release()


def check_folder(folder: Path) -> None:
    """Refuse a file where the folder should be.

    Example:
        >>> check_folder(Path("."))
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise InputError(f"folder must be a folder, or a name where there is nothing yet, got the file {folder}")


def check_same_settings(folder: Path, settings: Settings) -> None:
    """Refuse a folder that holds a run of other settings; nothing is written."""
    check_folder(folder)
    if not has_work(folder):
        return
    if not (folder / SETTINGS).exists():
        if (folder / CHECKPOINT).exists():
            check_checkpoint(folder / CHECKPOINT)
        raise InputError(f"folder {folder} holds a run without {SETTINGS}, so that nothing says which; {REMEDY}")
    differences = settings.differences(read_settings(folder))
    if differences:
        raise InputError(f"folder {folder} holds a run of other settings ({'; '.join(differences[:3])}); {REMEDY}")


def check_same_content(folder: Path, here: dict[str, Any], source: dict[str, Any] | None = None) -> None:
    """Refuse a folder that holds a run on another graph, features, labels or split; nothing is written.

    A finished run of an earlier version, which kept no hashes, is compared by its numbers of nodes, edges and test
    examples, with a warning. An interrupted one is refused: nothing says what it was trained on.

    Args:
        folder: Of the run.
        here: See :func:`graphreach.training.content.describe_content`.
        source: How the graph was read, with the names of the classes, if the command line read it.
    """
    if not has_work(folder):
        return
    if (folder / CONTENT).exists():
        difference = content_difference(read_content(folder), here) or _other_classes(folder, source)
    else:
        difference = _difference_without_hashes(folder, here)
    if difference:
        raise InputError(f"folder {folder} holds a run on {difference}; {REMEDY}")


def start(folder: Path, settings: Settings, content: dict[str, Any], source: dict[str, Any] | None) -> None:
    """Write what a run is made of to its folder, which has been checked and locked.

    Of a run that goes on, or that has ended, only ``source.json`` changes, if the same data were read from elsewhere.
    """
    files = {SETTINGS: settings.model_dump(mode="json"), CONTENT: content} | (
        {} if source is None else {SOURCE: source}
    )
    begun = has_work(folder)
    for name, new in files.items():
        if not begun or (name == SOURCE and other_source(folder, source)):
            write_json(folder / name, new)


def other_source(folder: Path, source: dict[str, Any] | None) -> bool:
    """Whether the folder says something else about where the graph came from."""
    return source is not None and (not (folder / SOURCE).exists() or read_dict(folder / SOURCE) != source)


def has_work(folder: Path) -> bool:
    """Whether a folder holds results of a run, or of one of the methods that are joined in it.

    Example:
        >>> has_work(Path("nowhere"))
        False
    """
    if not folder.is_dir():
        return False
    places = [folder]
    if (folder / SETTINGS).exists():
        method = read_dict(folder / SETTINGS).get("method")
        parts = method.split("+") if isinstance(method, str) else []
        places += [folder / part for part in parts if len(parts) > 1]
    return any((place / name).exists() for place in places for name in WORK)


def read_settings(folder: Path) -> Settings:
    """The settings of a run's folder; what is wrong with them is said of the file."""
    path = folder / SETTINGS
    values = read_dict(path)
    try:
        return Settings.make(**values)
    except InputError as error:
        raise InputError(f"{path} must hold the settings of a run: {error}") from None


def read_content(folder: Path) -> dict[str, Any]:
    """The hashes and sizes of what a run was trained on."""
    path = folder / CONTENT
    found = read_dict(path, {"format": int, "hashes": dict, "sizes": dict})
    if found["format"] != FORMAT:
        raise InputError(f"{path} has format {found['format']}, and this version of graphreach reads format {FORMAT}")
    hashes, sizes = found["hashes"], found["sizes"]
    whole = all(key in hashes and isinstance(hashes[key], str | None) for key in KEYS)
    counts = {"graph": ("graphs", "nodes", "edges"), "features": ("columns",), "labels": ("classes",)}
    for key, names in counts.items():
        size = sizes.get(key)
        whole = whole and isinstance(size, dict) and all(isinstance(size.get(name), int) for name in names)
    if not whole or not isinstance(sizes.get("split"), dict):
        raise InputError(f"{path} must hold hashes and sizes of {', '.join(KEYS)}; {REMEDY}")
    return found


def _other_classes(folder: Path, source: dict[str, Any] | None) -> str | None:
    """Labels whose classes have other names are other labels, though they are numbered the same."""
    if source is None or not (folder / SOURCE).exists():
        return None
    stored = read_dict(folder / SOURCE)
    there, here = stored.get("classes", []), source.get("classes", [])
    if not isinstance(there, list):
        raise InputError(f"{folder / SOURCE} must have a list as 'classes', got {there!r:.80}")
    return None if there == here else f"other labels (classes {there[:5]} there, {here[:5]} here)"


def _difference_without_hashes(folder: Path, here: dict[str, Any]) -> str | None:
    if not (folder / RECORD).exists():
        raise InputError(
            f"folder {folder} holds an interrupted run without {CONTENT}, so that nothing says which graph it was trained"
            f" on; {REMEDY}"
        )
    record = read_dict(folder / RECORD, {"data": dict, "test_examples": int})
    keys = ("graphs", "nodes", "edges")
    there = {key: record["data"].get(key) for key in keys} | {"test examples": record["test_examples"]}
    now = {key: here["sizes"]["graph"][key] for key in keys} | {"test examples": here["sizes"]["split"]["test"]}
    if there != now:
        return f"other data ({_listed(there)} there, {_listed(now)} here)"
    warnings.warn(
        f"the run in {folder} was made by a version that kept no {CONTENT}: it is taken for a run on the same data, as"
        f" its numbers agree ({_listed(now)})",
        stacklevel=4,
    )
    return None


def _listed(counts: dict[str, Any]) -> str:
    return ", ".join(f"{value} {name}" for name, value in counts.items())
