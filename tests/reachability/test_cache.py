"""The cache on disk: found again by every parameter, noticed when corrupt, written atomically, never unpickled."""

import errno
import itertools
import resource
import shutil
from pathlib import Path

import numpy as np
import pytest

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.reachability import cache as cache_module
from graphreach.reachability import reachability
from graphreach.reachability.cache import cache_key, load_npz, save_npz, user_cache
from helpers import random_graph

EDGES, WEIGHTS = np.array([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 5, 3]]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
variants = pytest.mark.parametrize(
    "options",
    [
        {"layout": "dense"},
        {"layout": "csr"},
        {"layout": "dense", "hops": 2},
        {"layout": "csr", "hops": 2},
        {"layout": "dense", "similarity": "order"},
        {"layout": "dense", "method": "exact"},
        {"layout": "csr", "method": "exact", "similarity": "order"},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)


@pytest.fixture
def graph():
    return Graph.from_edges(EDGES, edge_weight=WEIGHTS)


def dense(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def assert_equal(left, right):
    assert repr(left) == repr(right)
    for name in ("hops", "method", "similarity", "walk_length", "num_walks", "seed", "layout"):
        assert getattr(left, name) == getattr(right, name)
    assert np.array_equal(left.anchors, right.anchors)
    for name in ("to_anchors", "from_anchors"):
        assert getattr(left, name).dtype == getattr(right, name).dtype
        assert np.array_equal(dense(getattr(left, name)), dense(getattr(right, name)))


def forbid_computing(monkeypatch):
    def fail(*arguments):
        raise AssertionError("computed although it is in the cache")

    for name in ("sampled_reachability", "exact_reachability"):
        monkeypatch.setitem(reachability.__globals__, name, fail)


@variants
def test_a_hit_is_equal_and_computes_nothing(graph, tmp_path, monkeypatch, options):
    options = {"walk_length": 3, **options}
    first = reachability(graph, [0, 4], cache=tmp_path, **options)
    assert_equal(first, reachability(graph, [0, 4], **options))
    forbid_computing(monkeypatch)
    assert_equal(reachability(graph, [0, 4], cache=str(tmp_path), **options), first)
    with pytest.raises(AssertionError, match="computed although"):
        reachability(graph, [0, 4], cache=False, **options)


def test_the_same_graph_made_otherwise_is_a_hit(graph, tmp_path, monkeypatch):
    reachability(graph, [0], walk_length=3, cache=tmp_path)
    forbid_computing(monkeypatch)
    reachability(Graph.from_edges(EDGES[::-1, ::-1], edge_weight=WEIGHTS[::-1]), [0], walk_length=3, cache=tmp_path)


def test_every_parameter_changes_the_key(graph, tmp_path):
    usual = {"walk_length": 3, "layout": "dense"}
    changes = [
        {},
        {"seed": 1},
        {"num_walks": 49},
        {"walk_length": 4},
        {"similarity": "order"},
        {"method": "exact"},
        {"method": "exact", "similarity": "order"},
        {"hops": 3},
        {"hops": 2},
        {"layout": "csr"},
    ]
    for number, change in enumerate(changes, 1):
        reachability(graph, [0, 4], cache=tmp_path, **{**usual, **change})
        assert len(list(tmp_path.iterdir())) == number
    for number, anchors in enumerate(([4, 0], [0], [0, 5]), len(changes) + 1):
        reachability(graph, anchors, cache=tmp_path, **usual)
        assert len(list(tmp_path.iterdir())) == number


def test_every_part_of_the_graph_changes_the_key(graph):
    graphs = [
        graph,
        Graph.from_edges(EDGES),
        Graph.from_edges(EDGES, edge_weight=[*WEIGHTS[:-1], 7.0]),
        Graph.from_edges(EDGES, edge_weight=WEIGHTS, directed=True),
        Graph.from_edges(EDGES, edge_weight=WEIGHTS, ids=list("abcdef")),
        Graph.from_edges(EDGES, edge_weight=WEIGHTS, num_nodes=7),
        Graph.from_edges(EDGES[:, :-1], edge_weight=WEIGHTS[:-1]),
    ]
    keys = [cache_key(g, np.array([0]), "dense", {"seed": 0}) for g in graphs]
    assert len(set(keys)) == len(keys)


def test_what_does_not_enter_the_result_does_not_enter_the_key(graph, tmp_path):
    for seed, num_walks in itertools.product((0, 1), (10, 20)):
        reachability(graph, [0], "exact", num_walks=num_walks, seed=seed, walk_length=3, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def arrays_of(file):
    with np.load(file) as loaded:
        return dict(loaded)


def cut(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def fill_with_garbage(file):
    file.write_bytes(np.random.default_rng(0).bytes(500))


def flip_data(file):
    good, data = arrays_of(file)["to_anchors"].tobytes(), file.read_bytes()
    place = data.index(good)
    file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


def drop_an_array(file):
    arrays = arrays_of(file)
    del arrays["from_anchors"]
    np.savez(file, **arrays)


def put_an_object(file):
    np.savez(file, **{**arrays_of(file), "to_anchors": np.array([Bomb()], object)})


def garble_parameters(file):
    np.savez(file, **{**arrays_of(file), "parameters": np.array("{not json")})


class Bomb:
    """Unpickling it would be noticed."""

    def __reduce__(self):
        return (pytest.fail, ("the cache was unpickled",))


def replace_array(**changes):
    def damage(file):
        np.savez(file, **{**arrays_of(file), **changes})

    return damage


def empty(file):
    file.write_bytes(b"")


def write_npy(file):
    with file.open("wb") as stream:
        np.save(stream, np.zeros(3))


def poke_directory(offset, value):
    """Change a byte of the zip archive's directory: 10 is the compression method, 8 has the flag for encryption."""

    def damage(file):
        data = bytearray(file.read_bytes())
        data[data.index(b"PK\x01\x02") + offset] = value
        file.write_bytes(bytes(data))

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        empty,
        write_npy,
        poke_directory(10, 255),
        poke_directory(8, 1),
        replace_array(parameters=np.array("3")),
        replace_array(parameters=np.array("{}")),
        replace_array(to_anchors=np.zeros((2, 2), np.float32)),
        replace_array(to_anchors=np.zeros((9, 2))),
        replace_array(anchors=np.array([1, 2])),
        fill_with_garbage,
        flip_data,
        drop_an_array,
        put_an_object,
        garble_parameters,
    ],
)
def test_a_corrupt_file_is_noticed_reported_and_recomputed(graph, tmp_path, monkeypatch, damage):
    options = {"walk_length": 3, "layout": "dense", "cache": tmp_path}
    want = reachability(graph, [0, 4], **options)
    (file,) = tmp_path.iterdir()
    damage(file)
    with pytest.warns(UserWarning, match=rf"cache file {file.name} is not readable \(.+\); it is computed anew"):
        again = reachability(graph, [0, 4], **options)
    assert_equal(again, want)
    forbid_computing(monkeypatch)
    assert_equal(reachability(graph, [0, 4], **options), want)
    assert list(tmp_path.iterdir()) == [file]


def test_a_result_is_returned_when_saving_fails(graph, tmp_path, monkeypatch):
    """A full cache raised after computing."""

    def write_half(file, **arrays):
        file.write(b"half a file")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache_module.np, "savez", write_half)
    want = reachability(graph, [0], walk_length=3)
    with pytest.warns(UserWarning, match="the result is not kept in the cache .*: No space left on device"):
        assert_equal(reachability(graph, [0], walk_length=3, cache=tmp_path), want)
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_returned_when_files_may_not_grow(graph, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.warns(UserWarning, match="File too large"):
            result = reachability(graph, [0], walk_length=3, cache=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert_equal(result, reachability(graph, [0], walk_length=3))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", [".", "sub/folder"])
def test_a_result_is_returned_where_there_can_be_no_folder(graph, tmp_path, below):
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.warns(UserWarning, match="not kept in the cache"):
        result = reachability(graph, [0], walk_length=3, cache=file / below)
    assert_equal(result, reachability(graph, [0], walk_length=3))


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that nobody can write to")
def test_a_result_is_returned_when_the_cache_is_read_only(graph):
    with pytest.warns(UserWarning, match="not kept in the cache"):
        result = reachability(graph, [0], walk_length=3, cache="/proc/self/cache")
    assert_equal(result, reachability(graph, [0], walk_length=3))


@pytest.mark.parametrize("cache", [3, ["folder"], b"folder"])
def test_what_is_no_folder_is_refused_before_computing(graph, monkeypatch, cache):
    forbid_computing(monkeypatch)
    with pytest.raises(InputError, match="cache must be a folder, True or None"):
        reachability(graph, [0], walk_length=3, cache=cache)


def test_a_failed_save_keeps_the_older_file(graph, tmp_path, monkeypatch):
    file = tmp_path / "reach.npz"
    save_npz(reachability(graph, [0], walk_length=3), file)
    before = file.read_bytes()

    def write_half(target, **arrays):
        target.write(b"half a file")
        raise KeyboardInterrupt

    monkeypatch.setattr(cache_module.np, "savez", write_half)
    with pytest.raises(KeyboardInterrupt):
        save_npz(reachability(graph, [1], walk_length=3), file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@variants
def test_saved_and_loaded(graph, tmp_path, options):
    reach = reachability(graph, [5, 1], walk_length=3, **options)
    save_npz(reach, tmp_path / "folder" / "reach.npz")
    assert_equal(load_npz(tmp_path / "folder" / "reach.npz"), reach)


def test_the_users_cache_folder(graph, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_CACHE", str(tmp_path / "mine"))
    reachability(graph, [0], walk_length=3, cache=True)
    assert len(list((tmp_path / "mine" / "reachability").glob("*.npz"))) == 1
    monkeypatch.delenv("GRAPHREACH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert user_cache() == tmp_path / "xdg" / "graphreach" / "reachability"


def test_without_a_cache_nothing_is_written(graph, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_CACHE", str(tmp_path))
    reachability(graph, [0], walk_length=3)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_key_is_not_taken(tmp_path):
    """Keys are names: two results in one folder do not mix."""
    graph = random_graph(20, 60)
    first, second = (reachability(graph, [0], walk_length=3, seed=seed, cache=tmp_path) for seed in (0, 1))
    assert not np.array_equal(first.to_anchors, second.to_anchors)
    assert_equal(reachability(graph, [0], walk_length=3, seed=1, cache=tmp_path), second)
    shutil.rmtree(tmp_path)
    assert_equal(reachability(graph, [0], walk_length=3, seed=1, cache=tmp_path), second)
