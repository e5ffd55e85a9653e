import dataclasses

import numpy as np
import pytest

from graphreach.datasets import Dataset, Sample
from graphreach.errors import InputError
from graphreach.graph import Graph

EDGE, PATH = Graph.from_edges([[0], [1]]), Graph.from_edges([[0, 1], [1, 2]])


def test_counts_are_of_all_graphs():
    x = np.zeros((2, 4), np.float32)
    dataset = Dataset("two", (Sample(EDGE, x, np.array([0, 1])), Sample(PATH, np.zeros((3, 4), np.float32))))
    assert (dataset.num_nodes, dataset.num_edges, dataset.num_features, dataset.num_classes) == (5, 3, 4, 2)
    assert (len(dataset), [sample.graph for sample in dataset]) == (2, [EDGE, PATH])
    assert dataset[1].y is None


def test_nothing_known_of_the_nodes():
    dataset = Dataset("plain", (Sample(PATH),))
    assert (dataset.num_features, dataset.num_classes, dataset.classes) == (0, 0, None)


def test_reprs():
    sample = Sample(EDGE, np.zeros((2, 4), np.float32))
    assert repr(sample) == f"Sample({EDGE}, x=[2, 4], y=None)"
    assert repr(Dataset("d", (sample,))) == (
        "Dataset(d: graphs=1, num_nodes=2, num_edges=1, num_features=4, num_classes=0)"
    )


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Sample(EDGE).x = None


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.zeros((3, 1), np.float32), None, r"x must have shape \[2, features\], got \[3, 1\]"),
        (np.zeros(2, np.float32), None, r"x must have shape \[2, features\], got \[2\]"),
        (None, np.zeros(3, np.int64), r"y must have shape \[2\], got \[3\]"),
    ],
)
def test_rows_are_one_a_node(x, y, message):
    with pytest.raises(InputError, match=message):
        Sample(EDGE, x, y)
