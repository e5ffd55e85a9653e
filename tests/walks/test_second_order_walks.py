"""node2vec's walks against the probabilities of its paper."""

from collections import Counter

import numba
import numpy as np
import pytest

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.second_order_walks import second_order_walks
from helpers import KIND_NAMES, KINDS, cycle, path, random_graph


def literal_step(A, before, here, p, q):
    """Probabilities of the next node: pi = alpha_pq(t, x) w_vx (section 3.2.2)."""
    weights = A[here].copy()
    for x in range(len(A)):
        if x == before:
            weights[x] /= p
        elif not A[before, x]:
            weights[x] /= q
    return weights / weights.sum()


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 2.0), (4.0, 0.5), (3.0, 3.0)])
def test_steps_have_the_papers_probabilities(directed, weighted, p, q):
    graph = random_graph(6, 14, directed, weighted, seed=1)
    A = graph.to_scipy().toarray()
    walks = second_order_walks(graph, num_walks=20_000, walk_length=3, p=p, q=q, seed=3).reshape(-1, 4)
    seen = {}
    for (t, v), x in zip(walks[:, 1:3].tolist(), walks[:, 3].tolist(), strict=True):
        if t >= 0 and v >= 0:
            seen.setdefault((t, v), Counter())[x] += 1
    assert len(seen) > 5
    for (t, v), counts in seen.items():
        total = sum(counts.values())
        if not A[v].any():
            assert set(counts) == {-1}
            continue
        found = np.array([counts[x] / total for x in range(6)])
        assert np.abs(found - literal_step(A, t, v, p, q)).max() < 5 * 0.5 / np.sqrt(total)
    for start in range(6):
        first = np.array([(walks[walks[:, 0] == start, 1] == x).mean() for x in range(6)])
        assert np.abs(first - A[start] / max(A[start].sum(), 1e-9)).max() < 5 * 0.5 / np.sqrt(20_000)


def test_extremes_on_a_ring_and_a_path():
    around = second_order_walks(cycle(7), num_walks=20, walk_length=14, p=1e9)
    assert (np.sort(around[:, :, :7], axis=-1) == np.arange(7)).all()
    back = second_order_walks(cycle(7), num_walks=20, walk_length=6, p=1e-9)
    assert (back[:, :, ::2] == back[:, :, :1]).all()
    ahead = second_order_walks(path(4, directed=True), [0, 3], num_walks=1, walk_length=4, p=5, q=0.2)
    assert ahead.tolist() == [[[0, 1, 2, 3, -1]], [[3, -1, -1, -1, -1]]]


def test_same_seed_same_walks_whatever_starts_and_threads():
    graph = random_graph(200, 600, weighted=True)
    walks = second_order_walks(graph, num_walks=3, p=0.5, q=2.0, seed=1)
    assert walks.shape == (200, 3, 41)
    np.testing.assert_array_equal(walks[[7, 3]], second_order_walks(graph, [7, 3], 3, p=0.5, q=2.0, seed=1))
    assert (walks != second_order_walks(graph, num_walks=3, p=0.5, q=2.0, seed=2)).any()
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(walks, second_order_walks(graph, num_walks=3, p=0.5, q=2.0, seed=1))
    finally:
        numba.set_num_threads(before)


def test_wrong_input():
    graph = Graph.from_edges([[0], [1]])
    for arguments, message in [
        ({"p": 0}, "p must be a number between 1e-100 and 1e100, got 0"),
        ({"q": float("inf")}, "q must be a number between 1e-100 and 1e100, got inf"),
        ({"q": float("nan")}, "q must be a number between 1e-100 and 1e100, got nan"),
        ({"starts": [2]}, "starts must be between 0 and 1, got 2"),
        ({"num_walks": 0}, "num_walks must be a positive integer, got 0"),
    ]:
        with pytest.raises(InputError, match=message):
            second_order_walks(graph, **arguments)
