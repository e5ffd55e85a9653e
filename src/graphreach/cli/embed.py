"""``graphreach embed``: from a graph file to embeddings in one command."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from graphreach.cli import run_options as options
from graphreach.cli.graph_options import GraphFile, with_graph
from graphreach.cli.group import say
from graphreach.cli.options import number_or_name
from graphreach.cli.output import check_output, check_output_folder
from graphreach.errors import InputError
from graphreach.io.embeddings import SUFFIXES, check_ids, write_embedding


@with_graph
def embed(
    file: GraphFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help=".parquet .csv .npy .npz or .emb (word2vec); a folder with --engine ray.",
            show_default=False,
        ),
    ],
    num_anchors: Annotated[
        str | None,
        typer.Option(
            "--num-anchors",
            "-k",
            metavar="K|SHARE|log2",
            help="Number of anchors, the width of the embedding; log2: floor(log2 n)^2.",
            show_default="log2; 128 beyond 10,000 nodes",
        ),
    ] = None,
    features: options.Features = None,
    preset: options.Preset = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            "--epochs",
            min=1,
            metavar="N",
            help="Maximum number of epochs.",
            show_default="300; 200 beyond 10,000 nodes, 30 beyond 50,000",
        ),
    ] = None,
    seed: options.Seed = None,
    compare: Annotated[
        bool | None,
        typer.Option(
            "--compare/--no-compare",
            help="Whether common neighbours and node2vec score the held-out links too.",
            show_default="on graphs of up to 10^6 edges",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="FILE",
            help="Write settings, metrics, times and memory as JSON.",
            show_default="not written",
        ),
    ] = None,
    config: options.Config = None,
    set_: options.Set = None,
    engine: options.Engine = "local",
    address: options.Address = None,
    workers: options.Workers = None,
    json_: options.Json = False,
) -> None:
    """Train on the graph's links, without labels, and write an embedding of every node under its own id.

    A tenth of the links (at most 50,000) is held out to choose the model by, and as many to tell how well links are found.
    The embedding itself is computed with all links.

    With --engine ray and a folder as --output, workers write a Parquet data set, one file for each part of the nodes.
    """
    from graphreach.embedding import embed_graph
    from graphreach.training import Settings
    from graphreach.training.engine import Engine

    place = Engine.make(engine, address, workers)
    in_parts = place.name == "ray" and not output.suffix
    _check_output(output, in_parts)
    if record is not None:
        check_output_folder(record.parent, "the folder of --record")
        if record.is_dir():
            raise InputError(f"--record must be a file, got the folder {record}")
    count = None if num_anchors is None else number_or_name(num_anchors)
    changes = {"num_anchors": count, "preset": preset, "epochs": epochs, "seed": seed}
    Settings.read(config, set_ or [], **changes)
    began = time.perf_counter()
    data, _ = options.load_data(file, options.Tables(features=features))
    sample = options.one_graph(data)
    check_ids(Path("part.parquet") if in_parts else output, sample.graph.ids)
    reading = time.perf_counter() - began
    with place.ready():
        result = embed_graph(
            sample, config=config, changes=set_ or [], compare=compare, say=say, engine=place.name, address=address,
            workers=workers, **changes,
        )  # fmt: skip
        with result.clock.phase("writing"):
            if in_parts:
                result.write_parts(output, sample.graph.ids, address)
            else:
                write_embedding(output, sample.graph.ids, result.blocks(), result.width)
    found = result.record(file.graph.name, reading, time.perf_counter() - began)
    typer.echo(json.dumps(found) if json_ else _table(found))
    say(f"{sample.graph.num_nodes} embeddings of width {result.width} are in {output}")
    if record is not None:
        from graphreach.training.record import write_json

        write_json(record, found)


def _check_output(output: Path, in_parts: bool) -> None:
    if in_parts:
        from graphreach.cluster.inference import check_folder

        check_folder(output)
    else:
        check_output(output, SUFFIXES)


def _table(found: dict[str, Any]) -> str:
    rows = [f"AUC of {found['held_out_links']} held-out links"]
    rows += [f"  {name:24}{value:.4f}" for name, value in found["auc"].items()]
    rows.append("seconds: " + ", ".join(f"{name} {value:.1f}" for name, value in found["seconds"].items()))
    return "\n".join(rows)
