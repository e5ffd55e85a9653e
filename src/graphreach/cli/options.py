"""Options that several verbs share, what their texts mean, and checks of the files that will be written."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

import graphreach as gr
from graphreach.cli.completion import completer
from graphreach.errors import InputError
from graphreach.progress import stage
from graphreach.walks.engine import Engine, find_engine
from graphreach.walks.walk_length import resolve_walk_length


def option(names: str, text: str, metavar: str | None = None, default: Any = True, **others: Any) -> Any:
    """An option, its names with blanks between; ``default`` is what the help shows for it, True for the value."""
    others.setdefault("autocompletion", completer(names))
    return typer.Option(*names.split(), help=text, metavar=metavar, show_default=default, **others)


ANCHORS = "Number of anchors, a share such as 0.1, or log2 for floor(log2 n)^2."
NumAnchors = Annotated[str, option("--num-anchors -k", ANCHORS, "K|SHARE|log2")]
Strategy = Annotated[str, option("--strategy", "greedy, random, degree or pagerank.", "NAME")]
NumWalks = Annotated[int, option("--num-walks", "Number of walks from each node, n_w.", "N", min=1)]
WalkLength = Annotated[str, option("--walk-length", "Number of jumps in a walk, l_w.", "N|diameter")]
WALK_SEED = "Random seed for walks and for breaking ties."
WalkSeed = Annotated[int, option("--seed", WALK_SEED, "N", min=0, max=2**63 - 1)]

ENGINE = "local, or ray to share the work on a Ray cluster."
EngineName = Annotated[str, option("--engine", ENGINE, "NAME")]
Address = Annotated[
    str | None, option("--address", "Address of the Ray cluster.", "HOST:PORT", "starts Ray on this machine")
]
PARTS = "Number of parts to split the graph into, one per Ray worker."
Partitions = Annotated[int | None, option("--partitions", PARTS, "N", "the whole graph on every node", min=1)]
WORKERS = "Number of Ray processes that share each training step."
Workers = Annotated[int | None, option("--workers", WORKERS, "N", "2")]

REMEMBERED = "none, or those that a run remembers"
PROTOCOL = (
    "How examples are split: clean, node-disjoint, graph-disjoint, time (links: train on the past), or published, the"
    " paper's, on which pairs of one class are found without a model."
)
CLASSES = "Table of node ids and classes, one row per label (.csv .tsv .txt .parquet)."
NUMBERS = "Table of node ids and numbers, or .npy in the order of ids."
SETTING = "Any setting, e.g. epochs=500 or model.heads=2; repeatable."
SEED = "Random seed for splits, anchors, walks and weights."
Config = Annotated[Path | None, option("--config -c", "YAML file of settings; other options win.", "FILE", "none")]
Set = Annotated[list[str] | None, option("--set -s", SETTING, "KEY=VALUE", "none")]
Task = Annotated[str | None, option("--task", "link, pair or node.", "NAME", "link, or node with --labels")]
SPLITS = "clean for links, node-disjoint for pairs and nodes"
Protocol = Annotated[str | None, option("--protocol", PROTOCOL, "NAME", SPLITS)]
Labels = Annotated[Path | None, option("--labels", CLASSES, "FILE", REMEMBERED)]
COLUMN = "Column of the classes in --labels."
LabelColumn = Annotated[str | None, option("--label-column", COLUMN, "COLUMN", "detected, and reported")]
Features = Annotated[Path | None, option("--features", NUMBERS, "FILE", REMEMBERED)]
GIVEN = "Table of test links, which are removed from the graph; a column label may mark negative pairs by 0."
TestPairs = Annotated[Path | None, option("--test-pairs", GIVEN, "FILE", "drawn from the graph")]
VALIDATION = "The same for links to choose the model by."
ValPairs = Annotated[Path | None, option("--val-pairs", VALIDATION, "FILE", "drawn from the graph")]
DRAWN = (
    "Negative pairs, from which links have to be distinguished: uniform, degree (both ends as popular as those of links),"
    " same-distance or common-neighbour."
)
Negatives = Annotated[str | None, option("--negatives", DRAWN, "NAME", "uniform")]
FOREST = "Keep a spanning forest of the links in training, so that no part of the graph falls apart."
KeepConnected = Annotated[bool, option("--keep-connected", FOREST, default="off")]
EPOCHS = "Maximum number of epochs; training stops after 250 without a better validation, or --set patience=N."
Epochs = Annotated[int | None, option("--epochs", EPOCHS, "N", "1000", min=1)]
Preset = Annotated[str | None, option("--preset", "best, paper or authors.", "NAME", "best")]
Seed = Annotated[int | None, option("--seed", SEED, "N", "0", min=0, max=2**32 - 1)]
Device = Annotated[str | None, option("--device", "Where to train the model: auto, cpu or cuda.", "NAME", "auto")]
VERBOSE = "Print every setting of the run, including defaults."
Verbose = Annotated[bool, option("--verbose", VERBOSE, default="off")]
Json = Annotated[bool, option("--json", "Print JSON, for scripts.", default="off")]

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder that graphreach train wrote.", show_default=False)]
GRAPH = "Another graph, or a newer version of the same one."
OtherGraph = Annotated[Path | None, option("--graph", GRAPH, "FILE", "that of the run")]
NUMBER = "Which graph to use, from 1 on, if the run has several."
GraphNumber = Annotated[int | None, option("--graph-number", NUMBER, "N", "the one with most test examples")]
ANEW = "Choose new anchors on the graph, which may be unrelated to the one that was trained on."
NewAnchors = Annotated[bool, option("--new-anchors", ANEW, default="off")]


def number_or_name(text: str, kinds: tuple[type, ...] = (int, float)) -> Any:
    """What the text of an option means: a whole number, a share, or a name that the library checks.

    Example:
        >>> number_or_name("64"), number_or_name("0.1"), number_or_name("log2")
        (64, 0.1, 'log2')
    """
    for kind in kinds:
        with suppress(ValueError):
            return kind(text)
    return text


def resolve_length(graph: gr.Graph, text: str) -> int:
    """The number of jumps that ``--walk-length`` means; computed once per command, as the diameter may take seconds."""
    with stage("searching for the diameter"):
        return resolve_walk_length(graph, number_or_name(text, (int,)))


def make_engine(name: str, address: str | None, *, partitions: int | None = None, workers: int | None = None) -> Engine:
    """The engine that the options mean.

    Example:
        >>> make_engine("local", None, workers=3)
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: --workers must go with --engine ray, got 3 with --engine local
    """
    if name == "ray":
        from graphreach.cluster import Ray

        return Ray(address, partitions, workers)
    engine = find_engine(name)
    for each, value in (("address", address), ("partitions", partitions), ("workers", workers)):
        if value is not None:
            raise InputError(f"--{each} must go with --engine ray, got {value} with --engine {name}")
    return engine


def check_output(path: Path, suffixes: Sequence[str] = (), option: str = "--output") -> None:
    """Refuse a file that cannot be written, or with another suffix, before any work is done for it.

    Example:
        >>> check_output(Path("reach.xlsx"), [".parquet", ".npz"])
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: --output must end in .parquet or .npz, got reach.xlsx
    """
    if suffixes and path.suffix.lower() not in suffixes:
        listed = " or ".join([", ".join(suffixes[:-1]), suffixes[-1]] if len(suffixes) > 1 else suffixes)
        raise InputError(f"{option} must end in {listed}, got {path.name}")
    _check_name(path, option)
    if path.is_dir():
        raise InputError(f"{option} must be a file, got the folder {path}")
    if not path.parent.is_dir():
        raise InputError(f"{option} must be in a folder that exists, got {path}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"{option} must be in a folder that can be written to, got {path}")


def check_output_folder(path: Path, option: str = "--output") -> None:
    """Refuse a folder that cannot be made or written to, before any work is done for it."""
    _check_name(path, option)
    nearest = next(folder for folder in (path, *path.absolute().parents) if os.path.lexists(folder))
    if not nearest.is_dir():
        what = "a folder" if nearest == path else "in a folder"
        raise InputError(f"{option} must be {what}, got the file {nearest}")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(f"{option} must be a folder that can be written to, got {path}")


def check_new_folder(path: Path, option: str = "--output") -> None:
    """Refuse a folder that is there already, or that cannot be made, before any work is done for it."""
    _check_name(path, option)
    if os.path.lexists(path):
        raise InputError(f"{option} must be a name that nothing has yet, got {path}, which exists")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{option} must be in a folder that exists, got {path}")
    check_output_folder(path, option)


def _check_name(path: Path, option: str) -> None:
    """Refuse names that no file can have: the system says so only when it is asked for one."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InputError(
            f"{option} must be a name that files can have, got {str(path)!r:.80}: {error.strerror}"
        ) from None
