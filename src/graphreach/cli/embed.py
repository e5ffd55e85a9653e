"""``graphreach embed``: from a graph file to embeddings in one command."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from graphreach.cli import options
from graphreach.cli.data import GraphFile, Tables, load_data, one_graph, with_graph
from graphreach.cli.group import say
from graphreach.cli.options import check_output, check_output_folder, number_or_name, option
from graphreach.cli.output import say_plan, seconds_text
from graphreach.errors import InputError
from graphreach.io.embeddings import SUFFIXES, check_ids, write_embedding

COMPARED = ("common-neighbours", "node2vec")
OUTPUT = ".parquet .csv .npy .npz .emb (word2vec) or .tsv (TensorBoard projector); a folder with --engine ray."
ANCHORS = "Number of anchors, the width of the embedding; log2: floor(log2 n)^2."
EPOCHS = "300; 200 beyond 10,000 nodes, 30 beyond 50,000"
COMPARE = "Whether to score the held-out links by common neighbours and node2vec too."


@with_graph
def embed(
    file: GraphFile,
    output: Annotated[Path, option("--output -o", OUTPUT, "FILE", False)],
    num_anchors: Annotated[
        str | None, option("--num-anchors -k", ANCHORS, "K|SHARE|log2", "log2; 128 beyond 10,000 nodes")
    ] = None,
    features: options.Features = None,
    preset: options.Preset = None,
    epochs: Annotated[int | None, option("--epochs", "Maximum number of epochs.", "N", EPOCHS, min=1)] = None,
    seed: options.Seed = None,
    device: options.Device = None,
    compare: Annotated[bool, option("--compare/--no-compare", COMPARE, default="off")] = False,
    record: Annotated[
        Path | None, option("--record", "Write settings, metrics, times and memory as JSON.", "FILE", "not written")
    ] = None,
    config: options.Config = None,
    set_: options.Set = None,
    engine: options.EngineName = "local",
    address: options.Address = None,
    workers: options.Workers = None,
    verbose: options.Verbose = False,
    json_: options.Json = False,
) -> None:
    """Train on the graph's links, without labels, and write an embedding of every node under its own id.

    A tenth of the links (at most 50,000) is held out to choose the model, and as many to measure how well it finds links.
    The embedding itself is computed with all links.

    With --engine ray and a folder as --output, workers write a Parquet data set, one file for each part of the nodes.
    """
    from graphreach.estimator import FEWEST_LINKS, GraphReachEmbedding
    from graphreach.training import Settings
    from graphreach.training.methods import Clock
    from graphreach.training.run_folder import peak_memory, versions, write_json

    where = options.make_engine(engine, address, workers=workers)
    in_parts = where.name == "ray" and not output.suffix
    _check_outputs(output, record, in_parts)
    count = None if num_anchors is None else number_or_name(num_anchors)
    given = Settings.read(config, set_ or [], num_anchors=count, preset=preset, epochs=epochs, seed=seed, device=device)
    estimator = GraphReachEmbedding.from_settings(given, engine=where)
    began = time.perf_counter()
    data, _ = load_data(file, Tables(features=features))
    sample = one_graph(data)
    if sample.graph.num_edges < FEWEST_LINKS:
        raise InputError(
            f"graph must have at least {FEWEST_LINKS} edges to train and hold some out, got {sample.graph.num_edges}"
        )
    check_ids(Path("part.parquet") if in_parts else output, sample.graph.ids)
    reading = time.perf_counter() - began
    if verbose:
        say_plan(estimator.settings_on(sample.graph), sample)
    with where.ready():
        inputs = estimator.fit_inputs(sample.graph, sample.x)
        say(f"AUC of held-out links {estimator.auc_:.4f}, chosen at epoch {estimator.best_epoch_}")
        clock, width = Clock(estimator.seconds_), inputs.width(estimator.model_)
        auc = {"graphreach": estimator.auc_} | (_others(sample, estimator.settings_, clock) if compare else {})
        with clock.phase("writing"):
            if in_parts:
                from graphreach.cluster.inference import write_embeddings

                write_embeddings(estimator.model_, inputs, sample.graph.ids, output, engine=where)
            else:
                write_embedding(output, sample.graph.ids, inputs.blocks(estimator.model_), width)
    seconds = {"reading": reading, **clock.seconds, "total": time.perf_counter() - began}
    found = {
        "graph": file.graph.name, "nodes": sample.graph.num_nodes, "width": width, "auc": auc,
        "held_out_links": estimator.held_out_links_, "seconds": seconds, "peak_memory": peak_memory(),
        "settings": estimator.settings_.model_dump(mode="json"), "versions": versions(),
    } | ({} if estimator.cluster_ is None else {"cluster": estimator.cluster_})  # fmt: skip
    typer.echo(json.dumps(found) if json_ else _table(found))
    say(f"{sample.graph.num_nodes} embeddings of width {width} are in {output}")
    if record is not None:
        write_json(record, found)


def _check_outputs(output: Path, record: Path | None, in_parts: bool) -> None:
    if in_parts:
        from graphreach.cluster.inference import check_folder

        check_folder(output)
    else:
        check_output(output, SUFFIXES)
    if record is not None:
        check_output_folder(record.parent, "the folder of --record")
        if record.is_dir():
            raise InputError(f"--record must be a file, got the folder {record}")


def _others(sample: Any, settings: Any, clock: Any) -> dict[str, float]:
    """The AUC of the same held-out links by methods that need no training of layers."""
    from graphreach.training import run

    found = {}
    for name in COMPARED:
        with clock.phase(name):
            found[name] = run(sample, settings.model_copy(update={"method": name, "model": {}})).test["auc"]
    return found


def _table(found: dict[str, Any]) -> str:
    rows = [f"AUC of {found['held_out_links']} held-out links"]
    rows += [f"  {name:24}{value:.4f}" for name, value in found["auc"].items()]
    return "\n".join([*rows, seconds_text(found["seconds"])])
