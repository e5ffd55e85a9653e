"""Embeddings of a large graph, written by the workers of a cluster as a Parquet data set."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphreach.cluster.machines import Machines
from graphreach.cluster.ray_engine import Ray
from graphreach.cluster.replicated import in_order
from graphreach.errors import InputError
from graphreach.progress import live
from graphreach.training.inputs import BLOCK_ROWS, Inputs
from graphreach.walks.engine import Engine
from graphreach.walks.walk_length import check_count

SHARD_ROWS = 1 << 18
"""Rows of a file, if there are so many; fewer where workers would have nothing to do."""

AHEAD = 2
"""Shards in the cluster's memory for each CPU: one that is worked on, one that waits."""


@dataclass(frozen=True, eq=False)
class Shard:
    """Nodes that follow each other, with all that their embedding needs.

    Attributes:
        ids: Of the nodes.
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
        ids: Of the nodes, ``[n]``.
        folder: Empty or not there yet, on storage that all nodes of the cluster share.
        shards: Files; by default as many as there are CPUs, and more for many nodes.
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
    """Let tasks of the cluster embed shards, so many at a time, and write a file each; returns the files in order."""
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
