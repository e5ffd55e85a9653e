"""The equations of the paper written down as they stand, vectorised over nodes: the baseline of the model's benchmarks."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LiteralGraphReach(nn.Module):
    """Two layers that build the n x k x 2d tensor of messages.

    ``authors`` adds what the authors' code does: a linear layer first, similarities through a learned map, biases and ReLU.
    """

    def __init__(self, width: int, aggregation: str, authors: bool) -> None:
        super().__init__()
        self.aggregation, self.authors = aggregation, authors
        first = width if authors else 1
        self.input = nn.Linear(1, width)
        self.messages = nn.ModuleList(nn.Linear(2 * d, width, bias=authors) for d in (first, width))
        self.maps = nn.ModuleList(nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 1)) for _ in range(2))
        self.own = nn.Linear(first, width, bias=False)
        self.att = nn.Linear(width, width, bias=False)
        self.logit = nn.Linear(2 * width, 1, bias=False)
        self.out = nn.Linear(width, 1, bias=authors)

    def message(self, layer: int, h: Tensor, to: Tensor, back: Tensor, anchors: Tensor) -> Tensor:
        """Eqs. 4-5: (s(v, a) h_v || s(a, v) h_a) W, for all nodes and anchors."""
        if self.authors:
            to, back = (self.maps[layer](s.unsqueeze(-1)).squeeze(-1) for s in (to, back))
        pair = torch.cat([to.unsqueeze(-1) * h.unsqueeze(1), back.unsqueeze(-1) * h[anchors].unsqueeze(0)], -1)
        messages: Tensor = self.messages[layer](pair)
        return messages.relu() if self.authors else messages

    def forward(self, x: Tensor, to: Tensor, back: Tensor, anchors: Tensor) -> Tensor:
        """Eq. 6 or Eqs. 7-8, then the last layer, rows of unit length."""
        h = self.input(x) if self.authors else x
        messages = self.message(0, h, to, back, anchors)
        if self.aggregation == "mean":
            h = messages.mean(1)
        else:
            own = self.att(self.own(h) if h.size(1) == 1 else h)
            projected = self.att(messages)
            pair = torch.cat([own.unsqueeze(1).expand_as(projected), projected], -1)
            alpha = F.leaky_relu(self.logit(pair).squeeze(-1), 0.2).softmax(1)
            h = (alpha.unsqueeze(-1) * projected).sum(1) + own
        z: Any = self.out(self.message(1, h, to, back, anchors)).squeeze(-1)
        return F.normalize(z, dim=-1)
