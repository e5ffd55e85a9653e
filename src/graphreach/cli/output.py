"""Files and folders that commands write: refused early."""

import os
from collections.abc import Sequence
from pathlib import Path

from graphreach.errors import InputError


def check_output(path: Path, suffixes: Sequence[str] = (), option: str = "--output") -> str:
    """Return the suffix of ``path`` if a file of that name can be written, before any work is done for it.

    Args:
        path: The file to be.
        suffixes: What its name may end in; empty: anything.
        option: The option that names it.

    Example:
        >>> check_output(Path("reach.xlsx"), [".parquet", ".npz"])
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: --output must end in .parquet or .npz, got reach.xlsx
    """
    suffix = path.suffix.lower()
    if suffixes and suffix not in suffixes:
        raise InputError(f"{option} must end in {_any_of(suffixes)}, got {path.name}")
    _check_name(path, option)
    if path.is_dir():
        raise InputError(f"{option} must be a file, got the folder {path}")
    if not path.parent.is_dir():
        raise InputError(f"{option} must be in a folder that exists, got {path}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"{option} must be in a folder that can be written to, got {path}")
    return suffix


def check_output_folder(path: Path, option: str = "--output") -> None:
    """Refuse a folder that cannot be made or written to, before any work is done for it."""
    _check_name(path, option)
    nearest = next(folder for folder in (path, *path.absolute().parents) if os.path.lexists(folder))
    if not nearest.is_dir():
        what = "a folder" if nearest == path else "in a folder"
        raise InputError(f"{option} must be {what}, got the file {nearest}")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(f"{option} must be a folder that can be written to, got {path}")


def _check_name(path: Path, option: str) -> None:
    """Refuse names that no file can have: the system says so only when it is asked for one."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InputError(
            f"{option} must be a name that files can have, got {str(path)!r:.80}: {error.strerror}"
        ) from None


def _any_of(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
