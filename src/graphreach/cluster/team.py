"""Several processes that share the steps of a training."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from graphreach.nn.node_model import numbered_rows
from graphreach.training.batches import Part
from graphreach.training.inputs import Inputs
from graphreach.training.model import TaskModel
from graphreach.training.team import Team

Found = TypeVar("Found")


class ProcessTeam(Team):
    """The processes of ``torch.distributed``'s group; the one of rank 0 validates and writes.

    Every process draws the same step from the same seed and works on a part of its examples. What is dropped by dropout is
    what one process would drop. So the losses are those of one process, but for the order in which floats are added.

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
