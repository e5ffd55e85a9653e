"""Arrays in ``.npz`` and ``.npy`` files, read without trust: no pickles, no size that does not fit, no damage."""

import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.limits import check_memory

DAMAGE = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    TypeError,
    AttributeError,
    RuntimeError,
    NotImplementedError,
    OverflowError,
    SyntaxError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
)
"""What zipfile, zlib and numpy raise on damaged files."""


def read_npz_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a ``.npz`` file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a.npz")
        ...     np.savez(path, x=[1, 2])
        ...     read_npz_arrays(path)
        {'x': array([1, 2])}
    """
    try:
        with zipfile.ZipFile(path) as file:
            return {
                member.filename.removesuffix(".npy"): _read_member(file, member, str(path))
                for member in file.infolist()
                if member.filename.endswith(".npy")
            }
    except InputError:
        raise
    except DAMAGE:
        raise InputError(f"{path} must be a .npz file of plain arrays, as its suffix says, but it is not") from None


def _read_member(file: zipfile.ZipFile, member: zipfile.ZipInfo, what: str) -> NDArray[Any]:
    with file.open(member) as handle:
        _check_header(handle, f"array {member.filename.removesuffix('.npy')!r} of {what}", member.file_size)
    with file.open(member) as handle:
        array: NDArray[Any] = np.lib.format.read_array(handle, allow_pickle=False)
    return array


def read_npy(path: Path) -> NDArray[Any]:
    """Return the array of a ``.npy`` file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a.npy")
        ...     np.save(path, [1, 2])
        ...     read_npy(path)
        array([1, 2])
    """
    try:
        with path.open("rb") as handle:
            _check_header(handle, f"the array of {path}", path.stat().st_size)
            handle.seek(0)
            array: NDArray[Any] = np.lib.format.read_array(handle, allow_pickle=False)
            return array
    except InputError:
        raise
    except DAMAGE:
        raise InputError(f"{path} must be a .npy file of one plain array, as its suffix says, but it is not") from None


def _check_header(handle: IO[bytes], what: str, size: int) -> None:
    """Refuse an array that would not fit into memory, or is larger than what holds it."""
    version = np.lib.format.read_magic(handle)  # type: ignore[arg-type, unused-ignore]
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read(handle)  # type: ignore[arg-type, unused-ignore]
    needed = kind.itemsize
    for length in shape:
        needed *= int(length)
    if kind.hasobject or min(shape, default=0) < 0:
        raise ValueError(f"{what} is not plain")
    check_memory(needed, what, "the file is damaged, or needs a larger machine")
    if needed > size:
        raise ValueError(f"{what} is cut")
