"""What the package keeps on disk for the next time: compiled kernels, reachability, data sets."""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from graphreach.arguments import check_choice
from graphreach.errors import InputError

PACKAGE = Path(__file__).parent.parent
KERNEL = re.compile(r".+\.nb[ic]")
RESULT = re.compile(r"[0-9a-f]{64}\.npz")


@dataclass(frozen=True)
class Cache:
    """One of the caches.

    Attributes:
        name: ``"kernels"``, ``"reachability"`` or ``"datasets"``.
        folders: Where its files are.
        files: Its files, which :func:`clear` removes.
        size: Bytes of its files.
        problem: Why nothing can be kept there, or None.
        kept: Why :func:`clear` must not remove the files, or None.

    Example:
        >>> [cache.name for cache in find_caches()]
        ['kernels', 'reachability', 'datasets']
    """

    name: str
    folders: tuple[Path, ...]
    files: tuple[Path, ...]
    size: int
    problem: str | None = None
    kept: str | None = None


def find_caches() -> list[Cache]:
    """Look at all caches; nothing is created but folders of kernels, as numba does.

    Example:
        >>> {cache.name: len(cache.folders) > 1 for cache in find_caches()}["kernels"]  # one for each room
        True
    """
    return [find() for find in CACHES.values()]


def clear(name: str) -> Cache:
    """Remove the files of a cache, and nothing else.

    Args:
        name: ``"kernels"``, ``"reachability"`` or ``"datasets"``.

    Returns:
        The cache as it was, with the files that were removed.

    Example:
        >>> clear("models")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: name must be one of kernels, reachability, datasets, got 'models'
    """
    cache = CACHES[check_choice("name", name, CACHES)]()
    if cache.kept is not None:
        raise InputError(f"{name} must be removed by hand, {cache.kept}")
    for file in cache.files:
        file.unlink(missing_ok=True)  # another process may clear it too
    return cache


def _kernels() -> Cache:
    """Compiled kernels; numba has them in the package's folders or in the user's cache if these cannot be written to."""
    folders, lost = [], False
    for folder in sorted({path.parent for path in PACKAGE.rglob("*.py") if "graphreach.jit import" in _read(path)}):
        place = _numba_folder(folder)
        lost |= place is None
        folders += [] if place is None else [Path(place)]
    problem = "numba can write to no folder: set NUMBA_CACHE_DIR to one, else every process compiles anew"
    return _found("kernels", folders, _matching(folders, KERNEL), problem if lost else None)


def _numba_folder(folder: Path) -> str | None:
    """Where numba keeps the kernels of a folder of sources; None if nowhere."""
    from numba.core.caching import FunctionCache

    code = compile("def kernel(): pass", str(folder / "__init__.py"), "exec").co_consts[0]
    try:
        place: str = FunctionCache(FunctionType(code, {})).cache_path
    except RuntimeError:
        return None
    return place


def _reachability() -> Cache:
    from graphreach.reachability.cache import user_cache

    try:
        folder = user_cache()
    except InputError:
        return _found("reachability", [], [], "there is no home folder: set GRAPHREACH_CACHE to a folder")
    return _found("reachability", [folder], _matching([folder], RESULT), _unwritable(folder))


def _datasets() -> Cache:
    from graphreach.datasets.registry import ENTRIES
    from graphreach.datasets.store import VARIABLE, find_root

    try:
        root = find_root()
    except InputError:  # without pooch there is no folder, and nothing is wrong
        return _found("datasets", [], [], None)
    known = dict.fromkeys(root / file.path for entry in ENTRIES for file in entry.files)
    files = [path for path in known if path.is_file() and _within(path, root)]
    own = f"as {VARIABLE} names a folder of yours, got {root}" if os.environ.get(VARIABLE) else None
    return _found("datasets", [root], files, _unwritable(root), own)


CACHES: dict[str, Callable[[], Cache]] = {"kernels": _kernels, "reachability": _reachability, "datasets": _datasets}


def _found(name: str, folders: Iterable[Path], files: Iterable[Path], problem: Any, kept: str | None = None) -> Cache:
    files = tuple(files)
    return Cache(name, tuple(dict.fromkeys(folders)), files, sum(map(_size, files)), problem, kept)


def _matching(folders: Iterable[Path], name: re.Pattern[str]) -> list[Path]:
    """Files of the package in some folders; links are left alone."""
    found = []
    for folder in dict.fromkeys(folders):
        try:
            found += [path for path in sorted(folder.iterdir()) if name.fullmatch(path.name) and _is_plain(path)]
        except OSError:
            continue
    return found


def compiled(cache: Cache) -> int:
    """How many kernels of this Python are on disk."""
    index = f".py{sys.version_info.major}{sys.version_info.minor}"
    return sum(path.suffix == ".nbi" and index in path.name for path in cache.files)


def _within(path: Path, root: Path) -> bool:
    """Whether a file is in a folder, and not by a link that leads out of it."""
    return not path.is_symlink() and path.resolve().is_relative_to(root.resolve())


def _unwritable(folder: Path) -> str | None:
    """Why no file can be written to a folder, which may have to be made first."""
    nearest = next(each for each in (folder, *folder.absolute().parents) if os.path.lexists(each))
    try:
        tempfile.TemporaryFile(dir=nearest).close()
    except OSError as error:
        return f"{nearest} cannot be written to: {error.strerror or error}"
    return None


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
