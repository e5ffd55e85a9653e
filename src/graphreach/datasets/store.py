"""Files of data sets: where they belong, how their content is checked, and where they can be downloaded."""

import gzip
import hashlib
import io
import os
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from graphreach.errors import InputError
from graphreach.io.files import replacing
from graphreach.progress import track

MAX_BYTES = 1 << 28
"""No file is larger, packed or unpacked; a stranger's archive may be."""


class ContentError(ValueError):
    """Bytes are not the expected ones; the message says in what."""


@dataclass(frozen=True)
class Plain:
    """A file known by the sha256 of its bytes; opens to these bytes."""

    sha256: str

    def __call__(self, data: bytes) -> bytes:
        """Check ``data`` and return it."""
        return check_sha256(data, self.sha256, "its")


@dataclass(frozen=True)
class Gzipped:
    """A gzip file known by the sha256 of what is inside: the same text packs into different bytes. Opens to the text."""

    sha256: str

    def __call__(self, data: bytes) -> bytes:
        """Unpack ``data``, check it and return it."""
        return check_sha256(unzip(data), self.sha256, "its unpacked content's")


@dataclass(frozen=True, eq=False)
class Zipped:
    """A zip archive known by the sha256 of its entries, whatever it was packed by; opens to these entries.

    Attributes:
        sha256: Checksum of each entry that matters, by its name with single slashes.
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


def check_sha256(data: bytes, expected: str, whose: str) -> bytes:
    """Return ``data`` if it has the sha256 ``expected``."""
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise ContentError(f"{whose} sha256 is {found[:12]}..., expected {expected[:12]}...")
    return data


def unzip(data: bytes) -> bytes:
    """The content of a gzip file."""
    try:
        with gzip.open(io.BytesIO(data)) as file:
            text = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise ContentError("it is not a whole gzip file") from None
    if len(text) > MAX_BYTES:
        raise ContentError(f"it unpacks to more than {MAX_BYTES:,} bytes")
    return text


def read_zip(data: bytes, names: tuple[str, ...]) -> dict[str, bytes]:
    """Entries of a zip archive by their names with single slashes; archives with unsafe names are refused."""
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


Pack = Callable[[list[bytes]], bytes]


def only(parts: list[bytes]) -> bytes:
    """The one part as it is."""
    (part,) = parts
    return part


@dataclass(frozen=True)
class Source:
    """One place to download a file from.

    Attributes:
        urls: What to download; most files are one.
        pack: Makes the file from what the addresses give, where the source keeps it in another form.
    """

    urls: tuple[str, ...]
    pack: Pack = only

    @property
    def label(self) -> str:
        """The server or the GitHub repository of the first address."""
        parts = urlsplit(self.urls[0])
        if parts.netloc not in ("raw.githubusercontent.com", "github.com"):
            return parts.netloc
        return f"github.com/{'/'.join(parts.path.split('/')[1:3])}"


@dataclass(frozen=True)
class DataFile:
    """One file.

    Attributes:
        path: Below the root, ``<dataset>/<file>``.
        open: Checks the file's bytes and returns what is inside; raises :class:`ContentError` if they are not those
            expected.
        sources: Where to download it, tried in this order.
    """

    path: str
    open: Callable[[bytes], Any]
    sources: tuple[Source, ...]

    @property
    def folder(self) -> str:
        """The folder below the root."""
        return str(PurePosixPath(self.path).parent)

    @property
    def name(self) -> str:
        """The name without folders."""
        return PurePosixPath(self.path).name


def github(repository: str, path: str, branch: str = "master") -> str:
    """The address of a file as it stands in a GitHub repository."""
    return f"https://raw.githubusercontent.com/{repository}/{branch}/{path}"


def snap(path: str, pack: Pack = only) -> tuple[Source, Source]:
    """SNAP's file by either protocol: some networks let only one of them through."""
    return Source((f"https://snap.stanford.edu/{path}",), pack), Source((f"http://snap.stanford.edu/{path}",), pack)


GZIP = b"\x1f\x8b"


def as_gzip(parts: list[bytes]) -> bytes:
    """Packed text; some servers unpack ``.gz`` files on the way."""
    data = only(parts)
    return data if data.startswith(GZIP) else gzip.compress(data, mtime=0)


def as_plain(parts: list[bytes]) -> bytes:
    """Unpacked text."""
    data = only(parts)
    return unzip(data) if data.startswith(GZIP) else data


def as_zip(*names: str) -> Pack:
    """An archive with the parts as entries of these names."""

    def pack(parts: list[bytes]) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in zip(names, parts, strict=True):
                archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)
        return file.getvalue()

    return pack


def links_of_tntp(parts: list[bytes]) -> bytes:
    """The links of a TNTP network file as packed ``from,to,capacity`` lines, numbers as they are written there."""
    _, mark, table = only(parts).partition(b"<END OF METADATA>")
    if not mark:
        raise ContentError("it is not a TNTP network file")
    rows = [line.split()[:3] for line in table.splitlines() if line.strip() and not line.lstrip().startswith(b"~")]
    return gzip.compress(b"from,to,capacity\n" + b"".join(b",".join(row) + b"\n" for row in rows), mtime=0)


CONNECT_TIMEOUT, READ_TIMEOUT = 10.0, 30.0
"""Seconds to wait for a connection, and for the next bytes."""

