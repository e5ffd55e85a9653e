"""Labels of nodes, from what people have."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks.node_labels import read_labels

PATH = Graph.from_edge_list([("a", "b"), ("b", "c"), ("c", "d")])


@pytest.mark.parametrize(
    "labels",
    [
        {"d": "y", "a": "x"},
        {"d": "y", "a": "x", "b": None, "c": float("nan")},
        [("d", "y"), ("a", "x")],
        [("d", "y"), ("a", "x"), ("a", "x"), ("b", None)],
        ["x", None, None, "y"],
        np.array(["x", None, float("nan"), "y"], dtype=object),
    ],
)
def test_text(labels):
    found = read_labels(labels, PATH)
    assert found.nodes.tolist() == [0, 3]
    assert found.y.tolist() == [[1, 0], [0, 1]]
    assert found.classes.tolist() == ["x", "y"]
    assert not found.several


@pytest.mark.parametrize(
    "labels",
    [
        [7, -1, -1, 9],
        np.array([7, -1, -1, 9], np.int8),
        [7.0, np.nan, np.nan, 9.0],
        [7, None, None, 9],
        torch.tensor([7, -1, -1, 9]),
        {"a": 7, "d": np.int64(9)},
    ],
)
def test_numbers(labels):
    found = read_labels(labels, PATH)
    assert found.nodes.tolist() == [0, 3]
    assert found.classes.tolist() == [7, 9]


def test_minus_one_is_a_label_of_a_mapping():
    assert read_labels({"a": -1, "b": 1}, PATH).classes.tolist() == [-1, 1]


@pytest.mark.parametrize(
    "labels",
    [
        {"a": ["x", "y"], "d": ["y"], "b": None},
        {"a": {"x", "y"}, "d": {"y"}},
        [("a", "x"), ("d", "y"), ("a", "y")],
        [["x", "y"], None, None, ["y"]],
    ],
)
def test_several_labels(labels):
    found = read_labels(labels, PATH)
    assert found.nodes.tolist() == [0, 3]
    assert found.y.tolist() == [[1, 1], [0, 1]]
    assert found.classes.tolist() == ["x", "y"]
    assert found.several


@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_a_matrix(kind):
    found = read_labels(kind([[1, 1], [-1, -1], [0, 0], [0, 1]]), PATH)
    assert found.nodes.tolist() == [0, 2, 3]
    assert found.y.tolist() == [[1, 1], [0, 0], [0, 1]]
    assert found.classes.tolist() == [0, 1]
    assert found.several


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ({}, "labels must hold at least one known label, got none"),
        ([], r"labels must be one per node, 4 in the order of graph.ids, got 0"),
        ([None] * 4, "at least one known label"),
        ([-1] * 4, "at least one known label"),
        ({"a": []}, "at least one known label"),
        (
            {"z": 1},
            r"labels must be of nodes of the graph, but ids must be ids of nodes \(such as 'a', .*got 'z'; leave",
        ),
        ([1, 2, 3], "labels must be one per node, 4 in the order of graph.ids, got 3"),
        ([1, -1, 1, -1], "labels must not be -1 and 1, as -1 is an unknown label: use 0 and 1"),
        ([("a", 1, 2)], r"labels must be labels by id, pairs .* got \('a', 1, 2\) among them"),
        ({"a": {"b": 3}}, "among them"),
        (None, "labels must be labels by id"),
        ("abcd", "labels must be labels by id"),
        (3, "labels must be labels by id|one per node"),
        (np.zeros((4, 2, 2)), r"got shape \[4, 2, 2\]"),
        (np.zeros((3, 2)), "labels must have 4 rows in the order of graph.ids, got 3"),
        (np.full((4, 2), 2), "labels as a matrix must be zeros and ones"),
        (np.array([[1, -1], [0, 1], [0, 1], [0, 1]]), "or -1 in the whole row"),
    ],
)
def test_one_sentence(labels, sentence):
    with pytest.raises(InputError, match=sentence):
        read_labels(labels, PATH)
