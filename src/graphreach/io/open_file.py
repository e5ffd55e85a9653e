"""Files as they come: found or missing, packed or not, and which format they are in."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.limits import check_memory, format_bytes

TEXT = (".csv", ".tsv", ".txt", ".edg", ".edgelist")
"""Suffixes of text that documentation names; those of :data:`MORE_TEXT` are read alike."""

MORE_TEXT = (".edges", ".ungraph", ".dgraph", ".dat", ".data", ".el", ".links", ".cites")
BINARY = (".parquet", ".npz", ".mtx", ".graphml", ".gml", ".gexf", ".adjlist", ".json")
FORMATS = ("text", "edgelist", "matrix", *(suffix.removeprefix(".") for suffix in BINARY))
"""What ``format`` can be; ``text`` is a list of edges or a matrix, whichever it looks like."""

ALIASES = dict.fromkeys(("csv", "tsv", "txt"), "text")
STDIN = "-"

MAGIC = {
    b"\x1f\x8b": "a gzip file",
    b"PAR1": "a Parquet file",
    b"PK\x03\x04": "a zip file",
    b"\x93NUMPY": "a numpy file",
}

UNPACKED_FREELY, LARGEST_RATIO = 2**28, 200
"""A gzip file may unpack to this number of bytes whatever its size, and beyond that to this multiple of its size."""


class TextFile(NamedTuple):
    """A text file's bytes, its path if polars can read it from there, and for messages its name and what it must do."""

    text: NDArray[np.uint8]
    path: str | None
    what: str
    must: str = "hold edges"


def check_path(path: Any, argument: str = "path", suffixes: Sequence[str] = (), must: str = "hold edges") -> Path:
    """Return the path of a file that exists, is not empty, and ends in one of the suffixes, if there are any."""
    if not isinstance(path, str | PathLike) or isinstance(os.fspath(path), bytes):
        raise InputError(f"{argument} must be a file's name, got {path!r:.80}")
    if "\0" in os.fspath(path) or not os.fspath(path):
        raise InputError(f"{argument} must be a file's name, got {os.fspath(path)!r:.80}")
    file = Path(path)
    if suffixes and not file.name.lower().endswith(tuple(suffixes)):
        raise InputError(f"{argument} must end in {' '.join(suffixes)}, got {file.name}")
    try:
        if file.is_dir():
            raise InputError(f"{argument} must be a file, got the folder {file}")
        if not file.exists():
            raise InputError(f"there is no file {file}{_near_miss(file)}")
        if not (file.is_file() or file.is_fifo()):
            raise InputError(f"{argument} must be a file, got {file}, which is none")
        if file.is_file() and file.stat().st_size == 0:
            raise InputError(f"{file} must {must}, but it is empty")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from None
    return file


def _near_miss(file: Path) -> str:
    folder = file.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    close = get_close_matches(file.name, names, n=1)
    return f"; did you mean {folder / close[0]}?" if close else ""


def find_format(file: Path, asked: Any) -> str:
    """Return the format of a file: the one asked for, by its suffix, or, without one, by its first bytes."""
    if asked is not None:
        found = ALIASES.get(asked, asked) if isinstance(asked, str) else asked
        if found not in FORMATS:
            raise InputError(f"format must be one of {', '.join(FORMATS)}, got {asked!r:.80}")
        return str(found)
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix in BINARY and (suffix == ".mtx" or not file.name.lower().endswith(".gz")):
        return suffix.removeprefix(".")
    if suffix in (*TEXT, *MORE_TEXT) or file.name.startswith("out."):
        return "text"
    if not suffix:
        return guess_format(read_start(file))
    raise InputError(
        f"path must end in {' '.join(TEXT)} (or these with .gz) or {' '.join(BINARY)}, got {file.name}; "
        "format= (--format) reads other names"
    )


def read_start(file: Path) -> bytes:
    """Return the first bytes of a file, unpacked."""
    try:
        with file.open("rb") as handle:
            start = handle.read(4096)
        if start.startswith(b"\x1f\x8b"):
            with gzip.open(file) as packed:
                start = packed.read(4096)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return start


