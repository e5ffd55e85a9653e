import gzip

import numpy as np
import pytest

from graphreach.datasets import load

COUNTS = {
    "ca-astroph": ("ca-AstroPh.txt.gz", 18_772, 198_050),
    "email-enron": ("email-Enron.txt.gz", 36_692, 183_831),
    "soc-epinions1": ("soc-Epinions1.txt.gz", 75_879, 508_837),
    "chicago-regional": ("chicago_regional.csv.gz", 12_979, 39_018),
    "facebook": ("facebook_edges.csv.gz", 22_470, 170_823),
}
DIRECTED = ("soc-epinions1", "chicago-regional")


def rows(data_root, name):
    with gzip.open(data_root / "graphs" / name, "rt") as file:
        return [line.replace(",", " ").split() for line in file if line[0].isdigit()]


@pytest.mark.parametrize("name", COUNTS)
def test_edges_against_the_lines(data_root, name):
    (sample,) = load(name, data_root)
    graph = sample.graph
    file, nodes, edges = COUNTS[name]
    lines = rows(data_root, file)
    assert (graph.num_nodes, graph.num_edges, graph.directed) == (nodes, edges, name in DIRECTED)
    assert graph.ids.tolist() == sorted({int(end) for line in lines for end in line[:2]})
    expected = {(int(line[0]), int(line[1])) for line in lines if line[0] != line[1]}
    if not graph.directed:
        expected |= {(v, u) for u, v in expected}
    assert set(zip(*graph.ids[graph.edge_index].tolist(), strict=True)) == expected
    assert sample.x is None


def test_chicago_is_weighted_by_capacity(data_root):
    graph = load("chicago_regional", data_root)[0].graph
    capacity = {(int(u), int(v)): float(w) for u, v, w in rows(data_root, "chicago_regional.csv.gz")}
    ends = zip(*graph.ids[graph.edge_index].tolist(), strict=True)
    assert [capacity[pair] for pair in ends] == graph.weights.tolist()


def test_only_chicago_is_weighted(data_root):
    assert not any(load(name, data_root)[0].graph.weighted for name in COUNTS if name != "chicago-regional")


def test_facebook_has_classes(data_root):
    dataset = load("facebook", data_root)
    (sample,) = dataset
    expected = {int(node): int(label) for node, label in rows(data_root, "facebook_target.csv.gz")}
    assert sample.y.tolist() == [expected[node] for node in sample.graph.ids.tolist()]
    assert (sample.y.dtype, dataset.num_classes) == (np.int64, 4)
    assert load("ca-astroph", data_root)[0].y is None
