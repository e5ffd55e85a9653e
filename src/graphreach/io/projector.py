"""Vectors for TensorBoard's embedding projector."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.arguments import describe, to_array, to_finite, to_path
from graphreach.errors import InputError
from graphreach.io.embeddings import BLOCK_ENTRIES, check_ids, write_numbers
from graphreach.io.files import replacing
from graphreach.io.writers import id_column, write_table

VECTORS, METADATA, CONFIG = "vectors.tsv", "metadata.tsv", "projector_config.pbtxt"

SETTINGS = f"""embeddings {{
  tensor_name: "graphreach"
  tensor_path: "{VECTORS}"
  metadata_path: "{METADATA}"
}}
"""


def write_projector(
    folder: str | PathLike[str], vectors: Any, ids: Any, columns: Mapping[str, Any] | None = None
) -> None:
    """Write a folder that ``tensorboard --logdir FOLDER`` shows, and whose two tables projector.tensorflow.org loads.

    Args:
        folder: Made if it is not there. It gets ``vectors.tsv``, ``metadata.tsv`` and ``projector_config.pbtxt``.
        vectors: One vector per node, ``[n, d]``.
        ids: One id per node, ``[n]``, shown as its label.
        columns: More about the nodes, such as their classes, by which the projector colours them: name and values ``[n]``.
            The metadata have a header if there are any, as the projector takes a single column for labels.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_projector(folder, [[0.5, 1], [2, 0]], ["ann", "bob"], {"class": [0, 1]})
        ...     Path(folder, "vectors.tsv").read_text(), Path(folder, "metadata.tsv").read_text()
        ('0.5\\t1.0\\n2.0\\t0.0\\n', 'id\\tclass\\nann\\t0\\nbob\\t1\\n')
    """
    folder = to_path("folder", folder)
    matrix = to_finite("vectors", vectors, "finite numbers of shape [n, d]")
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise InputError(f"vectors must have shape [n, d], got {describe(matrix)}")
    frame = _metadata(len(matrix), ids, columns)
    folder.mkdir(parents=True, exist_ok=True)
    # The vectors come last: whoever finds them finds the rest.
    write_table(folder / METADATA, [frame], include_header=frame.width > 1, separator="\t", quote_style="never")
    with replacing(folder / CONFIG) as partial:
        partial.write_text(SETTINGS, encoding="utf-8")
    step = max(1, BLOCK_ENTRIES // matrix.shape[1])
    rows = (matrix[begin : begin + step].astype(np.float32) for begin in range(0, len(matrix), step))
    write_numbers(folder / VECTORS, rows)


def _metadata(n: int, ids: Any, columns: Mapping[str, Any] | None) -> pl.DataFrame:
    """The ids and columns as a table; each must have one value per row that can be written without quotes."""
    if columns is not None and not isinstance(columns, Mapping):
        raise InputError(f"columns must be a mapping from names to values, got {describe(columns)}")
    if columns and "id" in columns:
        raise InputError("columns must not be named 'id', which is the name of the column of ids")
    frame = pl.DataFrame({"id": _column("ids", ids, n)})
    for name, values in (columns or {}).items():
        _check_text("columns", np.array([name], dtype=object))
        frame = frame.with_columns(_column(name, values, n).alias(name))
    return frame


def _column(name: str, values: Any, n: int) -> pl.Series:
    array = to_array(name, values, "biufUO")
    if array.shape != (n,):
        raise InputError(f"{name} must have one value for each of {n} vectors, got {describe(array)}")
    _check_text(name, array)
    return id_column(array)


def _check_text(name: str, values: NDArray[Any]) -> None:
    try:
        check_ids(Path(VECTORS), values)
    except InputError as error:
        raise InputError(str(error).replace("ids", name, 1)) from None
