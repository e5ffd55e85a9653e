"""``graphreach embed``: from a graph file to embeddings in one command."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from graphreach.arguments import check_choice
from graphreach.cli import options
from graphreach.cli.data import GraphFile, Tables, load_data, one_graph, with_graph
from graphreach.cli.group import say
from graphreach.cli.options import check_new_folder, check_output, check_output_folder, number_or_name, option
from graphreach.cli.output import say_plan, seconds_text
from graphreach.errors import InputError
from graphreach.io.embeddings import SUFFIXES, check_ids, write_embedding

COMPARED = ("common-neighbours", "node2vec")
OUTPUT = ".parquet .csv .npy .npz .emb (word2vec) or .tsv (TensorBoard projector); a folder with --engine ray."
ANCHORS = "Number of anchors, which is the width of the paper's model; log2: floor(log2 n)^2."
METHODS = "reach: neighbours, position, walks and outline; position: nothing is trained; paper: the paper's model."
EPOCHS = "300; 200 beyond 10,000 nodes, 30 beyond 50,000"
SAVE = "Folder for the embedding with its graph, which graphreach update and follow read."
COMPARE = "Whether to score the held-out links by common neighbours and node2vec as well."


@with_graph
def embed(
    file: GraphFile,
    output: Annotated[Path, option("--output -o", OUTPUT, "FILE", False)],
    method: Annotated[str, option("--method", METHODS, "NAME", "reach")] = "reach",
    dim: Annotated[int | None, option("--dim", "Width of the embedding.", "N", "128", min=1)] = None,
    num_anchors: Annotated[
        str | None, option("--num-anchors -k", ANCHORS, "K|SHARE|log2", "256; 128 beyond 50,000 nodes")
    ] = None,
    halves: Annotated[
        bool,
        option(
            "--directed-halves/--one-whole",
            "Whether a vector has one half for sources and one for targets.",
            default="off",
        ),
    ] = False,
    attributes: Annotated[
        str, option("--attributes", "How --features are read: smooth over two steps, or append.", "NAME", "smooth")
    ] = "smooth",
    features: options.Features = None,
    preset: options.Preset = None,
    epochs: Annotated[int | None, option("--epochs", "Maximum number of epochs.", "N", EPOCHS, min=1)] = None,
    seed: options.Seed = None,
    device: options.Device = None,
    compare: Annotated[bool, option("--compare/--no-compare", COMPARE, default="off")] = False,
    record: Annotated[
        Path | None, option("--record", "Write settings, metrics, times and memory as JSON.", "FILE", "not written")
    ] = None,
    save: Annotated[Path | None, option("--save", SAVE, "DIR", "not saved")] = None,
    config: options.Config = None,
    set_: options.Set = None,
    engine: options.EngineName = "local",
    address: options.Address = None,
    workers: options.Workers = None,
    verbose: options.Verbose = False,
    json_: options.Json = False,
) -> None:
    """Write a vector for every node under its own id, without labels: for finding classes, nearest nodes and links.

    A tenth of the links (at most 10,000) is held out to measure how well the vectors find links, and to learn how pairs are
    scored. The embedding itself is computed with all links.

    --method paper trains the model of the GraphReach paper instead. --preset, --epochs, --set, --config, --device,
    --compare and --engine are for this method only. With --engine ray and a folder as --output, workers write a Parquet
    data set, one file for each part of the nodes.
    """
    from graphreach.io.records import peak_memory, versions, write_json
    from graphreach.vectors.parameters import METHODS as KINDS

    check_choice("--method", method, KINDS)
    if engine != "local" and method != "paper":
        raise InputError(
            f"--engine must be local with --method {method}, which computes in this process, got {engine}: only --method"
            " paper trains on other engines"
        )
    _check_own(method, dim, halves, attributes, features is not None)
    where = options.make_engine(engine, address, workers=workers)
    in_parts = where.name == "ray" and not output.suffix
    _check_outputs(output, record, in_parts)
    if save is not None:
        _check_saved(save, method)
    count = None if num_anchors is None else number_or_name(num_anchors)
    own: dict[str, Any] = {"dim": dim, "directed": halves, "attributes": attributes}
    paper = {"preset": preset, "epochs": epochs, "device": device, "config": config, "set": set_, "compare": compare}
    make = _paper if method == "paper" else _without_layers
    estimator = make(method, own, paper, where, num_anchors=count, seed=seed)
    began = time.perf_counter()
    data, _ = load_data(file, Tables(features=features))
    sample = one_graph(data)
    if halves and not sample.graph.directed:
        raise InputError("--directed-halves must go with --directed, got a graph whose edges have no direction")
    check_ids(Path("part.parquet") if in_parts else output, sample.graph.ids)
    reading = time.perf_counter() - began
    write = _write_paper if method == "paper" else _write_vectors
    found, seconds = write(estimator, sample, output, where, in_parts, compare, verbose)
    if save is not None:
        from graphreach.updates.runs import save_embedding

        save_embedding(estimator, save, sample.graph)
        say(f"the embedding and its graph are in {save}")
    shown = {"reading": reading, **seconds, "total": time.perf_counter() - began}
    found = {
        "graph": file.graph.name, "method": method, "nodes": sample.graph.num_nodes, **found, "seconds": shown,
        "peak_memory": peak_memory(), "versions": versions(),
    }  # fmt: skip
    typer.echo(json.dumps(found) if json_ else _table(found))
    say(f"{sample.graph.num_nodes} embeddings of width {found['width']} are in {output}")
    if record is not None:
        write_json(record, found)


def _check_own(method: str, dim: int | None, halves: bool, attributes: str, features: bool) -> None:
    """Refuse options of an embedding that do not go together."""
    from graphreach.vectors.parameters import ATTRIBUTES, DIM

    check_choice("--attributes", attributes, ATTRIBUTES)
    if method == "paper" and dim is not None:
        raise InputError(f"--dim must not be given with --method paper, got {dim}: --num-anchors is its width")
    if halves and method != "reach":
        raise InputError(f"--directed-halves must go with --method reach, got --method {method}")
    if halves and (dim or DIM) % 2:
        raise InputError(f"--dim must be even with --directed-halves, got {dim}")
    if features and method == "position":
        raise InputError("--features must not be given with --method position, which reads none")
    if attributes != ATTRIBUTES[0] and (method != "reach" or not features):
        raise InputError(f"--attributes {attributes} must go with --method reach and --features")


def _without_layers(method: str, own: Any, paper: Any, where: Any, **common: Any) -> Any:
    """The estimator of a method that trains no layers; what only the paper's model reads is refused."""
    from graphreach.estimator import GraphReachEmbedding

    odd = [name for name, value in paper.items() if value]
    if odd:
        raise InputError(f"--{odd[0]} must not be given with --method {method}: only --method paper reads it")
    names = {"num_anchors": "num_anchors", "seed": "random_state"}
    given = {names[name]: value for name, value in common.items() if value is not None}
    return GraphReachEmbedding(method, **own, **given)


