"""From a run's folder to a page."""

import html
from collections.abc import Sequence
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from graphreach.arguments import to_list, to_path
from graphreach.datasets import Dataset, Sample
from graphreach.errors import InputError
from graphreach.explain import Explainer
from graphreach.explain.reach_explainer import ReachExplainer
from graphreach.io.files import replacing
from graphreach.report.drawing import script_json
from graphreach.report.link_content import LinkContent
from graphreach.report.node_content import NodeContent
from graphreach.report.pair_content import PairContent
from graphreach.tasks import Split, label_weights
from graphreach.tasks.examples import check_split
from graphreach.training.harness import make_splits
from graphreach.training.loaded_run import LoadedRun, load_run
from graphreach.training.outcome import Outcome
from graphreach.training.run_folder import RunFolder
from graphreach.training.settings import FITTED
from graphreach.training.trained_run import TrainedRun

SCRIPTS = (
    "data.js", "colours.js", "view.js", "charts.js", "panels.js", "links.js", "nodes.js", "circles.js", "answer.js",
    "main.js",
)  # fmt: skip


def write_report(
    folder: str | PathLike[str], path: str | PathLike[str], data: Dataset | Sample, **options: Any
) -> Path:
    """Write the page of a run to a file; see :func:`make_report`.

    Args:
        folder: Folder that :func:`graphreach.training.run` wrote.
        path: The file.
        data: The data that the run was given.
        options: Further arguments of :func:`make_report`.
    """
    out = to_path("path", path)
    if not out.name or out.is_dir():
        raise InputError(f"path must be a file's name, got the folder {out}")
    page = make_report(folder, data, **options)
    with replacing(out) as partial:
        partial.write_text(page, encoding="utf-8")
    return out


def make_report(
    folder: str | PathLike[str],
    data: Dataset | Sample,
    *,
    number: int | None = None,
    split: Split | None = None,
    classes: Sequence[Any] = (),
) -> str:
    """A run as one HTML page that opens with the answer, and shows the graph, figures and explained examples.

    For links and pairs the answer is the best new ones, each with a reason; for classes of nodes accuracy or F1, which
    classes are confused, and figures of each class. Sentences say how good that is, for how many held-out examples, and
    what a baseline reaches.

    For links and pairs the page also lists test pairs that the model was wrong about, with what their scores are made of.
    In a run of method ``graphreach`` these are the anchors that carry them. In a run of method ``reach`` they are what each
    group of features adds, the most travelled paths between both nodes, and the anchors near both. For classes of
    nodes it lists test nodes that the model was wrong about or unsure of, with their position among the anchors. Test
    metrics come with 95% intervals.

    The page needs no network, no font and no script but its own. Of a graph of more than 10,000 nodes it draws 8,000, and
    circles that stand for communities. Of a run on several graphs the page shows one, with the figures of that graph, and
    names those of all.

    Args:
        folder: Folder that :func:`graphreach.training.run` wrote, of method ``graphreach`` or ``reach``; of a run of
            several methods joined by ``+``, the folder of that part.
        data: The data that the run was given.
        number: Which of the data's graphs to show, from 1 on; by default the one with most test examples.
        split: The split of that graph; made again by default.
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
    place_of_run = to_path("folder", folder)
    run = load_explained(place_of_run)
    dataset = data if isinstance(data, Dataset) else Dataset("graph", (data,))
    outcome = RunFolder(place_of_run).outcome()
    graphs = len(outcome.scores["test"])
    if len(dataset) != graphs:
        wanted, got = ("one graph" if count == 1 else f"{count} graphs" for count in (graphs, len(dataset)))
        raise InputError(f"data must be what the run was trained with, {wanted}, got {got}")
    place = outcome.pick_graph(number)
    own = make_splits(dataset, run.settings)[place - 1] if split is None else check_split(split)
    _check_examples(outcome, place, own)
    kind: type[NodeContent | PairContent] = NodeContent if own.task == "node" else PairContent
    if isinstance(run, TrainedRun):
        weights = label_weights(own) if run.settings.walk_weights == "train-labels" else None
        explainer = Explainer(run, own.graph, own.x, walk_graph=weights)
    else:
        explainer = ReachExplainer(run, own.graph, own.x)
        kind = NodeContent if own.task == "node" else LinkContent
    given = to_list("classes", classes, "a list of names of classes")
    names = given if dataset.classes is None or len(given) else dataset.classes.tolist()
    content = kind(place_of_run, outcome, dataset.name, place, dataset[place - 1], own, explainer, names)
    return fill_page(content.to_dict())


def load_explained(folder: Path) -> LoadedRun | TrainedRun:
    """A run that can be explained: of method ``reach``, or of one with a model."""
    fitted = RunFolder(folder).settings.method in FITTED
    return load_run(folder) if fitted else TrainedRun(folder)


def _check_examples(outcome: Outcome, number: int, split: Split) -> None:
    """Refuse a split with other examples or classes than the run scored."""
    noun = "nodes" if split.task == "node" else "pairs"
    for part, name in (("test", "test"), ("val", "validation")):
        scores, examples = outcome.scores[part][number - 1], getattr(split, part)
        recorded = 0 if scores is None else len(scores)
        if recorded != len(examples) or (part == "test" and split.task == "node" and not recorded):
            raise InputError(
                f"data must be what the run was trained with, {recorded} {name} {noun}, got {len(examples)} {name} {noun}"
            )
        columns = [split.num_classes] if split.task == "node" else []
        if scores is not None and list(scores.shape[1:]) != columns:
            wanted = f"{split.num_classes} scores" if columns else "one score"
            raise InputError(
                f"scores must be {wanted} for each of {recorded} {name} {noun}, got shape {list(scores.shape)};"
                " train the run again"
            )


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