def guess_format(start: bytes) -> str:
    """Return the format that a file's first bytes show."""
    bare = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    if bare.startswith(b"%%MatrixMarket"):
        return "mtx"
    if bare.startswith(b"<"):
        return "gexf" if b"<gexf" in start else "graphml"
    if bare.startswith(b"{"):
        return "json"
    if bare.startswith((b"graph [", b"graph\n[", b"graph\r\n[", b"Creator ")):
        return "gml"
    return "text"


def open_text(path: Path, must: str = "hold edges") -> TextFile:
    """Return the bytes of a text file, unpacked if it is a gzip file by its name."""
    zipped = path.suffix.lower() == ".gz" or (not path.suffix and _is_gzip(path))
    try:
        text = unzip(path) if zipped else np.memmap(path, np.uint8, mode="r")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    return check_text(TextFile(text, None if zipped else str(path), str(path), must))


def _is_gzip(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(2) == b"\x1f\x8b"
    except OSError:  # which is reported when the file is read
        return False


def check_text(file: TextFile) -> TextFile:
    """Return a file whose beginning is that of a text, or raise."""
    start = file.text[:4096].tobytes()
    for magic, kind in MAGIC.items():
        if start.startswith(magic):
            raise InputError(f"{file.what} must be text, as its suffix says, but it is {kind}")
    if start.startswith(b"version https://git-lfs."):
        raise InputError(
            f"{file.what} must {file.must}, but it is a pointer of Git LFS; fetch the file by git lfs pull"
        )
    if start.lstrip()[:14].lower().startswith((b"<html", b"<!doctype html")):
        raise InputError(f"{file.what} must {file.must}, but it is a web page")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file.what} is not text in UTF-8 but in UTF-16; save it as UTF-8")
    if b"\0" in start:
        raise InputError(f"{file.what} must be text, as its suffix says, but it holds binary data")
    return file


def unzip(path: Path) -> NDArray[np.uint8]:
    """Return the content of a gzip file, read in pieces so that one that grows without bound is refused."""
    try:
        with gzip.open(path) as file:
            return _read_all(file, str(path), path.stat().st_size)
    except (EOFError, zlib.error):
        raise InputError(f"{path} is a damaged or truncated gzip file") from None
    except gzip.BadGzipFile:
        raise InputError(f"{path} must be a gzip file, as its suffix says, but it is not") from None


def _read_all(file: Any, what: str, packed: int | None) -> NDArray[np.uint8]:
    buffer = bytearray()
    while block := file.read(2**24):
        buffer += block
        # The text, a tidy copy and the columns exist at once.
        check_memory(3 * len(buffer), f"{what}, unpacked so far to {format_bytes(len(buffer))},", "split the file")
        if packed is not None and len(buffer) > max(UNPACKED_FREELY, LARGEST_RATIO * packed):
            raise InputError(
                f"{what} must not unpack to more than {LARGEST_RATIO} times its size of {format_bytes(packed)}; "
                "no list of edges does, so unpack it first if it is one"
            )
    return np.frombuffer(buffer, np.uint8)


def read_stream(path: Path | None) -> TextFile:
    """Return what comes through a pipe, or on standard input, unpacked if it is a gzip file."""
    what = "standard input" if path is None else str(path)
    stream = getattr(sys.stdin, "buffer", None) if path is None else path.open("rb")
    if stream is None:
        raise InputError("standard input must be a stream of bytes to read a graph from it, got none")
    try:
        text = _read_all(stream, what, None)
        if text[:2].tobytes() == b"\x1f\x8b":
            with gzip.open(io.BytesIO(text.tobytes())) as file:
                text = _read_all(file, what, len(text))
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{what} cannot be read, or is a damaged or truncated gzip file") from None
    finally:
        if path is not None:
            stream.close()
    if not len(text):
        raise InputError(f"{what} must hold edges, but it is empty")
    return TextFile(text, None, what)
