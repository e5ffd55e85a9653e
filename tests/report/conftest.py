"""A small run with labels, and its page."""

from types import SimpleNamespace

import numpy as np
import pytest

import graphreach as gr

NODES = 60
NASTY = "</script><script>window.hacked=1</script>"
IMAGE = "<img src=x onerror='window.hacked=2'>"


def two_quarters():
    """Two quarters with a bridge; two of the nodes have names that a page must not take for its own text."""
    rng, half = np.random.default_rng(0), NODES // 2
    ends = np.concatenate([rng.integers(0, half, (2, 90)), rng.integers(half, NODES, (2, 90)), [[0], [half]]], 1)
    names = np.array([f"street {i:02}" for i in range(NODES)], dtype=object)
    names[3], names[40] = NASTY, IMAGE
    edges = [(names[a], names[b]) for a, b in ends.T if a != b]
    graph = gr.Graph.from_edge_list(edges)
    west = set(names[:half])
    y = np.array([0 if each in west else 1 for each in graph.ids.tolist()])
    return gr.datasets.Dataset("two <b>quarters</b>", (gr.datasets.Sample(graph, None, y),))


@pytest.fixture(scope="session")
def quarters(tmp_path_factory):
    """The data, the run's folder, and the page's file."""
    folder = tmp_path_factory.mktemp("quarters")
    data = two_quarters()
    settings = gr.training.Settings(num_anchors=8, epochs=12, evaluate_every=2)
    gr.training.run(data, settings, folder / "run")
    page = gr.report.write_report(folder / "run", folder / "report.html", data, classes=["west", "<i>east</i>"])
    return SimpleNamespace(data=data, run=folder / "run", page=page)
