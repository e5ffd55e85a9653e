"""Nodes, several graphs, whole graphs, and arguments that are wrong."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.errors import InputError
from graphreach.tasks import Examples, Split, check_leaks, find_task, split, split_dataset
from helpers import KIND_NAMES, KINDS, path, random_graph, run_python


@dataclass(frozen=True, eq=False)
class Sample:
    graph: gr.Graph
    x: np.ndarray | None = None
    y: np.ndarray | None = None


def make(num_graphs=10, directed=False, weighted=False, num_nodes=30):
    out = []
    for seed in range(num_graphs):
        y = np.random.default_rng(seed).integers(0, 3, num_nodes)
        out.append(
            Sample(random_graph(num_nodes, 90, directed, weighted, seed), np.eye(num_nodes, 4, dtype=np.float32), y)
        )
    return SimpleNamespace(samples=tuple(out))


def same_examples(first, second):
    return all(
        np.array_equal(getattr(first, name).index, getattr(second, name).index)
        and np.array_equal(getattr(first, name).label, getattr(second, name).label)
        for name in ("train", "val", "test")
    )


@pytest.mark.parametrize("protocol", ["published", "node-disjoint"])
@settings(deadline=None)
@given(y=st.lists(st.integers(-1, 3), min_size=5, max_size=60).map(np.array), seed=st.integers(0, 99))
def test_nodes_are_partitioned(protocol, y, seed):
    labelled = np.flatnonzero(y >= 0)
    if len(labelled) < 3 or y.max() < 1:
        with pytest.raises(InputError):
            split(Sample(path(len(y)), y=y), "node", protocol, seed=seed)
        return
    parts = split(Sample(path(len(y)), y=y), "node", protocol, seed=seed)
    examples = list(parts.parts().values())
    assert np.sort(np.concatenate([part.index for part in examples])).tolist() == labelled.tolist()
    assert all((part.label == y[part.index]).all() and len(part) for part in examples)
    assert parts.num_classes == y.max() + 1
    check_leaks(parts)


def test_node_counts_and_seeds():
    one = Sample(random_graph(2708, 5000), y=np.arange(2708) % 7)
    parts = split(one, "nc")
    assert [len(part) for part in parts.parts().values()] == [2166, 271, 271]
    assert same_examples(parts, split(one, "node"))
    assert not same_examples(parts, split(one, "node", seed=1))
    assert parts.graph is one.graph


@pytest.mark.parametrize("task", ["link", "pair", "node"])
def test_each_graph_is_split_on_its_own_and_its_seed_repeats_it(task):
    dataset = make(4)
    parts = split_dataset(dataset, task, seed=9)
    assert len(parts) == 4
    assert len({each.seed for each in parts}) == 4
    for sample, each in zip(dataset.samples, parts, strict=True):
        alone = split(sample, task, seed=each.seed)
        assert same_examples(alone, each)
        assert each.graph.num_nodes == sample.graph.num_nodes
    assert parts[0].seed == 9
    assert all(same_examples(a, b) for a, b in zip(parts, split_dataset(dataset.samples, task, seed=9), strict=True))


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize("task", ["link", "pair", "node"])
def test_graph_disjoint_gives_a_graph_to_one_part(task, directed, weighted):
    dataset = make(10, directed, weighted)
    parts = split_dataset(dataset, task, "graph-disjoint", seed=1)
    filled = [[name for name, part in each.parts().items() if len(part)] for each in parts]
    assert all(len(names) == 1 for names in filled)
    names = [each[0] for each in filled]
    assert {name: names.count(name) for name in set(names)} == {"train": 8, "val": 1, "test": 1}
    assert names != [each[0] for each in _filled(split_dataset(dataset, task, "graph-disjoint", seed=2))]
    for sample, each, name in zip(dataset.samples, parts, names, strict=True):
        check_leaks(each)
        part = each.parts()[name]
        if task == "node":
            assert np.array_equal(part.index, np.arange(30))
        elif task == "pair":
            y = sample.y
            assert part.positives.shape[1] == sum(size * (size - 1) // 2 for size in np.bincount(y))
            assert (y[part.negatives[0]] != y[part.negatives[1]]).all()
        elif name == "train":
            assert each.graph.content_hash == sample.graph.content_hash
            assert part.positives.shape[1] == sample.graph.num_edges
        else:
            # the positives are what is not seen, one negative each
            assert part.positives.shape[1] == sample.graph.num_edges - each.graph.num_edges
            assert part.negatives.shape == part.positives.shape
            assert 0.75 < each.graph.num_edges / sample.graph.num_edges < 0.85


def _filled(parts):
    return [[name for name, part in each.parts().items() if len(part)] for each in parts]


def test_graph_disjoint_keeps_candidates_and_hard_negatives():
    parts = split_dataset(make(5), "link", "graph-disjoint", candidates=7, negatives="common-neighbour")
    test = next(each for each in parts if len(each.test))
    assert test.test.candidates.shape == (test.test.positives.shape[1], 7)


def test_classes_are_counted_over_all_graphs():
    samples = [Sample(path(10), y=np.arange(10) % 2), Sample(path(10), y=np.full(10, 4))]
    assert [each.num_classes for each in split_dataset(samples, "node")] == [5, 5]


def test_errors_name_the_graph():
    samples = [Sample(path(10), y=np.arange(10) % 2), Sample(path(10), y=np.zeros(10, int))]
    with pytest.raises(InputError, match="graph 1 of 2: y must hold at least two labels"):
        split_dataset(samples, "pair", "published")
    with pytest.raises(InputError, match="at least 3 graphs to split, got 2"):
        split_dataset(samples, "pair", "graph-disjoint")
    with pytest.raises(InputError, match="at least one graph, got none"):
        split_dataset([], "link")


@pytest.mark.parametrize(
    ("task", "options", "sentence"),
    [
        ("links", {}, "task must be link, pair or node"),
        (
            "link",
            {"protocol": "node-disjoint"},
            "protocol must be one of published, clean, graph-disjoint, time, given for task link",
        ),
        (
            "node",
            {"protocol": "clean"},
            "protocol must be one of published, node-disjoint, graph-disjoint for task node",
        ),
        ("pair", {"protocol": "node-disjont"}, "did you mean 'node-disjoint'"),
        ("link", {"protocol": "graph-disjoint"}, "needs several graphs: use split_dataset"),
        ("link", {"negatives": "hard"}, "negatives must be one of uniform, same-distance, common-neighbour"),
        ("pair", {"negatives": "same-distance"}, "negatives must be 'uniform' for task pair"),
        ("node", {"candidates": 3}, "candidates must be 0 for task node"),
        ("link", {"max_pairs": 3}, "max_pairs must be None for task link"),
        ("pair", {"max_pairs": 0}, "max_pairs must be a positive integer"),
        ("link", {"seed": -1}, "seed must be an integer"),
        ("link", {"fractions": (0.5, 0.1, 0.1)}, "fractions must be three shares"),
        ("node", {"num_classes": 2}, "y must hold classes below num_classes=2, got 2"),
    ],
)
def test_wrong_arguments(task, options, sentence):
    with pytest.raises(InputError, match=sentence):
        split(make(1).samples[0], task, **options)


def test_wrong_samples():
    graph = path(5)
    with pytest.raises(InputError, match="must have labels y for this task, got None"):
        split(Sample(graph), "pair")
    for y in (np.zeros(4, int), np.zeros(5), np.zeros((5, 2), int)):
        with pytest.raises(InputError, match="y must be one integer per node"):
            split(Sample(graph, y=y), "node")
    with pytest.raises(InputError, match=r"labels \(y\) must be of at least two classes"):
        split(Sample(graph, y=np.zeros(5, int)), "node")
    with pytest.raises(InputError, match=r"x must have shape \[5, features\], got \[4, 2\]"):
        split(Sample(graph, np.zeros((4, 2), np.float32)), "link")


def test_names_of_tasks():
    assert [find_task(name) for name in ("lp", "PNC", "nc", "Link", "pair", "node")] == ["link", "pair", "node"] * 2


def test_examples_are_checked_and_shown():
    parts = split(make(1).samples[0], "link", "published", candidates=2)
    assert "task=link, protocol=published" in repr(parts)
    assert repr(split(make(1).samples[0], "node").train) == "Examples(24 nodes)"
    with pytest.raises(InputError, match="index must be pairs"):
        Examples(np.zeros((3, 2), int), np.zeros(2, int))
    with pytest.raises(InputError, match="label must have shape"):
        Examples(np.zeros((2, 3), int), np.zeros(2, int))
    with pytest.raises(InputError, match="one row for each of 1 positives"):
        Examples(np.zeros((2, 1), int), np.ones(1, int), np.zeros((2, 4), int))


def test_a_split_does_not_carry_labels():
    assert "y" not in Split.__dataclass_fields__


def test_tasks_load_without_torch_and_without_scikit_learn():
    code = """
