"""Reachability with weights of any size against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.errors import InputError
from graphreach.reachability.result import inverse_shares
from graphreach.tasks import Split, empty_pairs, label_weights

PATH = [(0, 1), (1, 2), (2, 3)]
LENGTH = 3
powers_of_ten = st.integers(-100, 100)


@st.composite
def graphs(draw):
    """A connected graph of up to five nodes with weights between 1e-100 and 1e100."""
    n = draw(st.integers(2, 5))
    ends = [(v, draw(st.integers(0, v - 1))) for v in range(1, n)]
    more = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=4))
    edges = sorted({tuple(sorted(edge)) for edge in [*ends, *more] if edge[0] != edge[1]})
    weights = draw(st.lists(powers_of_ten, min_size=len(edges), max_size=len(edges)))
    return edges, [float(f"1e{each}") for each in weights], draw(st.booleans())


def build(edges, weights, directed=False):
    return gr.Graph.from_edges(np.array(edges).T, edge_weight=weights, directed=directed)


def literal_powers(graph, length):
    """P^1 .. P^length as nested lists of fractions."""
    n = graph.num_nodes
    weights = [[Fraction(0)] * n for _ in range(n)]
    for (u, v), weight in zip(graph.edge_index.T.tolist(), graph.weights.tolist(), strict=True):
        weights[u][v] = Fraction(weight)
    P = [[each / sum(row) if sum(row) else Fraction(0) for each in row] for row in weights]
    powers = [P]
    while len(powers) < length:
        last = powers[-1]
        powers.append([[sum(last[u][w] * P[w][v] for w in range(n)) for v in range(n)] for u in range(n)])
    return powers


def literal_mean(graph, length):
    powers = literal_powers(graph, length)
    n = graph.num_nodes
    return np.array([[float(sum(P[u][v] for P in powers) / length) for v in range(n)] for u in range(n)])


def assert_close(found, literal):
    assert np.isfinite(found).all()
    assert np.allclose(found, literal, rtol=1e-5, atol=1e-30)


@given(graphs())
@example((PATH, [1.0, 1e50, 1.0], False))
@example((PATH, [1e-100, 1e100, 1e-100], False))
@settings(max_examples=60, deadline=None)
def test_exact_reachability(case):
    graph = build(*case)
    literal = literal_mean(graph, LENGTH)
    for layout in ("dense", "csr"):
        reach = gr.reachability(graph, range(graph.num_nodes), "exact", walk_length=LENGTH, layout=layout)
        to, back = (each if layout == "dense" else each.toarray() for each in (reach.to_anchors, reach.from_anchors))
        assert_close(to, literal)
        assert_close(back, literal.T)


@given(graphs())
@example((PATH, [1.0, 1e50, 1.0], False))
@settings(max_examples=60, deadline=None)
def test_pair_reachability(case):
    graph = build(*case)
    literal, n = literal_mean(graph, LENGTH), graph.num_nodes
    u, v = pairs = np.indices((n, n)).reshape(2, -1)
    found = gr.pair_reachability(graph, pairs, walk_length=LENGTH)
    assert_close(found, np.stack([literal[u, v], literal[v, u]], axis=1))


@given(graphs())
@example((PATH, [1.0, 1e50, 1.0], False))
@settings(max_examples=40, deadline=None)
def test_order_similarity_of_two_steps(case):
    graph = build(*case)
    first, second = literal_powers(graph, 2)
    n = graph.num_nodes
    literal = np.array(
        [[float(first[u][v] + (second[u][v] - first[u][v] * first[v][v]) / 2) for v in range(n)] for u in range(n)]
    )
    reach = gr.reachability(graph, range(n), "exact", "order", num_walks=1, walk_length=2)
    assert np.allclose(reach.to_anchors, literal, atol=1e-6)
    assert np.allclose(reach.from_anchors, literal.T, atol=1e-6)


@given(graphs())
@settings(max_examples=30, deadline=None)
def test_walks_take_edges_by_their_weight(case):
    graph = build(*case)
    (P,) = literal_powers(graph, 1)
    found = gr.reachability(graph, range(graph.num_nodes), num_walks=400, walk_length=1).to_anchors
    assert np.abs(found - np.array(P, float)).max() < 0.16  # six deviations and more


def test_pagerank_of_heavy_and_light_edges():
    graph = build([(0, 1), (2, 1), (1, 3), (3, 0)], [1e100, 1e-100, 1e50, 1e-50], directed=True)
    assert set(gr.select_anchors(graph, 3, "pagerank").anchors.tolist()) == {0, 1, 3}


@pytest.mark.parametrize("weight", [5e-324, 1e-320, 1e-101, 1e101, 1e308])
def test_weights_beyond_the_range_are_refused(weight):
    with pytest.raises(InputError, match=r"must be 0 or between 1e-100 and 1e\+100, got .* at position 1"):
        build(PATH, [1.0, weight, 1.0])


def test_label_weights_beyond_the_range_are_refused():
    nothing = empty_pairs()
    split = Split("pair", build(PATH, [1.0, 1e-90, 1.0]), None, nothing, nothing, nothing, None, "published", 0)
    assert label_weights(split).weights.min() > 0
    with pytest.raises(InputError, match="times same and other must be 0 or between"):
        label_weights(split, other=1e-20)


def test_lift_is_refused_where_single_precision_ends():
    with pytest.raises(InputError, match="at least 1e-30 of the whole graph's for lift"):
        inverse_shares(build(PATH, [1.0, 1e50, 1.0]))
    assert np.isfinite(inverse_shares(build(PATH, [1.0, 1e20, 1.0]))).all()


def test_sums_over_neighbours_are_refused_where_single_precision_ends():
    torch = pytest.importorskip("torch")
    adjacency = gr.nn.Adjacency.from_graph(build(PATH, [1.0, 1e50, 1.0]))
    with pytest.raises(InputError, match=r"at most 3.4e\+38"):
        adjacency.adj_t("gin", torch.ones(1))
    for name in ("gcn", "sage"):
        assert torch.isfinite(adjacency.adj_t(name, torch.ones(1)).values()).all()
