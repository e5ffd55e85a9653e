"""``graphreach follow``: a run that keeps up with edges as they arrive."""

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import graphreach as gr
from graphreach.cli.changing import GRAPH_THEN, Changing, load_changing
from graphreach.cli.group import say
from graphreach.cli.options import check_output_folder, option
from graphreach.cli.update import AnyRun
from graphreach.progress import stage

UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
LONGEST = 24 * 3600.0
"""Longest wait in seconds."""
STREAM = "-"
EDGES = "File of edges whose lines are appended, or - for standard input."
Edges = Annotated[Path, typer.Argument(metavar="EDGES", help=EDGES, show_default=False)]
EVERY = "How often to take the lines that have arrived: 1s, 500ms, 2m."
OUTPUT = "Folder of batches and of what they changed."
ONCE = "End when all lines are taken, instead of waiting for more."


def follow(
    run: AnyRun,
    edges: Edges,
    every: Annotated[str, option("--every", EVERY, "TIME")] = "1s",
    output: Annotated[Path | None, option("--output -o", OUTPUT, "DIR", "RUN-followed")] = None,
    top: Annotated[int, option("--top", "Number of partners to recommend for each node of a batch.", "N", min=1)] = 10,
    graph: Annotated[Path | None, option("--graph", GRAPH_THEN, "FILE", "that of the run")] = None,
    once: Annotated[bool, option("--once", ONCE, default="off")] = False,
) -> None:
    """Follow edges as they arrive: apply each batch to the graph of a run, and write what it changes.

    Each time, the whole lines that were appended are one batch. It is written to DIR/batches and then applied. What it
    changed is in DIR/changes under the same number: the vectors that changed for an embedding, recommendations for the
    nodes of the batch for a run or a predictor of links. Lines have the columns of the run's own graph, found at the first
    line; a column op says add or remove, and without one all edges are added. If EDGES is the file that the run was
    trained on, its present lines are in the graph already.

    If it is killed at any moment, the same command continues where it was: no batch is lost or applied twice. The command
    checks that the file still begins with what was read before. With standard input, lines that are in no batch yet have to
    be sent again. A line that cannot be read or applied ends the command after the lines before it are applied. When the
    line has been corrected, the same command continues there.
    """
    from graphreach.updates.follower import Follower, has_begun, locked, next_place
    from graphreach.updates.sources import FileSource, StreamSource

    seconds = parse_seconds(every)
    folder = run.with_name(f"{run.resolve().name}-followed") if output is None else output
    check_output_folder(folder)
    is_stream = str(edges) == STREAM
    if not is_stream and not edges.is_file():
        what = "which does not exist" if not edges.exists() else "which is none"
        raise gr.InputError(f"EDGES must be a file, or - for standard input, got {edges}, {what}")
    if is_stream and sys.stdin is None:
        raise gr.InputError("EDGES must be a file, or - for standard input, got - where standard input is closed")
    with locked(folder):
        model = _begin(run, edges, folder, graph) if not has_begun(folder) else _open(run, edges, folder)
        place = next_place(folder)
        source = StreamSource(sys.stdin.fileno(), place) if is_stream else FileSource(edges, place)
        try:
            with stage("reading what was done so far"):
                follower = Follower(folder, followed(model, top), source, say)
            say(f"following {source.name} from line {place.line + 1} on, after batch {follower.number}")
            follower.run(seconds, once)
        except KeyboardInterrupt:
            say("ended; the same command goes on from there")
            return
        now = follower.graph
        if isinstance(source, FileSource) and source.ends_in_half_line:
            say(f"warning: the last line of {source.name} has no line break, and is taken when it has one")
        say(f"nothing is left after batch {follower.number}: {now.num_nodes} nodes, {now.num_edges} edges")


def parse_seconds(text: str) -> float:
    """The seconds that a time means.

    Example:
        >>> parse_seconds("500ms"), parse_seconds("2m"), parse_seconds("3")
        (0.5, 120.0, 3.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h)?", text.strip())
    seconds = float(found[1]) * UNITS[found[2] or "s"] if found else 0.0
    if not 0 < seconds <= LONGEST:
        raise gr.InputError(f"--every must be a time such as 1s, 500ms or 2m, up to 24h, got {text!r}")
    return seconds


def followed(estimator: Any, top: int) -> Any:
    """What is kept up to date."""
    from graphreach.updates.models import FollowedLinks, FollowedVectors

    return FollowedLinks(estimator, top) if isinstance(estimator, gr.LinkPredictor) else FollowedVectors(estimator)


def _begin(run: Path, edges: Path, folder: Path, graph: Path | None) -> Any:
    """Prepare a folder; the graph of the run is kept in it, so that the file of its edges may change."""
    from graphreach.updates.follower import Begun, begin
    from graphreach.updates.sources import START

    if any(path.name != ".lock" for path in folder.iterdir()) and not _is_half_begun(folder):
        raise gr.InputError(
            f"--output must be an empty folder, or one that was followed into, got {folder} with other files"
        )
    start, first = START, None
    is_file = str(edges) != STREAM
    if is_file:
        start, first = _behind(edges)
    found = load_changing(run, graph)
    if found.graph.sides is not None:
        raise gr.InputError("RUN must be of a graph with one kind of nodes to be followed, got one with two kinds")
    own = is_file and found.path is not None and found.path.resolve() == edges.resolve()
    if not own:
        start, first = START, None
    else:
        say(f"{edges.name} is the file of the run's own graph: its first {start.line} lines are in it already")
    name = edges.name if is_file else STREAM
    begun = Begun(found.run.model_hash, name, start, found.self_loops, _columns(found))
    followed(found.run.estimator, 1)  # which refuses what cannot be followed, before anything is written
    begin(folder, found.graph, begun, first)
    return found.run.estimator


def _open(run: Path, edges: Path, folder: Path) -> Any:
    """The estimator of a run that was followed before; another run is refused."""
    from graphreach.updates.follower import read_begun
    from graphreach.updates.runs import open_updatable

    found, begun = open_updatable(run), read_begun(folder)
    if found.model_hash != begun.model:
        raise gr.InputError(f"RUN must be the run that {folder} was begun with, got {run}, which has another model")
    if (begun.source == STREAM) != (str(edges) == STREAM):
        raise gr.InputError(f"EDGES must be what {folder} was begun with, {begun.source}, got {edges}")
    return found.estimator


def _is_half_begun(folder: Path) -> bool:
    """Whether nothing is there but what a follower that was killed at once has written."""
    from graphreach.updates.batch_log import BATCHES, CHANGES, SNAPSHOTS
    from graphreach.updates.follower import LAYOUT

    names = {path.name for path in folder.iterdir()}
    return names <= {BATCHES, CHANGES, SNAPSHOTS, LAYOUT, ".lock"}


def _behind(edges: Path) -> tuple[Any, bytes | None]:
    """The place behind the whole lines of a file, and its first line of edges."""
    from graphreach.updates.edge_lines import MARKS, is_content
    from graphreach.updates.sources import end_of_lines

    with edges.open("rb") as file:
        first = next((line for line in file if is_content(line, MARKS) and line.endswith(b"\n")), None)
    return end_of_lines(edges), first


def _columns(found: Changing) -> Any:
    """What is known about the columns of lines from how the run's own graph was read."""
    from graphreach.updates.edge_lines import Columns

    given = {name: found.options.get(name) for name in Columns._fields}
    if given["weight"] is False:
        given["weight"] = None
    return Columns(**given)
