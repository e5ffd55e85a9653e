"""Parts of a graph, in memory and on disk."""

import errno
import itertools
import json

import numpy as np
import pytest

import graphreach as gr
from graphreach.cluster import PartitionedGraph, Ray, partitioned_graph, write_partitions
from graphreach.cluster.partitioned_graph import part_bounds, shard_of
from graphreach.walks.engine import transitions
from helpers import KIND_NAMES, KINDS, random_graph


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_parts_hold_every_row_once(directed, weighted, parts):
    graph = random_graph(60, 200, directed, weighted)
    table, bounds = transitions(graph), part_bounds(graph, parts)
    assert bounds[0] == 0
    assert bounds[-1] == 60
    for low, high in itertools.pairwise(bounds):
        shard = shard_of(graph, low, high)
        for v in range(low, high):
            whole = slice(int(table.indptr[v]), int(table.indptr[v + 1]))
            here = slice(int(shard.indptr[v - low]), int(shard.indptr[v - low + 1]))
            assert shard.indices[here].tolist() == graph.indices[whole].tolist()
            if weighted:
                mine, theirs = (3 * here.start, 3 * here.stop), (3 * whole.start, 3 * whole.stop)
                assert shard.alias[slice(*mine)].tolist() == table.alias[slice(*theirs)].tolist()


def test_parts_have_about_the_same_number_of_edges():
    graph = random_graph(1000, 8000)
    bounds = part_bounds(graph, 4)
    sizes = np.diff(graph.indptr.astype(np.int64)[bounds])
    assert sizes.max() < 1.05 * sizes.mean()


@pytest.mark.parametrize("ids", [None, ["c", "a", "b", "d"], ["c", 1, "b", 2.5]])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0]])
def test_what_was_written_is_read(tmp_path, ids, weights):
    graph = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]], edge_weight=weights, ids=ids)
    written = write_partitions(graph, tmp_path, 2)
    stored = PartitionedGraph.open(tmp_path)
    assert stored == written
    assert (stored.num_nodes, stored.num_parts, stored.directed) == (4, 2, False)
    assert stored.weighted == graph.weighted
    assert stored.content_hash == graph.content_hash
    assert stored.ids.tolist() == graph.ids.tolist()
    assert np.concatenate([stored.shard(part).indices for part in range(2)]).tolist() == graph.indices.tolist()


def test_a_half_written_folder_is_not_opened(tmp_path, monkeypatch):
    graph = random_graph(20, 40)
    write_partitions(graph, tmp_path, 2)

    def full(path, **arrays):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(partitioned_graph, "_save", full)
    with pytest.raises(gr.InputError, match=r"folder must have room for the graph, but the disk of .* is full"):
        write_partitions(graph, tmp_path, 2)
    with pytest.raises(gr.InputError, match="must be one that write_partitions wrote"):
        PartitionedGraph.open(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(gr.InputError, match="folder must be one that can be written to"):
        write_partitions(random_graph(20, 40), tmp_path / "file", 2)


def test_damaged_and_foreign_folders(tmp_path):
    with pytest.raises(gr.InputError, match="does not exist"):
        PartitionedGraph.open(tmp_path)
    (tmp_path / "partitions.json").write_text("{")
    with pytest.raises(gr.InputError, match="is not readable"):
        PartitionedGraph.open(tmp_path)
    (tmp_path / "partitions.json").write_text(json.dumps({"version": 99, "bounds": []}))
    with pytest.raises(gr.InputError, match="must be of version 1, got version 99"):
        PartitionedGraph.open(tmp_path)


def test_ids_that_no_file_can_hold(tmp_path):
    graph = gr.Graph.from_edge_list([((1, 2), "a")])
    with pytest.raises(gr.InputError, match="numbers and strings as ids"):
        write_partitions(graph, tmp_path, 1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"engine": "spark"}, "engine must be one of local, ray, got 'spark'"),
        ({"engine": 3}, "engine must be one of local, ray or an engine object, got 3"),
        ({"engine": Ray}, "engine must be one of local, ray or an engine object, got a type"),
        ({"engine": Ray(partitions=21)}, "partitions must be at most 20"),
    ],
)
def test_wrong_arguments(arguments, sentence):
    graph = random_graph(20, 40)
    for call in (
        lambda: gr.random_walks(graph, **arguments),
        lambda: gr.select_anchors(graph, 2, walk_length=3, **arguments),
        lambda: gr.reachability(graph, [1], walk_length=3, **arguments),
    ):
        with pytest.raises(gr.InputError, match=sentence):
            call()


@pytest.mark.parametrize("name", ["partitions", "workers"])
@pytest.mark.parametrize("value", [0, 1.5, "2"])
def test_counts_of_an_engine(name, value):
    with pytest.raises(gr.InputError, match=f"{name} must be a positive integer, got {value!r}"):
        Ray(**{name: value})


def test_what_a_partitioned_graph_cannot_do(tmp_path):
    stored = write_partitions(random_graph(20, 40), tmp_path, 2)
    with pytest.raises(gr.InputError, match="engine must be 'ray' for a partitioned graph"):
        gr.random_walks(stored)
    with pytest.raises(gr.InputError, match="partitions must be None or 2, as the graph has, got 3"):
        gr.random_walks(stored, engine=Ray(partitions=3))
    with pytest.raises(gr.InputError, match="walk_length must be a number on a partitioned graph"):
        gr.random_walks(stored, walk_length="diameter", engine="ray")
    with pytest.raises(gr.InputError, match='method must be "walks" with partitions'):
        gr.reachability(stored, [1], method="exact", walk_length=3, engine="ray")
    with pytest.raises(gr.InputError, match="strategy must be greedy, random or a function"):
        gr.select_anchors(stored, 2, "degree", walk_length=3, engine="ray")
    with pytest.raises(gr.InputError, match="parts must be at most 20"):
        write_partitions(random_graph(20, 40), tmp_path, 21)
