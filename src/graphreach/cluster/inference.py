"""Embeddings of a large graph, or of one in parts, written by the workers of a cluster as a Parquet data set."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, vstack

from graphreach.anchors import select_anchors
from graphreach.cluster.machines import Machines
from graphreach.cluster.partitioned_graph import PartitionedGraph
from graphreach.cluster.ray_engine import Ray
from graphreach.cluster.replicated import in_order
from graphreach.errors import InputError
from graphreach.graph.ids import few_ids
from graphreach.graph.matching import match_ids
from graphreach.nn.graph_reach import GraphReach
from graphreach.progress import live
from graphreach.reachability import Reachability
from graphreach.reachability.sampled import CountFromAnchors, Counting, CountToAnchors
from graphreach.training.inputs import BLOCK_ROWS, Inputs
from graphreach.training.trained_run import TrainedRun
from graphreach.walks.engine import Engine, Walker
from graphreach.walks.walk_length import check_count, resolve_walk_length

SHARD_ROWS = 1 << 18
"""Rows of a file, if there are enough; fewer where workers would have nothing to do."""

AHEAD = 2
"""Shards in the cluster's memory for each CPU: one that is worked on, one that waits."""


@dataclass(frozen=True, eq=False)
class Shard:
    """Nodes that follow each other, with all that their embedding needs.

    Attributes:
        ids: Ids of the nodes.
        inputs: Rows of the nodes, and of the anchors behind them; of the whole graph if it is not embedded in pieces.
        rows: How many nodes are embedded together, as on one machine, or None for the whole graph at once.
        first: Where the shard begins in the whole graph.
    """

    ids: NDArray[Any]
    inputs: Inputs
    rows: int | None
    first: int

    @torch.no_grad()
    def blocks(self, model: torch.nn.Module) -> Iterator[NDArray[np.float32]]:
        """The embeddings of the shard's nodes in order, some rows at a time."""
        if self.rows is None:
            yield self.inputs.embed(model)[self.first : self.first + len(self.ids)].numpy()
            return
        for nodes in torch.arange(len(self.ids)).split(self.rows):
            yield self.inputs.embed_rows(model, nodes).numpy()


