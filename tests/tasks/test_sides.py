"""Negatives between the two sides of a bipartite graph."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks import check_leaks, split
from graphreach.tasks.link_split import find_sides
from graphreach.tasks.pair_keys import encode, unique
from graphreach.tasks.sides import Sides, colour
from helpers import cycle, grid, path, random_graph


def sample(graph):
    return SimpleNamespace(graph=graph, x=None, y=None)


def ratings(num_users=30, num_items=20, num_rows=150, seed=0, directed=False, **names):
    rng = np.random.default_rng(seed)
    columns = names or {"user": "user", "item": "item"}
    first, second = columns
    frame = pl.DataFrame({first: rng.integers(0, num_users, num_rows), second: rng.integers(0, num_items, num_rows)})
    return Graph.from_frame(frame, source=first, target=second, directed=directed)


def is_user(graph):
    return np.char.startswith(graph.ids.astype(str), "user")


@settings(deadline=None, max_examples=60)
@given(num_nodes=st.integers(1, 20), num_edges=st.integers(0, 25), directed=st.booleans(), seed=st.integers(0, 999))
def test_colours_are_those_of_networkx(num_nodes, num_edges, directed, seed):
    graph = random_graph(num_nodes, num_edges, directed, seed=seed)
    other = nx.Graph(graph.edge_index.T.tolist())
    if not nx.is_bipartite(other):
        with pytest.raises(InputError, match="bipartite must be None or False for a graph with a cycle of odd length"):
            colour(graph)
        return
    side = colour(graph)
    u, v = graph.edge_index
    assert (side[u] + side[v] == 1).all()
    assert set(np.flatnonzero(side >= 0)) == set(graph.edge_index.ravel())
    for component in nx.connected_components(other):
        assert side[min(component)] == 0


def test_self_loops_are_no_odd_cycles():
    graph = Graph.from_edges([[0, 1, 1], [1, 2, 1]], self_loops=True)
    assert colour(graph).tolist() == [0, 1, 0]


def test_only_what_the_reader_knows_is_assumed():
    """A grid, a ring and a tree can be coloured, and yet any two of their nodes might be linked."""
    for graph in (grid(4), cycle(6), path(5)):
        assert graph.sides is None
        assert find_sides(graph, None) is None
        assert find_sides(graph, True) is not None
    graph = ratings()
    assert np.array_equal(graph.sides == 0, is_user(graph))
    assert find_sides(graph, None).first is None
    assert find_sides(graph, False) is None


def test_two_kinds_by_the_readers_rules():
    frame = pl.DataFrame({"user": ["ann", "bob"], "item": ["tea", "rum"]})  # no id twice: ids stay as they are
    graph = Graph.from_frame(frame)
    assert graph.ids.tolist() == ["ann", "bob", "rum", "tea"]
    assert graph.sides.tolist() == [0, 0, 1, 1]
    frame = pl.DataFrame({"a": [1, 2], "b": [1, 3]})
    assert Graph.from_frame(frame, source="a", target="b").sides is None
    assert Graph.from_frame(frame, source="a", target="b", bipartite=True).sides.tolist() == [0, 0, 1, 1]
    frame = pl.DataFrame({"user": ["ann", "bob"], "item": ["bob", "tea"]})
    assert Graph.from_frame(frame, bipartite=False).sides is None


@pytest.mark.parametrize("negatives", ["uniform", "degree", "same-distance"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("protocol", ["published", "clean"])
def test_negatives_are_between_the_sides(negatives, directed, protocol):
    graph = ratings(directed=directed)
    parts = split(sample(graph), "link", protocol, negatives=negatives)
    assert parts.bipartite
    user = is_user(graph)
    for part in parts.parts().values():
        assert len(part.negatives.T) > 0
        assert (user[part.index[0]] != user[part.index[1]]).all()
    if directed and negatives != "same-distance":
        assert user[parts.test.index[0]].all()  # as links go, from users to items
    check_leaks(parts)


def test_negatives_are_among_all_nodes_if_asked_for():
    graph = ratings()
    parts = split(sample(graph), "link", bipartite=False)
    user = is_user(graph)
    assert not parts.bipartite
    assert (user[parts.train.negatives[0]] == user[parts.train.negatives[1]]).any()


def test_a_graph_that_can_be_coloured_is_split_as_before_unless_asked():
    plain = split(sample(grid(10)), "link")
    asked = split(sample(grid(10)), "link", bipartite=True)
    assert not plain.bipartite
    assert np.array_equal(plain.test.positives, asked.test.positives)
    row, column = np.divmod(np.arange(100), 10)
    black = (row + column) % 2
    assert (black[asked.test.negatives[0]] != black[asked.test.negatives[1]]).all()
    assert (black[plain.train.negatives[0]] == black[plain.train.negatives[1]]).any()


@settings(deadline=None, max_examples=40)
@given(users=st.integers(2, 9), items=st.integers(2, 9), rows=st.integers(3, 80), seed=st.integers(0, 999))
def test_all_pairs_there_are_and_each_once(users, items, rows, seed):
    graph = ratings(users, items, rows, seed)
    sides = find_sides(graph, None)
    taken = unique(encode(graph.edge_index))
    free = sides.num_free(taken)
    assert free == (sides.side == 0).sum() * (sides.side == 1).sum() - graph.num_edges
    pairs = sides.draw(np.random.default_rng(seed), 1000, taken)
    assert pairs.shape == (2, free)
    keys = encode(pairs)
    assert len(np.unique(keys)) == free
    assert not np.isin(keys, taken).any()
    assert sides.across(pairs).all()


def test_each_pair_is_as_likely():
    sides = Sides(np.array([1, 0, -1, 0, 1, 1], np.int8), first=1)
    rng = np.random.default_rng(0)
    taken = unique(encode(np.array([[0], [1]])))
    drawn = np.concatenate([sides.draw(rng, 1, taken) for _ in range(5000)], axis=1)
    found, counts = np.unique(drawn, axis=1, return_counts=True)
    assert found.T.tolist() == [[0, 3], [4, 1], [4, 3], [5, 1], [5, 3]]
    assert abs(counts - 1000).max() < 120


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("count", [1, 4, 10])
def test_candidates_are_on_the_other_side(directed, count):
    graph = ratings(num_rows=120, directed=directed)
    parts = split(sample(graph), "link", candidates=count)
    user = is_user(graph)
    near = graph.to_scipy().toarray() + graph.to_scipy().toarray().T > 0
    for part in (parts.val, parts.test):
        for source, row in zip(part.positives[0], part.candidates, strict=True):
            assert len(set(row.tolist())) == count
            assert (user[row] != user[source]).all()
            assert not near[source, row].any()
    with pytest.raises(InputError, match=r"candidates must be at most .*, the nodes of the other side that node"):
        split(sample(graph), "link", candidates=29)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"negatives": "common-neighbour"}, "negatives must not be 'common-neighbour' for a bipartite graph"),
        ({"bipartite": "auto"}, "bipartite must be True, False or None, got 'auto'"),
        ({"task": "pair", "bipartite": True}, "bipartite must be None for task pair"),
    ],
)
def test_wrong_arguments(options, sentence):
    graph = ratings()
    own = SimpleNamespace(graph=graph, x=None, y=np.arange(graph.num_nodes) % 2)
    with pytest.raises(InputError, match=sentence):
        split(own, options.pop("task", "link"), **options)


def test_a_graph_with_all_pairs_linked_is_refused():
    u, v = np.divmod(np.arange(12), 4)
    graph = Graph.from_frame(pl.DataFrame({"user": u, "item": v}))
    with pytest.raises(InputError, match="unlinked pairs between its two sides to draw negatives from, got all 12"):
        split(sample(graph), "link")
    split(sample(graph), "link", bipartite=False)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 999))
def test_a_seed_repeats(seed):
    graph = ratings(seed=seed)
    assume(graph.num_edges > 20)
    first, second = (split(sample(graph), "link", seed=seed, candidates=2) for _ in range(2))
    assert np.array_equal(first.test.index, second.test.index)
    assert np.array_equal(first.test.candidates, second.test.candidates)
