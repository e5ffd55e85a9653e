"""What goes into a page and what comes out."""

import base64
import json
import zlib

import numpy as np
import pytest

import graphreach as gr
from graphreach.report.drawing import (
    DECADES,
    on_square,
    pack,
    quantise,
    script_json,
    shown_edges,
    shown_nodes,
    smallest,
    squeeze,
)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_arrays_come_back(kind):
    values = np.array([[0, 1], [200, 3]], kind)
    packed = pack(values)
    assert packed["type"] == f"Uint{8 * values.itemsize}"
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(packed["data"]), kind), values.ravel())
    levels = np.arange(256, dtype=np.uint8)
    assert zlib.decompress(base64.b64decode(squeeze(levels))) == levels.tobytes()
    assert smallest(np.empty(0, np.int64)).dtype == np.uint8


def test_quantised_shares_are_within_three_percent():
    shares = np.geomspace(1e-4, 0.5, 200)
    levels = quantise(shares, 0.5)
    back = 0.5 * 10 ** (-DECADES * (255.0 - levels) / 254)
    assert np.abs(back / shares - 1).max() < 0.03
    assert quantise(np.zeros(2), 0.0).tolist() == [0, 0]


def test_texts_of_users_cannot_leave_the_script():
    nasty = "</script><!-- & \u2028 \ud83d"
    text = script_json({"id": nasty})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"id": nasty}


def test_points_keep_their_shape():
    square = on_square(np.array([[-1.0, 5.0], [1.0, 5.5]]))
    assert square[:, 0].tolist() == [0, 65535]
    assert np.ptp(square[:, 1].astype(int)) == pytest.approx(65535 / 4, abs=2)
    assert len(np.unique(on_square(np.zeros((2, 2))))) == 1


def test_a_sample_of_a_large_graph_has_what_is_wanted_hubs_and_edges():
    rng = np.random.default_rng(0)
    spokes = np.stack([np.zeros(300, np.int64), np.arange(1, 301)])
    graph = gr.Graph.from_edges(np.concatenate([rng.integers(0, 2000, (2, 6000)), spokes], 1), 2000, reduce="max")
    nodes = shown_nodes(graph, np.array([7, 1999]), limit=1000, sample=200)
    assert len(nodes) == len(np.unique(nodes)) == 200
    assert {0, 7, 1999} <= set(nodes.tolist())
    most = np.argsort(-np.diff(graph.indptr.astype(int)), kind="stable")[:25]
    assert set(most.tolist()) <= set(nodes.tolist())
    alone = np.sort(rng.permutation(2000)[:200])
    assert shown_edges(graph, nodes)[1] > 3 * shown_edges(graph, alone)[1]
    edges, total = shown_edges(graph, nodes, limit=5)
    assert edges.shape == (2, 5)
    assert total > 5
    np.testing.assert_array_equal(shown_nodes(graph, np.array([7]), limit=2000), np.arange(2000))
    lonely = gr.Graph.from_edges([[0], [1]], 50)
    assert len(shown_nodes(lonely, np.array([0]), limit=20, sample=15)) == 15
    assert len(shown_nodes(lonely, np.arange(40), limit=20, sample=15)) == 40
