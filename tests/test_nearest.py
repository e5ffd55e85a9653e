import sys

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach import nearest
from helpers import run_python

KINDS = ("cosine", "dot")


def literal(vectors, index, top, metric):
    """Each score by itself in 64 bits, and a sort."""
    z = np.asarray(vectors, np.float64)
    if metric == "cosine":
        z = np.array([row / np.linalg.norm(row) if row.any() else row for row in z]).reshape(z.shape)
    rows = []
    for u in index:
        scores = [(-float(z[u] @ z[v]), v) for v in range(len(z)) if v != u]
        rows.append(sorted(scores)[:top])
    shape = len(index), min(top, len(z) - 1)
    positions = np.array([[v for _, v in row] for row in rows], np.int64).reshape(shape)
    return positions, np.array([[-score for score, _ in row] for row in rows]).reshape(shape)


def clustered(n, width=16, clusters=20, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((clusters, width))
    return (centres[rng.integers(0, clusters, n)] + 0.3 * rng.standard_normal((n, width))).astype(np.float32)


@st.composite
def integers(draw):
    """Small integers, whose products 32-bit floats hold exactly, with many ties."""
    n, width = draw(st.integers(1, 40)), draw(st.integers(0, 20))
    seed, high = draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from([1, 2, 100]))
    return np.random.default_rng(seed).integers(-high, high + 1, (n, width))


@settings(max_examples=150, deadline=None)
@given(integers(), st.data())
def test_inner_products_are_those_of_a_sort_with_ties_by_position(z, data):
    index = data.draw(st.lists(st.integers(0, len(z) - 1), max_size=50))
    top = data.draw(st.integers(1, 45))
    positions, scores = gr.nearest_nodes(z, index, top, "dot")
    expected = literal(z, index, top, "dot")
    np.testing.assert_array_equal(positions, expected[0])
    np.testing.assert_array_equal(scores, expected[1])


@settings(max_examples=100, deadline=None)
@given(integers(), st.integers(1, 45))
def test_cosines_are_those_of_a_sort(z, top):
    positions, scores = gr.NearestNodes(z).all(top)
    np.testing.assert_allclose(scores, literal(z, range(len(z)), top, "cosine")[1], atol=1e-6)
    assert np.abs(scores).max(initial=0) <= 1
    assert (np.diff(scores, axis=1) <= 0).all()
    for u, row in enumerate(positions.tolist()):
        assert u not in row
        assert len(set(row)) == len(row)
        lengths = np.linalg.norm(z[row], axis=1) * np.linalg.norm(z[u])
        cosines = np.divide(z[row] @ z[u], lengths, out=np.zeros(len(row)), where=lengths > 0)
        np.testing.assert_allclose(scores[u], cosines, atol=1e-6)


@pytest.mark.parametrize("metric", KINDS)
def test_the_same_bits_on_any_threads_whoever_is_asked_about_beside(metric, monkeypatch):
    z = np.concatenate([clustered(700), np.zeros((5, 16), np.float32), clustered(50)])  # with zeros and with equal rows
    near = gr.NearestNodes(z, metric)
    positions, scores = near.all(12)
    before = numba.get_num_threads()
    try:
        for threads in range(1, before + 1):
            numba.set_num_threads(threads)
            for block, index in ((5, range(len(z))), (1 << 12, [3]), (1 << 12, [700, 3, 3, 754, 9]), (64, range(200))):
                monkeypatch.setattr(nearest, "BLOCK", block)
                found = gr.NearestNodes(z, metric).of(list(index), 12)
                np.testing.assert_array_equal(found[0], positions[list(index)])
                np.testing.assert_array_equal(found[1], scores[list(index)])
    finally:
        numba.set_num_threads(before)


def test_shapes_at_the_ends():
    positions, scores = gr.nearest_nodes([[1.0, 2.0]], 0)
    assert positions.shape == scores.shape == (1, 0)
    assert gr.NearestNodes([[1.0], [2.0]]).all(10)[0].tolist() == [[1], [0]]
    assert gr.NearestNodes(np.empty((0, 3))).all()[0].shape == (0, 0)
    assert gr.nearest_nodes(np.eye(3), [])[0].shape == (0, 2)
    assert gr.nearest_nodes(np.empty((3, 0)), 1)[0].tolist() == [[0, 2]]


def test_lengths_far_apart():
    z = np.array([[1e30, 0], [1e-30, 1e-30], [3e37, 1e37], [0, 1e-42]])
    positions, scores = gr.nearest_nodes(z, 0)
    assert positions.tolist() == [[2, 1, 3]]
    np.testing.assert_allclose(scores[0], [3 / np.sqrt(10), 1 / np.sqrt(2), 0], rtol=1e-6)


