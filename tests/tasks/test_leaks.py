"""Leaks that must be refused, and what must be reported."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks import Examples, LeakError, check_leaks, join_pairs, split, split_dataset
from helpers import KIND_NAMES, KINDS, path, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


def make(task="link", protocol="published", directed=False, weighted=False, **options):
    graph = random_graph(60, 240, directed, weighted)
    y = np.random.default_rng(0).integers(0, 3, 60)
    return graph, split(SimpleNamespace(graph=graph, x=None, y=y), task, protocol, **options)


def with_edges(graph, pairs, turned):
    """The graph with a few more edges."""
    pairs = pairs[::-1] if turned else pairs
    edges = np.concatenate([graph.edge_index, pairs], axis=1)
    return Graph.from_edges(edges, graph.num_nodes, directed=graph.directed)


@kinds
@pytest.mark.parametrize("part", ["val", "test"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_held_out_link_in_the_graph_is_refused_in_either_direction(directed, weighted, part, turned):
    _, parts = make(directed=directed, weighted=weighted)
    positives = parts.parts()[part].positives
    pair, total = positives[:, :2], positives.shape[1]
    leaking = replace(parts, graph=with_edges(parts.graph, pair, turned))
    added = {frozenset(each) for each in pair.T.tolist()}
    count = sum(frozenset(each) in added for each in positives.T.tolist())
    word = {"val": "validation", "test": "test"}[part]
    example = rf"\({pair[0, 0]}, {pair[1, 0]}\)"
    with pytest.raises(
        LeakError, match=f"{count} of {total} {word} positives are edges of the graph, such as {example}"
    ):
        check_leaks(leaking)


def test_the_whole_graph_is_refused():
    """The commonest mistake: message passing on all edges."""
    graph, parts = make()
    count = parts.val.positives.shape[1]
    with pytest.raises(LeakError, match=rf"{count} of {count} validation positives are edges of the graph"):
        check_leaks(replace(parts, graph=graph))
    assert issubclass(LeakError, InputError)


def test_a_negative_that_is_an_edge_is_refused():
    _, parts = make()
    leaking = replace(parts, graph=with_edges(parts.graph, parts.test.negatives[:, :1], turned=True))
    with pytest.raises(LeakError, match=r"1 of .* test negatives are edges of the graph"):
        check_leaks(leaking)
    _, parts = make(directed=True)
    reverse = replace(parts, graph=with_edges(parts.graph, parts.test.negatives[:, :1], turned=True))
    check_leaks(reverse)  # a directed edge says nothing against its reverse as a negative
    straight = replace(parts, graph=with_edges(parts.graph, parts.test.negatives[:, :1], turned=False))
    with pytest.raises(LeakError, match="test negatives are edges"):
        check_leaks(straight)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(["published", "clean"]), st.integers(0, 99), st.booleans(), st.booleans())
def test_own_splits_pass_and_collisions_are_counted(protocol, seed, directed, weighted):
    graph = random_graph(20, 60, directed, weighted, seed)
    parts = split(SimpleNamespace(graph=graph, x=None, y=None), "link", protocol, seed=seed)
    report = check_leaks(parts)
    negatives = {frozenset(pair) for pair in parts.train.negatives.T.tolist()}
    for name in ("val", "test"):
        positives = {frozenset(pair) for pair in parts.parts()[name].positives.T.tolist()}
        assert getattr(report, f"false_negatives_{name}") == len(negatives & positives)
    assert report.train_negatives == len(negatives)
    found = report.false_negatives_val + report.false_negatives_test
    assert protocol == "published" or found == 0
    assert ("training negatives" in str(report)) == (found > 0)
    assert "\n" not in str(report)
    assert str(report).startswith(f"link, {protocol}: no leak")


def test_strict_refuses_what_is_else_reported():
    _, parts = make(seed=1)
    assert check_leaks(parts).false_negatives_test + check_leaks(parts).false_negatives_val > 0
    with pytest.raises(LeakError, match=r"training negatives \(.*%\) are validation or test positives"):
        check_leaks(parts, strict=True)
    _, clean = make(protocol="clean")
    assert check_leaks(clean, strict=True).findings == ()


def test_broken_promises_are_refused():
    _, parts = make("pair")
    doubled = replace(parts, test=parts.train)
    with pytest.raises(LeakError, match="test positives are training positives too, such as"):
        check_leaks(doubled)
    _, clean = make("link", "clean")
    mixed = join_pairs(clean.val.positives, clean.train.negatives[::-1][:, :3])
    with pytest.raises(LeakError, match=r"3 of .* validation pairs are training pairs too"):
        check_leaks(replace(clean, val=mixed))
    _, nodes = make("node")
    moved = Examples(np.append(nodes.test.index, nodes.train.index[:2]), np.append(nodes.test.label, [0, 0]))
    with pytest.raises(LeakError, match="2 of 8 test nodes are training nodes too, such as"):
        check_leaks(replace(nodes, test=moved))
    _, apart = make("pair", "node-disjoint")
    with pytest.raises(LeakError, match="test nodes are validation nodes too"):
        check_leaks(replace(apart, test=apart.val))
    samples = [SimpleNamespace(graph=path(20), x=None, y=np.arange(20) % 2)] * 3
    whole = split_dataset(samples, "node", "graph-disjoint")[0]
    filled = next(part for part in whole.parts().values() if len(part))
    with pytest.raises(LeakError, match="examples share a graph with"):
        check_leaks(replace(whole, train=filled, test=filled))


def test_pairs_report_shared_nodes_and_closure():
    _, parts = make("pair")
    report = check_leaks(parts)
    train = set(parts.train.index.ravel().tolist())
    assert report.shared_nodes_val == len(train & set(parts.val.index.ravel().tolist())) > 0
    assert report.shared_nodes_test == len(train & set(parts.test.index.ravel().tolist())) > 0
    assert report.closure == 1.0
    assert "transitive closure of the training positives holds 100.0% of the test positives" in str(report)
    _, apart = make("pair", "node-disjoint")
    report = check_leaks(apart)
    assert (report.shared_nodes_val, report.shared_nodes_test, report.closure) == (0, 0, 0.0)
    assert str(report) == "pair, node-disjoint: no leak"


def test_edges_of_the_graph_may_be_pairs_to_classify():
    """Whether two nodes are linked does not say that they have one label."""
    _, parts = make("pair", "clean")
    edges = {frozenset(edge) for edge in parts.graph.edge_index.T.tolist()}
    assert edges & {frozenset(pair) for pair in parts.test.positives.T.tolist()}
    check_leaks(parts)


def test_arrays_of_the_users_own():
    """An edge_index as message passing takes it, and edge_label_index with edge_label."""
    edge_index = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    report = check_leaks(graph=edge_index, train=edge_index, val=[[2], [3]], test=([[0, 0], [3, 4]], [1.0, 0.0]))
    assert str(report) == "link, own: no leak"
    with pytest.raises(LeakError, match=r"1 of 2 test positives are edges of the graph, such as \(2, 1\)"):
        check_leaks(graph=edge_index, test=[[2, 3], [1, 4]])
    with pytest.raises(LeakError, match="validation positives are edges"):
        check_leaks(graph=Graph.from_edges(edge_index), val=([0], [1]))
    report = check_leaks(graph=edge_index, train=([[0, 0], [1, 3]], [1, 0]), val=[[3, 3], [0, 4]], test=[[4], [0]])
    assert (report.false_negatives_val, report.false_negatives_test, report.train_negatives) == (1, 0, 1)


def test_tensors_of_the_users_own():
    torch = pytest.importorskip("torch")
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    held_out = torch.tensor([[0, 2], [3, 3]])
    assert str(check_leaks(graph=edge_index, test=(held_out, torch.tensor([1.0, 0.0])))) == "link, own: no leak"
    with pytest.raises(LeakError, match="4 of 4 test positives are edges"):
        check_leaks(graph=edge_index, test=edge_index)


def test_arrays_that_repeat_are_reported():
    report = check_leaks(graph=[[], []], train=[[0, 2], [1, 3]], test=[[1, 5], [0, 6]])
    assert report.duplicates_test == 1
    assert "1 test positives are training positives too" in str(report)
    report = check_leaks(train=[0, 1, 2], val=[3, 4], test=[2, 1, 5], task="node")
    assert (report.duplicates_val, report.duplicates_test, report.shared_nodes_test) == (0, 2, 2)
    assert str(report) == "node, own: no leak; 2 test nodes are training nodes too"
    masks = [np.array(mask, bool) for mask in ([1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1])]
    report = check_leaks(train=masks[0], val=masks[1], test=masks[2], task="nc")
    assert (report.duplicates_val, report.duplicates_test) == (1, 0)
    with pytest.raises(LeakError, match="1 validation nodes are training nodes too"):
        check_leaks(train=masks[0], val=masks[1], task="nc", strict=True)


def test_closure_of_the_users_own_pairs():
    report = check_leaks(train=[[0, 1, 3], [1, 2, 4]], test=[[0, 0], [2, 3]], task="pair")
    assert report.closure == 0.5
    assert report.shared_nodes_test == 3


def test_self_loops_are_no_other_pair():
    """The key of (2, 2) must not be that of another pair."""
    for node in range(4):
        for u, v in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]:
            check_leaks(graph=[[node], [node]], test=[[u], [v]])
    with pytest.raises(LeakError):
        check_leaks(graph=[[2], [2]], test=[[2], [2]])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"test": [[0], [1]]}, "graph must be given to check links"),
        ({"graph": [[0], [1]], "test": [[0, 1, 2]]}, "test must be an integer array"),
        ({"graph": [[0], [1]], "test": [[-1], [1]]}, "test must hold positions of at least 0, got -1"),
        ({"graph": [[0, 1], [1, 2], [2, 3]]}, "transpose it"),
        ({"graph": path(3), "test": [[0], [7]]}, "between 0 and 2, got 7"),
        ({"train": [0.5], "task": "node"}, "train must be positions of nodes or a mask"),
        ({"task": "edges"}, "task must be link, pair or node"),
    ],
)
def test_wrong_arguments(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        check_leaks(**arguments)


def test_a_split_or_arrays():
    graph, parts = make()
    with pytest.raises(InputError, match="got both"):
        check_leaks(parts, graph=graph)
    with pytest.raises(InputError, match="split must be a Split, got a Graph"):
        check_leaks(graph)
    assert gr.tasks.check_leaks is check_leaks


def test_broken_promises_of_time_and_of_given_links_are_refused():
    """By time no pair is in two parts; of given links, negatives may be shared, as benchmarks' files share them."""
    _, parts = make(protocol="clean")
    shared = join_pairs(parts.test.positives, parts.train.negatives[:, :2])
    with pytest.raises(LeakError, match=r"2 of .* test pairs are training pairs too"):
        check_leaks(replace(parts, protocol="time", test=shared))
    check_leaks(replace(parts, protocol="given", test=shared))
    again = join_pairs(parts.test.positives[:, :3], parts.test.negatives)
    for protocol, what in (("time", "pairs"), ("given", "positives")):
        with pytest.raises(LeakError, match=f"test {what} are validation {what} too"):
            check_leaks(replace(parts, protocol=protocol, val=again))
