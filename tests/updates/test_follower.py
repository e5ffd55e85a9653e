"""A follower whose model only counts: what is logged, applied and written, and what is left when it is interrupted."""

import contextlib
import os

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError
from graphreach.updates import follower, sources
from graphreach.updates.batch_log import BatchLog
from graphreach.updates.edge_lines import Columns
from graphreach.updates.follower import Begun, Follower, begin, has_begun, locked, next_place, read_begun
from graphreach.updates.sources import START, FileSource, StreamSource

PATH = gr.Graph.from_edge_list([(0, 1), (1, 2)])


class Counted:
    """Writes the nodes of a batch, or fails."""

    def __init__(self):
        self.moves, self.fails = 0, False

    def move(self, graph):
        self.moves += 1
        return graph.ids[:1]

    def write(self, path, ends):
        if self.fails:
            raise RuntimeError
        path.write_text(" ".join(map(str, ends.tolist())))
        return len(ends)


@pytest.fixture
def said():
    return []


@pytest.fixture
def start(tmp_path, said):
    """A follower of a file in a folder, begun at the first call."""

    def make(graph=PATH, columns=None):
        folder, path = tmp_path / "followed", tmp_path / "edges.csv"
        if not has_begun(folder):
            begin(folder, graph, Begun("model", path.name, START, False, columns or Columns()))
        return Follower(folder, Counted(), FileSource(path, next_place(folder)), said.append)

    return make


def append(tmp_path, text):
    with (tmp_path / "edges.csv").open("a") as file:
        file.write(text)


def edges(graph):
    source, target = graph.ids[graph.edge_index]
    return {(u, v) for u, v in zip(source.tolist(), target.tolist(), strict=True) if u <= v}


def outputs(tmp_path):
    return sorted(path.name for path in (tmp_path / "followed" / "changes").iterdir())


def test_batches_are_logged_applied_and_written(start, tmp_path, said):
    append(tmp_path, "source,target,op\n2,3,add\n0,1,remove\n3")
    own = start()
    own.run(0.0, once=True)
    assert edges(own.graph) == {(1, 2), (2, 3)}
    assert said == [
        "edges.csv: source 'source', target 'target', op 'op'",
        "batch 1, lines 2 to 3: 1 edge added, 1 removed, 1 new node; 1 node changed, 4 rows written",
    ]
    append(tmp_path, ",4,add\n")
    own.run(0.0, once=True)
    assert edges(own.graph) == {(1, 2), (2, 3), (3, 4)}
    assert outputs(tmp_path) == ["000001.parquet", "000002.parquet"]
    assert BatchLog(tmp_path / "followed").read(2).lines == b"3,4,add\n"


def test_another_process_goes_on_where_one_ended(start, tmp_path):
    append(tmp_path, "source,target\n2,3\n")
    start().run(0.0, once=True)
    append(tmp_path, "3,4\n")
    own = start()
    assert (own.number, own.model.moves) == (1, 1)
    own.run(0.0, once=True)
    assert edges(own.graph) == {(0, 1), (1, 2), (2, 3), (3, 4)}
    assert (own.number, own.source.place.line) == (2, 3)


@pytest.mark.parametrize("part", ["applied", "written", "read"])
def test_what_was_logged_and_not_written_is_done_at_the_next_start(start, tmp_path, monkeypatch, part):
    append(tmp_path, "source,target\n2,3\n")
    own = start()
    if part == "applied":
        monkeypatch.setattr(follower, "apply_events", lambda *arguments: 1 / 0)
    own.model.fails = part == "written"
    if part == "read":
        monkeypatch.setattr(BatchLog, "add", lambda self, batch: 1 / 0)
    with contextlib.suppress(RuntimeError, ZeroDivisionError):
        own.run(0.0, once=True)
    monkeypatch.undo()
    assert outputs(tmp_path) == []
    again = start()
    assert again.number == (0 if part == "read" else 1)
    again.run(0.0, once=True)
    assert edges(again.graph) == {(0, 1), (1, 2), (2, 3)}
    assert outputs(tmp_path) == ["000001.parquet"]


def test_graphs_that_are_kept_spare_the_batches_before(start, tmp_path, monkeypatch):
    monkeypatch.setattr(follower, "BETWEEN_SNAPSHOTS", 2)
    append(tmp_path, "source,target\n")
    own = start()
    for node in range(3, 8):
        append(tmp_path, f"{node - 1},{node}\n")
        own.run(0.0, once=True)
    read = []
    whole = BatchLog.read
    monkeypatch.setattr(BatchLog, "read", lambda self, number: read.append(number) or whole(self, number))
    again = start()
    assert edges(again.graph) == edges(own.graph)
    assert set(read) == {5}
    (tmp_path / "followed" / "changes" / "000004.parquet").unlink()
    again = start()
    assert edges(again.graph) == edges(own.graph)
    assert outputs(tmp_path) == [f"{number:06d}.parquet" for number in range(1, 6)]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("4,x,\n", "edges.csv must have an integer in column 2 (ids='int'), got 'x' in line 4"),
        ("8,9,remove\n", "edges.csv must remove edges that are there, got that from 8 to 9 in line 4"),
        ("8,9,what\n", "edges.csv must have add or remove in column op, got 'what' in line 4"),
        ("8,9,add,10\n", "edges.csv must have 3 fields per line, got 4 in line 4"),
    ],
)
def test_a_bad_line_ends_it_after_those_before_and_it_goes_on_once_it_is_mended(start, tmp_path, line, sentence):
    append(tmp_path, f"source,target,op\n2,3,\n3,4,\n{line}5,6,\n")
    own = start()
    with pytest.raises(InputError) as caught:
        own.run(0.0, once=True)
    assert str(caught.value) == f"{sentence}; it is after batch 1: mend it, and the same command goes on there"
    assert edges(own.graph) == {(0, 1), (1, 2), (2, 3), (3, 4)}
    with pytest.raises(InputError, match="after batch 1"):
        start().run(0.0, once=True)
    path = tmp_path / "edges.csv"
    path.write_text(path.read_text().replace(line, "4,5,\n"))
    again = start()
    again.run(0.0, once=True)
    assert edges(again.graph) == {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)}
    assert outputs(tmp_path) == ["000001.parquet", "000002.parquet"]


