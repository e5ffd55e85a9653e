"""Embeddings of a graph in parts by a trained run, one file of a Parquet data set for each part."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, vstack

from graphreach.anchors import select_anchors
from graphreach.cluster.inference import Shard, check_folder, write_shards
from graphreach.cluster.partitioned_graph import PartitionedGraph
from graphreach.cluster.ray_engine import Ray
from graphreach.errors import InputError
from graphreach.graph.ids import few_ids
from graphreach.nn.graph_reach import GraphReach
from graphreach.reachability import Reachability
from graphreach.reachability.sampled import CountFromAnchors, Counting, CountToAnchors
from graphreach.training.inputs import BLOCK_ROWS, Inputs
from graphreach.training.trained_run import TrainedRun, match_ids
from graphreach.walks.engine import Walker
from graphreach.walks.walk_length import resolve_walk_length


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
        graph: In parts, see :func:`graphreach.cluster.write_partitions`.
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
        rows = _Rows(walker, graph, run, engine)
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


class _Rows:
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
    entries = columns.tocoo()
    row, column, value = entries.row, entries.col, entries.data
    chosen = [np.flatnonzero((row >= low) & (row < high))]
    places = [row[chosen[0]] - low]
    for i, other in enumerate(others):
        chosen.append(np.flatnonzero(row == other))
        places.append(np.full(len(chosen[-1]), high - low + i))
    pick = np.concatenate(chosen)
    shape = (high - low + len(others), columns.shape[1])
    return csr_array((value[pick], (np.concatenate(places), column[pick])), shape=shape)
