"""The network that reads the features of a pair: a few small perceptrons whose logits are averaged."""

import copy
import itertools
import math
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphreach.nn.perceptrons import RATE, train_perceptrons
from graphreach.nn.pretrained import Pretrained
from graphreach.pairs.pair_network import PairNetwork, best_calibration

START_RATE = 1e-3
"""Learning rate of a head that starts from another one."""

PARTS = 10
"""Parts that the pairs are dealt into: each member is trained without another one of them."""


class PairHead(Pretrained, nn.Module):
    r"""Logits of pairs from their features: the mean of several perceptrons with two hidden layers.

    Features are standardised once, over the pairs of both kinds together: separate statistics of each kind would give the
    kind of a pair away. The mean logit is calibrated by a scale and a shift that were found on pairs which the members had
    not seen.

    Args:
        in_channels: Number of features.
        hidden_channels: Width of the hidden layers.
        num_members: Number of perceptrons.
        dropout: Share of the hidden units left out in a training step.

    Shapes:
        - **input:** features :math:`(m, f)`
        - **output:** logits :math:`(m)`

    Example:
        >>> PairHead(30)
        PairHead(30, hidden_channels=64, num_members=3)
        >>> PairHead(30)(torch.zeros(7, 30)).shape
        torch.Size([7])
    """

    mean: Tensor
    scale: Tensor
    calibration: Tensor

    def __init__(self, in_channels: int, hidden_channels: int = 64, num_members: int = 3, dropout: float = 0.2) -> None:
        super().__init__()
        self._keep_config({key: value for key, value in locals().items() if key != "self"})
        self.in_channels, self.hidden_channels = in_channels, hidden_channels
        self.num_members, self.dropout = num_members, dropout
        sizes = (in_channels, hidden_channels, hidden_channels, 1)
        self.weights = nn.ParameterList(
            nn.Parameter(torch.empty(num_members, *each)) for each in itertools.pairwise(sizes)
        )
        self.biases = nn.ParameterList(nn.Parameter(torch.empty(num_members, 1, size)) for size in sizes[1:])
        self.register_buffer("mean", torch.zeros(in_channels))
        self.register_buffer("scale", torch.ones(in_channels))
        self.register_buffer("calibration", torch.tensor([1.0, 0.0]))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights again."""
        for weight, bias in zip(self.weights, self.biases, strict=True):
            bound = 1 / math.sqrt(weight.size(1))
            nn.init.uniform_(weight, -bound, bound)
            nn.init.uniform_(bias, -bound, bound)

    def standardise(self, x: Tensor) -> Tensor:
        """Features with the mean and deviation of the training pairs taken out."""
        return (x - self.mean) * self.scale

    def members(self, x: Tensor) -> Tensor:
        """Logits of each member, ``[members, m]``, from standardised features ``[members, m, f]``."""
        last = len(self.weights) - 1
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x, weight)
            if number < last:
                x = functional.dropout(torch.relu(x), self.dropout, self.training)
        return x[..., 0]

    def forward(self, x: Tensor) -> Tensor:
        """Calibrated logits of pairs, as if as many of them were of one kind as of the other."""
        own = self.standardise(x).expand(self.num_members, -1, -1)
        slope, shift = self.calibration
        logits: Tensor = slope * self.members(own).mean(0) + shift
        return logits

    def network(self) -> PairNetwork:
        """What was learned, as arrays that share the module's memory."""
        return PairNetwork.of({name: each.detach().numpy() for name, each in self.state_dict().items()}, self.dropout)

    @classmethod
    def of(cls, network: PairNetwork) -> Self:
        """The module of a network, in evaluation mode, whose parameters share its memory."""
        head = cls(**network.config())
        tensors = {name: torch.from_numpy(each) for name, each in network.arrays().items()}
        head.load_state_dict(tensors, assign=True)
        return head.eval()

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.in_channels}, hidden_channels={self.hidden_channels}, "
            f"num_members={self.num_members})"
        )


def fit_pair_head(
    x: Tensor, y: Tensor, seed: int = 0, start: PairHead | None = None, **arguments: Any
) -> tuple[PairHead, Tensor, Tensor]:
    """Train a head on features ``[m, f]`` and kinds ``[m]`` (1 or 0), and calibrate it on what its members left out.

    Each member leaves out another tenth of the pairs, so that all are trained on and some have a logit of a network that
    has not seen them. The learning rate falls along a cosine, so that no epoch has to be chosen.

    Args:
        x: Features.
        y: 1 for pairs that are linked or have the relation that is learned, else 0.
        seed: Random seed for weights, dropout and order.
        start: A head of the same features to start from, with its standardisation; None starts from random weights.
        arguments: Arguments of :class:`PairHead`.

    Returns:
        The head; calibrated logits of the pairs that a member was trained without; and which pairs these are.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        part = _deal(y, max(PARTS, arguments.get("num_members", 3) if start is None else start.num_members))
        head = PairHead(x.size(1), **arguments) if start is None else copy.deepcopy(start)
    if start is None:
        deviation = x.std(0, correction=0)
        head.mean.copy_(x.mean(0))
        head.scale.copy_(torch.where(deviation > 1e-6, 1 / deviation.clamp(min=1e-6), torch.zeros_like(deviation)))
    own = [torch.nonzero(part != member)[:, 0] for member in range(head.num_members)]
    train_perceptrons(
        [*head.weights],
        [*head.biases],
        head.standardise(x),
        y,
        own,
        head.dropout,
        seed,
        RATE if start is None else START_RATE,
    )
    head.eval()
    rows = torch.nonzero(part < head.num_members)[:, 0]
    unseen = _left_out(head, x[rows], part[rows])
    if len(rows):
        calibrate(head, unseen, y[rows])
    else:
        head.calibration.copy_(torch.tensor([1.0, 0.0]))
    return head, head.calibration[0] * unseen + head.calibration[1], rows


def _deal(y: Tensor, count: int) -> Tensor:
    """The part of each pair, as many of both kinds in each; a member leaves out the part of its own number."""
    part = torch.full((len(y),), count)
    kinds = [torch.nonzero(y == kind)[:, 0] for kind in (0, 1)]
    if min(len(own) for own in kinds) < count:  # too few to do without any
        return part
    for own in kinds:
        part[own[torch.randperm(len(own))]] = torch.arange(len(own)) % count
    return part


def _left_out(head: PairHead, x: Tensor, part: Tensor) -> Tensor:
    """The logit of each pair by the member that was trained without it."""
    with torch.no_grad():
        logits = head.members(head.standardise(x).expand(head.num_members, -1, -1))
    return logits.gather(0, part[None])[0]


def calibrate(head: Any, logits: Tensor, y: Tensor) -> None:
    """Give a head the calibration that suits the logits of pairs that its members have not seen."""
    head.calibration.copy_(torch.tensor(best_calibration(logits.double().numpy(), y.numpy())))
