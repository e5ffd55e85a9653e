"""What describes a pair, column by column against dense powers, and its own edge against deleting it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.errors import InputError
from graphreach.pairs import PairFeatures, PairRecipe, pair_features
from graphreach.pairs.features import GEOMETRIC, NEVER, RETURNS
from graphreach.pairs.position import NOTHING
from helpers import KIND_NAMES, KINDS, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
N, ANCHORS = 40, np.array([0, 3, 5, 9, 12, 31])
CHOSEN = {"steps": 5, "lengths": (2, 7), "anchors": ANCHORS}


def powers(graph, length):
    matrix = graph.to_scipy().toarray()
    degree = matrix.sum(axis=1, keepdims=True)
    step = np.divide(matrix, degree, out=np.zeros_like(matrix), where=degree > 0)
    return [np.linalg.matrix_power(step, t) for t in range(length + 1)]


def mean_weight(matrix):
    """The unit of degrees, which is 1 where edges have no weights."""
    return matrix[matrix > 0].mean() if matrix.any() else 1.0


def alike(a, b):
    size = np.sqrt((a @ a) * (b @ b))
    return [
        a @ b / len(a), a @ b / (size + NOTHING), np.abs(a - b).mean(),
        np.minimum(a, b).sum() / (np.maximum(a, b).sum() + NOTHING),
    ]  # fmt: skip


def literal(graph, u, v, steps, lengths, first_step=2):
    """All columns of a pair from dense powers, as LINKS and the docstring define them."""
    matrix, dense = graph.to_scipy().toarray(), powers(graph, max(steps, *lengths, 4))
    out, into, total = matrix.sum(axis=1), matrix.sum(axis=0), matrix.sum()
    lift = np.divide(total, into, out=np.zeros(len(into)), where=into > 0)
    found = []
    for t in range(first_step, steps + 1):
        there, back = dense[t][u, v], dense[t][v, u]
        found += [np.log1p(there * lift[v])] + ([np.log1p(back * lift[u])] if graph.directed else [])
        found.append(np.log1p(GEOMETRIC * np.sqrt(there * back)))
    mean = {length: np.mean(dense[1 : length + 1], axis=0) for length in lengths}
    reach = {length: np.log1p(mean[length][:, ANCHORS] * lift[ANCHORS]) for length in lengths}
    reached = {length: np.log1p(mean[length][ANCHORS].T * lift[:, None]) for length in lengths}
    for one, other in [(reach, reach), (reached, reached), (reach, reached)][: 3 if graph.directed else 1]:
        for length in lengths:
            found += alike(one[length][u], other[length][v])
    ends = [out[u], into[u], out[v], into[v]] if graph.directed else sorted([out[u], out[v]])
    found += list(np.log1p(np.array(ends) / mean_weight(matrix)))
    for t in RETURNS:
        a, b = dense[t][u, u], dense[t][v, v]
        found += [np.log(a + b + NEVER), abs(a - b)]
    return np.array(found)


def without(graph, u, v):
    matrix = graph.to_scipy().toarray()
    matrix[u, v] = matrix[v, u] = 0
    edges = np.nonzero(matrix)
    return gr.Graph.from_edges(
        np.stack(edges), graph.num_nodes, matrix[edges] if graph.weighted else None, directed=graph.directed
    )


@kinds
def test_columns_are_those_of_dense_powers(directed, weighted):
    graph = random_graph(N, 90, directed, weighted)
    pairs = np.stack([np.arange(0, 30), np.arange(1, 31)])
    found, names = pair_features(graph, pairs, exclude_own_edge=False, **CHOSEN)
    expected = np.array([literal(graph, u, v, 5, (2, 7)) for u, v in (pairs if directed else np.sort(pairs, axis=0)).T])
    assert found.shape == (30, len(names))
    assert len(set(names)) == len(names)
    np.testing.assert_allclose(found, expected, atol=2e-5)


@kinds
def test_one_step_is_a_column_where_the_own_edge_is_seen(directed, weighted):
    graph = random_graph(N, 90, directed, weighted)
    pairs = graph.edge_index[:, :10]
    recipe = PairRecipe(3, (2,), directed=directed, own_edge=True)
    found = PairFeatures(graph, recipe, ANCHORS).describe(pairs, exclude_own_edge=False)
    expected = [literal(graph, u, v, 3, (2,), 1) for u, v in (pairs if directed else np.sort(pairs, axis=0)).T]
    np.testing.assert_allclose(found, np.array(expected), atol=2e-5)


@kinds
def test_a_pairs_own_edge_is_left_out_as_if_it_were_deleted(directed, weighted):
    graph = random_graph(N, 90, directed, weighted)
    pairs = graph.edge_index[:, ::3]
    found, _ = pair_features(graph, pairs, **CHOSEN)
    for row, (u, v) in zip(found, pairs.T, strict=True):
        expected, _ = pair_features(without(graph, u, v), [[u], [v]], exclude_own_edge=False, **CHOSEN)
        np.testing.assert_allclose(row, expected[0], atol=3e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.integers(5, 25), st.integers(1, 40))
def test_any_graphs_own_edges_are_left_out(seed, directed, weighted, nodes, edges):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, edges))
    ends = np.unique(ends if directed else np.sort(ends, axis=0), axis=1)
    weight = rng.random(ends.shape[1]) + 0.1 if weighted else None
    graph = gr.Graph.from_edges(ends, nodes, weight, directed=directed)
    pairs = graph.edge_index[:, :4]
    chosen = {"steps": 3, "lengths": (4,), "anchors": np.arange(min(4, nodes))}
    found, _ = pair_features(graph, pairs, **chosen)
    assert np.isfinite(found).all()
    for row, (u, v) in zip(found, pairs.T, strict=True):
        expected, _ = pair_features(without(graph, u, v), [[u], [v]], exclude_own_edge=False, **chosen)
        np.testing.assert_allclose(row, expected[0], atol=2e-3)


def test_a_planted_edge_is_not_seen_by_its_own_pair():
    graph = random_graph(N, 90, False, False)
    free = [(u, v) for u in range(N) for v in range(u) if not graph.to_scipy()[[u], [v]][0]][:5]
    for u, v in free:
        planted = gr.Graph.from_edges(np.concatenate([graph.edge_index, [[u], [v]]], axis=1), N)
        before, _ = pair_features(graph, [[u], [v]], **CHOSEN)
        after, _ = pair_features(planted, [[u], [v]], **CHOSEN)
        np.testing.assert_allclose(after, before, atol=1e-5)


def test_a_pair_and_its_reverse_agree_in_every_bit():
    graph = random_graph(N, 90, False, True)
    pairs = np.concatenate([graph.edge_index[:, :20], np.stack([np.arange(20), np.arange(20) + 7])], axis=1)
    for method in ("exact", "walks"):
        one, _ = pair_features(graph, pairs, method=method, steps=4, lengths=(3,), anchors=ANCHORS)
        other, _ = pair_features(graph, pairs[::-1], method=method, steps=4, lengths=(3,), anchors=ANCHORS)
        assert (one == other).all()


@kinds
def test_renumbering_the_nodes_changes_nothing(directed, weighted):
    graph = random_graph(N, 90, directed, weighted)
    order = np.random.default_rng(3).permutation(N)
    weight = graph.weights
    edges = graph.edge_index if directed else graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    if weight is not None and not directed:
        weight = weight[graph.edge_index[0] < graph.edge_index[1]]
    other = gr.Graph.from_edges(order[edges], N, weight, directed=directed)
    pairs = np.stack([np.arange(20), np.arange(20) + 11])
    one, _ = pair_features(graph, pairs, **CHOSEN)
    two, _ = pair_features(other, order[pairs], **(CHOSEN | {"anchors": order[ANCHORS]}))
    np.testing.assert_allclose(one, two, atol=2e-5)


def renumbered(graph, order):
    return gr.Graph.from_edges(order[graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]], graph.num_nodes)


def test_renumbering_changes_nothing_where_all_nodes_are_anchors():
    graph, order = random_graph(128, 400), np.random.default_rng(3).permutation(128)
    other, pairs = renumbered(graph, order), np.stack([np.arange(60), np.arange(60) + 11])
    assert len(PairFeatures(graph, PairRecipe()).anchors) == 128
    np.testing.assert_allclose(
        pair_features(graph, pairs)[0], pair_features(other, order[pairs])[0], rtol=1e-6, atol=2e-6
    )


def test_renumbering_draws_other_anchors_as_another_seed_does():
    """Logits of the model in the package move by a few hundredths of their deviation."""
    rng, predictor = np.random.default_rng(0), gr.LinkPredictor.pretrained()
    edges = rng.integers(0, 75, (2, 1500)) + 75 * rng.integers(0, 4, 1500)  # four blocks
    graph = gr.Graph.from_edges(np.concatenate([edges, rng.integers(0, 300, (2, 300))], axis=1), 300)
    pairs = np.concatenate([graph.edge_index[:, :200], np.stack([np.arange(100), np.arange(100) + 101])], axis=1)

    def logits(graph, pairs, **more):
        return predictor.logits(PairFeatures(graph, predictor.recipe_, **more).describe(pairs))

    first = PairFeatures(graph, predictor.recipe_)
    known = predictor.logits(first.describe(pairs))
    for number in range(3):
        order = np.random.default_rng(number).permutation(300)
        other = renumbered(graph, order)
        drawn = PairFeatures(other, predictor.recipe_).anchors
        assert 60 < np.isin(drawn, order[first.anchors]).sum() < 128
        moved = np.abs(logits(other, order[pairs]) - known).mean()
        with_seed = np.abs(logits(graph, pairs, seed=number + 1) - known).mean()
        assert 0 < moved < 2 * with_seed
        assert moved < 0.06 * known.std()
        np.testing.assert_allclose(logits(other, order[pairs], anchors=order[first.anchors]), known, atol=1e-4)


def test_isolated_nodes_and_repeated_pairs_have_an_answer():
    graph = gr.Graph.from_edges([[0, 1], [1, 2]], num_nodes=6)
    found, names = pair_features(graph, [[0, 0, 4], [2, 2, 5]])
    assert np.isfinite(found).all()
    assert (found[0] == found[1]).all()
    assert (found[2, [name.startswith(("direct", "position", "degree")) for name in names]] == 0).all()


def test_no_pairs_are_no_rows():
    found, names = pair_features(gr.Graph.from_edges([[0, 1], [1, 2]]), np.empty((2, 0), int))
    assert found.shape == (0, len(names))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: pair_features(g, [[1], [1]]), "pairs must be of two different nodes, got 1 with itself"),
        (lambda g: pair_features(g, [[0, 1], [1, 9]]), "pairs must hold positions between 0 and 2, got 9"),
        (lambda g: pair_features(g, [[0], [1]], step=3), "step must be one of steps, lengths"),
        (lambda g: pair_features(g, [[0], [1]], steps=1), "steps must be an integer of at least 2, got 1"),
        (lambda g: pair_features(g, [[0], [1]], steps=9, method="walks"), "steps must be from 2 to 6 with method 'walks'"),
        (lambda g: pair_features(g, [[0], [1]], method="sample"), "method must be one of exact, walks, auto, got 'sample'"),
        (lambda g: pair_features(g, [[0], [1]], exclude_own_edge=2), "exclude_own_edge must be True or False, got 2"),
        (lambda g: PairFeatures(g, PairRecipe(directed=True)), "graph must be directed, as the one that was learned from"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        call(gr.Graph.from_edges([[0, 1], [1, 2]]))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("scale", [1e-4, 2.0, 1e6])
def test_the_unit_of_the_weights_changes_nothing(directed, scale):
    """Degrees were sums of raw weights: with weights in bytes every probability was 1, with small ones the base rate."""
    graph = random_graph(N, 90, directed, True)
    other = gr.Graph.from_edges(graph.edge_index, N, graph.weights * scale, directed=directed)
    pairs = np.concatenate([np.stack([np.arange(0, 30), np.arange(1, 31)]), graph.edge_index[:, :20]], axis=1)
    found, expected = (pair_features(each, pairs, **CHOSEN)[0] for each in (other, graph))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    if not directed:
        chances = [gr.LinkPredictor.pretrained().predict_proba(pairs.T, each)[:, 1] for each in (other, graph)]
        np.testing.assert_allclose(chances[0], chances[1], rtol=1e-3)
        assert np.ptp(chances[1]) > 0.1


@kinds
@pytest.mark.parametrize("method", ["exact", "walks"])
def test_facts_go_with_the_columns_of_describe(directed, weighted, method):
    graph = random_graph(N, 90, directed, weighted)
    features = PairFeatures(graph, PairRecipe(steps=3, lengths=(2, 7), method=method, directed=directed), ANCHORS)
    pairs = np.concatenate([np.stack([np.arange(20, 0, -1), np.arange(21, 1, -1)]), graph.edge_index[:, :6]], axis=1)
    columns, facts = features.facts(pairs)
    np.testing.assert_array_equal(columns, features.describe(pairs))
    _, turned = features.facts(pairs[::-1].copy())
    names = features.names
    for t, step in enumerate(RETURNS):
        found = np.log(facts.back[:, :, t].sum(axis=0) + NEVER)
        np.testing.assert_allclose(columns[:, names.index(f"return.sum_{step}")], found, rtol=1e-5)
    if not directed:
        unit = [mean_weight(without(graph, *pair).to_scipy().toarray()) for pair in pairs.T]
        if method == "walks":  # the edges of all listed pairs are left out together
            rest = graph
            for pair in pairs.T:
                rest = without(rest, *pair)
            unit = mean_weight(rest.to_scipy().toarray())
        low = np.log1p(facts.degree.min(axis=0) / unit)
        np.testing.assert_allclose(columns[:, names.index("degree.low")], low, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(facts.place, turned.place[::-1])
        np.testing.assert_array_equal(facts.degree, turned.degree[::-1])
    np.testing.assert_array_equal(facts.of(3).place, facts.place[:, 3])
    assert facts.place.shape == (2, pairs.shape[1], len(ANCHORS))
