"""From a run's folder to a page."""

import html
from collections.abc import Sequence
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from graphreach.datasets import Dataset, Sample
from graphreach.errors import InputError
from graphreach.explain import Explainer
from graphreach.files import replacing
from graphreach.report.content import Content
from graphreach.report.packing import script_json
from graphreach.tasks import Split, label_weights
from graphreach.training.harness import make_splits
from graphreach.training.outcome import read_outcome
from graphreach.training.trained_run import TrainedRun

SCRIPTS = ("data.js", "colours.js", "view.js", "charts.js", "panels.js", "main.js")


def write_report(
    folder: str | PathLike[str], path: str | PathLike[str], data: Dataset | Sample, **options: Any
) -> Path:
    """Write the page of a run to a file; see :func:`make_report`.

    Args:
        folder: Of :func:`graphreach.training.run`.
        path: The file.
        data: The data that the run was given.
        options: Further arguments of :func:`make_report`.
    """
    page, out = make_report(folder, data, **options), Path(path)
    with replacing(out) as partial:
        partial.write_text(page, encoding="utf-8")
    return out


def make_report(
    folder: str | PathLike[str], data: Dataset | Sample, *, split: Split | None = None, classes: Sequence[Any] = ()
) -> str:
    """A run as one HTML page: the graph with its anchors beside the map of embeddings, figures, and pairs explained.

    The page needs no network, no font and no script but its own. Graphs of more than 10,000 nodes are shown in part.

    Args:
        folder: Of :func:`graphreach.training.run`, of method ``graphreach`` and task link or pair.
        data: The data that the run was given, one graph.
        split: The run's split; made again by default.
        classes: Names of the classes, in the order of their numbers.

    Example:
        >>> import tempfile
        >>> import graphreach as gr
        >>> grid = gr.datasets.load("grid")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     settings = gr.training.Settings(num_anchors=4, epochs=1, evaluate_every=1)
        ...     _ = gr.training.run(grid, settings, folder)
        ...     page = make_report(folder, grid)
        >>> page[:15], "://" in page
        ('<!doctype html>', False)
    """
    run, dataset = TrainedRun(Path(folder)), data if isinstance(data, Dataset) else Dataset("graph", (data,))
    if run.settings.task == "node":
        raise InputError("run must be of task link or pair to be reported on, got task node")
    if len(dataset.samples) != 1:
        raise InputError(f"data must be one graph, got {len(dataset.samples)}")
    outcome = read_outcome(Path(folder))
    own = make_splits(dataset, run.settings)[0] if split is None else split
    scores = outcome.scores["test"]
    if len(scores) != 1 or scores[0] is None or len(scores[0]) != len(own.test):
        raise InputError(f"data must be what the run was trained with, got {len(own.test)} test pairs")
    weights = label_weights(own) if run.settings.walk_weights == "train-labels" else None
    explainer = Explainer(run, own.graph, own.x, walk_graph=weights)
    names = classes if dataset.classes is None or len(classes) else dataset.classes.tolist()
    content = Content(Path(folder), outcome, dataset, own, explainer, names)
    return fill_page(content.to_dict())


def fill_page(content: dict[str, Any]) -> str:
    """The page with its style, its scripts and its data in their places."""
    parts = files("graphreach.report").joinpath("page")
    page, style = (parts.joinpath(name).read_text(encoding="utf-8") for name in ("page.html", "style.css"))
    script = "\n".join(parts.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    title = html.escape(f"{content['title']} - graphreach")
    out = []
    for place, filling in (
        ("{{title}}", title), ("/* style */", style), ("{{data}}", script_json(content)), ("/* script */", script),
    ):  # fmt: skip
        before, page = page.split(place)
        out += [before, filling]
    return "".join([*out, page])
