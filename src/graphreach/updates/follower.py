"""A follower: takes the lines that have arrived as a batch, logs it, applies it, writes what it changed, and so on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from graphreach.arguments import counted
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io.records import write_json
from graphreach.training.run_folder import RunFolder, read_json
from graphreach.updates.batch_log import Batch, BatchLog, Place
from graphreach.updates.edge_events import Applied, EdgeEvents, apply_events, first_impossible
from graphreach.updates.edge_lines import MARKS, Columns, EdgeLines, is_content
from graphreach.updates.models import Followed
from graphreach.updates.sources import MOST, Source, StreamSource

FOLLOW, LAYOUT = "follow.json", "lines.json"
"""Files that say what follows what, and how the lines are laid out."""

FORMAT = 1

BETWEEN_SNAPSHOTS = 100
"""Batches between two graphs that are kept whole."""


class Begun(NamedTuple):
    """What a folder was begun with.

    Attributes:
        model: Hash of the model.
        source: Name of the file, or ``"-"`` for a stream.
        start: Where the first batch begins.
        self_loops: Whether the graph keeps edges from a node to itself.
        columns: What is known about the columns of the lines.
    """

    model: str
    source: str
    start: Place
    self_loops: bool
    columns: Columns


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other followers out of a folder, which is made if it is missing; the lock ends with the process."""
    with RunFolder(folder).locked():
        yield


def begin(folder: Path, graph: Graph, begun: Begun, first: bytes | None = None) -> None:
    """Prepare a folder; ``follow.json`` comes last, so that one that has it is whole.

    Args:
        folder: The folder.
        graph: The graph before the first batch.
        begun: What is followed.
        first: The first line of edges where it stands before the place that is begun at, or None.
    """
    BatchLog(folder).save(0, graph)
    (folder / LAYOUT).unlink(missing_ok=True)
    if first is not None:
        layout = EdgeLines.of(first, graph, begun.columns, begun.source)
        _write_layout(folder / LAYOUT, layout, first if layout.has_header else b"", begun.start)
    write_json(folder / FOLLOW, {
        "format": FORMAT, **begun._asdict(), "start": begun.start._asdict(), "columns": begun.columns._asdict(),
    })  # fmt: skip


def has_begun(folder: Path) -> bool:
    """Whether a folder is that of a follower."""
    return (folder / FOLLOW).exists()


def read_begun(folder: Path) -> Begun:
    """What a folder was begun with."""
    found = read_json(folder / FOLLOW)
    try:
        if found.pop("format") != FORMAT:
            raise ValueError("another format")
        start, columns = Place(**found.pop("start")), Columns(**found.pop("columns"))
        return Begun(start=start, columns=columns, **found)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{folder / FOLLOW} must be what graphreach follow wrote; choose another folder") from None


def next_place(folder: Path) -> Place:
    """Where the next batch of a folder that has begun begins."""
    log = BatchLog(folder)
    number = log.count()
    if number:
        return log.read(number).end
    if (folder / LAYOUT).exists():
        return Place(**read_json(folder / LAYOUT)["place"])
    return read_begun(folder).start


