"""The log of a follower: every batch of lines is on the disk, with its number and its place, before it is applied.

A folder holds ``batches/000001.csv`` and so on, each with the lines as they came below one line of JSON on where they
stood; ``changes/000001.parquet``, what each batch changed; and ``snapshots/000100.npz``, the graph after some batches. All
appear by rename. Batches are numbered from 1 on without gaps.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import NamedTuple

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io.files import remove_orphans, replacing
from graphreach.io.saved_graph import read_saved_graph, write_graph

BATCHES, CHANGES, SNAPSHOTS = "batches", "changes", "snapshots"
NUMBER = re.compile(r"(\d{6,})\.\w+")
KEPT = 2
"""Number of snapshots that are kept in addition to the first one."""


class Place(NamedTuple):
    """Where something stands that is read line by line.

    Attributes:
        offset: Bytes before it.
        line: Lines before it.
        sha256: Hash of all these bytes.
    """

    offset: int
    line: int
    sha256: str


class Batch(NamedTuple):
    """Lines that are applied together.

    Attributes:
        number: From 1 on.
        begin: Where they begin.
        end: Where they end.
        lines: The lines, each with its line break.
    """

    number: int
    begin: Place
    end: Place
    lines: bytes


class BatchLog:
    """The batches in a folder.

    Args:
        folder: The folder; it is made if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (BATCHES, CHANGES, SNAPSHOTS):
            (folder / name).mkdir(parents=True, exist_ok=True)
            remove_orphans(folder / name)

    def count(self) -> int:
        """The number of the last batch; 0 if there is none, and a gap before it is refused."""
        found = self._numbers(BATCHES)
        if found and found != list(range(1, len(found) + 1)):
            missing = next(number for number, each in enumerate(found, 1) if number != each)
            raise InputError(
                f"{self.folder / BATCHES} must hold all batches up to {found[-1]}, got none of number {missing}"
            )
        return len(found)

    def add(self, batch: Batch) -> None:
        """Write a batch; it is on the disk when this returns."""
        head = {
            "batch": batch.number, "begin": batch.begin._asdict(), "end": batch.end._asdict(),
            "lines_sha256": hashlib.sha256(batch.lines).hexdigest(),
        }  # fmt: skip
        with replacing(self._path(batch.number)) as partial:
            partial.write_bytes(b"# " + json.dumps(head).encode() + b"\n" + batch.lines)

    def read(self, number: int) -> Batch:
        """A batch as it was written; one that has changed since is refused."""
        path = self._path(number)
        first, _, lines = path.read_bytes().partition(b"\n")
        try:
            head = json.loads(first.removeprefix(b"# "))
            begin, end = (Place(**head[name]) for name in ("begin", "end"))
            whole = head["batch"] == number and head["lines_sha256"] == hashlib.sha256(lines).hexdigest()
            whole = whole and end.offset - begin.offset == len(lines)
        except (ValueError, TypeError, KeyError, AttributeError):
            whole = False
        if not whole:
            raise InputError(f"{path} must be batch {number} as it was written, but it has changed since")
        return Batch(number, begin, end, lines)

    def output(self, number: int) -> Path:
        """Where the output of a batch is."""
        return self.folder / CHANGES / f"{number:06d}.parquet"

    def save(self, number: int, graph: Graph) -> None:
        """Keep the graph after a batch; older ones but the first are removed."""
        write_graph(self._snapshot(number), graph)
        for old in self._numbers(SNAPSHOTS)[1:-KEPT]:
            self._snapshot(old).unlink(missing_ok=True)

    def newest(self, most: int) -> tuple[int, Graph]:
        """The last graph that was kept after at most ``most`` batches, and their number."""
        found = [number for number in self._numbers(SNAPSHOTS) if number <= most]
        if not found:
            raise InputError(f"{self.folder / SNAPSHOTS} must hold the graph that was begun with, got none")
        return found[-1], read_saved_graph(self._snapshot(found[-1]))

    def _path(self, number: int) -> Path:
        return self.folder / BATCHES / f"{number:06d}.csv"

    def _snapshot(self, number: int) -> Path:
        return self.folder / SNAPSHOTS / f"{number:06d}.npz"

    def _numbers(self, name: str) -> list[int]:
        found = (NUMBER.fullmatch(path.name) for path in (self.folder / name).iterdir())
        return sorted(int(each[1]) for each in found if each)
