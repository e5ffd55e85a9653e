"""Random sets of anchors."""

from itertools import pairwise

import networkx as nx
import numba
import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from graphreach.nn import pgnn
from graphreach.nn.kernels.positions import draw_sets
from graphreach.nn.pgnn import anchor_sets, set_sizes
from graphreach.walks.rng import hash_nodes
from helpers import random_graph


def draw(num_nodes, seed=0, copies=1.0):
    pointer = np.concatenate([[0], np.cumsum(set_sizes(num_nodes, copies))])
    members = np.empty(pointer[-1], np.int64)
    draw_sets(num_nodes, pointer, seed, members)
    return [members[begin:end] for begin, end in pairwise(pointer)]


@pytest.mark.parametrize(
    ("num_nodes", "copies", "sizes"),
    [(1, 1.0, [1]), (2, 1.0, [1]), (3, 1.0, [1]), (4, 1.0, [2, 2, 1, 1]), (8, 0.5, [4, 2, 1]), (5, 0.1, [2, 1])],
)
def test_log_n_sets_of_each_size(num_nodes, copies, sizes):
    assert set_sizes(num_nodes, copies).tolist() == sizes


def test_log2_squared_sets():
    assert len(set_sizes(400)) == 64
    assert set_sizes(400)[::8].tolist() == [200, 100, 50, 25, 12, 6, 3, 1]


def test_members_are_different_and_of_the_graph():
    for num_nodes in (1, 2, 7, 300):
        for members, size in zip(draw(num_nodes), set_sizes(num_nodes), strict=True):
            assert len(set(members.tolist())) == size
            assert 0 <= members.min() <= members.max() < num_nodes


def test_every_node_is_drawn_equally_often():
    """2,000 sets of half of 10 nodes: each node is in 1,000 of them, give or take five standard deviations (112)."""
    counts = np.zeros(10)
    pairs = 0
    for seed in range(2000):
        members = draw(10, seed)[0]
        counts[members] += 1
        pairs += 0 in members and 1 in members
    assert np.abs(counts - 1000).max() < 112
    assert abs(pairs - 2000 * 2 / 9) < 100


def test_seeds_and_sets_differ():
    sets = draw(100)
    assert {tuple(each) for each in sets[:6]} != {tuple(sets[0])}
    assert all((one == two).all() for one, two in zip(sets, draw(100), strict=True))
    assert any((one != two).any() for one, two in zip(sets, draw(100, 1), strict=True))


@pytest.mark.parametrize("max_distance", [None, 2])
@pytest.mark.parametrize("directed", [False, True])
def test_positions_against_networkx(max_distance, directed):
    graph, seed = random_graph(40, 55, directed), 3
    G = nx.DiGraph(graph.edge_index.T.tolist())
    G.add_nodes_from(range(40))
    lengths = dict(nx.all_pairs_shortest_path_length(G))
    sets, order = draw(40, seed), hash_nodes(seed, np.arange(40))
    positions = anchor_sets(graph, max_distance, seed)
    similarity = positions.matrix(positions.to_values)
    source = positions.matrix(positions.source)
    assert positions.width == len(sets) == 25
    unreached = 0
    for v in range(40):
        for s, members in enumerate(sets):
            d, _, u = min((lengths[v].get(u, 99), order[u], u) for u in members)
            if d == 99 or (max_distance is not None and d > max_distance):
                assert similarity[v, s] == 0
                unreached += 1
            else:
                assert similarity[v, s] == pytest.approx(1 / (d + 1))
                assert source[v, s] == u
    assert unreached > 0
    assert positions.from_values is positions.to_values
    assert positions.anchor_index.tolist() == list(range(40))
    assert positions.num_anchors.tolist() == [25] * 40
    assert (source >= 0).all()
    assert (source < 40).all()


def test_levels_are_the_values():
    positions = anchor_sets(random_graph(40, 55))
    table, *places = positions.levels
    for values, place in zip((positions.to_values, positions.from_values), places, strict=True):
        assert torch.equal(table[place.long()], values)
        assert place.dtype == torch.int16


def test_batch_shifts_the_members():
    parts = [anchor_sets(random_graph(40, 55)), anchor_sets(random_graph(9, 12))]
    batch = gr.nn.Positions.batch(parts)
    assert batch.width == 25
    assert batch.source[:1000].tolist() == parts[0].source.tolist()
    assert batch.source[1000:].tolist() == (parts[1].source + 40).tolist()


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_threads_do_not_matter():
    graph = random_graph(300, 900)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = anchor_sets(graph, seed=4)
        numba.set_num_threads(2)
        two = anchor_sets(graph, seed=4)
    finally:
        numba.set_num_threads(before)
    assert torch.equal(one.to_values, two.to_values)
    assert torch.equal(one.source, two.source)
    assert not torch.equal(one.source, anchor_sets(graph, seed=5).source)


def test_wrong_input():
    with pytest.raises(InputError, match="graph must have at least one node to draw anchors from, got none"):
        set_sizes(0)
    with pytest.raises(InputError, match=r"copies must be above 0 and at most .*, got 0"):
        anchor_sets(random_graph(5, 5), copies=0)
    with pytest.raises(InputError, match="max_distance must be a positive integer, got 'two'"):
        anchor_sets(random_graph(5, 5), "two")
    assert gr.nn.anchor_sets is pgnn.anchor_sets