def test_the_first_bad_line_of_many_is_found(start, tmp_path):
    lines = [f"{node},{node + 1}\n" for node in range(2, 900)]
    lines[700] = "a,b\n"
    append(tmp_path, "".join(["source,target\n", *lines]))
    own = start()
    with pytest.raises(InputError, match="got 'a' in line 702; it is after batch 1"):
        own.run(0.0, once=True)
    assert own.graph.num_edges == 702
    assert own.source.place.line == 701


def test_how_lines_are_cut_into_batches_changes_nothing(start, tmp_path):
    rng = np.random.default_rng(0)
    own, present = None, {(0, 1), (1, 2)}
    append(tmp_path, "source,target,op\n")
    for _ in range(60):
        u, v = sorted(rng.choice(8, 2, replace=False).tolist())
        op = "remove" if (u, v) in present and rng.random() < 0.5 else "add"
        present = present - {(u, v)} if op == "remove" else present | {(u, v)}
        append(tmp_path, f"{u},{v},{op}\n")
        if rng.random() < 0.2:
            own = start()
            own.run(0.0, once=True)
    own = start()
    own.run(0.0, once=True)
    assert edges(own.graph) == present


def test_files_without_a_header_and_comments_before_one(start, tmp_path):
    append(tmp_path, "# a comment\n\n2 3\n")
    own = start()
    own.run(0.0, once=True)
    assert (own.graph.num_edges, own.number) == (3, 1)
    append(tmp_path, "# only a comment\n")
    own.run(0.0, once=True)
    assert own.number == 1
    append(tmp_path, "3 4\n")
    own.run(0.0, once=True)
    assert (own.graph.num_edges, own.number, own.source.place.line) == (4, 2, 5)


@pytest.mark.parametrize("begins", [b"", b"source,target\n", b"2,3\n"])
def test_comments_that_fill_what_is_taken_at_a_time_are_passed_over(start, tmp_path, monkeypatch, begins):
    monkeypatch.setattr(follower, "MOST", 40)
    monkeypatch.setattr(sources, "MOST", 40)
    append(tmp_path, begins.decode() + "# a comment\n" * 20 + "3,4\n")
    own = start()
    own.run(0.0, once=True)
    assert (3, 4) in edges(own.graph)
    again = start()
    assert (again.number, again.graph.content_hash) == (own.number, own.graph.content_hash)


def test_streams_may_repeat_their_header_and_the_folder_goes_on(tmp_path, said):
    folder = tmp_path / "followed"
    begin(folder, gr.Graph.from_edge_list([("a", "b")]), Begun("model", "-", START, False, Columns()))

    def send(text):
        reader, writer = os.pipe()
        os.write(writer, text)
        os.close(writer)
        own = Follower(folder, Counted(), StreamSource(reader, next_place(folder)), said.append)
        own.run(1.0)
        os.close(reader)
        return own

    for number in range(1, 4):
        own = send(b"source,target\nb,c%d\n" % number)
        assert (own.number, own.graph.num_edges, own.source.place.line) == (number, 1 + number, 1 + number)
    assert "source" not in own.graph.ids.tolist()


def test_two_followers_of_one_folder_are_refused(tmp_path):
    with (
        locked(tmp_path / "followed"),
        pytest.raises(InputError, match="is in use by another process"),
        locked(tmp_path / "followed"),
    ):
        pass
    with locked(tmp_path / "followed"):
        pass


def test_files_of_a_folder_that_have_changed_are_refused(start, tmp_path):
    append(tmp_path, "source,target\n2,3\n")
    start().run(0.0, once=True)
    folder = tmp_path / "followed"
    (folder / "lines.json").write_text("{}")
    with pytest.raises(InputError, match=r"lines\.json must be what graphreach follow wrote"):
        start()
    (folder / "lines.json").unlink()
    (folder / "changes" / "000001.parquet").unlink()
    with pytest.raises(InputError, match="must say how the lines of the batches are laid out, got none"):
        start()
    (folder / "follow.json").write_text('{"format": 1}')
    with pytest.raises(InputError, match=r"follow\.json must be what graphreach follow wrote"):
        read_begun(folder)
