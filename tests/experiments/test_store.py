import json
import multiprocessing

import pytest

from graphreach.errors import InputError
from graphreach.experiments.work import Store


def line(key, **work):
    return {"key": key, "work": work}


def test_lines_are_sorted_and_a_key_is_there_once(tmp_path):
    store = Store(tmp_path, "table")
    store.add([line("b", data="x"), line("c", data="a")])
    store.add([line("b", data="x") | {"again": True}, line("a", data="x")])
    assert [each["key"] for each in store.lines()] == ["c", "a", "b"]
    assert store.lines()[2]["again"]


def write(folder, name):
    for i in range(20):
        Store(folder, "table").add([line(f"{name}{i:02}")])


def test_two_writers_lose_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=write, args=(tmp_path, name)) for name in "ab"]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    assert [each.exitcode for each in processes] == [0, 0]
    assert len(Store(tmp_path, "table").lines()) == 40


def test_a_line_cut_short_is_left_out_and_mended(tmp_path):
    store = Store(tmp_path, "table")
    store.add([line("a"), line("b")])
    whole = store.path.read_text()
    store.path.write_text(whole[:-9])
    assert [each["key"] for each in store.lines()] == ["a"]
    store.add([line("b")])
    assert store.path.read_text() == whole


def test_a_broken_line_within_is_named(tmp_path):
    store = Store(tmp_path, "table")
    store.path.write_text('{"key": "a"\n' + json.dumps(line("b")) + "\n")
    with pytest.raises(InputError, match="line 1 is not JSON"):
        store.lines()


def test_a_line_that_is_no_result_is_named(tmp_path):
    store = Store(tmp_path, "table")
    store.path.write_text(json.dumps(line("b")) + '\n{"auc": 0.9}\n')
    with pytest.raises(InputError, match="line 2 is no result of a run"):
        store.lines()
