"""Small runs with labels, and their pages."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import graphreach as gr
from report_helpers import some_graphs, two_quarters

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


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


@pytest.fixture(scope="session")
def crowded(tmp_path_factory):
    """A run that tells twenty classes, more than a matrix shows by itself; and its page."""
    folder = tmp_path_factory.mktemp("crowded")
    graph = gr.datasets.load("communities")[0].graph
    y = np.arange(graph.num_nodes) // 20
    y[::7] = 3
    data = gr.datasets.Dataset("crowded", (gr.datasets.Sample(graph, None, y),))
    outcome = gr.training.run(data, gr.training.Settings(task="node", method="reach"), folder / "run")
    page = gr.report.write_report(folder / "run", folder / "report.html", data)
    return SimpleNamespace(data=data, outcome=outcome, page=page)


@pytest.fixture(scope="session")
def in_part(tmp_path_factory, reached):
    """The page of method reach where a graph of 60 nodes is too large to be drawn whole."""
    path = tmp_path_factory.mktemp("part") / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphreach.report.drawing.MAX_NODES", 40)
        patch.setattr("graphreach.report.drawing.SAMPLE", 40)
        patch.setattr("graphreach.report.pair_content.LISTED", 2)
        patch.setattr(gr.explain.Explainer, "anchors", property(lambda self: self.reach.anchors[:3]))
        patch.setattr("graphreach.report.figures.coverage_curve", lambda explainer: np.ones(3))
        return gr.report.write_report(reached.run, path, reached.data)


@pytest.fixture(scope="session")
def browser():
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip(f"needs one of {', '.join(BROWSERS)}")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def open_page(browser, quarters):
    """Open a page, by default that of pairs; at the end nothing may have gone wrong or gone out."""
    contexts, troubles = [], []

    def open_it(file=quarters.page, **options):
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 1000}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or troubles.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        return page

    yield open_it
    hacked = [context.pages[0].evaluate("window.hacked ?? null") for context in contexts]
    for context in contexts:
        context.close()
    assert troubles == []
    assert hacked == [None] * len(contexts)
