"""Several processes that share the steps of a training; Ray Train calls :func:`train_in_worker` in each of them."""

import socket
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numba
import torch
import torch.distributed as dist
from torch import Tensor

from graphreach.cluster.machines import MARK, STORAGE
from graphreach.errors import InputError
from graphreach.nn.node_model import numbered_rows
from graphreach.training.inputs import Inputs, Part
from graphreach.training.model import TaskModel
from graphreach.training.trainer import CHECKPOINT, DivergedError, Team, Trainer

Found = TypeVar("Found")


class ProcessTeam(Team):
    """The processes of ``torch.distributed``'s group; the one of rank 0 validates and writes.

    Every process draws the same step from the same seed and works on a part of its examples. What is dropped by dropout is
    what one process would drop. So the losses are those of one process, except for the order in which floats are added.

    Args:
        rank: This process's number.
        size: How many there are.

    Example:
        >>> team = ProcessTeam(1, 2)
        >>> team.leads
        False
        >>> own, place = team.share(Part(torch.arange(3), torch.zeros(3), None))
        >>> own.index, own.weight, place
        (tensor([1, 2]), tensor([0.3333, 0.3333]), tensor([1, 2]))
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.leads = rank == 0

    def share(self, part: Part) -> tuple[Part, Tensor]:
        """This process's examples of a step, weighted as in the whole step, and their places in it.

        A step of fewer examples than processes gives some of them an example that weighs nothing, so that all have the
        same gradients to add up.
        """
        m = len(part)
        weight = torch.full((m,), 1 / m) if part.weight is None else part.weight
        begin, end = self.rank * m // self.size, (self.rank + 1) * m // self.size
        if begin == end:
            begin, end, weight = 0, 1, torch.zeros(1)
        place = torch.arange(begin, end)
        reach = None if part.reach is None else part.reach[begin:end]
        return Part(part.index[..., begin:end], part.label[begin:end], weight[begin:end], reach), place

    def loss(self, model: TaskModel, inputs: Inputs, part: Part) -> Tensor:
        """The loss of this process's share of a step; the shares add up to the loss of the step."""
        own, place = self.share(part)
        if inputs.in_pieces:
            nodes, index = torch.unique(own.index, return_inverse=True)
            own = replace(own, index=index)
            with numbered_rows(*_numbers(torch.unique(part.index), nodes, inputs.structure.width)):
                z = inputs.embed_rows(model.encoder, nodes)
        else:
            z = inputs.embed(model.encoder)
        with numbered_rows(place, len(part)):
            return model.loss(z, own)

    def add_up(self, model: TaskModel, loss: Tensor) -> float:
        """Sum the gradients and losses of all processes, by one message."""
        gradients = [each.grad for each in model.parameters() if each.grad is not None]
        message = torch.cat([*(each.flatten() for each in gradients), loss.detach().view(1)])
        dist.all_reduce(message)
        parts = message[:-1].split([each.numel() for each in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))
        return float(message[-1])

    def broadcast(self, find: Callable[[], Found]) -> Found:
        """What the process of rank 0 finds, known to all."""
        box: list[Any] = [find() if self.leads else None]
        dist.broadcast_object_list(box, src=0)
        found: Found = box[0]
        return found


def _numbers(everyone: Tensor, nodes: Tensor, num_anchors: int) -> tuple[Tensor, int]:
    """The rows that some nodes, and the anchors behind them, would have in a matrix of all nodes of a step; its rows."""
    rows = torch.cat([torch.searchsorted(everyone, nodes), len(everyone) + torch.arange(num_anchors)])
    return rows, len(everyone) + num_anchors


def train_in_worker(config: dict[str, Any]) -> dict[str, Any]:
    """Train with the others; returns the last checkpoint's bytes, or what is wrong with the input.

    Wrong input is no failure to Ray, which would try again.
    """
    from ray import train

    context = train.get_context()
    team = ProcessTeam(context.get_world_rank(), context.get_world_size())
    torch.set_num_threads(config["cores"])
    numba.set_num_threads(min(config["cores"], numba.config.NUMBA_NUM_THREADS))
    with tempfile.TemporaryDirectory() as own:
        try:
            trainer = _trainer(config, team, Path(own))
            trainer.run()
            checkpoint = trainer.path.read_bytes() if team.leads and trainer.path is not None else None
            return {"checkpoint": checkpoint, "error": None, "diverged": False}
        except InputError as error:
            return {"checkpoint": None, "error": str(error), "diverged": isinstance(error, DivergedError)}


def _trainer(config: dict[str, Any], team: ProcessTeam, own: Path) -> Trainer:
    """A trainer that begins where the shared checkpoint is, as the leader sees it: the others may see it late."""
    import ray

    from graphreach.cluster.tensors import unpack

    folder = own
    if config["shared"] is not None:
        shared, token = config["shared"]
        _check_shared(shared, token, team)
        folder = shared if team.leads else own
    begin = team.broadcast(lambda: (folder / CHECKPOINT).read_bytes() if (folder / CHECKPOINT).exists() else None)
    if begin is not None and not team.leads:
        (own / CHECKPOINT).write_bytes(begin)
    batches = unpack(ray.get(config["batches"]))
    trainer = Trainer(config["model"], batches, config["settings"], folder, config["refresh"], team=team)
    trainer.seconds_between_checkpoints = config["seconds_between_checkpoints"]
    return trainer


def _check_shared(folder: Path, token: str, team: ProcessTeam) -> None:
    """Refuse a folder that is not the same one for all workers; the name is often there, on a disk of the node's own."""
    mark = folder / STORAGE / MARK
    sees = mark.is_file() and mark.read_text() == token
    blind: list[Any] = [None] * team.size
    dist.all_gather_object(blind, None if sees else socket.gethostname())
    names = sorted({each for each in blind if each is not None})
    if names:
        raise InputError(f"folder must be on storage that all nodes share, got {folder}, which {names[0]} does not see")
