"""Small runs with labels, and their pages."""

from types import SimpleNamespace

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
