"""The page of a graph with 100,000 nodes."""

from collections import Counter

import numpy as np
import pytest

import graphreach as gr
from graphreach.report.drawing import MAX_EDGES, SAMPLE
from report_helpers import data_of

NODES, GROUPS = 100_000, 40


@pytest.mark.slow
@pytest.mark.browser
def test_a_hundred_thousand_nodes(tmp_path, open_page):
    rng = np.random.default_rng(0)
    size = NODES // GROUPS
    inside = rng.integers(0, size, (2, 3 * NODES)) + size * rng.integers(0, GROUPS, 3 * NODES)
    ends = np.concatenate([inside, rng.integers(0, NODES, (2, NODES // 10))], 1)
    graph = gr.Graph.from_edges(ends[:, ends[0] != ends[1]], NODES, reduce="max")
    data = gr.datasets.Dataset("large", (gr.datasets.Sample(graph, None, np.arange(NODES) // size),))
    model = {"num_members": 1, "num_links": 2000, "num_anchors": 16}
    settings = gr.training.Settings(method="reach", fractions=(0.99, 0.005, 0.005), model=model)
    gr.training.run(data, settings, tmp_path / "run")
    path = gr.report.write_report(tmp_path / "run", tmp_path / "report.html", data)
    assert path.stat().st_size < 5_000_000
    found = data_of(path.read_text())
    assert found["detail"]["drawn"].startswith("8,000 of 100,000 nodes drawn")
    assert len(found["nodes"]["ids"]) == SAMPLE
    circles = found["detail"]["circles"]
    assert sum(each["nodes"] for each in circles) == NODES
    assert sum(each["drawn"] for each in circles) == SAMPLE
    assert min(found["anchors"]["nodes"]) >= 0
    assert all(min(pair["nodes"]) >= 0 for each in found["lists"] for pair in each["pairs"])
    assert [sum(group["totals"]) for group in found["groups"]] == [NODES, NODES]
    assert Counter(each["name"] for each in found["lists"] if each["pairs"]) == Counter(["new", "missed", "believed"])
    page = open_page(path)
    assert page.evaluate("ends.length") <= 2 * MAX_EDGES
    page.locator("[data-list=new]").first.click()
    assert page.locator("#selection").get_attribute("data-selected") == "pair"
    page.evaluate("openCircle(circles[0])")
    assert page.locator("#selection h2").text_content() == "Community 1"
