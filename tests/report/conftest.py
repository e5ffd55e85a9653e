"""Small runs with labels, and their pages."""

from types import SimpleNamespace

import numpy as np
import pytest

import graphreach as gr
from report_helpers import some_graphs, two_quarters


@pytest.fixture(scope="session")
def quarters(tmp_path_factory):
    """The data, the run's folder, and the page's file."""
    folder = tmp_path_factory.mktemp("quarters")
    data = two_quarters()
    settings = gr.training.Settings(num_anchors=8, epochs=12, evaluate_every=2)
    gr.training.run(data, settings, folder / "run")
    page = gr.report.write_report(folder / "run", folder / "report.html", data, classes=["west", "<i>east</i>"])
    return SimpleNamespace(data=data, run=folder / "run", page=page)


@pytest.fixture(scope="session")
def reached(tmp_path_factory, quarters):
    """A run of method reach on the links of the same nodes, and its page."""
    folder = tmp_path_factory.mktemp("reached")
    gr.training.run(quarters.data, gr.training.Settings(method="reach", model={"num_members": 1}), folder / "run")
    page = gr.report.write_report(folder / "run", folder / "report.html", quarters.data)
    return SimpleNamespace(data=quarters.data, run=folder / "run", page=page)


@pytest.fixture(scope="session")
def classified(tmp_path_factory, quarters):
    """A run that tells the classes of the same nodes, and its page."""
    folder = tmp_path_factory.mktemp("classified")
    settings = gr.training.Settings(task="node", num_anchors=8, epochs=6, evaluate_every=2)
    gr.training.run(quarters.data, settings, folder / "run")
    page = gr.report.write_report(
        folder / "run", folder / "report.html", quarters.data, classes=["west", "<i>east</i>"]
    )
    return SimpleNamespace(data=quarters.data, run=folder / "run", page=page)


@pytest.fixture(scope="session")
def several(tmp_path_factory):
    """A run on links of three graphs, the first of them with fewer nodes than anchors were asked for; and its page."""
    folder, data = tmp_path_factory.mktemp("several"), some_graphs()
    settings = gr.training.Settings(num_anchors=16, epochs=6, evaluate_every=2, graphs_per_batch=2)
    gr.training.run(data, settings, folder / "run")
    page = gr.report.write_report(folder / "run", folder / "report.html", data)
    return SimpleNamespace(data=data, run=folder / "run", settings=settings, page=page)


@pytest.fixture(scope="session")
def many_labels(tmp_path_factory, quarters):
    """A run on the same nodes, of which every third has two labels and the first four have none; and its page."""
    folder, graph = tmp_path_factory.mktemp("many"), quarters.data[0].graph
    y = np.zeros((graph.num_nodes, 3), np.bool_)
    y[np.arange(graph.num_nodes), quarters.data[0].y] = True
    y[::3, 2] = True
    y[:4] = False
    data = gr.datasets.Dataset("many", (gr.datasets.Sample(graph, y=y),))
    outcome = gr.training.run(data, gr.training.Settings(task="node", method="reach"), folder / "run")
    page = gr.report.write_report(folder / "run", folder / "report.html", data, classes=["west", "east", "old"])
    return SimpleNamespace(y=y, outcome=outcome, page=page)
