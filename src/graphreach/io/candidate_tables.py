"""Links and the candidates that each of them is ranked among, from tables and from arrays."""

from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.graph import Graph
from graphreach.graph.ids import plain_ids
from graphreach.io.node_tables import NO_ENDS, NodeTable, Report
from graphreach.io.numpy_files import load_arrays
from graphreach.io.open_file import check_path
from graphreach.io.tables import read_links, zeros_and_ones

GROUPS = ("group", "groups", "query", "query_id")
"""Names of a column that says which link a candidate is ranked with, whatever their case."""

ARRAYS = (".npz", ".npy")


class Ranked(NamedTuple):
    """Links and the candidates that each of them is ranked among.

    Attributes:
        pairs: Positions of all pairs, ``[2, m]``.
        links: Which of the pairs are links, ``[p]``.
        candidates: Which of the pairs are candidates, once for each link that they are ranked with, ``[e]``.
        of: The place among ``links`` of the link that each of ``candidates`` is ranked with, ``[e]``.
    """

    pairs: NDArray[np.int64]
    links: NDArray[np.int64]
    candidates: NDArray[np.int64]
    of: NDArray[np.int64]


def read_candidates(path: str | PathLike[str], graph: Graph, report: Report | None = None) -> Ranked:
    """Read links and candidates from one table.

    Args:
        path: A table of pairs with a column of labels as of :func:`read_pair_labels`, 1 for links and 0 for candidates. If
            it has a column named group (or query), a link is ranked among the candidates of its group, which has one link;
            else among those with its source.
        graph: The graph; all ids must be nodes of it.
        report: Is called with one line that says which columns were read and what was assumed.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid"), ("cid", "dan")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "ranked.csv")
        ...     _ = path.write_text("source,target,label\\nann,cid,1\\nann,dan,0\\nbob,dan,1\\nbob,ann,0\\n")
        ...     found = read_candidates(path, graph)
        >>> found.pairs[:, found.candidates].tolist(), found.of.tolist()
        ([[0, 1], [3, 0]], [0, 1])
    """
    table = NodeTable(path, graph, (*NO_ENDS, *GROUPS))
    ends = table.pair_columns()
    index, _, _ = table.nodes(ends, strict=True)
    column = table.named(GROUPS, ends)
    label = zeros_and_ones(table, ends, report, {} if column is None else {"groups": [column]})
    key = (
        index[0]
        if column is None
        else np.unique(table.texts([column])[0].cast(pl.String).fill_null("").to_numpy(), return_inverse=True)[1]
    )
    links, others = np.flatnonzero(label == 1), np.flatnonzero(label == 0)
    others = others[np.argsort(key[others], kind="stable")]
    begin, end = (np.searchsorted(key[others], key[links], side) for side in ("left", "right"))
    _check(table, graph, index, links, others, key, column is not None, end - begin)
    of = np.repeat(np.arange(len(links)), end - begin)
    place = np.arange(len(of)) - np.repeat(np.cumsum(end - begin) - end, end - begin)
    return Ranked(index, links, others[place], of)


def _check(
    table: NodeTable, graph: Graph, index: NDArray[np.int64], links: NDArray[np.int64], others: NDArray[np.int64],
    key: NDArray[np.int64], grouped: bool, sizes: NDArray[np.int64],
) -> None:  # fmt: skip
    """Refuse tables where it is not clear what is ranked among what."""
    where = "in its group" if grouped else "with its source"

    def pair(row: Any) -> str:
        a, b = plain_ids(graph.ids[index[:, row]])
        return f"{a!r} and {b!r} in {table.place(int(row))}"

    if not len(links):
        raise InputError(f"{table.what} must have links, with label 1, got candidates alone")
    lonely = np.flatnonzero(~np.isin(key[others], key[links]))
    if len(lonely):
        raise InputError(
            f"{table.what} must have a link, with label 1, for each candidate {where}, got none for "
            f"{pair(others[lonely].min())}"
        )
    if not sizes.all():
        raise InputError(
            f"{table.what} must have candidates, with label 0, for each link {where}, got none for "
            f"{pair(links[np.argmin(sizes)])}"
        )
    _, first = np.unique(key[links], return_index=True)
    if grouped and len(first) < len(links):
        again = np.setdiff1d(np.arange(len(links)), first)[0]
        raise InputError(
            f"{table.what} must have one link, with label 1, in each group, got another, {pair(links[again])}"
        )


def read_candidate_array(
    path: str | PathLike[str], links: str | PathLike[str], graph: Graph, report: Report | None = None
) -> Ranked:
    """Read candidates of the links of a table from an array in the layout of HeaRT; nothing is unpickled.

    Args:
        path: A ``.npz`` file with the array ``pairs``, or a ``.npy`` file: ids of the nodes of each link's candidates,
            ``[links, candidates, 2]``, in the order of the links.
        links: A table of links as of :func:`read_links`.
        graph: The graph; all ids must be nodes of it.
        report: Is called with one line that says which columns of the table were read and what was assumed.
    """
    file = check_path(path, suffixes=ARRAYS, must="have candidates")
    positives, _ = read_links(links, graph, report)
    array = load_arrays(file, ("pairs",), "iufU")[0]
    count = positives.shape[1]
    if array.ndim != 3 or array.shape[2] != 2 or len(array) != count or not array.size:
        raise InputError(
            f"{file} must hold an array of shape [{count}, candidates, 2], one row for each link of {links}, got "
            f"{list(array.shape)}"
        )
    try:
        others = graph.index_of(np.asarray(array).reshape(-1, 2)).T
    except InputError as error:
        raise InputError(f"{file} must hold ids of nodes, but {error}") from None
    of = np.repeat(np.arange(count), array.shape[1])
    return Ranked(np.concatenate([positives, others], axis=1), np.arange(count), count + np.arange(len(of)), of)
