"""Arrays from ``.npy`` and ``.npz`` files that may be damaged, larger than memory, or no numbers at all."""

import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.limits import check_memory

DAMAGED = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, SyntaxError, tokenize.TokenError, RecursionError,
    OverflowError, MemoryError, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip
"""What zipfile, zlib and numpy's reader of headers raise on files that are not what their suffix says."""

KINDS = {"biuf": "numbers", "iufU": "numbers or text", "biufcSU": "arrays of numbers or text"}
"""Words for kinds of numpy types."""

ANY_PLAIN = "biufcSU"
"""Kinds of everything but objects, times and structures."""


def load_arrays(path: Path, names: tuple[str, ...], kinds: str = "biuf") -> list[NDArray[Any]]:
    """Read the named arrays of a ``.npz`` file, or the one array of a ``.npy`` file, which is mapped and not read.

    What a header declares is compared with the file's size and with memory before anything is allocated, and nothing is
    unpickled.
    """
    with _one_sentence(path, kinds):
        if path.suffix.lower() == ".npy":
            with path.open("rb") as file:
                _check_header(file, path.stat().st_size, path, kinds, "this array")
            return [np.lib.format.open_memmap(path, mode="r")]
        with zipfile.ZipFile(path) as archive:
            return [_member(archive, name, path, kinds) for name in names]


def load_all_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of a ``.npz`` file, of numbers and of text, as guardedly as :func:`load_arrays`."""
    with _one_sentence(path, ANY_PLAIN), zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        return {name: _member(archive, name, path, ANY_PLAIN) for name in names}


@contextmanager
def _one_sentence(path: Path, kinds: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except DAMAGED:
        raise InputError(
            f"{path} must be a {path.suffix.lower()} file of plain {KINDS[kinds]}, as its suffix says, "
            "but it is not or is damaged"
        ) from None


def _member(archive: zipfile.ZipFile, name: str, path: Path, kinds: str) -> NDArray[Any]:
    listed = archive.namelist()
    if f"{name}.npy" not in listed:
        held = sorted(each.removesuffix(".npy") for each in listed)
        raise InputError(f"{path} must hold the array {name}, got {held[:10]!r}")
    size = archive.getinfo(f"{name}.npy").file_size
    with archive.open(f"{name}.npy") as file:
        _check_header(file, size, path, kinds, f"array {name}")
    with archive.open(f"{name}.npy") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        # Reading to the end makes zipfile compare the checksum.
        if file.read(1):
            raise ValueError("more bytes than the header declares")
    return array


def _check_header(file: IO[bytes], size: int, path: Path, kinds: str, what: str) -> None:
    """Refuse an array whose header declares other kinds or more entries than the file has."""
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise InputError(f"{path} must hold {KINDS[kinds]}, got a structured array in {what}")
    one = version == (1, 0)
    read = np.lib.format.read_array_header_1_0 if one else np.lib.format.read_array_header_2_0
    shape, _, kind = read(file)
    if kind.hasobject:
        raise InputError(f"{path} must hold plain {KINDS[kinds]}, got Python objects in {what}, which are not read")
    if kind.kind not in kinds:
        raise InputError(f"{path} must hold {KINDS[kinds]}, got {kind} in {what}")
    if any(length < 0 for length in shape):
        raise InputError(f"{path} must hold an array, got the shape {list(shape)} in {what}")
    declared, held = math.prod(shape) * kind.itemsize, size - file.tell()
    if declared > held:
        raise InputError(
            f"{path} is truncated or damaged: {what} of shape {list(shape)} takes {declared} bytes, but there are {held}"
        )
    check_memory(declared, f"{what} of {path}", "read a part of it")
