"""LinkPredictor with attributes of nodes: links, relations, other graphs, files and what is refused."""

import numpy as np
import pytest
import scipy.sparse
import torch

import graphreach as gr
from graphreach.auc import auc
from graphreach.errors import InputError
from graphreach.nn import AttributedPairHead
from graphreach.nn.attributed_training import message_matrix
from graphreach.nn.perceptron_layers import read_in_blocks
from graphreach.nn.sparse_rows import SparseRows
from graphreach.pairs import check_attributes
from graphreach.training.attributed_pairs import AttributeExamples, _join_batches, _join_folds
from graphreach.training.link_folds import folds
from graphreach.training.pair_learning import learn_pairs
from graphreach.training.pair_options import PairOptions
from graphreach.training.pair_scorer import PairExamples
from helpers import random_graph

N = 120


def hidden_groups(seed=0, num_nodes=N):
    """A graph of groups, few links, and words that tell the group; some links are hidden."""
    rng = np.random.default_rng(seed)
    group = np.arange(num_nodes) % 6
    u, v = np.triu_indices(num_nodes, 1)
    linked = rng.random(len(u)) < np.where(group[u] == group[v], 0.15, 0.004)
    links = np.stack([u, v])[:, linked]
    links = links[:, rng.permutation(links.shape[1])]
    x = (rng.random((num_nodes, 48)) < np.where(np.arange(48) // 8 == group[:, None], 0.3, 0.04)).astype(np.float32)
    cut = links.shape[1] // 5
    return gr.Graph.from_edges(links[:, cut:], num_nodes=num_nodes), x, links[:, :cut].T, group


@pytest.fixture(scope="module")
def fitted():
    graph, x, hidden, group = hidden_groups()
    return gr.LinkPredictor(num_anchors=16, steps=4, lengths=(4,)).fit(graph, x), graph, x, hidden, group


def small(**arguments):
    return gr.LinkPredictor(**{"num_anchors": 16, "steps": 2, "lengths": (2,), "num_members": 1, **arguments})


def test_hidden_links_are_found_better_than_by_structure_alone(fitted):
    links, graph, _, hidden, group = fitted
    rng = np.random.default_rng(1)
    others = rng.integers(0, N, (400, 2))
    others = others[group[others[:, 0]] != group[others[:, 1]]]
    pairs, truth = np.concatenate([hidden, others]), np.repeat([True, False], [len(hidden), len(others)])
    alone = gr.LinkPredictor(num_anchors=16, steps=4, lengths=(4,)).fit(graph)
    found = auc(links.decision_function(pairs), truth)
    assert found > auc(alone.decision_function(pairs), truth)
    assert found > 0.85
    assert 0.7 < links.auc_ <= 1


def test_columns_are_named_and_described_as_the_head_reads_them(fitted):
    links, *_ = fitted
    assert isinstance(links.head_, AttributedPairHead)
    assert len(links.feature_names_) == links.head_.width == links.background_.shape[1]
    groups = {name.partition(".")[0] for name in links.feature_names_}
    assert groups == {"direct", "position", "degree", "return", "attributes"}
    assert np.isfinite(links.logits(links.background_)).all()


def test_the_same_seed_gives_the_same_bits():
    graph, x, hidden, _ = hidden_groups()
    one, other = (small(random_state=4).fit(graph, x).decision_function(hidden) for _ in range(2))
    assert (one == other).all()


def test_sparse_attributes_are_the_same_attributes():
    graph, x, hidden, _ = hidden_groups()
    dense, sparse = (small().fit(graph, each).decision_function(hidden) for each in (x, scipy.sparse.csr_array(x)))
    assert (dense == sparse).all()


def test_saved_and_loaded_bit_for_bit(fitted, tmp_path):
    links, graph, x, hidden, _ = fitted
    links.save(tmp_path)
    loaded = gr.LinkPredictor.load(tmp_path)
    assert (loaded.decision_function(hidden, graph, x) == links.decision_function(hidden)).all()
    assert loaded.feature_names_ == links.feature_names_


def test_a_known_link_has_one_score_whatever_else_is_asked(fitted):
    links, graph, *_ = fitted
    known = graph.edge_index.T[:40]
    together = links.decision_function(known)
    alone = [links.decision_function(pair[None])[0] for pair in known[:5]]
    assert (together[:5] == alone).all()
    assert (links.decision_function(known[3:36]) == together[3:36]).all()


def test_a_pair_and_its_reverse_agree_in_every_bit(fitted):
    links, graph, *_ = fitted
    pairs = np.concatenate([graph.edge_index.T[:300], np.stack([np.arange(100), np.arange(100) + 9], axis=1)])
    together = links.predict_proba(pairs)
    assert (links.predict_proba(pairs[:, ::-1]) == together).all()
    (there, back) = links.predict_proba([pairs[0], pairs[0][::-1]])
    assert (there == back).all()
    assert (there == together[0]).all()


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("linear", [False, True])
def test_no_bit_of_a_row_depends_on_how_many_are_read(linear, apart):
    head = AttributedPairHead(7, 20, gnn_channels=19, apart=apart and linear, linear=linear).eval()
    rows = torch.randn(700, head.width, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        together = read_in_blocks(head, rows)
        assert together.allclose(head(rows), atol=1e-5)
        for begin, end in ((0, 1), (3, 10), (255, 257), (600, 700), (5, 5)):
            assert torch.equal(read_in_blocks(head, rows[begin:end]), together[begin:end])


def test_a_known_link_is_not_told_by_its_own_edge(fitted):
    """The score of a link does not say that its edge is there: deleted from the graph, it is scored much alike."""
    links, graph, x, *_ = fitted
    known = graph.edge_index.T[graph.edge_index[0] < graph.edge_index[1]][:12]
    gaps = []
    for u, v in known:
        edges = graph.edge_index
        own = ((edges[0] == u) & (edges[1] == v)) | ((edges[0] == v) & (edges[1] == u))
        less = gr.Graph.from_edges(edges[:, ~own], num_nodes=N)
        gaps.append(links.decision_function([(u, v)])[0] - links.decision_function([(u, v)], less, x)[0])
    assert abs(np.mean(gaps)) < 1.0


def test_nodes_that_came_later_and_other_graphs_are_scored_by_their_own_attributes(fitted):
    links, *_ = fitted
    graph, x, hidden, group = hidden_groups(seed=7, num_nodes=150)
    rng = np.random.default_rng(1)
    others = rng.integers(0, 150, (400, 2))
    others = others[group[others[:, 0]] != group[others[:, 1]]]
    pairs, truth = np.concatenate([hidden, others]), np.repeat([True, False], [len(hidden), len(others)])
    assert auc(links.decision_function(pairs, graph, x), truth) > 0.8


def test_relations_are_learnt_with_attributes():
    graph, x, _, group = hidden_groups()
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, N, (1500, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    y = (group[pairs[:, 0]] == group[pairs[:, 1]]).astype(int)
    relation = small(num_members=2).fit(graph, x, pairs[:1000], y[:1000])
    assert relation.score(pairs[1000:], y[1000:]) > 0.85


def test_directed_graphs_and_measured_attributes():
    rng = np.random.default_rng(0)
    graph = gr.Graph.from_edges(rng.integers(0, 40, (2, 200)), num_nodes=40, directed=True)
    links = small().fit(graph, rng.normal(size=(40, 5)))
    assert np.isfinite(links.decision_function([(0, 1), (1, 0), (2, 3)])).all()


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (
            np.ones((N - 1, 3)),
            rf"x must be an array or a sparse matrix \[{N}, attributes\] .*, got shape \[{N - 1}, 3\]",
        ),
        (np.full((N, 3), np.nan), "x must be finite, got 360 that are not"),
        ("words.csv", "x must be an array or a sparse matrix"),
    ],
)
def test_attributes_that_do_not_fit_are_refused(x, message):
    with pytest.raises(InputError, match=message):
        small().fit(hidden_groups()[0], x)


def test_attributes_of_other_graphs_are_checked(fitted):
    links, graph, x, hidden, _ = fitted
    copy = gr.Graph.from_edges(graph.edge_index, num_nodes=N)
    with pytest.raises(
        InputError, match=rf"x must be an array or a sparse matrix \[{N}, 48\] .*, got shape \[{N}, 47\]"
    ):
        links.decision_function(hidden, copy, x[:, 1:])
    with pytest.raises(InputError, match="x must be given, as the predictor was fitted with 48 attributes, got None"):
        links.predict_proba(hidden, copy)
    with pytest.raises(InputError, match="x must be given together with the graph"):
        links.predict(hidden, x=x)
    with pytest.raises(InputError, match="x must be None, as the predictor was fitted without attributes"):
        small().fit(graph).decision_function(hidden, copy, x)


def test_partners_are_recommended_by_attributes_too(fitted):
    links, graph, x, *_ = fitted
    found = links.recommend([3, 5], top=4)
    assert found.rank.tolist() == [1, 2, 3, 4] * 2
    pairs = np.stack([found.node, found.partner], axis=1)
    np.testing.assert_allclose(found.probability, links.predict_proba(pairs)[:, 1], rtol=1e-4)
    copy = gr.Graph.from_edges(graph.edge_index, num_nodes=N)
    assert links.recommend([3, 5], 4, copy, x).partner.tolist() == found.partner.tolist()
    with pytest.raises(InputError, match="x must be given"):
        links.recommend([3], graph=copy)


def test_attributes_are_a_group_of_an_explanation(fitted):
    links, graph, x, hidden, _ = fitted
    for pair in (hidden[0], graph.edge_index.T[0]):
        found = links.explain(pair)
        assert set(found.groups) == {"direct", "position", "degree", "return", "attributes"}
        assert found.logit == pytest.approx(links.decision_function([pair])[0], abs=1e-3)
        assert found.logit == pytest.approx(found.base + sum(found.groups.values()))
        assert "the cosine of both is" in str(found)
    copy = gr.Graph.from_edges(graph.edge_index, num_nodes=N)
    assert links.explain(hidden[0], copy, x).logit == pytest.approx(links.explain(hidden[0]).logit, abs=1e-4)
    with pytest.raises(InputError, match="two different nodes"):
        links.explain((1, 1))


def test_background_and_base_rate_do_not_depend_on_how_many_other_pairs_are_drawn(fitted):
    links, graph, *_ = fitted
    assert len(links.background_) == 100
    assert links.prior_ == pytest.approx(graph.num_edges / (N * (N - 1) / 2))


def test_a_class_that_neighbours_do_not_share_is_read_off_a_nodes_own_attributes():
    """Means over neighbours say nothing here, and nor do cosines: a class has attributes of either sign."""
    rng = np.random.default_rng(0)
    graph, x = random_graph(N, 4 * N), rng.normal(size=(N, 3))
    y = np.abs(x[:, 0]) > 0.67
    pairs = rng.integers(0, N, (2, 4000))
    pairs = pairs[:, pairs[0] != pairs[1]]
    new = (pairs >= 90).all(0)
    seen, same = (pairs < 90).all(0), (y[pairs[0]] == y[pairs[1]]).astype(int)
    links = gr.LinkPredictor(steps=2, lengths=(2,), num_anchors=4, num_members=1)
    links.fit(graph, x, pairs[:, seen].T, same[seen])
    assert links.score(pairs[:, new].T, same[new]) > 0.8


@pytest.mark.parametrize("links", [True, False])
def test_graphs_side_by_side_have_the_rows_that_each_has_alone(links):
    """No message goes from one graph to another, whichever batch or fold they stand in."""
    graphs = [random_graph(n, 3 * n, seed=n) for n in (9, 14, 11)]
    rng = np.random.default_rng(0)
    parts = []
    for graph in graphs:
        edges = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]][:, :6]
        x = check_attributes(rng.normal(size=(graph.num_nodes, 4)), graph.num_nodes)
        parts.append(AttributeExamples(graph, edges, np.repeat([1, 0], 3), x))
    joined = _join_folds(parts, 0) if links else _join_batches(parts)
    head, row = AttributedPairHead(3, 4, gnn_channels=5, num_members=1, apart=links), 0
    for part in parts:
        dealt = [(each.graph, each.rows) for each in folds(part.graph, part.pairs, part.y, 0)]
        for graph, rows in dealt if links else [(part.graph, np.arange(6))]:
            own = head.products(head.nodes(SparseRows(part.x), message_matrix(graph)), part.pairs[:, rows])
            (place,) = np.unique(joined.part[row + rows])
            nodes = head.nodes(SparseRows(joined.x[place]), message_matrix(joined.messages[place]))
            assert head.products(nodes, joined.pairs[:, row + rows]) == pytest.approx(own, abs=1e-6)
        row += 6


def test_scaling_of_attributes_is_shared_by_all_graphs():
    graph, *_ = hidden_groups()
    pairs = np.stack([np.arange(40), np.arange(40) + 1])
    parts = [
        PairExamples(graph, pairs, np.repeat([0, 1], 20), check_attributes(dense, graph.num_nodes))
        for dense in (np.random.default_rng(0).normal(shift, 1, (graph.num_nodes, 2)) for shift in (0, 4))
    ]
    scorer, known = learn_pairs(parts, PairOptions(steps=2, lengths=[2], num_anchors=4, num_members=1), links=False)
    both = np.concatenate([part.x.toarray() for part in parts])
    assert scorer.head.scaling.mean == pytest.approx(both.mean(0), abs=1e-5)
    assert 1 / scorer.head.scaling.scale == pytest.approx(both.std(0), abs=1e-4)
    assert all(own.attributes is not None for own in known)