class Follower:
    """Goes on where a folder ends; see :mod:`graphreach.updates.batch_log` for what is in it.

    Args:
        folder: A folder that has begun, which no other process follows.
        model: What is kept up to date.
        source: What the lines come from, at :func:`next_place`.
        say: Is called with one sentence for each event.
    """

    def __init__(self, folder: Path, model: Followed, source: Source, say: Callable[[str], None]) -> None:
        self.log, self.model, self.source, self._say = BatchLog(folder), model, source, say
        self._begun, self._layout_file = read_begun(folder), folder / LAYOUT
        self.layout, self._is_first = self._read_layout(), True
        self.number = self.log.count()
        self.graph = self._catch_up()

    def run(self, every: float, once: bool = False) -> None:
        """Take what arrives at regular intervals until the source ends, or with ``once`` until nothing is left."""
        while True:
            lines, place = self.source.peek(), self.source.place
            if lines:
                self.step(lines)
            taken = self.source.place != place
            if taken and (once or len(lines) > MOST // 2):
                continue
            if not taken and (self.source.ended or (once and not isinstance(self.source, StreamSource))):
                return
            if not self.source.ended:
                self.source.wait(every)

    def step(self, lines: bytes) -> None:
        """Log and apply one batch of whole lines; lines without edges wait for others."""
        if self.layout is None:
            lines = self._take_header(lines)
        elif isinstance(self.source, StreamSource) and self._is_first and self._repeats_header(lines):
            lines = self.source.drop(lines.partition(b"\n")[0] + b"\n")
        self._is_first = False
        if self.layout is None or not lines:
            return
        events, whole, wrong = self._readable(lines)
        if events.size or len(whole) > MOST // 2:  # so many comments at once are a batch without edges
            place = self.source.place
            batch = Batch(self.number + 1, place, self.source.take(whole), whole)
            self.log.add(batch)
            self._apply(batch, events)
        if wrong is not None:
            raise InputError(f"{wrong}; it is after batch {self.number}: mend it, and the same command goes on there")

    def _catch_up(self) -> Graph:
        """Apply what was logged and not kept yet, and write the output that is missing."""
        missing = next((i for i in range(1, self.number + 1) if not self.log.output(i).exists()), self.number + 1)
        last, self.number = self.number, missing - 1
        number, graph = self.log.newest(self.number)
        place = None
        for each in range(number + 1, missing):
            batch = self._next(each, place)
            graph, place = apply_events(graph, self._events(batch), self._begun.self_loops).graph, batch.end
        self.graph = graph
        self.model.move(graph)
        for each in range(missing, last + 1):
            batch = self._next(each, place)
            self._apply(batch, self._events(batch))
            place = batch.end
        return self.graph

    def _next(self, number: int, place: Place | None) -> Batch:
        batch = self.log.read(number)
        if place is not None and batch.begin != place:
            raise InputError(f"batch {number} must begin where the one before ends, got byte {batch.begin.offset}")
        return batch

    def _events(self, batch: Batch) -> EdgeEvents:
        if self.layout is None:
            raise InputError(f"{self._layout_file} must say how the lines of the batches are laid out, got none")
        return self.layout.read(batch.lines, batch.begin.line)[0]

    def _apply(self, batch: Batch, events: EdgeEvents) -> None:
        """Change the graph, write the output, and now and then keep the graph."""
        applied = apply_events(self.graph, events, self._begun.self_loops)
        changed = self.model.move(applied.graph)
        rows = self.model.write(self.log.output(batch.number), applied.ends)
        self.graph, self.number = applied.graph, batch.number
        if batch.number % BETWEEN_SNAPSHOTS == 0:
            self.log.save(batch.number, self.graph)
        self._say(_sentence(batch, applied, len(changed), rows))

    def _readable(self, lines: bytes) -> tuple[EdgeEvents, bytes, str | None]:
        """The edges of the first lines that can all be applied, these lines, and what is wrong with the next one."""
        whole, wrong = lines, None
        try:
            events, numbers = self._parse(lines)
        except InputError:
            whole, wrong = self._longest(lines)
            events, numbers = self._parse(whole)
        at = first_impossible(self.graph, events, self._begun.self_loops)
        if at is not None:
            edge = events.source[at : at + 1].tolist()[0], events.target[at : at + 1].tolist()[0]
            wrong = (
                f"{self.source.name} must remove edges that are there, got that from {edge[0]!r} to {edge[1]!r} in line"
                f" {numbers[at]}"
            )
            before = int(numbers[at]) - self.source.place.line - 1
            whole = _joined(whole.split(b"\n", before)[:before])
            events = EdgeEvents(*(None if part is None else part[:at] for part in events))  # type: ignore[arg-type]
        return events, whole, wrong

    def _parse(self, lines: bytes) -> Any:
        assert self.layout is not None
        return self.layout.read(lines, self.source.place.line)

    def _longest(self, lines: bytes) -> tuple[bytes, str]:
        """The longest start of whole lines that can be read, found by halving, and why the next line cannot."""
        each = lines.split(b"\n")[:-1]
        good, bad = 0, len(each)
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                self._parse(_joined(each[good:middle]))
                good = middle
            except InputError:
                bad = middle
        return _joined(each[:good]), self._reason(each[good], good)

    def _reason(self, line: bytes, before: int) -> str:
        assert self.layout is not None
        number = self.source.place.line + before
        try:
            self.layout.read(line + b"\n", number)
        except InputError as error:
            said = str(error)
            return said if f"line {number + 1}" in said else f"{said}, in line {number + 1}"
        return f"{self.source.name} has a line that cannot be read, line {number + 1}"

    def _repeats_header(self, lines: bytes) -> bool:
        """Whether a new stream begins with the header of the first one, which then is in no batch and not counted."""
        if self.layout is None or not self.layout.has_header:
            return False
        first = lines.partition(b"\n")[0].decode(errors="replace").strip()
        return first == str(read_json(self._layout_file).get("header"))

    def _take_header(self, lines: bytes) -> bytes:
        """Find the layout by the first line that has content; returns the lines behind the header."""
        comments = MARKS if self._begun.columns.comments is None else self._begun.columns.comments
        rest, before = lines, b""
        while rest and not is_content(rest.partition(b"\n")[0], comments):
            line, _, rest = rest.partition(b"\n")
            before += line + b"\n"
        first, _, behind = rest.partition(b"\n")
        if not first:
            if len(lines) > MOST // 2:
                self.source.take(lines)
            return b""
        self.layout = EdgeLines.of(first, self.graph, self._begun.columns, self.source.name)
        self._say(self.layout.describe())
        header = b""
        if self.layout.has_header:
            header, rest = first, behind
            self.source.take(before + header + b"\n")
        else:
            rest = before + rest
        _write_layout(self._layout_file, self.layout, header, self.source.place)
        return rest

    def _read_layout(self) -> EdgeLines | None:
        if not self._layout_file.exists():
            return None
        try:
            return EdgeLines(**read_json(self._layout_file)["layout"])
        except (KeyError, TypeError):
            raise InputError(
                f"{self._layout_file} must be what graphreach follow wrote; choose another folder"
            ) from None


def _write_layout(path: Path, layout: EdgeLines, header: bytes, place: Place) -> None:
    text = header.decode(errors="replace").strip()
    write_json(path, {"layout": layout.as_dict(), "header": text, "place": place._asdict()})


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _sentence(batch: Batch, applied: Applied, changed: int, rows: int) -> str:
    counts = applied.counts
    again = f" ({counts['there_already']} there already)" if counts["there_already"] else ""
    nodes = f", {counted(counts['new_nodes'], 'new node')}" if counts["new_nodes"] else ""
    return (
        f"batch {batch.number}, lines {batch.begin.line + 1} to {batch.end.line}:"
        f" {counted(counts['added'], 'edge')} added{again}, {counts['removed']} removed{nodes};"
        f" {counted(changed, 'node')} changed, {counted(rows, 'row')} written"
    )
