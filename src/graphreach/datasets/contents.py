"""Whether bytes are what a data set is known by: checked before anything is made of them."""

import gzip
import hashlib
import io
import stat
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

MAX_BYTES = 1 << 28
"""No file is larger, packed or unpacked; a stranger's archive may be."""


class ContentError(ValueError):
    """Bytes are not the expected ones; the message says in what.

    Example:
        >>> Plain("0" * 64)(b"abc")
        Traceback (most recent call last):
        ...
        graphreach.datasets.contents.ContentError: its sha256 is ba7816bf8f01..., expected 000000000000...
    """


@dataclass(frozen=True)
class Plain:
    """A file known by the sha256 of its bytes; opens to these bytes."""

    sha256: str

    def __call__(self, data: bytes) -> bytes:
        """Check ``data`` and return it."""
        check_sha256(data, self.sha256, "its")
        return data


@dataclass(frozen=True)
class Gzipped:
    """A gzip file known by the sha256 of what is inside: the same text packs into different bytes. Opens to the text.

    Example:
        >>> Gzipped(hashlib.sha256(b"0 1").hexdigest())(gzip.compress(b"0 1"))
        b'0 1'
    """

    sha256: str

    def __call__(self, data: bytes) -> bytes:
        """Unpack ``data``, check it and return it."""
        text = unzip(data)
        check_sha256(text, self.sha256, "its unpacked content's")
        return text


@dataclass(frozen=True, eq=False)
class Zipped:
    """A zip archive known by the sha256 of its entries, whatever it was packed by; opens to these entries.

    Attributes:
        sha256: Of each entry that matters, by its name with single slashes.
        unknown: Entries whose bytes vary from copy to copy, which the caller has to check.
    """

    sha256: Mapping[str, str]
    unknown: tuple[str, ...] = ()

    def __call__(self, data: bytes) -> dict[str, bytes]:
        """Unpack the entries, check them and return them by name."""
        entries = read_zip(data, (*self.sha256, *self.unknown))
        for name, expected in self.sha256.items():
            check_sha256(entries[name], expected, f"the entry {name}'s")
        return entries


def check_sha256(data: bytes, expected: str, whose: str) -> None:
    """Raise :class:`ContentError` unless ``data`` has the sha256 ``expected``."""
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise ContentError(f"{whose} sha256 is {found[:12]}..., expected {expected[:12]}...")


def unzip(data: bytes) -> bytes:
    """The content of a gzip file.

    Example:
        >>> unzip(gzip.compress(b"text"))
        b'text'
    """
    try:
        with gzip.open(io.BytesIO(data)) as file:
            text = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise ContentError("it is not a whole gzip file") from None
    if len(text) > MAX_BYTES:
        raise ContentError(f"it unpacks to more than {MAX_BYTES:,} bytes")
    return text


def read_zip(data: bytes, names: tuple[str, ...]) -> dict[str, bytes]:
    """Entries of a zip archive by their names with single slashes; archives with unsafe names are refused.

    Example:
        >>> file = io.BytesIO()
        >>> with zipfile.ZipFile(file, "w") as archive:
        ...     archive.writestr("a//b.txt", "text")
        >>> read_zip(file.getvalue(), ("a/b.txt",))
        {'a/b.txt': b'text'}
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = _safe_entries(archive)
            missing = [name for name in names if name not in entries]
            if missing:
                raise ContentError(f"it has no entry {missing[0]}")
            if sum(entries[name].file_size for name in names) > MAX_BYTES:
                raise ContentError(f"it unpacks to more than {MAX_BYTES:,} bytes")
            return {name: archive.read(entries[name]) for name in names}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
        raise ContentError("it is not a whole zip archive") from None


def _safe_entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        # orig_filename is the name as it stands in the archive; filename may be cut or rewritten by zipfile.
        written = entry.orig_filename
        parts = written.split("/")
        outside = written.startswith("/") or ".." in parts or ":" in parts[0] or "\\" in written or "\0" in written
        if outside or stat.S_ISLNK(entry.external_attr >> 16):
            raise ContentError(f"its entry {written!r:.80} leads out of the folder")
        name = "/".join(part for part in parts if part not in ("", "."))
        if name in entries:
            raise ContentError(f"it has two entries {name}")
        entries[name] = entry
    return entries
