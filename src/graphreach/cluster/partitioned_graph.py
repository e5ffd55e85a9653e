"""A graph in parts on disk, so that no process needs all of it."""

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors.select_anchors import can_move
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io.files import replacing
from graphreach.walks.engine import transitions
from graphreach.walks.walk_length import check_count

VERSION = 1
INDEX = "partitions.json"


class Shard(NamedTuple):
    """Rows of a graph: those of the nodes from ``low`` on; unpacked after ``low`` into a kernel's first arguments."""

    low: int
    indptr: NDArray[Any]
    indices: NDArray[Any]
    alias: NDArray[np.uint32] | None


def part_bounds(graph: Graph, parts: int) -> list[int]:
    """Where each part begins, and the end: ranges of nodes with about the same number of edges."""
    n = graph.num_nodes
    size = graph.indptr.astype(np.int64) + np.arange(n + 1)
    inner = np.searchsorted(size, size[-1] * np.arange(1, parts) / parts)
    return [0, *(int(bound) for bound in inner), n]


def shard_of(graph: Graph, low: int, high: int) -> Shard:
    """The rows of the nodes ``low .. high - 1``."""
    table = transitions(graph)
    begin, end = int(graph.indptr[low]), int(graph.indptr[high])
    indptr = graph.indptr[low : high + 1] - graph.indptr[low]
    alias = None if table.alias is None else table.alias[3 * begin : 3 * end]
    return Shard(low, indptr, table.indices[begin:end], alias)


def stored_bytes(graph: "Graph | PartitionedGraph") -> int:
    """Bytes of the rows of a whole graph, in memory or in its files.

    Example:
        >>> stored_bytes(Graph.from_edges([[0, 1, 2], [1, 2, 3]]))
        32
    """
    if isinstance(graph, PartitionedGraph):
        with graph.readable():
            return sum(_part_file(graph.folder, part).stat().st_size for part in range(graph.num_parts))
    return sum(array.nbytes for array in transitions(graph) if array is not None)


def write_partitions(graph: Graph, folder: str | Path, parts: int) -> "PartitionedGraph":
    """Write a graph as ``parts`` files of about the same number of edges, for ``engine="ray"``.

    Args:
        graph: The graph.
        folder: A folder that all nodes of the cluster can read; it is made if it is missing.
        parts: Number of files.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edges([[0, 1, 2], [1, 2, 3]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_partitions(graph, folder, 2)
        PartitionedGraph(num_nodes=4, num_parts=2, directed=False, weighted=False)
    """
    if check_count("parts", parts) > max(1, graph.num_nodes):
        raise InputError(f"parts must be at most {graph.num_nodes}, the number of nodes, got {parts}")
    folder = Path(folder)
    ids = _storable(graph.ids)
    bounds = part_bounds(graph, parts)
    facts = {
        "version": VERSION,
        "num_nodes": graph.num_nodes,
        "directed": graph.directed,
        "weighted": graph.weighted,
        "bounds": bounds,
        "mixed_ids": graph.ids.dtype == object,
        "content_hash": graph.content_hash,
        "can_move": can_move(graph) if graph.num_nodes else 0.0,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / INDEX).unlink(missing_ok=True)
        for part in range(parts):
            shard = shard_of(graph, bounds[part], bounds[part + 1])
            arrays = {name: value for name, value in shard._asdict().items() if value is not None}
            _save(_part_file(folder, part), ids=ids[bounds[part] : bounds[part + 1]], **arrays)
        with replacing(folder / INDEX) as partial:
            partial.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InputError(f"folder must have room for the graph, but the disk of {folder} is full") from None
        raise InputError(f"folder must be one that can be written to, got {folder}: {error.strerror}") from None
    return PartitionedGraph.open(folder)


def _part_file(folder: Path, part: int) -> Path:
    return folder / f"part-{part:05d}.npz"


def _save(path: Path, **arrays: Any) -> None:
    with replacing(path) as partial, partial.open("wb") as file:
        np.savez(file, **arrays)


def _storable(ids: NDArray[Any]) -> NDArray[Any]:
    """Ids as an array without objects: mixed kinds as JSON."""
    if ids.dtype != object:
        return ids
    values = ids.tolist()
    wrong = [value for value in values if not isinstance(value, int | float | str)]
    if wrong:
        raise InputError(f"graph must have numbers and strings as ids to be written, got {wrong[0]!r}")
    return np.array([json.dumps(value) for value in values])


@dataclass(frozen=True, repr=False)
class PartitionedGraph:
    """A graph that :func:`write_partitions` wrote; :func:`random_walks`, :func:`select_anchors` and
    :func:`reachability` take it with ``engine="ray"``.

    Attributes:
        folder: Where it is.
        num_nodes: The number of nodes.
        directed: Whether edges have a direction.
        weighted: Whether edges have weights.
        bounds: Where each part begins, and the end.
        mixed_ids: Whether ids are of several kinds.
        content_hash: That of the whole graph.
        can_move: The share of nodes with a neighbour other than themselves.
    """

    folder: Path
    num_nodes: int
    directed: bool
    weighted: bool
    bounds: tuple[int, ...]
    mixed_ids: bool
    content_hash: str
    can_move: float

    @classmethod
    def open(cls, folder: str | Path) -> "PartitionedGraph":
        """Read what is known of the graph, and nothing of its edges."""
        path = Path(folder) / INDEX
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            version = facts.pop("version")
            bounds = tuple(facts.pop("bounds"))
        except FileNotFoundError:
            raise InputError(f"folder must be one that write_partitions wrote, but {path} does not exist") from None
        except (ValueError, KeyError, AttributeError, TypeError):
            raise InputError(f"folder must be one that write_partitions wrote, but {path} is not readable") from None
        if version != VERSION:
            raise InputError(f"folder must be of version {VERSION}, got version {version} in {path}")
        return cls(Path(folder).absolute(), bounds=bounds, **facts)

    @property
    def num_parts(self) -> int:
        """The number of parts."""
        return len(self.bounds) - 1

    def shard(self, part: int) -> Shard:
        """The rows of one part."""
        with self._open(part) as file:
            alias = file["alias"] if self.weighted else None
            return Shard(int(file["low"]), file["indptr"], file["indices"], alias)

    def part_ids(self, part: int) -> NDArray[Any]:
        """The ids of one part's nodes."""
        with self._open(part) as file:
            ids = np.asarray(file["ids"])
        if not self.mixed_ids:
            return ids
        values = np.empty(len(ids), object)
        values[:] = [json.loads(text) for text in ids.tolist()]
        return values

    @cached_property
    def ids(self) -> NDArray[Any]:
        """The ids of all nodes, ``[n]``."""
        return np.concatenate([self.part_ids(part) for part in range(self.num_parts)])

    def _open(self, part: int) -> Any:
        with self.readable():
            return np.load(_part_file(self.folder, part), allow_pickle=False)

    @contextmanager
    def readable(self) -> Iterator[None]:
        """One sentence for a file that cannot be read within the block."""
        try:
            yield
        except OSError as error:
            raise InputError(
                "the folder of a partitioned graph must be readable on every node, but"
                f" {error.filename} is not: {error.strerror}"
            ) from None

    def __repr__(self) -> str:
        return (
            f"PartitionedGraph(num_nodes={self.num_nodes}, num_parts={self.num_parts}, directed={self.directed}, "
            f"weighted={self.weighted})"
        )
