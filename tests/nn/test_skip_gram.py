"""DeepWalk and node2vec."""

import networkx as nx
import numba
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import graphreach as gr
from graphreach.errors import InputError
from graphreach.nn import skip_gram
from graphreach.nn.kernels.skip_gram import bucket_pairs, train, train_three
from graphreach.walks.rng import start_key, step_bits
from helpers import cycle, random_graph


def bits(seed, first, second):
    """64 random bits that belong to three numbers."""
    return int(step_bits(np.uint64(start_key(seed, first)), second))


def literal_pairs(walks, window, both_ways, seed):
    """Pairs in the order of walks and positions; the reach of position i is the hash of (seed, row, i)."""
    pairs = []
    for r, walk in enumerate(walks.tolist()):
        for i, u in enumerate(walk):
            reach = 1 + bits(seed, r, i + 1) % window
            near = walk[max(0, i - reach) if both_ways else i + 1 : i + reach + 1]
            pairs += [(u, v) for v in near if u >= 0 and v >= 0 and v != u]
    return pairs


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("parts", [1, 3])
def test_pairs_are_those_within_the_window(both_ways, parts):
    graph = random_graph(40, 60, directed=not both_ways)
    walks = gr.random_walks(graph, num_walks=1, walk_length=9)[:, 0]
    pointer, node, near = bucket_pairs(walks, 4, both_ways, parts, 5)
    expected = literal_pairs(walks, 4, both_ways, 5)
    assert pointer[-1] == len(node) == len(expected) > 50
    for i in range(parts):
        for j in range(parts):
            bucket = slice(pointer[i * parts + j], pointer[i * parts + j + 1])
            here = [(u, v) for u, v in expected if u % parts == i and v % parts == j]
            assert list(zip(node[bucket].tolist(), near[bucket].tolist(), strict=True)) == here


def test_the_window_is_drawn_from_one_to_its_width():
    walks = np.arange(30_000, dtype=np.int32).reshape(1000, 30)
    _, node, near = bucket_pairs(walks, 5, True, 1, 0)
    inner = (node % 30 >= 5) & (node % 30 < 25)
    steps = np.bincount(np.abs(node - near)[inner])
    shares = steps[1:] / steps[1]
    np.testing.assert_allclose(shares, [1.0, 0.8, 0.6, 0.4, 0.2], atol=0.03)


