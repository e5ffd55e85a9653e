"""Embeddings as files that speak the user's ids, written a block at a time.

- ``.parquet``, ``.csv``: columns ``id``, ``z0``, ``z1``, ..., one row per node.
- ``.npy``: the matrix ``[n, d]`` alone, and next to it ``<name>.ids.txt`` (for ``z.npy``: ``z.npy.ids.txt``) with the ids
  of its rows, one per line.
- ``.npz``: arrays ``ids`` and ``embedding``.
- ``.emb``: word2vec's text, a line ``n d``, then lines ``id v1 .. vd``.
- ``.tsv``: numbers alone, separated by tabs, and next to them ``<stem>.metadata.tsv`` (for ``z.tsv``: ``z.metadata.tsv``)
  with the ids of the rows, one per line: what TensorBoard's projector loads.

Numbers are 32-bit floats; text has six significant digits of them. Ids of text are integers if all are plain integers,
else strings, as in :func:`graphreach.read_graph`; ids of kinds that files do not know are written as their text.
"""

import csv
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.arguments import check_whole, describe, to_array, to_path
from graphreach.errors import InputError
from graphreach.graph.ids import ids_array
from graphreach.io.files import replacing
from graphreach.io.numpy_files import DAMAGED, load_all_arrays, load_arrays
from graphreach.io.open_file import check_path, open_text
from graphreach.io.parquet import read_parquet
from graphreach.io.text import plain_integers, tidy_text
from graphreach.io.writers import Blocks, id_column, ids_for_files, write_arrays, write_blocks, write_table
from graphreach.progress import live, stage

BLOCK_ENTRIES = 1 << 21
"""Numbers that are written at a time, and that a row group of Parquet has."""

Pieces = Iterator[tuple[int, NDArray[np.float32]]]
"""First row and rows of the blocks of an embedding."""

FORBIDDEN = {
    ".emb": (r"^$|[\s\x00-\x20]", "blanks"),
    ".npy": (r"[\r\n]", "line ends"),
    ".tsv": (r"^$|[\t\r\n]", "tabs and line ends, and not empty,"),
}
"""What ids must not have in a format, as a pattern and in words."""

SUFFIXES = (".parquet", ".csv", ".npy", ".npz", ".emb", ".tsv")
"""Formats of embeddings."""

CONTENTS = {
    ".parquet": "a column id and columns of numbers",
    ".csv": "a column id and columns of numbers, each with a name",
    ".npy": "a matrix of numbers, with its ids beside it",
    ".npz": "arrays ids and embedding",
    ".emb": "a line 'n d', then n lines of an id and d numbers",
    ".tsv": "numbers alone, with their ids beside them",
}
"""What a file must hold, in words."""

POWERS = 10.0 ** np.arange(-40, 60)


