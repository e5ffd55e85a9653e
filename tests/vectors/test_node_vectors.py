"""Neighbours, position and walks: each part against what it is defined by, and nodes that come later."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.auc import auc
from graphreach.vectors.near import lift_matrices, log_lift, near_part, outline_part, outline_steps
from graphreach.vectors.node_vectors import (
    FURTHER,
    LEADING,
    OUTLINE,
    UNLIKE,
    Examples,
    VectorOptions,
    fit_vectors,
    smoothed,
)
from graphreach.vectors.positions import LENGTHS, fit_positions, raw_positions


def random_graph(seed=0, n=40, m=120, weighted=False, directed=False):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n, (2, m))
    weights = rng.random(m) + 0.1 if weighted else None
    return gr.Graph.from_edges(
        edges[:, edges[0] != edges[1]],
        n,
        None if weights is None else weights[edges[0] != edges[1]],
        directed=directed,
        reduce="sum" if weighted else None,
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_log_lift_is_the_formula(weighted, directed):
    graph = random_graph(1, weighted=weighted, directed=directed)
    dense = graph.to_scipy(np.float64).toarray()
    out, into = dense.sum(1), dense.sum(0)
    both = np.outer(out, into)
    expected = np.log1p(np.divide(dense * out.sum(), both, out=np.zeros_like(both), where=both > 0))
    np.testing.assert_allclose(log_lift(graph).toarray(), expected, rtol=1e-5, atol=1e-6)


def test_neighbours_of_full_rank_give_log_lift_back():
    graph = random_graph(2)
    part = near_part(graph, graph.num_nodes, seed=0)
    np.testing.assert_allclose(part.rows @ part.columns.T, log_lift(graph).toarray(), atol=2e-3)


def test_a_node_that_comes_again_gets_the_row_that_it_had():
    graph = random_graph(3)
    part = near_part(graph, graph.num_nodes, seed=0)
    known, new = np.arange(graph.num_nodes - 1), np.array([graph.num_nodes - 1])
    again = part.taken(known).grown(lift_matrices(graph), known, new)
    np.testing.assert_allclose(again.rows[new], part.rows[new], atol=5e-2)
    np.testing.assert_array_equal(again.rows[known], part.rows[known])


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_outline_is_the_leading_eigenvectors(weighted, alike):
    graph = random_graph(12, weighted=weighted)
    dense = graph.to_scipy(np.float64).toarray()
    dense /= dense[dense > 0].mean()
    degree = dense.sum(1) + (1.0 if alike else (dense > 0).sum() / 40)
    values, vectors = np.linalg.eigh(dense / np.sqrt(np.outer(degree, degree)))
    order = np.argsort(-abs(values))[1:6]
    found = outline_part(graph, 28, alike, seed=0)
    expected = vectors[:, order] / np.sqrt(degree)[:, None]
    np.testing.assert_allclose(np.abs(found.rows[:, :5]), np.abs(expected), atol=1e-2)
    np.testing.assert_allclose(np.diag(found.inverse)[:5], 1 / abs(values[order]), rtol=1e-2)


@pytest.mark.parametrize("directed", [False, True])
def test_the_outline_of_a_node_follows_from_its_neighbours(directed):
    graph = random_graph(13, directed=directed)
    part = outline_part(graph, 39, alike=True, seed=0)
    step, back = outline_steps(graph, alike=True)
    for rows, again in ((part.rows, step @ part.columns), (part.columns, back @ part.rows)):
        kept = np.diag(part.inverse) < 20  # what is lost beside the largest values is noise
        np.testing.assert_allclose((again @ part.inverse)[:, kept], rows[:, kept], atol=2e-2)


def test_the_unit_of_weights_does_not_matter_to_the_outline():
    graph = random_graph(14, weighted=True)
    scaled = gr.Graph.from_edges(graph.edge_index, 40, graph.weights * 1e90, directed=False)
    np.testing.assert_allclose(outline_part(scaled, 5, True, 0).rows, outline_part(graph, 5, True, 0).rows, atol=1e-4)


def test_positions_are_log_lift_of_exact_powers():
    graph = random_graph(4)
    found = fit_positions(graph, 6, "greedy", 0)
    transition = graph.to_scipy(np.float64).toarray()
    degree = transition.sum(1)
    transition /= np.where(degree > 0, degree, 1)[:, None]
    columns = []
    for length in LENGTHS:
        mean = sum(np.linalg.matrix_power(transition, t) for t in range(1, length + 1)) / length
        columns.append(np.log1p(mean[:, found.anchors] * degree.sum() / degree[found.anchors]))
    np.testing.assert_allclose(found.rows, np.concatenate(columns, axis=1), rtol=1e-4, atol=1e-5)


def test_smoothing_adds_up_two_steps():
    graph = random_graph(5)
    rows = np.random.default_rng(0).random((graph.num_nodes, 3)).astype(np.float32)
    degree = graph.degree
    step = graph.to_scipy(np.float64).toarray() / np.where(degree > 0, degree, 1)[:, None]
    two = rows + step @ rows + step @ step @ rows
    np.testing.assert_allclose(smoothed(graph, rows), two, rtol=1e-5)
    three = two + np.linalg.matrix_power(step, 3) @ rows
    np.testing.assert_allclose(smoothed(graph, rows, 3), three, rtol=1e-5)


OPTIONS = VectorOptions(dim=20, num_anchors=10, strategy="greedy")


@given(st.integers(0, 50), st.integers(2, 30), st.integers(1, 60), st.integers(1, 40), st.booleans())
@settings(max_examples=15, deadline=None)
def test_any_graph_has_vectors_of_any_width(seed, n, m, dim, weighted):
    graph = random_graph(seed, n, m, weighted)
    if graph.num_edges == 0:
        return
    found = fit_vectors(graph, VectorOptions(dim, min(8, n), "greedy"))
    assert found.rows.shape == (n, dim)
    assert np.isfinite(found.rows).all()
    assert not found.rows[graph.degree == 0].any()
    assert len(found.columns(np.array([[0, 1], [1, 0]]))) == 2


def test_a_pair_and_its_reverse_are_alike_without_directions():
    found = fit_vectors(random_graph(6), OPTIONS)
    pairs = np.random.default_rng(0).integers(0, 40, (2, 50))
    np.testing.assert_allclose(found.columns(pairs), found.columns(pairs[::-1]), rtol=1e-5, atol=1e-6)


def test_halves_of_a_directed_graph_tell_directions_apart():
    graph = random_graph(7, directed=True)
    found = fit_vectors(graph, VectorOptions(20, 10, "greedy", directed=True))
    assert found.rows.shape == (40, 20)
    pairs = np.array([[0, 1, 2], [3, 4, 5]])
    assert not np.allclose(found.columns(pairs), found.columns(pairs[::-1]))
    grown = found.grown(graph, np.arange(40), np.empty(0, np.int64), None)
    np.testing.assert_array_equal(grown.rows, found.rows)


@pytest.mark.parametrize("attributes", ["smooth", "append"])
def test_attributes_are_a_fifth_part(attributes):
    from graphreach.pairs import check_attributes

    graph = random_graph(8)
    x = check_attributes(np.random.default_rng(0).random((40, 7)), 40)
    options = VectorOptions(20, 10, "greedy", attributes=attributes)
    found = fit_vectors(graph, options, x)
    assert [part.shape[1] for part in found.parts[0]] == [40, 20, 20, 20, 20]
    assert found.rows.shape == (40, 20)
    grown = found.taken(np.arange(30)).grown(graph, np.arange(30), np.arange(30, 40), x)
    np.testing.assert_allclose(grown.parts[0][4], found.parts[0][4], atol=1e-5)


def test_raw_positions_to_and_from_anchors_differ_with_directions():
    graph = random_graph(9, directed=True)
    anchors = np.array([0, 1, 2])
    assert not np.allclose(raw_positions(graph, anchors), raw_positions(graph, anchors, "from"))


def unit(rows):
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def with_examples(seed):
    """A graph, and pairs with random answers: by chance rows that are added up tell them better, or worse."""
    rng = np.random.default_rng(seed)
    return random_graph(seed), Examples(rng.integers(0, 40, (2, 60)), rng.random(60) < 0.5)


def test_neighbours_are_added_up_where_that_finds_more_links():
    options, seen = VectorOptions(8, 10, "greedy"), set()
    for seed in range(10):
        graph, examples = with_examples(seed)
        found = fit_vectors(graph, options, examples=examples)
        near = near_part(graph, 16, 0).rows
        added, plain = (
            auc((unit(rows)[examples.pairs[0]] * unit(rows)[examples.pairs[1]]).sum(axis=1), examples.linked)
            for rows in (smoothed(graph, near), near)
        )
        alike = found.options.alike
        assert alike == (added >= plain)
        assert found.near.rows.shape[1] == (16 if alike else 8)
        own = smoothed(graph, near, FURTHER) if alike else near[:, :8]
        np.testing.assert_allclose(found.parts[0][0][graph.degree > 0], unit(own)[graph.degree > 0], atol=1e-5)
        assert fit_vectors(graph, options, start=found).options.alike == alike
        seen.add(alike)
    assert seen == {True, False}


@pytest.mark.parametrize("alike", [True, False])
def test_the_embedding_is_the_principal_components_of_its_parts(alike):
    graph = random_graph(11)
    found = fit_vectors(graph, VectorOptions(6, 10, "greedy", alike=alike))
    weights = [1.0, *([1.0, 1.0] if alike else [UNLIKE, UNLIKE]), OUTLINE]
    whole = np.concatenate([part * weight for part, weight in zip(found.parts[0], weights, strict=True)], axis=1)
    whole = whole[graph.degree > 0].astype(np.float64)
    left, values, _ = np.linalg.svd(whole - whole.mean(axis=0), full_matrices=False)
    expected = np.abs(left * values) * (values / values[0]) ** (LEADING if alike else 0.0)
    np.testing.assert_allclose(np.abs(found.rows[graph.degree > 0]), expected[:, :6], atol=2e-3)


def test_the_rebuilt_log_lift_is_a_column_of_pairs():
    graph = random_graph(10)
    found = fit_vectors(graph, VectorOptions(40, 10, "greedy"))
    pairs = np.random.default_rng(0).integers(0, 40, (2, 50))
    expected = log_lift(graph).toarray()[pairs[0], pairs[1]]
    np.testing.assert_allclose(found.columns(pairs)[:, 4], expected, atol=5e-3)
