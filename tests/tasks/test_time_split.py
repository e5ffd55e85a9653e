"""Training on the past, test on the future."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io import read_graph
from graphreach.tasks import check_leaks, split
from graphreach.tasks.time_split import last_times


def sample(graph):
    return SimpleNamespace(graph=graph, x=None, y=None)


def log(num_nodes, num_rows, num_times, seed):
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, num_nodes, (2, num_rows))
    return u, v, rng.integers(0, num_times, num_rows).astype(float)


def build(u, v, time, directed=False, **options):
    frame = pl.DataFrame({"source": u, "target": v, "time": time})
    return Graph.from_frame(frame, directed=directed, nodes=[], **options)


def first_times(graph, u, v, time):
    """When each unordered pair of positions was linked first."""
    found = {}
    for a, b, when in zip(graph.index_of(u), graph.index_of(v), time, strict=True):
        if a != b:
            pair = frozenset((int(a), int(b)))
            found[pair] = min(when, found.get(pair, np.inf))
    return found


@settings(deadline=None, max_examples=60)
@given(num_times=st.integers(3, 500), directed=st.booleans(), seed=st.integers(0, 2**40))
def test_training_is_before_validation_is_before_test(num_times, directed, seed):
    u, v, time = log(25, 120, num_times, seed)
    graph = build(u, v, time, directed)
    first = first_times(graph, u, v, time)
    assume(len(set(first.values())) >= 3)
    parts = split(sample(graph), "link", "time", seed=seed % 1000)
    times = {
        name: [first[frozenset(pair)] for pair in part.positives.T.tolist()] for name, part in parts.parts().items()
    }
    assert max(times["train"]) < min(times["val"])
    assert max(times["val"]) < min(times["test"])
    pairs = {name: {frozenset(pair) for pair in part.positives.T.tolist()} for name, part in parts.parts().items()}
    assert set.union(*pairs.values()) == set(first)
    assert sum(map(len, pairs.values())) == len(first)  # a pair that comes again is in one part only
    check_leaks(parts)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**40))
def test_a_directed_graph_shows_no_edge_of_the_future(seed):
    """An edge that answers an earlier one is dropped if it comes after training, and is no question either."""
    u, v, time = log(12, 100, 1000, seed)
    graph = build(u, v, time, directed=True)
    parts = split(sample(graph), "link", "time", fractions=(0.6, 0.2, 0.2))
    first = {}
    for a, b, when in zip(graph.index_of(u), graph.index_of(v), time, strict=True):
        first[int(a), int(b)] = min(when, first.get((int(a), int(b)), np.inf))
    last = max(
        min(first[pair], first.get(pair[::-1], np.inf)) for pair in map(tuple, parts.graph.edge_index.T.tolist())
    )
    assert all(first[pair] <= last for pair in map(tuple, parts.graph.edge_index.T.tolist()))
    assert all(first[tuple(pair)] <= last for pair in parts.train.positives.T.tolist())
    assert all(first[tuple(pair)] > last for pair in parts.test.positives.T.tolist())


def test_a_later_self_loop_is_not_seen():
    u, v, time = [*range(10), 3], [*range(1, 11), 3], [*range(10), 9]
    graph = build(u, v, time, self_loops=True)
    loops = split(sample(graph), "link", "time").graph.edge_index
    assert (loops[0] != loops[1]).all()


def test_a_pair_counts_by_its_first_time():
    u, v = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1]
    graph = build(u, v, [*range(10), 99])
    assert graph.time.max() == 99
    assert graph.first_time.max() == 9
    parts = split(sample(graph), "link", "time")
    assert sorted(parts.test.positives[:, 0].tolist()) == [9, 10]
    assert {frozenset(pair) for pair in parts.graph.edge_index.T.tolist()} == {frozenset((i, i + 1)) for i in range(8)}


def test_links_of_one_time_are_in_one_part():
    assert last_times(np.repeat([1.0, 2, 3, 4], [5, 5, 5, 5]), (0.8, 0.1, 0.1)).tolist() == [2, 3]
    assert last_times(np.repeat([1.0, 2, 3], [90, 5, 5]), (0.8, 0.1, 0.1)).tolist() == [1, 2]
    assert last_times(np.arange(10.0), (0.8, 0.1, 0.1)).tolist() == [7, 8]
    assert last_times(np.arange(10.0), (0.8, 0.0, 0.2)).tolist() == [7, 7]
    assert last_times(np.arange(10.0), (0.8, 0.2, 0.0)).tolist() == [7, 9]
    with pytest.raises(InputError, match="protocol 'time' must have edges of at least 3 different times, got 2"):
        last_times(np.repeat([1.0, 2.0], 5), (0.8, 0.1, 0.1))


def test_times_of_a_file_are_found(tmp_path):
    rows = "".join(f"{1600000000 + i},{i},{i + 1}\n" for i in range(50))
    (tmp_path / "log.csv").write_text(rows)
    graph = read_graph(tmp_path / "log.csv")
    parts = split(sample(graph), "link", "time", negatives="degree")
    assert parts.graph.num_edges == 40
    assert parts.test.positives.min() >= graph.index_of(45)
    assert parts.protocol == "time"


def test_the_shares_of_a_graph_with_many_times_are_those_of_other_protocols():
    u, v, time = log(60, 400, 10**6, 0)
    graph = build(u, v, time)
    by_time, clean = (split(sample(graph), "link", protocol) for protocol in ("time", "clean"))
    assert [len(part) for part in by_time.parts().values()] == [len(part) for part in clean.parts().values()]


def test_weights_that_hold_the_future_are_refused():
    frame = pl.DataFrame(
        {"source": [*range(10), 0], "target": [*range(1, 11), 1], "weight": [1.0] * 11, "time": [*range(10), 99]}
    )
    with pytest.raises(InputError, match=r"got 2 of 16 training entries that add up later edges; read .* weight=False"):
        split(sample(Graph.from_frame(frame)), "link", "time")
    split(sample(Graph.from_frame(frame, weight=False)), "link", "time")
    once = Graph.from_frame(frame[:10])
    assert split(sample(once), "link", "time").graph.weighted


def test_a_graph_without_times_is_refused():
    graph = Graph.from_edges([range(20), [*range(1, 20), 0]])
    with pytest.raises(InputError, match=r"protocol 'time' must have a graph with times .*read_graph\(path, time="):
        split(sample(graph), "link", "time")
    with pytest.raises(InputError, match="protocol must be one of published, clean"):
        split(SimpleNamespace(graph=graph, x=None, y=np.arange(20) % 2), "pair", "time")


def test_times_of_a_symmetric_frame_are_kept_by_both_directions():
    from graphreach.graph.build import Edges
    from graphreach.graph.graph import build_graph

    ends = np.array([0, 1], np.uint32)
    edges = Edges(ends, ends[::-1].copy(), None, np.arange(2), time=np.array([5.0, 3.0]))
    graph = build_graph(edges, None, None, False)
    assert not graph.directed
    assert (graph.time.tolist(), graph.first_time.tolist()) == ([5, 5], [3, 3])
