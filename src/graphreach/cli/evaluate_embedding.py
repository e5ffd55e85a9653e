"""``graphreach evaluate-embedding``: how much vectors of nodes, ours or anybody's, say about the nodes' labels."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

import graphreach as gr
from graphreach.arguments import check_choice
from graphreach.cli import options
from graphreach.cli.group import say
from graphreach.cli.options import check_output, option
from graphreach.cli.output import table_text
from graphreach.graph.ids import few_ids
from graphreach.io.writers import write_table

if TYPE_CHECKING:
    from graphreach.tasks import EmbeddingScore

VECTORS = "Embedding: .parquet, .csv, .npy or .tsv (with a file of ids), .npz or .emb (word2vec)."
TABLE = "Table of node ids and labels, one row per label (.csv .tsv .txt .parquet)."
COUNTS = "known: as many labels are predicted as a node has; unknown: those with a probability of at least 0.5."


def evaluate_embedding(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=VECTORS, show_default=False)],
    labels: Annotated[Path, option("--labels", TABLE, "FILE", False)],
    label_column: options.LabelColumn = None,
    shares: Annotated[str, option("--shares", "Shares of the nodes to train on.", "A,B,...")] = "0.1,0.5,0.9",
    repeats: Annotated[int, option("--repeats", "Number of random draws of the nodes.", "N", min=1)] = 10,
    counts: Annotated[str, option("--counts", COUNTS, "known|unknown")] = "known",
    seed: Annotated[int, option("--seed", "Random seed for the draws.", "N", min=0, max=2**63 - 1)] = 0,
    output: Annotated[Path | None, option("--output -o", "A .csv or .parquet file.", "FILE", "none")] = None,
    json_: options.Json = False,
) -> None:
    """Judge an embedding by the labels that logistic regression predicts from it, the standard test since DeepWalk.

    A random share of the nodes with a vector and labels trains one classifier per label, and the labels of the other nodes
    are predicted. Printed are means and standard deviations of micro and macro F1 over the draws. For one class per node
    and --counts known, micro F1 is the share of right classes.
    """
    wanted = _read_shares(shares)
    check_choice("--counts", counts, ("known", "unknown"))
    if output is not None:
        check_output(output, [".csv", ".parquet"])
    known = _read(file, labels, label_column)
    say(f"{known.both} nodes have a vector and labels, and are judged by")
    for count, text in (
        (known.without_labels, "a vector but no label"),
        (known.without_vector, "labels but no vector"),
    ):
        if count:
            say(f"left out: {count} nodes with {text}")
    found = gr.tasks.judge_embedding(known.vectors, known.y, wanted, repeats, seed, counts)
    if output is not None:
        _write(output, found)
    typer.echo(json.dumps(_plain(known, counts, found)) if json_ else _table(found))


class _Known(NamedTuple):
    """Vectors and labels, and how many nodes have both or one of them."""

    vectors: NDArray[np.float32]
    y: NDArray[Any]
    classes: list[Any]
    both: int
    without_labels: int
    without_vector: int


def _read(file: Path, labels: Path, column: str | None) -> _Known:
    """Labels are found by the ids of the vectors, as those of a graph are by the ids of its nodes."""
    from graphreach.io.embeddings import read_embedding
    from graphreach.io.tables import read_label_table

    ids, vectors = read_embedding(file)
    if not len(ids):
        raise gr.InputError(f"{file} must hold vectors, got none")
    listed, times = np.unique(ids.astype(str) if ids.dtype == object else ids, return_counts=True)
    if (times > 1).any():
        raise gr.InputError(f"{file} must have each id once, got {few_ids(listed[times > 1])} more than once")
    nodes = gr.Graph.from_edges(np.empty((2, 0), np.int64), len(ids), ids=ids.tolist())
    found = read_label_table(labels, nodes, label=column, report=say, warn=False)
    y = found.y[nodes.index_of(ids)]
    labelled = int(np.count_nonzero(y.any(axis=1) if y.ndim == 2 else y >= 0))
    return _Known(vectors, y, found.classes, labelled, len(ids) - labelled, len(found.unknown))


def _read_shares(text: str) -> list[float]:
    """Shares from a text.

    Example:
        >>> _read_shares("0.1, 0.5")
        [0.1, 0.5]
    """
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise gr.InputError(f"--shares must be numbers with commas between, such as 0.1,0.5, got {text!r}") from None


def _row(score: "EmbeddingScore") -> dict[str, Any]:
    """A score as plain values; the deviation of a single draw is nothing."""
    return {name: None if math.isnan(value) else value for name, value in score._asdict().items()}


def _plain(known: _Known, counts: str, found: list["EmbeddingScore"]) -> dict[str, Any]:
    return {
        "nodes": known.both, "without_labels": known.without_labels, "without_vector": known.without_vector,
        "dimensions": known.vectors.shape[1], "labels": len(known.classes), "several_labels": known.y.ndim == 2,
        "counts": counts, "scores": [_row(each) for each in found],
    }  # fmt: skip


def _write(output: Path, found: list["EmbeddingScore"]) -> None:
    import polars as pl

    write_table(output, [pl.DataFrame([_row(each) for each in found], infer_schema_length=None)])
    say(f"the scores are in {output}")


def _table(found: list["EmbeddingScore"]) -> str:
    def cell(mean: float, spread: float) -> str:
        return f"{mean:.4f}" if math.isnan(spread) else f"{mean:.4f} ± {spread:.4f}"

    rows = []
    for share, micro, macro, micro_std, macro_std, repeats in found:
        rows.append((f"{share:g}", cell(micro, micro_std), cell(macro, macro_std), str(repeats)))
    return table_text(["share", "micro F1", "macro F1", "repeats"], rows, left="", width=72)
