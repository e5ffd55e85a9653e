"""Lines that arrive in files and streams."""

import gzip
import os

import pytest

from graphreach import InputError
from graphreach.updates import sources
from graphreach.updates.sources import START, FileSource, StreamSource, end_of_lines


def test_a_half_line_waits(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_bytes(b"1,2\n3,")
    source = FileSource(path)
    assert source.peek() == b"1,2\n"
    place = source.take(b"1,2\n")
    assert (place.offset, place.line) == (4, 1)
    assert source.peek() == b""
    with path.open("ab") as file:
        file.write(b"4\n5")
    assert source.peek() == b"3,4\n"
    assert FileSource(path, place).peek() == b"3,4\n"
    assert end_of_lines(path) == source.take(b"3,4\n")


def test_a_file_whose_start_has_changed_is_refused(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_bytes(b"1,2\n3,4\n")
    place = end_of_lines(path)
    path.write_bytes(b"1,2\n3,5\n6,7\n")
    with pytest.raises(InputError, match=r"which began with 8 bytes \(2 lines\), got others"):
        FileSource(path, place)
    path.write_bytes(b"1,2\n")
    with pytest.raises(InputError, match="got only 4 bytes"):
        FileSource(path, place)


def test_a_file_that_shrinks_while_it_is_followed_is_refused(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_bytes(b"1,2\n3,4\n")
    source = FileSource(path)
    source.take(source.peek())
    path.write_bytes(b"1")
    with pytest.raises(InputError, match="must only grow while it is followed, got 1 bytes after 8 were read"):
        source.peek()


def test_much_is_taken_in_parts_and_a_line_is_never_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST", 10)
    path = tmp_path / "edges.csv"
    path.write_bytes(b"1,2\n3,4\n5,6\n" + b"7" * 25 + b",8\n9,9\n")
    source, parts = FileSource(path), []
    while source.peek():
        parts.append(source.peek())
        source.take(parts[-1])
    assert b"".join(parts) == path.read_bytes()
    assert parts[0] == b"1,2\n3,4\n"


def test_a_stream_ends_with_its_last_line(monkeypatch):
    reader, writer = os.pipe()
    source = StreamSource(reader)
    source.wait(0.01)
    assert (source.peek(), source.ended) == (b"", False)
    os.write(writer, b"1,2\n3,")
    source.wait(0.01)
    assert source.peek() == b"1,2\n"
    source.take(b"1,2\n")
    os.write(writer, b"4")
    os.close(writer)
    source.wait(5.0)
    assert source.ended
    assert source.peek() == b"3,4\n"
    assert source.take(b"3,4\n").line == 2
    os.close(reader)


def test_a_line_that_is_dropped_does_not_count():
    reader, writer = os.pipe()
    source = StreamSource(reader)
    os.write(writer, b"source,target\n1,2\n")
    source.wait(0.01)
    assert source.drop(b"source,target\n") == b"1,2\n"
    assert source.place == START
    assert source.take(b"1,2\n").line == 1
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize(("text", "waits"), [(b"", False), (b"1,2\n", False), (b"1,2\n3", True), (b"1,2", True)])
def test_whether_a_line_is_only_half_there(tmp_path, text, waits):
    path = tmp_path / "edges.csv"
    path.write_bytes(text)
    source = FileSource(path)
    assert source.ends_in_half_line == waits
    source.take(source.peek())
    assert source.ends_in_half_line == waits


def test_files_that_are_packed_are_refused(tmp_path):
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n"))
    with pytest.raises(
        InputError, match="must be text to whose end lines are appended, got a gzip file; send its lines"
    ):
        FileSource(path)


def test_nothing_was_read_at_the_start():
    assert (START.offset, START.line) == (0, 0)
