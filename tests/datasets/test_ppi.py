import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from graphreach.datasets import load, ppi
from graphreach.datasets.store import ContentError


@pytest.fixture(scope="module")
def dataset(data_root):
    return load("ppi", data_root)


@pytest.fixture(scope="module")
def entries(data_root):
    archive = zipfile.ZipFile(data_root / "ppi" / "ppi.zip")
    return {name: archive.read(name) for name in archive.namelist()}


def pack(entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return file.getvalue()


def test_counts(dataset):
    assert (len(dataset), dataset.num_nodes, dataset.num_edges) == (24, 56_658, 793_617)
    assert (dataset.num_features, dataset.num_classes) == (50, 0)
    assert all(sample.y is None for sample in dataset)


def test_graphs_against_the_links(dataset, entries):
    """Each link but the self-loops is in the graph that holds its ends, and there are no others."""
    links = json.loads(entries["ppi/ppi-G.json"])["links"]
    home = {}
    for number, sample in enumerate(dataset):
        home |= dict.fromkeys(sample.graph.ids.tolist(), number)
    expected = [set() for _ in dataset]
    for link in links:
        u, v = link["source"], link["target"]
        assert home.get(u) == home.get(v)
        if u != v and u in home:
            expected[home[u]].add((min(u, v), max(u, v)))
    for sample, edges in zip(dataset, expected, strict=True):
        source, target = sample.graph.ids[sample.graph.edge_index]
        assert set(zip(source[source < target].tolist(), target[source < target].tolist(), strict=True)) == edges


def test_attributes(dataset, entries):
    raw = np.load(io.BytesIO(entries["ppi/ppi-feats.npy"]))
    assert raw[:, 1].min() == 0  # so min(min, -1) is -1
    for sample in (dataset[0], dataset[23]):
        expected = raw[sample.graph.ids] + 0.1
        expected[:, :2] = np.log(raw[sample.graph.ids, :2] + 1) + 0.1
        np.testing.assert_allclose(sample.x, expected, rtol=1e-6)
        assert sample.x.dtype == np.float32


def test_column_one_is_shifted_by_one_at_least():
    x = ppi.scale(np.array([[0.0, -0.5], [1.0, 2.0]]))
    np.testing.assert_allclose(x[:, 1], np.log([0.5, 3.0]) + 0.1, rtol=1e-6)


def test_another_order_of_links_is_the_same_graph(entries):
    graph = json.loads(entries["ppi/ppi-G.json"])
    graph["links"] = [{"source": link["target"], "target": link["source"]} for link in reversed(graph["links"])]
    other = pack({**entries, "ppi/ppi-G.json": json.dumps(graph).encode()})
    tables = ppi.open_ppi(other)
    assert ppi.hash_links(tables.links) == ppi.LINKS_SHA256


def test_hash_of_links_by_hand():
    pairs = np.array([[0, 1], [1, 2], [3, 3]], "<i8").tobytes()
    for links in ([[2, 0, 3], [1, 1, 3]], [[3, 1, 1], [3, 2, 0]]):
        assert ppi.hash_links(np.array(links)) == hashlib.sha256(pairs).hexdigest()


def change_link(graph):
    graph["links"][5] = {"source": 1, "target": 56_943}


def drop_link(graph):
    del graph["links"][5]


def drop_node(graph):
    del graph["nodes"][5]


def drop_key(graph):
    del graph["links"][5]["target"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_link, "other links than expected"),
        (drop_link, "has 818,715 links"),
        (drop_node, "56,943 nodes"),
        (drop_key, "not node-link JSON"),
    ],
)
def test_another_graph_is_refused(entries, change, message):
    graph = json.loads(entries["ppi/ppi-G.json"])
    change(graph)
    with pytest.raises(ContentError, match=message):
        ppi.open_ppi(pack({**entries, "ppi/ppi-G.json": json.dumps(graph).encode()}))


@pytest.mark.parametrize("name", ["ppi/ppi-feats.npy", "ppi/ppi-id_map.json"])
def test_other_attributes_are_refused(entries, name):
    with pytest.raises(ContentError, match=f"the entry {name}'s sha256"):
        ppi.open_ppi(pack({**entries, name: entries[name][:-1] + b"!"}))


def test_no_json_at_all(entries):
    with pytest.raises(ContentError, match="not node-link JSON"):
        ppi.open_ppi(pack({**entries, "ppi/ppi-G.json": b"[1, 2"}))
