"""``graphreach anchors`` and ``graphreach reach``: reference nodes, and reachability between nodes and them."""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

import graphreach as gr
from graphreach.arguments import check_choice
from graphreach.cli import options
from graphreach.cli.data import GraphFile, with_graph
from graphreach.cli.group import say
from graphreach.cli.options import check_output, number_or_name, option
from graphreach.graph.ids import plain_ids
from graphreach.io.results import (
    ANCHOR_SUFFIXES,
    REACH_SUFFIXES,
    check_anchor_file,
    read_anchors,
    write_anchors,
    write_reachability,
)
from graphreach.progress import stage
from graphreach.reachability.cache import result_arrays
from graphreach.walks.defaults import NUM_ANCHORS, NUM_WALKS, STRATEGY, WALK_LENGTH

METHODS, SIMILARITIES, LAYOUTS = ("walks", "exact", "auto"), ("frequency", "order"), ("dense", "csr", "auto")
SHARE = "Share of visits (Eq. 1), or weighted by the order of visits (App. A)."


@with_graph
def anchors(
    file: GraphFile,
    output: Annotated[Path | None, option("--output -o", "A .txt, .csv or .json file.", "FILE", "stdout")] = None,
    num_anchors: options.NumAnchors = NUM_ANCHORS,
    strategy: options.Strategy = STRATEGY,
    num_walks: options.NumWalks = NUM_WALKS,
    walk_length: options.WalkLength = WALK_LENGTH,
    seed: options.WalkSeed = 0,
    engine: options.EngineName = "local",
    address: options.Address = None,
    partitions: options.Partitions = None,
) -> None:
    """Choose anchors and print their ids, best first; how well they cover the graph goes to stderr."""
    if output is not None:
        check_output(output, ANCHOR_SUFFIXES)
    where = options.make_engine(engine, address, partitions=partitions)
    graph = file.read()
    parameters: dict[str, Any] = {
        "strategy": strategy, "num_walks": num_walks, "walk_length": options.resolve_length(graph, walk_length),
        "seed": seed,
    }  # fmt: skip
    chosen = _choose(graph, number_or_name(num_anchors), **parameters, engine=where)
    if where.last_use is not None:
        parameters["cluster"] = where.last_use.as_dict()
    ids = plain_ids(graph.ids[chosen.anchors])
    if output is None:
        typer.echo("\n".join(map(str, ids)))
        return
    known = ("coverage", "coverage_lower", "upper_bound", "num_starts", "num_nodes")
    write_anchors(output, ids, {name: getattr(chosen, name) for name in known} | parameters)


def _choose(graph: gr.Graph, num_anchors: int | float | str, **parameters: Any) -> gr.AnchorSet:
    """Select anchors, and say on stderr how well they cover the graph."""
    with stage("selecting anchors"):
        chosen = gr.select_anchors(graph, num_anchors, **parameters)
    noun = "anchor" if len(chosen) == 1 else "anchors"
    sampled = chosen.num_starts < chosen.num_nodes
    detail = f", estimated from {chosen.num_starts:,} of them" if sampled else ""
    say(
        f"{len(chosen)} {noun} by {chosen.strategy}: a walk from {chosen.coverage:.1%} of the {chosen.num_nodes:,} "
        f"nodes reaches one{detail} (at most {min(1.0, chosen.upper_bound):.1%} could)"
    )
    return chosen


@with_graph
def reach(
    file: GraphFile,
    output: Annotated[Path, option("--output -o", "A .parquet or .npz file.", "FILE", False)],
    anchors: Annotated[
        Path | None,
        option(
            "--anchors", "File of anchor ids (.txt, .csv, .json).", "FILE", "chosen by --num-anchors and --strategy"
        ),
    ] = None,
    num_anchors: options.NumAnchors = NUM_ANCHORS,
    strategy: options.Strategy = STRATEGY,
    method: Annotated[str, option("--method", "By random walks, or exactly.", "[walks|exact|auto]")] = "walks",
    similarity: Annotated[str, option("--similarity", SHARE, "[frequency|order]")] = "frequency",
    num_walks: options.NumWalks = NUM_WALKS,
    walk_length: options.WalkLength = WALK_LENGTH,
    hops: Annotated[
        int | None, option("--hops", "Keep the first L steps separate.", "L", "steps together", min=1)
    ] = None,
    seed: options.WalkSeed = 0,
    layout: Annotated[str, option("--layout", "Layout of matrices in an .npz file.", "[dense|csr|auto]")] = "auto",
    cache: Annotated[bool, option("--cache", "Keep the result in the user's cache folder.", default="off")] = False,
    engine: options.EngineName = "local",
    address: options.Address = None,
    partitions: options.Partitions = None,
) -> None:
    """Write s(v, a) and s(a, v) for every node v and anchor a.

    Parquet has the columns node, anchor, to_anchor = s(v, a) and from_anchor = s(a, v) (with --hops also hop), one row
    for each pair where one of the two is not zero. An npz file has the matrices to_anchors and from_anchors (or the
    data, indices, indptr and shape of each, if sparse), ids, anchors and parameters.
    """
    check_output(output, REACH_SUFFIXES)
    check_choice("--method", method, METHODS)
    check_choice("--similarity", similarity, SIMILARITIES)
    check_choice("--layout", layout, LAYOUTS)
    if anchors is not None:
        check_anchor_file(anchors)
    if hops is not None and similarity == "order":
        raise gr.InputError("--hops must not be given with --similarity order, which is a sum over steps")
    where = options.make_engine(engine, address, partitions=partitions)
    graph = file.read()
    walks: dict[str, Any] = {"num_walks": num_walks, "seed": seed}
    if hops is None or anchors is None:
        walks["walk_length"] = options.resolve_length(graph, walk_length)
    positions: gr.AnchorSet | NDArray[np.int64]
    with where.ready():
        if anchors is None:
            positions = _choose(graph, number_or_name(num_anchors), strategy=strategy, **walks, engine=where)
        else:
            positions = read_anchors(anchors, graph)
        with stage("computing reachability"):
            result = gr.reachability(
                graph, positions, method=method, similarity=similarity, hops=hops, layout=layout, cache=cache, **walks,
                engine=where,
            )  # fmt: skip
    if where.last_use is not None:
        say(f"Ray: {json.dumps(where.last_use.as_dict())}")
    with stage(f"writing {output.name}"):
        write_reachability(output, graph.ids, result, result_arrays(result))
    say(f"{result} is in {output}")
