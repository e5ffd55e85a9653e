"""Anchors and reachability as files that speak the user's ids.

- Anchors: one id per line (``.txt``), a column (``.csv``), or with everything known about them (``.json``).
- Reachability: a row for each node and anchor (``.parquet``), or the matrices (``.npz``).
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.arguments import few
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import is_plain
from graphreach.io.files import replacing
from graphreach.io.writers import id_column, ids_for_files, write_arrays, write_table
from graphreach.progress import track

ANCHOR_SUFFIXES = (".txt", ".csv", ".json")
REACH_SUFFIXES = (".parquet", ".npz")

BLOCK_ENTRIES = 1 << 21
"""Matrix entries that become rows of a table at a time."""


def write_anchors(path: Path, ids: list[Any], facts: dict[str, Any]) -> None:
    """Write the anchors' ids, best first, in the format that the suffix names; only JSON holds ``facts`` too."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        with replacing(path) as partial:
            text = json.dumps({"anchors": ids} | facts, indent=2, ensure_ascii=False)
            partial.write_text(text + "\n", encoding="utf-8")
        return
    frame = pl.DataFrame({"anchor": [str(value) for value in ids]})
    as_table = suffix == ".csv"
    write_table(path, [frame], include_header=as_table, quote_style="necessary" if as_table else "never")


def read_anchors(path: Path, graph: Graph) -> NDArray[np.int64]:
    """Positions of the anchors that :func:`write_anchors` wrote, or that anyone lists in such a file."""
    values = _read_values(path)
    if not values:
        raise InputError(f"{path} must list anchors, but it holds none")
    # Text files know no kinds, so an id is looked up as it is, then by its text: 7 is meant by "7".
    ids = graph.ids.tolist()
    position: dict[Any, int] = {str(value): index for index, value in enumerate(ids)}
    position |= {value: index for index, value in enumerate(ids) if is_plain(value)}
    found = [position.get(value, position.get(str(value))) if is_plain(value) else None for value in values]
    unknown = [value for value, index in zip(values, found, strict=True) if index is None]
    if unknown:
        raise InputError(f"{path} must list ids of nodes, got {few([repr(value) for value in unknown], 1)}")
    return np.array(found, np.int64)


def check_anchor_file(path: Path) -> None:
    """Refuse a file of anchors that cannot be one, before the graph is read."""
    if path.suffix.lower() not in ANCHOR_SUFFIXES:
        raise InputError(f"--anchors must end in {' or '.join(ANCHOR_SUFFIXES)}, got {path.name}")
    if not path.is_file():
        raise InputError(f"there is no file {path} of anchors")


def _read_values(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} must be text in UTF-8, but it is not") from None
    if path.suffix.lower() == ".json":
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:  # beyond JSON's own error also numbers and nesting without end
            raise InputError(f"{path} must be JSON, as its suffix says: {error}") from None
        values = content.get("anchors") if isinstance(content, dict) else content
        if not isinstance(values, list):
            raise InputError(f"{path} must be a list of ids, or an object with the list 'anchors'")
        return values
    if path.suffix.lower() == ".txt":
        return [line for line in text.splitlines() if line]
    try:
        rows = [row for row in csv.reader(text.splitlines()) if row]
    except csv.Error as error:
        raise InputError(f"{path} must be a table of ids, as its suffix says: {error}") from None
    return [row[0] for row in rows[rows[:1] == [["anchor"]] :]]


def write_reachability(path: Path, ids: NDArray[Any], result: Any, arrays: dict[str, Any]) -> None:
    """Write a :class:`graphreach.Reachability` as the suffix says; ``arrays`` are its matrices, for ``.npz``."""
    if path.suffix.lower() == ".npz":
        known = ids_for_files(ids)
        write_arrays(path, {"ids": known, "anchors": known[result.anchors]} | arrays)
    else:
        write_table(path, _long_form(result, id_column(ids)))


def reachability_columns(result: Any, ids: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The rows of :meth:`graphreach.Reachability.to_frame` as columns."""
    frame = pl.concat(_long_form(result, pl.Series(np.arange(len(ids)))))
    columns = {name: frame[name].to_numpy() for name in frame.columns}
    return columns | {name: ids[columns[name]] for name in ("node", "anchor")}


def _long_form(result: Any, ids: pl.Series) -> Iterator[pl.DataFrame]:
    """One row for each node and anchor of which one can reach the other, block by block."""
    columns = result.num_anchors * (result.hops or 1)
    step = max(1, BLOCK_ENTRIES // columns)
    begins = range(0, result.num_nodes, step)
    for begin in track(begins, len(begins), "writing rows"):
        rows = [matrix[begin : begin + step] for matrix in (result.to_anchors, result.from_anchors)]
        to, back = (block.toarray() if result.layout == "csr" else block.reshape(-1, columns) for block in rows)
        row, column = np.nonzero((to != 0) | (back != 0))
        anchor, hop = np.divmod(column, result.hops or 1)
        table = {"node": ids.gather(row + begin), "anchor": ids.gather(result.anchors[anchor])}
        if result.hops is not None:
            table["hop"] = pl.Series(hop + 1, dtype=pl.UInt32)
        yield pl.DataFrame(table | {"to_anchor": to[row, column], "from_anchor": back[row, column]})