def write_embeddings(
    model: torch.nn.Module, inputs: Inputs, ids: NDArray[Any], folder: str | Path, *,
    shards: int | None = None, engine: Engine | None = None,
) -> list[Path]:  # fmt: skip
    """Embed all nodes by tasks of a Ray cluster, each of which writes a file of the data set.

    The files are ``part-00000.parquet`` and so on, with columns ``id``, ``z0``, ``z1``, ...; their rows, file after file,
    are the graph's nodes in order. A file is there as a whole or not at all, and a task that is lost is repeated. Beyond
    50,000 nodes a worker gets the rows of its own nodes and of the anchors only.

    Args:
        model: The trained encoder.
        inputs: What it reads of the graph.
        ids: Ids of the nodes, ``[n]``.
        folder: Empty or not there yet, on storage that all nodes of the cluster share.
        shards: Number of files; by default the number of CPUs, and more for many nodes.
        engine: The cluster; None starts a Ray on this machine.

    Returns:
        The files, in order.
    """
    path = Path(folder).resolve()
    check_folder(path)
    if len(ids) != inputs.num_nodes:
        raise InputError(f"ids must have one id for each of {inputs.num_nodes} nodes, got {len(ids)}")
    if shards is not None:
        check_count("shards", shards)
    with (engine or Ray()).ready():
        wanted = shards or max(sum(Machines.of_cluster().cores), -(-len(ids) // SHARD_ROWS))
        return write_shards(model, cut(inputs, ids, wanted), path, len(ids))


def write_shards(model: torch.nn.Module, shards: Iterator[Shard], folder: Path, num_nodes: int) -> list[Path]:
    """Let tasks of the cluster embed a number of shards at a time and write one file each; returns the files in order."""
    import ray

    from graphreach.cluster.tensors import pack

    folder.mkdir(parents=True, exist_ok=True)
    task, known, ahead = ray.remote(_write), ray.put(model), AHEAD * sum(Machines.of_cluster().cores)
    files = list[Path]()

    def submitted() -> Iterator[tuple[int, Any]]:
        for shard in shards:
            files.append(folder / f"part-{len(files):05}.parquet")
            yield len(shard.ids), task.remote(known, pack(shard), files[-1])

    try:
        with live("embedding on Ray", num_nodes) as show:
            done = 0
            for count, _ in in_order(submitted(), ahead):
                done += count
                show(done, "")
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    for rest in folder.glob(".part-*"):  # of tasks that were lost
        rest.unlink()
    return files


def check_folder(path: Path) -> None:
    """Refuse a folder with something in it, whose files would be taken for part of the data set."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"folder must be empty or not there yet, got {path}")


def cut(inputs: Inputs, ids: NDArray[Any], shards: int) -> Iterator[Shard]:
    """A graph in up to ``shards`` shards, made when asked for.

    A graph that is embedded in pieces is cut between the blocks of rows that one machine would embed together, so that
    the embeddings are the same to the last bit.
    """
    n, step = inputs.num_nodes, BLOCK_ROWS if inputs.in_pieces else 1
    blocks = -(-n // step)
    count = min(shards, blocks)
    for number in range(count):
        begin, end = number * blocks // count * step, min(n, (number + 1) * blocks // count * step)
        if inputs.in_pieces:
            yield Shard(ids[begin:end], _rows(inputs, begin, end), step, begin)
        else:
            yield Shard(ids[begin:end], inputs, None, begin)


def _rows(inputs: Inputs, begin: int, end: int) -> Inputs:
    nodes = torch.arange(begin, end)
    structure = inputs.structure.rows(nodes)
    numbers = torch.cat([nodes, inputs.structure.anchor_index])
    x = None if inputs.x is None else inputs.x[numbers]
    return replace(inputs, x=x, structure=structure, num_nodes=structure.num_nodes, numbers=numbers)


def _write(model: torch.nn.Module, packed: Any, path: Path) -> None:
    """Embed a shard and write its file."""
    from graphreach.cluster.tensors import unpack
    from graphreach.io.embeddings import write_embedding

    if not path.parent.is_dir():
        name = socket.gethostname()
        raise InputError(
            f"folder must be on storage that all nodes share, got {path.parent}, which {name} does not see"
        )
    shard: Shard = unpack(packed)
    blocks = shard.blocks(model.eval())
    first = next(blocks)
    write_embedding(path, shard.ids, chain([first], blocks), first.shape[1])


def embed_partitions(
    run: TrainedRun, graph: PartitionedGraph, folder: str | Path, *,
    x: NDArray[np.float32] | None = None, engine: Ray | None = None,
) -> list[Path]:  # fmt: skip
    """Embed all nodes of a graph that no machine has to hold.

    Reachability is sampled by walks through the parts, part by part; workers embed the rows of a part and write them. The
    files are ``part-00000.parquet`` and so on, one for each part, with columns ``id``, ``z0``, ``z1``, ... The anchors are
    those of the run, which the graph must have, or as many of its own if the run was opened with ``new_anchors=True``.

    Args:
        run: The trained model; of method ``graphreach``, without a neighbourhood branch.
        graph: A graph in parts, see :func:`graphreach.cluster.write_partitions`.
        folder: Empty or not there yet, on storage that all nodes of the cluster share.
        x: Features ``[n, d]``, which may be a memory map, for a model that was trained with them.
        engine: The cluster; None starts a Ray on this machine.

    Returns:
        The files, in the order of the parts.
    """
    path = Path(folder).resolve()
    check_folder(path)
    encoder = _encoder(run, graph, x)
    x = x if run.settings.features else None
    engine = engine or Ray()
    with engine.walker(graph) as walker:
        rows = _PartRows(walker, graph, run, engine)
        shards = (rows.shard(part, x) for part in range(graph.num_parts))
        return write_shards(encoder, shards, path, graph.num_nodes)


def _encoder(run: TrainedRun, graph: PartitionedGraph, x: Any) -> GraphReach:
    encoder = run.model.encoder
    if not isinstance(encoder, GraphReach) or encoder.local is not None:
        raise InputError(
            "run must be of GraphReach without a neighbourhood branch, which would need the edges of other parts, got"
            f" {type(encoder).__name__} of method {run.settings.method!r}"
        )
    if getattr(encoder, "table", None) is not None:
        raise InputError("run must not have identity=True to embed another graph: its vectors are of the nodes it knew")
    run.check_features(x)
    if x is not None and len(x) != graph.num_nodes:
        raise InputError(f"x must have a row for each of {graph.num_nodes} nodes, got {len(x)}")
    return encoder


def _known_anchors(run: TrainedRun, graph: PartitionedGraph) -> NDArray[np.int64] | None:
    """Positions of the run's anchors, or None if the graph is to have anchors of its own."""
    if run.anchors is None or run.new_anchors:
        return None
    found = np.full(len(run.anchors), -1, np.int64)
    for part, low in enumerate(graph.bounds[:-1]):
        own = match_ids(run.anchors, graph.part_ids(part))
        found = np.where(own >= 0, own + low, found)
    missing = [each for each, position in zip(run.anchors, found, strict=True) if position < 0]
    if missing:
        raise InputError(
            f"graph must have the run's {len(found)} anchors, got one without {len(missing)} of them: {few_ids(missing)};"
            " TrainedRun(folder, new_anchors=True) chooses anchors of its own"
        )
    return found


class _PartRows:
    """Reachability of a few nodes at a time."""

    def __init__(self, walker: Walker, graph: PartitionedGraph, run: TrainedRun, engine: Ray) -> None:
        attributes = run.settings.features and getattr(run.model.encoder, "in_channels", 0) > 0
        plan = run.plan(graph.num_nodes, attributes)
        reach = plan.reach
        length = reach.hops or resolve_walk_length(graph, reach.walk_length)
        self.seed, self.scale = reach.seed, reach.scale
        if self.scale == "lift":
            raise InputError("run must not have scale 'lift', for which every worker would need the whole graph")
        self.facts: dict[str, Any] = {
            "hops": reach.hops, "method": "walks", "similarity": reach.similarity, "walk_length": length,
            "num_walks": reach.num_walks, "seed": self.seed,
        }  # fmt: skip
        self.walker, self.graph = walker, graph
        self.counting = Counting(reach.similarity, reach.num_walks, length, reach.hops)
        anchors = _known_anchors(run, graph)
        if anchors is None:
            own = plan.anchors.model_dump()  # type: ignore[union-attr]
            own["walk_length"] = length if own["walk_length"] == "diameter" else own["walk_length"]
            anchors = select_anchors(graph, **own, engine=engine).anchors
        self.anchors = anchors
        self.back = CountFromAnchors.make(self.counting, self.seed).matrix(walker, anchors.astype(np.uint32))
        self.of_anchors = self._to(anchors)

    def _to(self, nodes: NDArray[Any]) -> csr_array:
        job = CountToAnchors.make(self.anchors, self.graph.num_nodes, self.counting, self.seed, compressed=True)
        found: csr_array = job.matrix(self.walker, nodes.astype(np.uint32))
        return found

    def shard(self, part: int, x: NDArray[np.float32] | None) -> Shard:
        """The rows of one part's nodes, and of the anchors behind them."""
        low, high = self.graph.bounds[part : part + 2]
        own, k = np.arange(low, high), len(self.anchors)
        numbers = np.concatenate([own, self.anchors])
        reach = Reachability(
            csr_array(vstack([self._to(own), self.of_anchors], format="csr")),
            rows_of(self.back, low, high, self.anchors),
            np.arange(len(own), len(numbers)),
            **self.facts,
        )
        positions = reach.rescaled(self.scale, num_nodes=self.graph.num_nodes).to_torch()
        features = None if x is None else torch.from_numpy(np.ascontiguousarray(x[numbers], np.float32))
        inputs = Inputs(features, positions, len(own) + k, numbers=torch.from_numpy(numbers))
        return Shard(self.graph.part_ids(part), inputs, BLOCK_ROWS, low)


def rows_of(columns: csc_array, low: int, high: int, others: NDArray[np.int64]) -> csr_array:
    """The rows ``low .. high - 1`` of a matrix, and some others behind them, without a pointer for every row.

    Example:
        >>> columns = csc_array(np.array([[1, 0], [0, 2], [3, 4], [0, 5]]))
        >>> rows_of(columns, 1, 3, np.array([3, 2])).toarray()
        array([[0, 2],
               [3, 4],
               [0, 5],
               [3, 4]])
    """
    ranges = [(low, high), *((int(other), int(other) + 1) for other in others)]
    return csr_array(vstack([columns[begin:end] for begin, end in ranges], format="csr"))
