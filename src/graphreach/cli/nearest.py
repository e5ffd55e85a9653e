"""``graphreach nearest``: which nodes have the most similar vectors."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import graphreach as gr
from graphreach.arguments import check_choice
from graphreach.arguments import nearest as did_you_mean
from graphreach.cli import options
from graphreach.cli.data import COMPARED
from graphreach.cli.group import say
from graphreach.cli.options import check_output, option
from graphreach.cli.output import show_rows
from graphreach.graph.ids import few_ids, rank_ids
from graphreach.io.embeddings import SUFFIXES, read_embedding
from graphreach.io.writers import ids_for_files
from graphreach.nearest import EXACT_NODES, METRICS

OUTPUTS = (".csv", ".parquet", ".json")
DIGITS = 6
"""Significant digits of similarities, as 32-bit floats have."""

ROWS = 1 << 16
"""Nodes whose rows are written at a time."""

FILE = f"File of an embedding ({' '.join(SUFFIXES)}), such as graphreach embed writes, or a folder that it saved."
Embedding = Annotated[Path, typer.Argument(metavar="EMBEDDING", help=FILE, show_default=False)]
ID = "Id of a node to list the nearest nodes of; repeatable."
EXACT = f"With --all, compare all pairs of more than {EXACT_NODES:,} nodes too."


def nearest(
    file: Embedding,
    id_: Annotated[list[str] | None, option("--id", ID, "ID", "none")] = None,
    all_: Annotated[bool, option("--all", "List the nearest nodes of all nodes.", default="off")] = False,
    top: Annotated[int, option("--top", "Number of nearest nodes of each node.", "N", min=1)] = 10,
    metric: Annotated[str, option("--metric", "cosine, or dot for inner products.", "NAME")] = "cosine",
    exact: Annotated[bool, option("--exact", EXACT, default="off")] = False,
    output: Annotated[Path | None, option("--output -o", "A .csv, .parquet or .json file.", "FILE", "stdout")] = None,
    json_: options.Json = False,
) -> None:
    """List the nodes whose vectors are most similar, the nearest first.

    Each row is a node, a partner, their similarity and the partner's rank among those of the node. With --all and more
    than 50,000 nodes, an approximate index is used, which needs the extra graphreach[nearest]. Inner products are always
    exact.
    """
    if bool(id_) == all_:
        got = "both" if all_ else "neither"
        raise gr.InputError(f"one of --id (with the id of a node, repeatable) and --all must be given, got {got}")
    if exact and not all_:
        raise gr.InputError("--exact must go with --all, as the nearest nodes of --id are always exact")
    check_choice("--metric", metric, METRICS)
    if output is not None:
        check_output(output, OUTPUTS)
    ids, vectors = read_embedding(_vectors_in(file) if file.is_dir() else file)
    if not len(ids):
        raise gr.InputError(f"{file} must hold vectors, got none")
    rank_ids(ids)  # which must be distinct
    wanted = None if all_ else _find(ids, id_ or [])
    near = gr.NearestNodes(vectors, metric)
    if wanted is None:
        if len(ids) > EXACT_NODES and metric == "cosine" and not exact:
            say("nearest nodes of so many nodes are approximate; --exact compares all pairs")
        positions, scores = near.all(top, exact)
    else:
        positions, scores = near.of(wanted, top)
    show_rows(_frames(ids, wanted, positions, scores), output, json_)
    if output is not None:
        say(f"{positions.size} rows are in {output}")


def _vectors_in(folder: Path) -> Path:
    """The vectors in the folder of an embedding that goes with its graph."""
    from graphreach.updates.graph_folder import VECTORS

    if not (folder / VECTORS).exists():
        raise gr.InputError(
            f"EMBEDDING must be a file, or a folder of graphreach embed --save, got the folder {folder}"
        )
    return folder / VECTORS


def _find(ids: Any, texts: list[str]) -> list[int]:
    """Positions of the ids that were typed."""
    known = {str(each): position for position, each in enumerate(ids.tolist())}
    for text in texts:
        if text not in known:
            hint = did_you_mean(text, list(known)[:COMPARED])
            raise gr.InputError(f"--id must be the id of a node (such as {few_ids(ids[:3])}), got {text!r}{hint}")
    return [known[text] for text in texts]


def _frames(ids: Any, wanted: list[int] | None, positions: Any, scores: Any) -> Iterator[Any]:
    import numpy as np
    import polars as pl

    names = pl.Series(ids_for_files(ids))
    own = np.arange(len(ids)) if wanted is None else np.array(wanted)
    columns = positions.shape[1]
    for begin in range(0, max(1, len(own)), ROWS):
        rows = slice(begin, begin + ROWS)
        count = len(own[rows])
        yield pl.DataFrame(
            {
                "node": names.gather(np.repeat(own[rows], columns)),
                "partner": names.gather(positions[rows].ravel()),
                "similarity": pl.Series(scores[rows].ravel().astype(np.float64)).round_sig_figs(DIGITS),
                "rank": np.tile(np.arange(1, columns + 1), count),
            }
        )