def test_tensors_and_other_kinds():
    torch = pytest.importorskip("torch")
    z = clustered(30)
    expected = gr.nearest_nodes(z, [4, 2], 3)[0].tolist()
    for given_ in (z.astype(np.float64), np.asfortranarray(z), z.tolist(), torch.from_numpy(z)):
        assert gr.nearest_nodes(given_, np.array([4, 2], np.uint8), 3)[0].tolist() == expected


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1.0, 2.0], 0), "vectors must have shape [n, d], got an array of shape [2] of float64"),
        (([[1.0], [np.nan]], 0), "vectors must be finite, got 1 that are not"),
        (([["a"]], 0), "vectors must be finite numbers of shape [n, d]"),
        (([[1e300], [1.0]], 0), "vectors must have products within the range of 32-bit floats, got inf as a length"),
        (([[1e20], [1.0]], 0, 1, "dot"), "vectors must have products within the range of 32-bit floats, got 1e+20"),
        ((np.eye(3), [0, 3]), "index must hold positions between 0 and 2, got 3"),
        ((np.eye(3), -1), "index must hold positions between 0 and 2, got -1"),
        ((np.eye(3), [[0]]), "index must be a position or a list of positions, got an array of shape [1, 1]"),
        ((np.eye(3), [0.5]), "index must be a position or a list of positions, got"),
        ((np.empty((0, 2)), 0), "index must be empty, as there are no vectors, got 0"),
        ((np.eye(3), 0, 0), "top must be an integer of at least 1, got 0"),
        ((np.eye(3), 0, 1, "cosin"), "metric must be \"cosine\" or \"dot\", got 'cosin'; did you mean 'cosine'?"),
    ],
)
def test_mistakes_are_one_sentence(arguments, sentence):
    with pytest.raises(gr.InputError) as caught:
        gr.nearest_nodes(*arguments)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", "1000")
    with pytest.raises(gr.InputError, match=r"10 neighbours of each of 30 nodes would take .* lower top"):
        gr.NearestNodes(clustered(30)).all()


def test_all_of_many_nodes_without_the_index(monkeypatch):
    monkeypatch.setattr(nearest, "EXACT_NODES", 20)
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    near = gr.NearestNodes(clustered(30))
    with pytest.raises(gr.InputError, match=r'exact must be True .* pip install "graphreach\[nearest\]"'):
        near.all(3)
    np.testing.assert_array_equal(near.all(3, exact=True)[0], near.of(range(30), 3)[0])
    assert gr.NearestNodes(clustered(30), "dot").all(3)[0].shape == (30, 3)
    with pytest.raises(gr.InputError, match="exact must be True or False, got 1"):
        near.all(3, exact=1)


def test_rows_that_the_index_left_short_are_exact(monkeypatch):
    def broken(vectors, count):
        found = np.tile(np.arange(count), (len(vectors), 1))
        found[::2, 2:] = -1
        return found

    monkeypatch.setattr(nearest, "EXACT_NODES", 20)
    monkeypatch.setattr(nearest, "_neighbour_graph", broken)
    near = gr.NearestNodes(clustered(30))
    for found, exact in zip(near.all(28), near.all(28, exact=True), strict=True):
        np.testing.assert_array_equal(found[::2], exact[::2])


INDEX = """
import numba, numpy as np
import graphreach as gr
from graphreach import nearest
def clustered(n, width=16, clusters=20):
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((clusters, width))
    return (centres[rng.integers(0, clusters, n)] + 0.3 * rng.standard_normal((n, width))).astype(np.float32)
nearest.EXACT_NODES = 1000
near = gr.NearestNodes(np.concatenate([clustered(3000), np.zeros((40, 16), np.float32)]))
(found, scores), (true, best) = near.all(), near.all(exact=True)
hits = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found[:3000], true[:3000], strict=True)])
assert hits >= 0.95, hits
same = (found == true).all(1)
np.testing.assert_array_equal(scores[same], best[same])
assert (found != np.arange(len(found))[:, None]).all()
numba.set_num_threads(1)
np.testing.assert_array_equal(near.all()[0], found)
print("done")
"""


@pytest.mark.slow
def test_the_index_finds_nearly_all_with_the_same_scores_and_bits():
    """In a process of its own: Ray replaces print, which numba then cannot compile."""
    pytest.importorskip("pynndescent")
    assert run_python(INDEX) == "done\n"
