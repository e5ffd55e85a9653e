"""Who takes the steps of a training: one process, or several that share them."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor

from graphreach.training.batches import Part
from graphreach.training.inputs import Inputs
from graphreach.training.model import TaskModel

Found = TypeVar("Found")


class Team:
    """One process, which does all of it; several are :class:`graphreach.cluster.team.ProcessTeam`.

    Example:
        >>> Team().broadcast(lambda: 0.9)
        0.9
    """

    leads = True
    """Whether this process is the one that validates and writes."""

    def loss(self, model: TaskModel, inputs: Inputs, part: Part) -> Tensor:
        """The loss of this process's share of a step; the shares add up to the loss of the step."""
        if not inputs.in_pieces:
            return model.loss(inputs.embed(model.encoder), part)
        nodes, index = torch.unique(part.index, return_inverse=True)
        return model.loss(inputs.embed_rows(model.encoder, nodes), replace(part, index=index))

    def add_up(self, model: TaskModel, loss: Tensor) -> float:
        """Make the model's gradients those of the whole step, and return the loss of the whole step."""
        return float(loss.detach())

    def broadcast(self, find: Callable[[], Found]) -> Found:
        """What the process that leads finds, known to all."""
        return find()
