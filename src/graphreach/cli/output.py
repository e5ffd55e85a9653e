"""Files that commands write: refused early."""

import os
from collections.abc import Sequence
from pathlib import Path

from graphreach.errors import InputError


def check_output(path: Path, suffixes: Sequence[str]) -> str:
    """Return the suffix of ``path`` if a file of that name can be written, before any work is done for it.

    Example:
        >>> check_output(Path("reach.xlsx"), [".parquet", ".npz"])
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: --output must end in .parquet or .npz, got reach.xlsx
    """
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        raise InputError(f"--output must end in {_any_of(suffixes)}, got {path.name}")
    if path.is_dir():
        raise InputError(f"--output must be a file, got the folder {path}")
    if not path.parent.is_dir():
        raise InputError(f"--output must be in a folder that exists, got {path}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"--output must be in a folder that can be written to, got {path}")
    return suffix


def _any_of(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
