"""One way to write each format: tables of rows as text or Parquet, arrays as npy or npz, each a block at a time."""

import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.io.files import replacing, scratch_folder


class Blocks(NamedTuple):
    """A matrix of 32-bit floats that is written block by block."""

    rows: Iterable[NDArray[np.float32]]
    shape: tuple[int, int]


def write_table(
    path: Path, frames: Iterable[pl.DataFrame], *, group: int | None = None, head: str = "", **text: Any
) -> None:
    """Write frames of the same columns one below the other; the file appears when all of it is written.

    Args:
        path: Ends in ``.parquet``, or in anything else for text.
        frames: The rows in order. They are taken one at a time, in the caller's thread.
        group: Maximum number of rows in each row group of a Parquet file.
        head: Text before the first row of a text file.
        text: Options of :meth:`polars.DataFrame.write_csv` for text files.
    """
    with replacing(path) as partial:
        if path.suffix.lower() == ".parquet":
            _write_parquet(partial, frames, group)
            return
        with_names = text.pop("include_header", True)
        with partial.open("wb") as file:
            file.write(head.encode())
            for number, frame in enumerate(frames):
                frame.write_csv(file, include_header=with_names and number == 0, **text)


def write_records(path: Path, frames: Iterable[pl.DataFrame]) -> None:
    """Write the rows of frames as one JSON list of objects; the file appears when all of it is written."""
    with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:
        file.writelines(records_text(frames))


def records_text(frames: Iterable[pl.DataFrame]) -> Iterator[str]:
    """The rows of frames as one JSON list of objects, in pieces.

    Example:
        >>> "".join(records_text([pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [3]})])).split()
        ['[', '{"a":1},{"a":2},', '{"a":3}', ']']
    """
    yield "["
    before = "\n"
    for frame in frames:
        if len(frame):
            yield before + frame.write_json()[1:-1]
            before = ",\n"
    yield "\n]\n"


def _write_parquet(partial: Path, frames: Iterable[pl.DataFrame], group: int | None) -> None:
    """Write a single frame as it is; several go to files of their own, which polars then streams into one."""
    rest = iter(frames)
    first, second = next(rest, pl.DataFrame()), next(rest, None)
    if second is None:
        first.write_parquet(partial, row_group_size=group)
        return
    with scratch_folder(partial) as folder:
        parts: list[Path] = []
        for number, frame in enumerate(chain((first, second), rest)):
            parts.append(folder / f"{number}.parquet")
            frame.write_parquet(parts[-1], compression="uncompressed", statistics=False)
        pl.scan_parquet(parts, glob=False).sink_parquet(partial, row_group_size=group)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any] | Blocks]) -> None:
    """Write arrays, in whole or in blocks, to an ``.npz`` file that ``numpy.load`` reads without pickle."""
    with replacing(path) as partial, zipfile.ZipFile(partial, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                if isinstance(array, Blocks):
                    write_blocks(file, array)
                else:
                    np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def write_blocks(file: IO[bytes], matrix: Blocks) -> None:
    """Write a matrix as numpy's own format."""
    # Not by a memory map, which ends the process where a disk is full.
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": matrix.shape})
    for block in matrix.rows:
        file.write(np.ascontiguousarray(block, "<f4").data)


def ids_for_files(ids: NDArray[Any]) -> NDArray[Any]:
    """Return ids as numbers or text, which is what files hold; other kinds by their text."""
    return ids if ids.dtype.kind in "iufU" else np.array([str(value) for value in ids.tolist()])


def id_column(ids: NDArray[Any]) -> pl.Series:
    """Return ids as a column of numbers or text named ``id``."""
    return pl.Series("id", ids if ids.dtype.kind in "iufU" else [str(value) for value in ids.tolist()])