ROUNDS, PAUSE = 2, 1.0
"""Number of attempts for each source, and the seconds between rounds."""

CHUNK = 1 << 16
TRY_AGAIN = {408, 425, 429}
"""Client errors that may go away."""


class DownloadError(OSError):
    """No source of a file could provide it; the message is one sentence that says what to put where.

    Example:
        >>> raise DownloadError("snap.stanford.edu: no connection")
        Traceback (most recent call last):
        ...
        graphreach.datasets.store.DownloadError: snap.stanford.edu: no connection
    """


def download(file: DataFile) -> bytes:
    """The bytes of ``file`` from the first of its sources that has them, checked.

    A source that says it has no such file is not asked again; one that gave no answer, or the wrong bytes, is asked in
    each of :data:`ROUNDS` rounds.
    """
    problems: dict[Source, str] = {}
    left = list(file.sources)
    for round_number in range(ROUNDS):
        if round_number and left:
            time.sleep(PAUSE)
        for source in list(left):
            try:
                data = source.pack([_get(url, file.name) for url in source.urls])
                file.open(data)
            except ContentError as error:
                problems[source] = f"other content than expected, as {error}"
            except OSError as error:
                problems[source], final = _reason(error)
                if final:
                    left.remove(source)
            else:
                return data
    # http and https of one server fail for one reason.
    reasons = dict.fromkeys(f"{source.label}: {reason}" for source, reason in problems.items())
    raise DownloadError("; ".join(reasons))


def _get(url: str, name: str) -> bytes:
    try:
        import requests
    except ModuleNotFoundError:
        raise DownloadError("pooch is not installed (pip install 'graphreach[datasets]')") from None
    # What a server packs on the way has no known length, and then a cut-off body could not be told from a whole one.
    headers, data = {"Accept-Encoding": "identity"}, bytearray()
    with requests.get(url, stream=True, timeout=(CONNECT_TIMEOUT, READ_TIMEOUT), headers=headers) as answer:
        answer.raise_for_status()
        chunks = -(-int(answer.headers.get("content-length", 0)) // CHUNK)
        for chunk in track(answer.iter_content(CHUNK), chunks, f"downloading {name}"):
            data += chunk
            if len(data) > MAX_BYTES:  # a server cannot fill the memory without end
                raise ContentError(f"it is larger than {MAX_BYTES:,} bytes")
    return bytes(data)


def _reason(error: OSError) -> tuple[str, bool]:
    """An error in a few words, as its text is long and full of addresses in memory, and whether it will not pass."""
    text, status = str(error), getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, DownloadError):
        return text, True
    if status:
        return f"HTTP status {status}", 400 <= status < 500 and status not in TRY_AGAIN
    if "timed out" in text.lower():
        return f"no answer within {READ_TIMEOUT:g} s", False
    return "connection lost midway" if "IncompleteRead" in text else "no connection", False


VARIABLE = "GRAPHREACH_DATA"


def find_root(root: str | os.PathLike[str] | None = None) -> Path:
    """The folder that holds ``<dataset>/<file>``: ``root``, else ``GRAPHREACH_DATA``, else the user's cache."""
    chosen = root if root is not None else os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    try:
        from pooch import os_cache
    except ModuleNotFoundError:
        raise InputError(
            f"root must be a folder, or {VARIABLE} must name one, as pooch is not installed "
            "(pip install 'graphreach[datasets]'), got neither"
        ) from None
    return Path(os_cache("graphreach"))


class Store:
    """The files of one data set below a root, which :func:`find_root` looks for only when a file is asked for."""

    def __init__(self, name: str, files: Sequence[DataFile], root: str | os.PathLike[str] | None = None) -> None:
        self.name, self.files, self._root = name, tuple(files), root

    def path(self, file: DataFile) -> Path:
        """Where ``file`` belongs."""
        return find_root(self._root) / file.path

    def missing(self) -> list[DataFile]:
        """Files that are not there."""
        return [file for file in self.files if not self.path(file).exists()]

    def fetch(self) -> list[Path]:
        """Download what is missing, check what is there, and return the paths."""
        for file in self.files:
            self.open(file)
        return [self.path(file) for file in self.files]

    def open(self, file: DataFile) -> Any:
        """What is inside ``file``, checked; downloaded first if it is missing."""
        path = self.path(file)
        if not path.exists():
            self._download(file, path)
        try:
            return file.open(path.read_bytes())
        except ContentError as error:
            raise InputError(
                f"{path} must be the file that {self.name} is known by, but {error}; "
                "without it the right one is downloaded"
            ) from None

    def _download(self, file: DataFile, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            data = download(file)
            with replacing(path) as partial:
                partial.write_bytes(data)
        except DownloadError as error:
            raise DownloadError(self._what_to_do(file, str(error))) from None
        except OSError as error:
            raise DownloadError(self._what_to_do(file, error.strerror or str(error))) from None

    def _what_to_do(self, file: DataFile, reason: str) -> str:
        """One sentence: files of a data set are in one folder."""
        missing = self.missing()
        names = ", ".join(each.name for each in missing)
        return (
            f"{self.name} needs {names} in {self.path(file).parent}, and {file.name} could not be downloaded ({reason}): "
            f"put {'it' if len(missing) == 1 else 'them'} there, or set {VARIABLE} to a folder that has {file.folder}/"
        )
