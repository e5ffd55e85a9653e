"""Reachability as files that speak the user's ids."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import graphreach as gr
from graphreach.io.files import replacing
from graphreach.progress import track
from graphreach.reachability.cache import result_arrays

if TYPE_CHECKING:
    import polars as pl

BLOCK_ENTRIES = 1 << 21
"""Matrix entries that become rows of a table at a time."""


def write_npz(path: Path, graph: gr.Graph, result: gr.Reachability) -> None:
    """Write arrays that ``numpy.load`` reads without pickle."""
    ids = _array_of_ids(graph.ids)
    arrays = {"ids": ids, "anchors": ids[result.anchors], **result_arrays(result)}
    with replacing(path) as partial, partial.open("wb") as file:
        np.savez(file, **arrays)


def _array_of_ids(ids: NDArray[Any]) -> NDArray[Any]:
    return ids if ids.dtype.kind in "iufU" else np.array([str(value) for value in ids.tolist()])


def write_parquet(path: Path, graph: gr.Graph, result: gr.Reachability) -> None:
    """Write one row for each node and anchor of which one can reach the other, block by block."""
    import polars as pl
    from polars.io.plugins import register_io_source

    ids = pl.Series(_array_of_ids(graph.ids))
    schema: dict[str, Any] = {"node": ids.dtype, "anchor": ids.dtype}
    if result.hops is not None:
        schema["hop"] = pl.UInt32
    schema |= {"to_anchor": pl.Float32, "from_anchor": pl.Float32}

    def blocks(*pushed_down: Any) -> Iterator["pl.DataFrame"]:
        for begin, to, back in _row_blocks(result):
            yield _long_form(begin, to, back, ids, result).select(
                pl.col(name).cast(kind) for name, kind in schema.items()
            )

    with replacing(path) as partial:
        register_io_source(blocks, schema=schema).sink_parquet(partial)


def _row_blocks(result: gr.Reachability) -> Iterator[tuple[int, NDArray[np.float32], NDArray[np.float32]]]:
    """First row, and both matrices' rows as dense blocks ``[rows, k * hops]``."""
    columns = result.num_anchors * (result.hops or 1)
    step = max(1, BLOCK_ENTRIES // columns)
    begins = range(0, result.num_nodes, step)
    for begin in track(begins, len(begins), "writing rows"):
        rows = [matrix[begin : begin + step] for matrix in (result.to_anchors, result.from_anchors)]
        to, back = (block.toarray() if result.layout == "csr" else block.reshape(-1, columns) for block in rows)
        yield begin, to, back


def _long_form(
    begin: int, to: NDArray[np.float32], back: NDArray[np.float32], ids: "pl.Series", result: gr.Reachability
) -> "pl.DataFrame":
    import polars as pl

    row, column = np.nonzero((to != 0) | (back != 0))
    anchor, hop = np.divmod(column, result.hops or 1)
    return pl.DataFrame(
        {
            "node": ids.gather(row + begin),
            "anchor": ids.gather(result.anchors[anchor]),
            "hop": hop + 1,
            "to_anchor": to[row, column],
            "from_anchor": back[row, column],
        }
    )


Writer = Callable[[Path, gr.Graph, gr.Reachability], None]
WRITERS: dict[str, Writer] = {".parquet": write_parquet, ".npz": write_npz}
