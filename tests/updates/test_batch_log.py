"""The log of batches on the disk."""

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError
from graphreach.updates.batch_log import Batch, BatchLog, Place


def batch(number, lines):
    begin = Place(10 * number, number, "a")
    return Batch(number, begin, Place(begin.offset + len(lines), number + 1, "b"), lines)


def test_batches_are_read_as_they_were_written(tmp_path):
    log = BatchLog(tmp_path)
    assert log.count() == 0
    for each in (batch(1, b"1,2\n"), batch(2, b"# not a head\n3,4\n")):
        log.add(each)
        assert log.read(each.number) == each
    assert BatchLog(tmp_path).count() == 2
    assert log.output(2).name == "000002.parquet"


def test_a_gap_and_a_changed_batch_are_refused(tmp_path):
    log = BatchLog(tmp_path)
    for number in (1, 2, 3):
        log.add(batch(number, b"1,2\n"))
    path = tmp_path / "batches" / "000003.csv"
    whole = path.read_bytes()
    for odd in (whole + b"3,4\n", whole[:-2], b"1,2\n", b"# []\n1,2\n", whole.replace(b'"batch": 3', b'"batch": 4')):
        path.write_bytes(odd)
        with pytest.raises(InputError, match="must be batch 3 as it was written, but it has changed since"):
            log.read(3)
    (tmp_path / "batches" / "000002.csv").unlink()
    with pytest.raises(InputError, match="must hold all batches up to 3, got none of number 2"):
        log.count()


def test_the_first_and_the_last_graphs_are_kept(tmp_path):
    log, graph = BatchLog(tmp_path), gr.Graph.from_edges([[0], [1]])
    with pytest.raises(InputError, match="must hold the graph that was begun with, got none"):
        log.newest(0)
    for number in (0, 100, 200, 300):
        log.save(number, graph.updated(add=np.array([[0, number + 2]])))
    assert sorted(path.name for path in (tmp_path / "snapshots").iterdir()) == [
        "000000.npz",
        "000200.npz",
        "000300.npz",
    ]
    number, found = log.newest(250)
    assert (number, found.ids.tolist()) == (200, [0, 1, 202])