def test_training_takes_the_steps_of_the_paper():
    """Literal gradient ascent, pair by pair, bucket by bucket, negatives by the hash of (seed, bucket, number)."""
    rng = np.random.default_rng(0)
    n, parts, negatives, rate, seed = 20, 2, 3, 0.1, 9
    walks = gr.random_walks(random_graph(n, 40), num_walks=1, walk_length=6)[:, 0]
    pointer, node, near = bucket_pairs(walks, 2, True, parts, 1)
    table = np.stack([rng.integers(0, n // parts, 50) * parts + part for part in range(parts)]).astype(np.int32)
    source, context = rng.normal(size=(2, n, 4))
    s, c = source.copy(), context.copy()
    for turn in range(parts):
        train(pointer, node, near, table, turn, negatives, rate, seed, source, context)
        for i in range(parts):
            j = (i + turn) % parts
            bucket = i * parts + j
            for e in range(pointer[bucket], pointer[bucket + 1]):
                u, change = node[e], np.zeros(4)
                draws = [bits(seed, bucket, e * negatives + k + 1) >> 32 for k in range(negatives)]
                others = [table[j, draw * 50 >> 32] for draw in draws]
                for target, label in [(near[e], 1.0), *((other, 0.0) for other in others if other != near[e])]:
                    g = rate * (label - 1 / (1 + np.exp(-s[u] @ c[target])))
                    change += g * c[target]
                    c[target] += g * s[u]
                s[u] += change
    np.testing.assert_allclose(source, s, atol=1e-12)
    np.testing.assert_allclose(context, c, atol=1e-12)


def test_three_negatives_take_the_same_steps_together():
    """All steps of a pair are from the vectors before it; a node drawn twice takes one of its two."""
    rng = np.random.default_rng(0)
    n, parts, rate, seed = 20, 2, 0.1, 9
    walks = gr.random_walks(random_graph(n, 40), num_walks=1, walk_length=6)[:, 0]
    pointer, node, near = bucket_pairs(walks, 2, True, parts, 1)
    table = np.stack([rng.integers(0, n // parts, 50) * parts + part for part in range(parts)]).astype(np.int32)
    source, context = rng.normal(size=(2, n, 4))
    s, c = source.copy(), context.copy()
    for turn in range(parts):
        train_three(pointer, node, near, table, turn, rate, seed, source, context)
        for i in range(parts):
            j = (i + turn) % parts
            bucket = i * parts + j
            for e in range(pointer[bucket], pointer[bucket + 1]):
                draws = [bits(seed, bucket, 3 * e + k + 1) >> 32 for k in range(3)]
                others = [other for draw in draws if (other := table[j, draw * 50 >> 32]) != near[e]]
                row, before = s[node[e]].copy(), c.copy()
                for target, label in [(near[e], 1.0), *((other, 0.0) for other in others)]:
                    g = rate * (label - 1 / (1 + np.exp(-row @ before[target])))
                    s[node[e]] += g * before[target]
                    c[target] = before[target] + g * row
    np.testing.assert_allclose(source, s, atol=1e-12)
    np.testing.assert_allclose(context, c, atol=1e-12)


@pytest.mark.parametrize("small", [10, 10_000])
def test_negatives_are_drawn_by_frequency_to_three_quarters(monkeypatch, small):
    monkeypatch.setattr(skip_gram, "SMALL", small)
    graph = random_graph(60, 200)
    model = gr.nn.SkipGram(walk_length=20)
    table = model._negative_table(graph)
    walks = gr.random_walks(graph, num_walks=1, walk_length=20)
    weight = np.array([(walks == v).sum() for v in range(60)]) ** 0.75
    parts = len(table)
    assert parts == (1 if small > 60 else skip_gram.PARTS)
    for part, row in enumerate(table):
        share = np.bincount(row, minlength=60) / len(row)
        expected = np.where(np.arange(60) % parts == part, weight, 0)
        np.testing.assert_allclose(share, expected / expected.sum(), atol=1e-4)


def held_out(graph, seed=0):
    """A tenth of the links, as many random pairs, and the rest of the graph."""
    rng = np.random.default_rng(seed)
    links = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    links = links[:, rng.permutation(links.shape[1])]
    count = links.shape[1] // 10
    rest = gr.Graph.from_edges(links[:, count:], graph.num_nodes)
    pairs = np.concatenate([links[:, :count], rng.integers(0, graph.num_nodes, (2, count))], 1)
    return rest, pairs, np.arange(2 * count) < count


@pytest.mark.parametrize("options", [{}, {"p": 0.5, "q": 2.0}], ids=["deepwalk", "node2vec"])
def test_finds_links_of_communities(options):
    graph, pairs, labels = held_out(gr.Graph.from_networkx(nx.connected_caveman_graph(20, 15)))
    model = gr.nn.SkipGram(dim=32, **options).fit(graph)
    assert roc_auc_score(labels, model.score_pairs(pairs)) > 0.95


@pytest.mark.slow
def test_finds_links_of_a_collaboration_network(data_root):
    graph, pairs, labels = held_out(gr.read_graph(data_root / "graphs" / "ca-AstroPh.txt.gz"))
    model = gr.nn.SkipGram(num_walks=5).fit(graph)
    assert roc_auc_score(labels, model.score_pairs(pairs)) > 0.97


def test_same_seed_same_embedding_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(skip_gram, "SMALL", 100)
    monkeypatch.setattr(skip_gram, "STEPS_PER_CALL", 1000)
    graph = random_graph(300, 900)
    options = {"dim": 16, "num_walks": 2, "walk_length": 10}
    model = gr.nn.SkipGram(**options).fit(graph)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        again = gr.nn.SkipGram(**options).fit(graph)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(model.embedding_, again.embedding_)
    np.testing.assert_array_equal(model.context_, again.context_)
    assert (gr.nn.SkipGram(**options, seed=1).fit(graph).embedding_ != model.embedding_).any()
    assert model.embedding_.dtype == np.float32


def test_scores_are_dot_products():
    model = gr.nn.SkipGram(dim=8, num_walks=1).fit(random_graph(30, 60))
    S, C = model.embedding_.astype(float), model.context_.astype(float)
    pairs = np.array([[0, 5, 7], [1, 5, 2]])
    expected = [S[u] @ C[v] + S[v] @ C[u] for u, v in pairs.T]
    np.testing.assert_allclose(model.score_pairs(pairs), expected, rtol=1e-5, atol=1e-6)
    assert model.score_pairs(np.empty((2, 0))).shape == (0,)


def test_directions():
    graph = random_graph(30, 60, directed=True, weighted=True)
    plain = gr.nn.SkipGram(dim=8, num_walks=1).fit(graph)
    pairs = np.array([[0, 5], [1, 8]])
    np.testing.assert_allclose(plain.score_pairs(pairs), plain.score_pairs(pairs[::-1]), rtol=1e-5)
    assert not plain.directed_
    along = gr.nn.SkipGram(dim=8, num_walks=1, directed=True).fit(graph)
    S, C = along.embedding_.astype(float), along.context_.astype(float)
    np.testing.assert_allclose(along.score_pairs(pairs), [S[0] @ C[1], S[5] @ C[8]], rtol=1e-5, atol=1e-6)
    ring = gr.nn.SkipGram(dim=16, num_walks=200, window=1, directed=True).fit(cycle(12, directed=True))
    nodes = np.arange(12)
    ahead, behind = (ring.score_pairs([nodes, (nodes + step) % 12]) for step in (1, 11))
    assert ahead.min() > behind.max()


def test_repr_and_wrong_input():
    assert repr(gr.nn.SkipGram(q=0.5)).startswith(
        "SkipGram(dim=64, num_walks=10, walk_length=40, window=5, negatives=5"
    )
    graph = cycle(5)
    for options, message in [
        ({"dim": 0}, "dim must be a positive integer, got 0"),
        ({"window": 1.5}, "window must be a positive integer, got 1.5"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, got 0.0"),
        ({"p": -1.0}, "p must be a number between 1e-100 and 1e100, got -1.0"),
        ({"seed": -1}, "seed must be an integer from 0"),
    ]:
        with pytest.raises(InputError, match=message):
            gr.nn.SkipGram(**options).fit(graph)
    with pytest.raises(InputError, match="graph must have links to walk along, got none"):
        gr.nn.SkipGram().fit(gr.Graph.from_edges(np.empty((2, 0), int), 3))
    model = gr.nn.SkipGram(dim=4, num_walks=1)
    with pytest.raises(InputError, match=r"SkipGram must be fitted first: call fit\(graph\)"):
        model.score_pairs([[0], [1]])
    model.fit(graph)
    with pytest.raises(InputError, match="pairs must hold positions between 0 and 4, got 0 to 5"):
        model.score_pairs([[0], [5]])
    with pytest.raises(InputError, match=r"pairs must be integers of shape \[2, m\], got shape \[3, 2\]"):
        model.score_pairs(np.zeros((3, 2), int))