import sys
import graphreach as gr
from types import SimpleNamespace
graph = gr.Graph.from_edges([range(20), [*range(1, 20), 0]])
parts = gr.tasks.split(SimpleNamespace(graph=graph, x=None, y=None), "link")
gr.tasks.check_leaks(parts)
print(*sys.modules)
"""
    assert not {"torch", "sklearn", "networkx", "polars"} & set(run_python(code).split())


@pytest.mark.parametrize(
    ("task", "protocol"), [("link", "clean"), ("pair", "node-disjoint"), ("node", "node-disjoint")]
)
def test_a_split_does_not_leak_unless_asked_for(task, protocol):
    sample = make(1).samples[0]
    assert split(sample, task).protocol == split_dataset([sample], task)[0].protocol == protocol
    assert same_examples(split(sample, task), split(sample, task, protocol))


def test_nodes_with_several_labels_are_split_and_nodes_without_are_left_out():
    y = np.random.default_rng(0).random((40, 3)) < 0.4
    y[:10] = False
    y[10:, 0] = True
    ring = gr.Graph.from_edges([range(40), [*range(1, 40), 0]])
    sample = Sample(ring, y=y)
    found = split(sample, "node")
    assert (len(found.train), len(found.val), len(found.test), found.num_classes) == (24, 3, 3, 3)
    for part in found.parts().values():
        np.testing.assert_array_equal(part.label, y[part.index])
    nodes = np.concatenate([part.index for part in found.parts().values()])
    assert sorted(nodes) == list(range(10, 40))
    again = split(Sample(ring, y=np.where(y.any(axis=1), 0, -1) + y[:, 1]), "node")
    np.testing.assert_array_equal(again.test.index, found.test.index)


def test_refused_matrices_of_labels():
    ring = gr.Graph.from_edges([range(10), [*range(1, 10), 0]])
    with pytest.raises(InputError, match="y must have 10 rows of booleans, one per node, got 9"):
        gr.datasets.Sample(ring, y=np.ones((9, 2), np.bool_))
    with pytest.raises(InputError, match=r"y must have shape \[10\], got \[10, 1\]"):
        gr.datasets.Sample(ring, y=np.zeros((10, 1), np.int64))
    with pytest.raises(InputError, match="y must be one class per node for task pair, got nodes with several labels"):
        split(Sample(ring, y=np.ones((10, 2), np.bool_)), "pair")
    with pytest.raises(InputError, match="y must have one column for each of 3 labels, got 2"):
        split_dataset([Sample(ring, y=np.ones((10, width), np.bool_)) for width in (3, 2)], "node")