def _paper(method: str, own: Any, paper: Any, where: Any, **common: Any) -> Any:
    """The estimator of the paper's model."""
    from graphreach.paper_embedding import PaperEmbedding
    from graphreach.training import Settings

    settings = {name: paper[name] for name in ("preset", "epochs", "device")}
    return PaperEmbedding.from_settings(
        Settings.read(paper["config"], paper["set"] or [], **settings, **common), engine=where
    )


def _write_vectors(
    estimator: Any, sample: Any, output: Path, where: Any, in_parts: bool, compare: bool, verbose: bool
) -> tuple[dict[str, Any], dict[str, float]]:
    """Embed a graph without layers, and write the vectors."""
    from graphreach.progress import Clock

    if verbose:
        say(repr(estimator))
    estimator.fit(sample.graph, x=sample.x)
    held = estimator.held_out_links_
    say(
        f"AUC of held-out links {estimator.auc_:.4f}"
        if held
        else "no AUC of held-out links: too few links to hold any out, or too few pairs without one"
    )
    clock, rows = Clock(estimator.seconds_), estimator.embedding_
    with clock.phase("writing"):
        write_embedding(output, sample.graph.ids, [rows], rows.shape[1])
    chosen = {name: value for name, value in estimator.get_params().items() if name != "engine"}
    found = {
        "width": rows.shape[1], "auc": {"graphreach": estimator.auc_} if held else {}, "held_out_links": held,
        "settings": chosen,
    }  # fmt: skip
    return found, clock.seconds


def _write_paper(
    estimator: Any, sample: Any, output: Path, where: Any, in_parts: bool, compare: bool, verbose: bool
) -> tuple[dict[str, Any], dict[str, float]]:
    """Train the paper's model, embed the graph in blocks, and write them as they come."""
    from graphreach.paper_embedding import FEWEST_LINKS
    from graphreach.progress import Clock

    if sample.graph.num_edges < FEWEST_LINKS:
        raise InputError(
            f"graph must have at least {FEWEST_LINKS} edges to train and hold some out, got {sample.graph.num_edges}"
        )
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
    found = {
        "width": width, "auc": auc, "held_out_links": estimator.held_out_links_,
        "settings": estimator.settings_.model_dump(mode="json"),
    } | ({} if estimator.cluster_ is None else {"cluster": estimator.cluster_})  # fmt: skip
    return found, clock.seconds


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


def _check_saved(folder: Path, method: str) -> None:
    """Refuse a folder that the embedding cannot be saved in."""
    if method == "paper":
        raise InputError("--save must go with --method reach or position, got --method paper")
    check_new_folder(folder, "--save")


def _others(sample: Any, settings: Any, clock: Any) -> dict[str, float]:
    """The AUC of the same held-out links by methods that need no training of layers."""
    from graphreach.training import run

    found = {}
    for name in COMPARED:
        with clock.phase(name):
            found[name] = run(sample, settings.model_copy(update={"method": name, "model": {}})).test["auc"]
    return found


def _table(found: dict[str, Any]) -> str:
    rows = [f"AUC of {found['held_out_links']} held-out links"] if found["auc"] else []
    rows += [f"  {name:24}{value:.4f}" for name, value in found["auc"].items()]
    return "\n".join([*rows, seconds_text(found["seconds"])])
