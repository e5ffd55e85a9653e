"""Graphs from what people have."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import graphreach as gr
from graphreach.io.graphs import as_graph
from table_helpers import message


def test_objects_and_files_become_graphs(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n0,1\n1,2\n")
    expected = gr.Graph.from_edges([[0, 1], [1, 2]])
    assert as_graph(expected) is expected
    for given in (path, str(path), nx.path_graph(3), expected.to_scipy()):
        assert as_graph(given).content_hash == expected.content_hash


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (nx.Graph(), "must have at least one node, got an empty graph"),
        (csr_array((2, 3)), "must be square, got shape (2, 3)"),
        (csr_array(np.ones((2, 2), complex)), "must hold real numbers, got complex128"),
        (3, "must be a Graph, a networkx, SciPy or PyG graph, a data frame or a path, got"),
    ],
)
def test_messages_name_the_argument(given, sentence):
    assert message(as_graph, given).startswith(f"graph {sentence}")
    assert message(as_graph, given, "other").startswith(f"other {sentence}")
