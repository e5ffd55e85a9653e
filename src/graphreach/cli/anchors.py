"""``graphreach anchors``: which nodes to measure positions against."""

from pathlib import Path
from typing import Annotated, Any

import typer

import graphreach as gr
from graphreach.cli import engine_options as engines
from graphreach.cli import options
from graphreach.cli.graph_options import GraphFile, with_graph
from graphreach.cli.group import say
from graphreach.cli.output import check_output
from graphreach.graph.ids import plain_ids
from graphreach.io.results import ANCHOR_SUFFIXES, write_anchors
from graphreach.progress import stage
from graphreach.walks.defaults import NUM_ANCHORS, NUM_WALKS, STRATEGY, WALK_LENGTH


@with_graph
def anchors(
    file: GraphFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="A .txt, .csv or .json file.", show_default="stdout"),
    ] = None,
    num_anchors: options.NumAnchors = NUM_ANCHORS,
    strategy: options.Strategy = STRATEGY,
    num_walks: options.NumWalks = NUM_WALKS,
    walk_length: options.WalkLength = WALK_LENGTH,
    seed: options.Seed = 0,
    engine: engines.Name = "local",
    address: engines.Address = None,
    partitions: engines.Partitions = None,
) -> None:
    """Choose anchors and print their ids, best first; how well they cover the graph goes to stderr."""
    if output is not None:
        check_output(output, ANCHOR_SUFFIXES)
    where = engines.make_engine(engine, address, partitions=partitions)
    graph = file.read()
    parameters: dict[str, Any] = {
        "strategy": strategy,
        "num_walks": num_walks,
        "walk_length": options.resolve_length(graph, walk_length),
        "seed": seed,
    }
    chosen = choose(graph, options.number_or_name(num_anchors), **parameters, engine=where)
    if where.last_use is not None:
        parameters["cluster"] = where.last_use.as_dict()
    ids = plain_ids(graph.ids[chosen.anchors])
    if output is None:
        typer.echo("\n".join(map(str, ids)))
        return
    known = ("coverage", "coverage_lower", "upper_bound", "num_starts", "num_nodes")
    write_anchors(output, ids, {name: getattr(chosen, name) for name in known} | parameters)


def choose(graph: gr.Graph, num_anchors: int | float | str, **parameters: Any) -> gr.AnchorSet:
    """Select anchors, and say on stderr how well they cover the graph."""
    with stage("selecting anchors"):
        chosen = gr.select_anchors(graph, num_anchors, **parameters)
    say(summary(chosen))
    return chosen


def summary(chosen: gr.AnchorSet) -> str:
    """How well anchors cover their graph, in one line.

    Example:
        >>> star = gr.Graph.from_edges([[0, 0, 0], [1, 2, 3]])
        >>> summary(gr.select_anchors(star, 1, strategy="degree", walk_length=1))
        '1 anchor by degree: a walk from 75.0% of the 4 nodes reaches one (at most 100.0% could)'
    """
    noun = "anchor" if len(chosen) == 1 else "anchors"
    sampled = chosen.num_starts < chosen.num_nodes
    detail = f", estimated from {chosen.num_starts:,} of them" if sampled else ""
    return (
        f"{len(chosen)} {noun} by {chosen.strategy}: a walk from {chosen.coverage:.1%} of the {chosen.num_nodes:,} "
        f"nodes reaches one{detail} (at most {min(1.0, chosen.upper_bound):.1%} could)"
    )
