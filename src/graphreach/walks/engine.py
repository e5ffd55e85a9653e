"""Where walks run: what an engine offers, and this process as the default one.

The rooms that walk describe their work as a :class:`Job`, hand it to the :class:`Walker` of an engine, and read results in
order. How an engine does the work, for example on a Ray cluster, is up to the engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import describe, nearest
from graphreach.by_name import ENGINES, find
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.jit import Function
from graphreach.limits import check_memory, check_steps
from graphreach.progress import track
from graphreach.walks.kernels import build_alias

STEPS_PER_CALL = 1 << 24
"""Steps between two updates of a progress bar: a few tenths of a second."""


class AnyGraph(Protocol):
    """A :class:`graphreach.Graph`, or one in parts that only some engines can walk on."""

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""

    @property
    def content_hash(self) -> str:
        """A hash of nodes, edges and weights."""


class Transitions(NamedTuple):
    """CSR of out-edges and, for weighted graphs, the alias table; unpacked into a kernel's first arguments.

    Without ``indptr``, ``indices`` are walks that were taken elsewhere, ``[starts * num_walks * walk_length]``.
    """

    indptr: NDArray[Any] | None
    indices: NDArray[Any]
    alias: NDArray[np.uint32] | None


_tables: "WeakKeyDictionary[Graph, Transitions]" = WeakKeyDictionary()


def transitions(graph: Graph) -> Transitions:
    """The transition structure of ``graph``: p(e) = w_e / sum of w_e' over the node's out-edges (section 2).

    The alias table of a weighted graph is built once and kept as long as the graph.
    """
    if graph.weights is None:
        return Transitions(graph.indptr, graph.indices, None)
    if graph not in _tables:
        alias = np.empty(3 * len(graph.indices), np.uint32)
        build_alias(graph.indptr, graph.indices, graph.weights, alias)
        alias.flags.writeable = False  # as in the shared memory of a cluster's nodes: one version of each kernel
        _tables[graph] = Transitions(graph.indptr, graph.indices, alias)
    return _tables[graph]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A purpose for which walks start from each of many nodes.

    Attributes:
        num_walks: Walks from each start.
        length: Jumps of a walk.
        seed: Random seed of the walks.
        wanted: A bitmap of the nodes whose visits matter, or None if all do.
    """

    num_walks: int
    length: int
    seed: int
    wanted: NDArray[np.uint64] | None = None

    @property
    def steps(self) -> int:
        """Steps of all walks from one start."""
        return self.num_walks * self.length

    @property
    def row_bytes(self) -> int:
        """Memory that the result of one start takes."""
        return 0

    @property
    def most_rows(self) -> int | None:
        """Starts to be walked from at a time at most, or None."""
        return None

    def walk(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any] | None = None) -> Any:
        """The result for some starts, written to ``out`` if that is given and the result is an array."""
        raise NotImplementedError

    def run(self, kernel: Function, table: Transitions, starts: NDArray[np.uint32], *arguments: Any) -> None:
        """Call a kernel for the walks of some starts."""
        kernel(*table, starts, self.num_walks, self.length, self.seed, *arguments)


class Walker(ABC):
    """A graph made ready for walks by an engine."""

    def __init__(self, num_nodes: int) -> None:
        self.num_nodes = num_nodes

    @abstractmethod
    def map(self, job: Job, starts: NDArray[np.uint32], description: str) -> Iterator[tuple[int, Any]]:
        """The job's results for slices of the starts, each with the number of its first start, in order."""

    def fill(self, job: Job, starts: NDArray[np.uint32], out: NDArray[Any], description: str) -> None:
        """Write the results of a job whose results are arrays to ``out``, one row for each start."""
        for first, rows in self.map(job, starts, description):
            out[first : first + len(rows)] = rows

    @abstractmethod
    def compute(
        self, function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any], description: str
    ) -> Iterator[Any]:
        """``function(shared, item)`` for each item, in order."""


