import networkx as nx
import numpy as np

import graphreach as gr
from graphreach.datasets.packaged import FOLDER, LEADERS


def test_karate_is_the_club_that_networkx_has():
    (sample,) = gr.datasets.load("karate")
    G = nx.karate_club_graph()
    at = sample.graph.index_of([node + 1 for node in G])
    dense = sample.graph.to_scipy().toarray()[np.ix_(at, at)]
    np.testing.assert_array_equal(dense, nx.to_numpy_array(G))
    officers = [G.nodes[node]["club"] == "Officer" for node in G]
    np.testing.assert_array_equal(sample.y[at], officers)


def test_leaders_took_their_own_sides():
    (sample,) = gr.datasets.load("karate")
    assert sample.y[sample.graph.index_of(list(LEADERS))].tolist() == [0, 1]
    assert list(LEADERS.values()) == sorted(LEADERS.values())


def test_files_are_small():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 4096
