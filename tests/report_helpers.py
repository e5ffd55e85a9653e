"""Graphs to report on, and what a page holds."""

import json
import re

import numpy as np

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


def some_graphs(sizes=(12, 50, 30)):
    """Graphs of several sizes with two classes each."""
    rng = np.random.default_rng(3)
    graphs = [gr.Graph.from_edges(rng.integers(0, size, (2, 5 * size)), size) for size in sizes]
    return gr.datasets.Dataset("some", tuple(gr.datasets.Sample(g, None, np.arange(g.num_nodes) % 2) for g in graphs))


def data_of(page):
    """What the page's scripts read."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def pixels(page, view, layer):
    """What a canvas shows, as one text."""
    return page.evaluate("([view, layer]) => views[view].layers[layer].toDataURL()", [view, layer])
