"""``graphreach reach``: reachability between nodes and anchors, as a file."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

import graphreach as gr
from graphreach.cli import engine_options as engines
from graphreach.cli import options
from graphreach.cli.anchors import choose
from graphreach.cli.graph_options import GraphFile, with_graph
from graphreach.cli.group import say
from graphreach.cli.output import check_output
from graphreach.io.results import REACH_SUFFIXES, check_anchor_file, read_anchors, write_reachability
from graphreach.progress import stage
from graphreach.reachability.cache import result_arrays
from graphreach.walks.defaults import NUM_ANCHORS, NUM_WALKS, STRATEGY, WALK_LENGTH


class Method(StrEnum):
    """How reachability is computed."""

    walks = "walks"
    exact = "exact"
    auto = "auto"


class Similarity(StrEnum):
    """Eq. 1 or App. A."""

    frequency = "frequency"
    order = "order"


class Layout(StrEnum):
    """How the matrices are kept."""

    dense = "dense"
    csr = "csr"
    auto = "auto"


@with_graph
def reach(
    file: GraphFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .parquet or .npz file.", show_default=False)
    ],
    anchors: Annotated[
        Path | None,
        typer.Option(
            "--anchors",
            metavar="FILE",
            help="File of the anchors' ids (.txt, .csv, .json).",
            show_default="chosen by --num-anchors and --strategy",
        ),
    ] = None,
    num_anchors: options.NumAnchors = NUM_ANCHORS,
    strategy: options.Strategy = STRATEGY,
    method: Annotated[Method, typer.Option("--method", help="By random walks or exactly.")] = Method.walks,
    similarity: Annotated[
        Similarity, typer.Option("--similarity", help="Share of visits (Eq. 1) or by order of visit (App. A).")
    ] = Similarity.frequency,
    num_walks: options.NumWalks = NUM_WALKS,
    walk_length: options.WalkLength = WALK_LENGTH,
    hops: Annotated[
        int | None,
        typer.Option("--hops", min=1, metavar="L", help="Keep the first L steps apart.", show_default="steps together"),
    ] = None,
    seed: options.Seed = 0,
    layout: Annotated[Layout, typer.Option("--layout", help="Of the matrices in an .npz file.")] = Layout.auto,
    cache: Annotated[
        bool, typer.Option("--cache", help="Keep the result in the user's cache folder.", show_default="off")
    ] = False,
    engine: engines.Name = "local",
    address: engines.Address = None,
    partitions: engines.Partitions = None,
) -> None:
    """Write s(v, a) and s(a, v) for every node v and anchor a.

    Parquet has the columns node, anchor, to_anchor = s(v, a) and from_anchor = s(a, v) (with --hops also hop), one row
    for each pair where one of the two is not zero. An npz file has the matrices to_anchors and from_anchors (or the
    data, indices, indptr and shape of each, if sparse), ids, anchors and parameters.
    """
    check_output(output, REACH_SUFFIXES)
    if anchors is not None:
        check_anchor_file(anchors)
    if hops is not None and similarity is Similarity.order:
        raise gr.InputError("--hops must not be given with --similarity order, which is a sum over steps")
    where = engines.make_engine(engine, address, partitions=partitions)
    graph = file.read()
    walks: dict[str, Any] = {"num_walks": num_walks, "seed": seed}
    if hops is None or anchors is None:
        walks["walk_length"] = options.resolve_length(graph, walk_length)
    positions: gr.AnchorSet | NDArray[np.int64]
    with where.ready():
        if anchors is None:
            positions = choose(graph, options.number_or_name(num_anchors), strategy=strategy, **walks, engine=where)
        else:
            positions = read_anchors(anchors, graph)
        with stage("computing reachability"):
            result = gr.reachability(
                graph, positions, method=method.value, similarity=similarity.value, hops=hops,
                layout=layout.value, cache=cache, **walks, engine=where,
            )  # fmt: skip
    if where.last_use is not None:
        say(f"Ray: {json.dumps(where.last_use.as_dict())}")
    with stage(f"writing {output.name}"):
        write_reachability(output, graph.ids, result, result_arrays(result))
    say(f"{result} is in {output}")
