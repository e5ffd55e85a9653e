"""Files that are never there by half."""

import errno
import itertools
import os
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_COUNT = itertools.count()
_OPEN: set[Path] = set()
"""Partial files that this process is writing."""

_NAME = re.compile(r"\..*\.(?P<process>\d+)-\d+-(?P<host>[\w-]+)\.partial(\.[^.]*)?")
_RUST_ERROR = re.compile(r"\(os error (\d+)\)")
_NO_FSYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)
"""How a file system says that it has no fsync."""

_OF_WRITING = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EROFS)
"""Errors that come from writing, also where no file is named: a full disk, a file too large, a broken disk."""

_LONGEST = 100
"""Bytes of the target's name in that of its partial file, which must not become longer than a name may be."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a new name next to ``path`` to write to; it takes the place of ``path`` only if all went well.

    The content is on the disk before the name is changed, so that not even a power cut leaves half a file. Partial files
    that a killed process left in the same folder are removed. An error of the system, such as a full disk, names ``path``.
    """
    partial = _partial_name(path)
    _OPEN.add(partial)
    try:
        remove_orphans(path.parent)
        yield partial
        _flush(partial)
        partial.replace(path)
        _flush(path.parent)
    except Exception as error:
        number = _error_number(error, partial)
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(path)) from error
    finally:
        partial.unlink(missing_ok=True)
        _OPEN.discard(partial)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a folder next to ``path`` to fill; it gets that name, which nothing may have, only if all went well.

    Files that were written to it otherwise than by :func:`replacing` are brought to the disk before it is renamed.
    """
    remove_orphans(path.parent)
    with scratch_folder(path) as folder:
        yield folder
        for each in [*folder.rglob("*"), folder]:
            _flush(each)
        folder.rename(path)
        _flush(path.parent)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Give a folder next to ``path`` for parts of it, which is removed in the end."""
    folder = _partial_name(path)
    _OPEN.add(folder)
    try:
        folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _OPEN.discard(folder)


def _partial_name(path: Path) -> Path:
    stem = path.stem.encode(errors="surrogateescape")[:_LONGEST].decode(errors="ignore")
    return path.with_name(f".{stem}.{os.getpid()}-{next(_COUNT)}-{_host()}.partial{path.suffix}")


def remove_orphans(folder: Path) -> list[Path]:
    """Remove partial files whose process, on this machine, has ended without putting them in their place.

    Returns:
        What was removed. Files of processes that are alive, or that ran on another machine, are not touched.
    """
    removed = []
    try:
        names = [name for name in os.listdir(folder) if ".partial" in name]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []  # writing will say what is wrong with the folder
    for name in names:
        found, partial = _NAME.fullmatch(name), folder / name
        if found and found["host"] == _host() and partial not in _OPEN and not _is_running(int(found["process"])):
            if partial.is_dir():
                shutil.rmtree(partial, ignore_errors=True)
            else:
                partial.unlink(missing_ok=True)
            removed.append(partial)
    return removed


def _host() -> str:
    return re.sub(r"\W", "-", socket.gethostname(), flags=re.ASCII)[:40] or "-"


def _is_running(process: int) -> bool:
    """Whether another process has this number; a file of this one's number that it is not writing is an older one's."""
    if process == os.getpid():
        return False
    if os.name != "posix":
        return True  # asking would end it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FSYNC:
            raise
    finally:
        os.close(descriptor)


def _error_number(error: Exception, partial: Path) -> int | None:
    """The system's number of an error that the partial file had, or None if it is about something else."""
    if not isinstance(error, OSError) or error.errno is None:
        found = _RUST_ERROR.search(str(error))  # what polars raises has its number in the text alone
        return int(found[1]) if found and int(found[1]) in _OF_WRITING else None
    if error.filename is None:
        return error.errno if error.errno in _OF_WRITING else None
    return error.errno if os.fsdecode(error.filename) == str(partial) else None
