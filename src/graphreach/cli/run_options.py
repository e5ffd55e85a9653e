"""Options of every verb that trains: where settings come from, and what the graph's nodes are known by."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import graphreach as gr
from graphreach.cli.graph_options import GraphFile
from graphreach.cli.group import say
from graphreach.cli.options import option
from graphreach.progress import stage

if TYPE_CHECKING:
    from graphreach import training

REMEMBERED = "none, or those that a run remembers"
PROTOCOL = (
    "How examples are split: clean, node-disjoint, graph-disjoint, or published, the paper's, on which pairs of one class"
    " are found without a model."
)
SPLITS = "clean for links, node-disjoint for pairs and nodes"
CLASSES = "Table of node ids and classes (.csv .tsv .txt .parquet)."
NUMBERS = "Table of node ids and numbers, or .npy in order of ids."
SETTING = "Any setting, e.g. epochs=500 or model.heads=2; repeatable."
SEED = "Random seed for splits, anchors, walks and weights."

Config = Annotated[
    Path | None, option("--config -c", "Settings as YAML; the other options come on top.", "FILE", "none")
]
Set = Annotated[list[str] | None, option("--set -s", SETTING, "KEY=VALUE", "none")]
Task = Annotated[str | None, option("--task", "link, pair or node.", "NAME", "link, or node with --labels")]
Protocol = Annotated[str | None, option("--protocol", PROTOCOL, "NAME", SPLITS)]
Labels = Annotated[Path | None, option("--labels", CLASSES, "FILE", REMEMBERED)]
LabelColumn = Annotated[
    str | None, option("--label-column", "Column of the classes in --labels.", "COLUMN", "found out, and said")
]
Features = Annotated[Path | None, option("--features", NUMBERS, "FILE", REMEMBERED)]
Epochs = Annotated[int | None, option("--epochs", "Maximum number of epochs.", "N", "1000", min=1)]
Preset = Annotated[str | None, option("--preset", "best, paper or authors.", "NAME", "best")]
Seed = Annotated[int | None, option("--seed", SEED, "N", "0", min=0, max=2**32 - 1)]
Device = Annotated[str | None, option("--device", "auto, cpu or cuda: where the model is trained.", "NAME", "auto")]
Verbose = Annotated[
    bool, option("--verbose", "Print every setting of the run, also those left to defaults.", default="off")
]
Json = Annotated[bool, option("--json", "Print JSON, for scripts.", default="off")]


class Tables(NamedTuple):
    """Files about a graph's nodes, as the command line names them."""

    labels: Path | None = None
    label_column: str | None = None
    features: Path | None = None

    def given(self) -> list[str]:
        """The options that were given.

        Example:
            >>> Tables(label_column="team").given()
            ['--label-column']
        """
        names = ("--labels", "--label-column", "--features")
        return [name for name, value in zip(names, self, strict=True) if value is not None]


def read_settings(
    file: GraphFile, tables: Tables, config: Path | None, changes: list[str] | None, **values: Any
) -> "training.Settings":
    """The settings of a run; without a task, labels make it one on nodes, which is said.

    Args:
        file: The graph.
        tables: What is known of its nodes.
        config: A YAML file of settings.
        changes: Settings as ``key=value``.
        values: Settings that have options of their own; None where they were not given.
    """
    from graphreach.training import Settings

    settings = Settings.read(config, changes or [], **values)
    if tables.label_column is not None and tables.labels is None:
        raise gr.InputError(f"--label-column must go with --labels, got {tables.label_column!r} without")
    named = file.dataset()
    if tables.labels is not None and named is None:
        if "task" not in settings.model_fields_set:
            settings = Settings.read(config, changes or [], **(values | {"task": "node"}))
            say("task node, as --labels are given; --task link or --task pair chooses another")
        elif settings.task == "link":
            say("--labels are not used to train links; graphreach report colours the nodes by them")
    if tables.labels is None and named is None and settings.task != "link":
        raise gr.InputError(
            f"--labels must be given for task {settings.task}, a table of node ids and classes, got none"
        )
    return settings


def check_effect(methods: list[str], changes: list[str] | None, tables: Tables, **values: Any) -> None:
    """Refuse what was asked for and would change nothing, for any of the methods.

    Example:
        >>> check_effect(["katz"], ["epochs=3"], Tables())
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: epochs must go with a method that is trained, it has no effect on 'katz'
    """
    from graphreach.training.plan import check_read

    given = [change.partition("=")[0].split(".")[0].strip() for change in changes or []]
    given += [name for name, value in values.items() if value is not None]
    check_read(methods, given + (["features"] if tables.features is not None else []))


def say_plan(settings: Any, sample: Any) -> None:
    """Print all that a run does on a graph, one line for each group of settings."""
    from graphreach.training.plan import resolve

    for name in settings.method.split("+"):
        own = settings.part(name) if "+" in settings.method else settings
        attributes = own.features and sample.x is not None
        for line in str(resolve(own, sample.graph.num_nodes, attributes)).splitlines():
            say(line)


def load_data(file: GraphFile, tables: Tables) -> tuple[Any, list[Any]]:
    """The graph with its features and labels as a data set of one, and the names of the classes.

    A name of a data set that is not a file is loaded by :func:`graphreach.datasets.load`.
    """
    from graphreach import datasets

    name = file.dataset()
    if name is not None:
        _refuse_with_name(file, tables, name)
        with stage(f"loading {file.graph}"):
            return datasets.load(name), []
    from graphreach.io.tables import read_features, read_labels

    graph = file.read()
    with stage("reading tables"):
        labels, column, features = tables
        y, classes = (None, []) if labels is None else read_labels(labels, graph, label=column, report=say)
        x = None if features is None else read_features(features, graph, report=say)
    return datasets.Dataset(file.graph.name, (datasets.Sample(graph, x, y),)), classes


def _refuse_with_name(file: GraphFile, tables: Tables, name: str) -> None:
    """Options of files have no effect on a data set by its name."""
    plain = GraphFile(graph=file.graph)
    given = tables.given() + [
        f"--{each.name.replace('_', '-')}"
        for each in fields(file)
        if getattr(file, each.name) != getattr(plain, each.name)
    ]
    if given:
        raise gr.InputError(f"{given[0]} must go with a file, got it with the data set {name}, which has its own")


def one_graph(dataset: Any) -> Any:
    """The only graph of a data set."""
    if len(dataset.samples) != 1:
        raise gr.InputError(f"GRAPH must be one graph, got the {len(dataset.samples)} graphs of {dataset.name}")
    return dataset.samples[0]


def describe_source(file: GraphFile, tables: Tables, classes: list[Any]) -> dict[str, Any]:
    """How to read the data of a run again, as plain values.

    Example:
        >>> describe_source(GraphFile(graph=Path("grid")), Tables(), [])["graph"]
        'grid'
    """
    labels = None if tables.labels is None else {"path": _absolute(tables.labels), "column": tables.label_column}
    return {
        "graph": _absolute(file.graph) if file.graph.is_file() else str(file.graph),
        "options": {name: _absolute(value) for name, value in file.arguments().items()},
        "features": _absolute(tables.features),
        "labels": labels,
        "classes": classes,
    }


def _absolute(value: Any) -> Any:
    return str(value.resolve()) if isinstance(value, Path) else value