@runtime_checkable
class Engine(Protocol):
    """Where walks and training run."""

    @property
    def name(self) -> str:
        """A short name, as ``"local"``."""

    @property
    def last_use(self) -> Any:
        """What the last call that walked took of a cluster, or None if there is no cluster."""

    def ready(self) -> AbstractContextManager[None]:
        """Be connected within the block, where an engine needs that, and sure that it can do the work."""

    def in_parts(self, graph: AnyGraph) -> bool:
        """Whether no worker has the whole graph; a graph that the engine cannot walk on is refused."""

    def walker(self, graph: AnyGraph) -> AbstractContextManager[Walker]:
        """The graph made ready for walks within the block."""

    def train(self, trainer: Any) -> dict[str, Any] | None:
        """Train to the end; returns what a run's record says about the cluster, if there is one."""


class LocalWalker(Walker):
    """Walks in this process, on all its threads."""

    def __init__(self, graph: Any) -> None:
        super().__init__(graph.num_nodes)
        self.graph = graph

    def map(self, job: Job, starts: NDArray[np.uint32], description: str) -> Iterator[tuple[int, Any]]:
        """The job's results for slices of the starts, in order."""
        for rows in row_chunks(len(starts), job.steps, description, job.row_bytes, job.most_rows):
            yield rows.start, job.walk(transitions(self.graph), starts[rows])

    def fill(self, job: Job, starts: NDArray[np.uint32], out: NDArray[Any], description: str) -> None:
        """Write the results where they belong, without a copy."""
        for rows in row_chunks(len(starts), job.steps, description):
            job.walk(transitions(self.graph), starts[rows], out[rows])

    def compute(
        self, function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any], description: str
    ) -> Iterator[Any]:
        """One item after the other."""
        for item in track(items, len(items), description):
            yield function(shared, item)


class Local:
    """This process.

    Example:
        >>> import graphreach as gr
        >>> path = gr.Graph.from_edges([[0, 1], [1, 2]])
        >>> gr.random_walks(path, [0], num_walks=1, walk_length=1, engine=Local())
        array([[[0, 1]]], dtype=int32)
    """

    name: str = "local"
    last_use: None = None

    def __repr__(self) -> str:
        return "Local()"

    def ready(self) -> AbstractContextManager[None]:
        """Nothing to connect to."""
        return nullcontext()

    def in_parts(self, graph: AnyGraph) -> bool:
        """Never: a graph in parts is refused."""
        if not isinstance(graph, Graph):
            raise InputError("engine must be 'ray' for a partitioned graph, got 'local'")
        return False

    @contextmanager
    def walker(self, graph: AnyGraph) -> Iterator[Walker]:
        """Walks on the graph as it is."""
        self.in_parts(graph)
        yield LocalWalker(graph)

    def train(self, trainer: Any) -> dict[str, Any] | None:
        """Let the trainer run."""
        trainer.run()
        return None


def find_engine(engine: Engine | str | None) -> Engine:
    """The engine that the argument means: an object as it is, a name as that engine with its defaults."""
    if engine is None:
        return Local()
    if isinstance(engine, Engine) and not isinstance(engine, type):
        return engine
    if isinstance(engine, str) and engine in ENGINES:
        found: Engine = find(ENGINES[engine])()
        return found
    names = ", ".join(ENGINES) + ("" if isinstance(engine, str) else " or an engine object")
    raise InputError(f"engine must be one of {names}, got {describe(engine)}{nearest(engine, ENGINES)}")


def row_chunks(
    num_rows: int, steps_per_row: int, description: str, row_bytes: int = 0, most_rows: int | None = None
) -> Iterator[slice]:
    """Slices of rows worth :data:`STEPS_PER_CALL` steps each, with a progress bar when it takes long.

    Args:
        num_rows: Number of starts.
        steps_per_row: Steps of all walks from one start; too many are refused.
        description: Title of the progress bar.
        row_bytes: Memory that a row takes until its slice is done; too much is refused.
        most_rows: Maximum number of rows of a slice.
    """
    check_steps(num_rows, 1, steps_per_row)
    size = min(max(1, STEPS_PER_CALL // max(1, steps_per_row)), most_rows or num_rows or 1)
    check_memory(
        row_bytes * size, f"{description}: {steps_per_row} steps from one start", "lower num_walks or walk_length"
    )
    begins = range(0, num_rows, size)
    for begin in track(begins, len(begins), description):
        yield slice(begin, min(begin + size, num_rows))
