"""The files of a data set on disk: downloaded if they are missing, and checked before they are read."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphreach.datasets.data_file import MAX_BYTES, ContentError, DataFile, Source
from graphreach.errors import InputError
from graphreach.io.files import replacing
from graphreach.progress import track

CONNECT_TIMEOUT, READ_TIMEOUT = 10.0, 30.0
"""Seconds to wait for a connection, and for the next bytes."""

ROUNDS, PAUSE = 2, 1.0
"""How often each source is asked, and the seconds between rounds."""

CHUNK = 1 << 16
TRY_AGAIN = {408, 425, 429}
"""Client errors that pass."""


class DownloadError(OSError):
    """A file could be had from none of its sources; the message is one sentence that says what to put where.

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
