"""What a follower reads: a file that grows, or a stream; whole lines only."""

import hashlib
import os
import select
import time
from pathlib import Path
from typing import Any, Protocol

from graphreach.errors import InputError
from graphreach.io.open_file import MAGIC
from graphreach.updates.batch_log import Place

MOST = 1 << 22
"""Bytes that are taken at a time, so that a long backlog is several batches."""

BLOCK = 1 << 16

START = Place(0, 0, hashlib.sha256().hexdigest())
"""Where nothing has been read yet."""


class Source(Protocol):
    """Lines that arrive."""

    name: str
    place: Place
    ended: bool

    def wait(self, seconds: float) -> None:
        """Wait for more."""

    def peek(self) -> bytes:
        """The whole lines that have arrived and were not taken, some of them if they are many."""

    def take(self, lines: bytes) -> Place:
        """Go on behind the first of them, which are these; returns the place there."""


class FileSource:
    """A file to whose end lines are appended; a line without its line break is not whole yet.

    Args:
        path: The file.
        place: Where to go on. If what stands before it has changed, the file is refused.
    """

    def __init__(self, path: Path, place: Place = START) -> None:
        self.name, self.path, self.place = path.name, path, place
        self.ended = False
        with path.open("rb") as file:
            packed = MAGIC.get(next((magic for magic in MAGIC if file.peek(8).startswith(magic)), b""))
        if packed:
            raise InputError(
                f"{path} must be text to whose end lines are appended, got {packed}; send its lines to standard input"
            )
        self._digest = hash_start(path, place.offset)
        if self._digest is None or self._digest.hexdigest() != place.sha256:
            size = path.stat().st_size
            got = f"only {size} bytes" if size < place.offset else "others"
            raise InputError(
                f"{path} must be the file that was followed so far, which began with {place.offset} bytes"
                f" ({place.line} lines), got {got}"
            )

    def wait(self, seconds: float) -> None:
        """Wait so long."""
        time.sleep(seconds)

    @property
    def ends_in_half_line(self) -> bool:
        """Whether the last line has no line break, so that it waits until it has."""
        with self.path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(self.place.offset, size - 1))
            return file.read(1) not in (b"", b"\n")

    def peek(self) -> bytes:
        """See :class:`Source`."""
        with self.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < self.place.offset:
                raise InputError(
                    f"{self.path} must only grow while it is followed, got {size} bytes after {self.place.offset} were read"
                )
            file.seek(self.place.offset)
            found = file.read(MOST)
            while found and b"\n" not in found and len(found) % MOST == 0 and (more := file.read(MOST)):
                found += more
        return found[: found.rfind(b"\n") + 1]

    def take(self, lines: bytes) -> Place:
        """See :class:`Source`."""
        self.place = advance(self.place, self._digest, lines)
        return self.place


class StreamSource:
    """A stream, such as standard input, that is read once: lines that were not logged have to be sent again.

    Args:
        descriptor: The open stream.
        place: Bytes and lines of earlier streams.
    """

    def __init__(self, descriptor: int, place: Place = START) -> None:
        self.name, self.place, self.ended = "standard input", place, False
        self._descriptor, self._waiting = descriptor, b""
        self._digest = hashlib.sha256(place.sha256.encode()) if place.offset else hashlib.sha256()

    def wait(self, seconds: float) -> None:
        """Read what arrives within a number of seconds."""
        stop = time.monotonic() + seconds
        while not self.ended and len(self._waiting) < MOST:
            left = stop - time.monotonic()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                return
            block = os.read(self._descriptor, BLOCK)
            self._waiting += block
            if not block:
                self.ended = True
                if self._waiting and not self._waiting.endswith(b"\n"):
                    self._waiting += b"\n"  # whoever wrote the last line has closed the stream

    def peek(self) -> bytes:
        """See :class:`Source`."""
        return self._waiting[: self._waiting.rfind(b"\n") + 1]

    def take(self, lines: bytes) -> Place:
        """See :class:`Source`."""
        self.place = advance(self.place, self._digest, lines)
        self._waiting = self._waiting[len(lines) :]
        return self.place

    def drop(self, lines: bytes) -> bytes:
        """Forget the first lines, which are these, as if they had not arrived; returns those behind them."""
        self._waiting = self._waiting[len(lines) :]
        return self.peek()


def hash_start(path: Path, size: int) -> Any:
    """The sha256 object of the first bytes of a file, or None if it has fewer."""
    digest, left = hashlib.sha256(), size
    with path.open("rb") as file:
        while left:
            block = file.read(min(left, 1 << 20))
            if not block:
                return None
            digest.update(block)
            left -= len(block)
    return digest


def end_of_lines(path: Path) -> Place:
    """The place behind the last whole line of a file."""
    with path.open("rb") as file:
        text = file.read()
    end = text.rfind(b"\n") + 1
    return Place(end, text[:end].count(b"\n"), hashlib.sha256(text[:end]).hexdigest())


def advance(place: Place, digest: Any, lines: bytes) -> Place:
    """The place behind some lines, which are added to the hash."""
    digest.update(lines)
    return Place(place.offset + len(lines), place.line + lines.count(b"\n"), digest.hexdigest())