def write_embedding(path: Path, ids: NDArray[Any], blocks: Iterable[NDArray[np.float32]], width: int) -> None:
    """Write an embedding in the format that the suffix names; no more than a block of it is held.

    Args:
        path: Ends in one of :data:`SUFFIXES`.
        ids: One id per row, ``[n]``.
        blocks: The rows in order, arrays ``[rows, width]``. They are taken in the caller's thread.
        width: Columns of the embedding.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "z.csv")
        ...     write_embedding(path, np.array(["a", "b"]), [np.array([[0.5, 1.0], [2.0, 0.0]])], 2)
        ...     path.read_text()
        'id,z0,z1\\na,0.5,1.0\\nb,2.0,0.0\\n'
    """
    path, ids = to_path("path", path), to_array("ids", ids, "biufUO")
    width = check_whole("width", width, 0)
    if ids.ndim != 1 or not isinstance(blocks, Iterable) or getattr(blocks, "ndim", 1) == 0:
        raise InputError(f"ids must be a list and blocks arrays of rows, got {describe(ids)} and {describe(blocks)}")
    check_ids(path, ids)
    suffix, pieces = path.suffix.lower(), _pieces(blocks, len(ids), width)
    matrix = Blocks((block for _, block in pieces), (len(ids), width))
    if suffix == ".npz":
        write_arrays(path, {"ids": ids_for_files(ids), "embedding": matrix})
    elif suffix in (".npy", ".tsv"):
        # The ids take their place before the matrix does.
        with replacing(path) as partial:
            if suffix == ".npy":
                with partial.open("wb") as file:
                    write_blocks(file, matrix)
            else:
                write_numbers(partial, (block for _, block in pieces))
            frame = id_column(ids).to_frame()
            write_table(_ids_file(path), [frame], include_header=False, quote_style="never")
    else:
        # The text of word2vec begins with a line that has the size, and has no way to quote an id.
        emb: dict[str, Any] = {
            "head": f"{len(ids)} {width}\n",
            "include_header": False,
            "separator": " ",
            "quote_style": "never",
        }
        group = max(1, BLOCK_ENTRIES // max(1, width))
        write_table(path, _frames(ids, pieces, suffix), group=group, **(emb if suffix == ".emb" else {}))


def write_numbers(path: Path, blocks: Iterable[NDArray[np.float32]]) -> None:
    """Write rows of numbers alone, separated by tabs."""
    write_table(path, (_numbers(_six_digits(block)) for block in blocks), include_header=False, separator="\t")


def _numbers(block: NDArray[np.float32]) -> pl.DataFrame:
    return pl.DataFrame(block, schema=[f"z{i}" for i in range(block.shape[1])], orient="row")


def _frames(ids: NDArray[Any], pieces: Pieces, suffix: str) -> Iterator[pl.DataFrame]:
    column = id_column(ids)
    for begin, block in pieces:
        frame = _numbers(block if suffix == ".parquet" else _six_digits(block))
        yield frame.insert_column(0, column.slice(begin, len(block)))


def check_ids(path: Path, ids: NDArray[Any]) -> None:
    """Refuse ids that the format cannot hold, before any work is done for them."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"path must end in {' '.join(SUFFIXES)}, got {path.name}")
    if suffix not in FORBIDDEN or ids.dtype.kind in "iuf":
        return
    pattern, words = FORBIDDEN[suffix]
    column = id_column(ids)
    wrong = column.filter(column.str.contains(pattern))
    if len(wrong):
        raise InputError(f"ids must be without {words} in a {suffix} file, got {wrong[0]!r:.80}")


def _pieces(blocks: Iterable[NDArray[np.float32]], n: int, width: int) -> Pieces:
    """The blocks, cut where they are large, with their first rows; there must be n rows in all."""
    step, done = max(1, BLOCK_ENTRIES // max(1, width)), 0
    with live("writing rows", n) as show:
        for given in blocks:
            block = to_array("blocks", given).astype(np.float32, copy=False)
            if block.shape[1:] != (width,):
                raise InputError(f"blocks must have shape [rows, {width}], got {list(block.shape)}")
            if done + len(block) > n:
                raise InputError(f"blocks must have {n} rows in all, one for each id, got at least {done + len(block)}")
            for begin in range(0, len(block), step):
                yield done + begin, block[begin : begin + step]
            done += len(block)
            show(done, "")
    if done < n:
        raise InputError(f"blocks must have {n} rows in all, one for each id, got {done}")


def _six_digits(block: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest floats to six significant digits: their shortest text has no more than these."""
    size = np.abs(block)
    exponent = np.floor(np.log10(np.where((size > 0) & (size < np.inf), size, np.float32(1)))).astype(np.int64)
    scale = POWERS[45 - exponent]
    rounded: NDArray[np.float32] = (np.rint(block * scale) / scale).astype(np.float32)
    return rounded


def _ids_file(path: Path) -> Path:
    """The file that holds the ids of a matrix."""
    return path.with_name(f"{path.stem}.metadata.tsv" if path.suffix.lower() == ".tsv" else f"{path.name}.ids.txt")


def read_embedding(path: str | PathLike[str]) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Read the ids ``[n]`` and the embedding ``[n, d]`` that :func:`write_embedding` wrote.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "z.emb")
        ...     _ = path.write_text("2 2\\nann 0.5 1\\nbob 2 0\\n")
        ...     read_embedding(path)
        (array(['ann', 'bob'], dtype='<U3'), array([[0.5, 1. ],
               [2. , 0. ]], dtype=float32))
    """
    path = check_path(path, suffixes=tuple(READERS), must="hold an embedding")
    suffix = path.suffix.lower()
    try:
        with stage(f"reading {path.name}"):
            ids, matrix = READERS[suffix](path)
            if ids.ndim != 1 or matrix.dtype.kind not in "biuf":
                raise ValueError("no ids, or no numbers")
            hash(tuple(ids.tolist() if ids.dtype == object else ()))  # lists are no ids
    except InputError:
        raise
    except (pl.exceptions.PolarsError, csv.Error, *DAMAGED):
        raise InputError(
            f"{path} must be an embedding as a {suffix} file ({CONTENTS[suffix]}), but it is not or is damaged"
        ) from None
    if matrix.ndim != 2 or len(ids) != len(matrix):
        raise InputError(f"{path} must have one row for each of its {len(ids)} ids, got shape {list(matrix.shape)}")
    return ids, np.ascontiguousarray(matrix, np.float32)


Contents = tuple[NDArray[Any], NDArray[Any]]


def _split(frame: pl.DataFrame, text: bool) -> Contents:
    ids = frame.drop_in_place("id")
    return _as_ids(ids.fill_null("") if text else ids, text), _matrix(frame)


def _matrix(frame: pl.DataFrame) -> NDArray[Any]:
    if sum(frame.null_count().row(0)):
        raise ValueError("a number is missing")
    return frame.to_numpy(order="c")


def _unless_damaged(read: Callable[[Path], Any], path: Path) -> Any:
    """Read a file; what is wrong with it is said as it is of all formats of embeddings."""
    try:
        return read(path)
    except InputError as error:
        raise ValueError(str(error)) from None


def _read_csv(path: Path) -> Contents:
    with path.open("rb") as file:
        names = next(csv.reader([file.readline().decode()]))
    if "" in names:
        raise InputError(f"{path} must have a name for each column, got one without, such as an index that pandas adds")
    schema: dict[str, Any] = {name: pl.String if name == "id" else pl.Float32 for name in names}
    frame = pl.read_csv(path, schema=schema, glob=False)
    return _split(frame, text=True)


def _read_emb(path: Path) -> Contents:
    text = open_text(path).text
    head = text[:100].tobytes().split(b"\n")[0]
    n, width = map(int, head.split())
    if n < 0 or not 0 <= 2 * width <= len(text):
        raise ValueError("more numbers per line than there are characters")
    # Other programs end their lines with a blank.
    tidy = tidy_text(text[len(head) + 1 :], " ", "")
    schema: dict[str, Any] = {"id": pl.String} | {f"z{i}": pl.Float32 for i in range(width)}
    frame = pl.read_csv(tidy, has_header=False, separator=" ", quote_char=None, schema=schema)
    if len(frame) != n:
        raise InputError(f"{path} must have {n} rows, as its first line says, got {len(frame)}")
    return _split(frame, text=True)


def _read_npy(path: Path) -> Contents:
    return _read_ids(path), _unless_damaged(lambda file: load_arrays(file, ("embedding",))[0], path)


def _read_tsv(path: Path) -> Contents:
    ids = _read_ids(path)
    with path.open("rb") as file:
        width = file.readline().count(b"\t") + 1
    schema: dict[str, Any] = {f"z{i}": pl.Float32 for i in range(width)}
    frame = pl.read_csv(path, has_header=False, separator="\t", quote_char=None, schema=schema, glob=False)
    return ids, _matrix(frame)


def _read_ids(path: Path) -> NDArray[Any]:
    """The ids in the file next to a matrix."""
    names = _ids_file(path)
    if not names.is_file():
        raise InputError(f"{path} must have its ids beside it, one per line, but there is no file {names}")
    lines = names.read_bytes().decode().removesuffix("\n").split("\n")
    return _as_ids(pl.Series(lines), text=True)


def _as_ids(column: pl.Series, text: bool) -> NDArray[Any]:
    """Ids as an array; those of text are integers if all are plain ones."""
    column = plain_integers(column) if text else column
    return column.to_numpy() if text and column.dtype == pl.Int64 else ids_array(column.to_list())


READERS: dict[str, Callable[[Path], Contents]] = {
    ".parquet": lambda path: _split(_unless_damaged(read_parquet, path), text=False),
    ".csv": _read_csv,
    ".npy": _read_npy,
    ".npz": lambda path: itemgetter("ids", "embedding")(_unless_damaged(load_all_arrays, path)),
    ".emb": _read_emb,
    ".tsv": _read_tsv,
}
