"""The layer."""

from typing import Any

import torch
from torch import Tensor, nn

from graphreach.errors import InputError
from graphreach.nn import functional
from graphreach.nn.messages import Messages, full_precision
from graphreach.nn.positions import Positions


class ReachConv(Messages):
    r"""The reachability operator from the `"GraphReach: Position-Aware Graph Neural Network using Reachability
    Estimations" <https://arxiv.org/abs/2008.09657>`_ paper.

    Every node gets a message from every anchor (Eqs. 4-5)

    .. math::
        \mathcal{M}_v[i] = \big(s(v, a_i)\, h_v \,\Vert\, s(a_i, v)\, h_{a_i}\big)\, W_{\mathcal{M}}

    and aggregates them by their mean (Eq. 6), :math:`\frac{1}{k} \sum_i \mathcal{M}_v[i]`, or by attention (Eqs. 7-8)

    .. math::
        \alpha_v[i] &= \mathrm{softmax}_i\Big(\mathrm{LeakyReLU}\big((h_v W_{att} \,\Vert\,
        \mathcal{M}_v[i] W_{att})\, a_{att}\big)\Big) \\
        h'_v &= \sum_{i=1}^{k} \alpha_v[i]\, \mathcal{M}_v[i]\, W_{att} + h_v W_{att}.

    Where ``in_channels`` and ``out_channels`` differ, :math:`h_v W_{self}` stands for :math:`h_v` in the attention.

    Differs from the authors' code: theirs maps similarities by a learned function, has a bias and ReLU in the messages, and
    its attention weights are never trained; see ``similarity_map``, ``message_activation`` and ``bias``.

    Args:
        in_channels: Width of the input.
        out_channels: Width of the output (of each head).
        aggregation: ``"attention"`` or ``"mean"``.
        heads: Attention heads.
        concat: Whether heads are concatenated (or averaged).
        negative_slope: Of LeakyReLU.
        message_activation: ``None`` (the paper) or ``"relu"``.
        similarity: ``False`` replaces all similarities by one: the ablation M^- of section 4.4.
        similarity_map: ``None`` (the paper) or ``"learned"``, a small network on the similarity.
        hops: L, for reachability whose steps are kept apart (needs a learned map).
        bias: Whether messages have a bias.

    Shapes:
        - **input:** features ``[n, in_channels]``, positions of n nodes
        - **output:** ``[n, out_channels]``, times ``heads`` if they are concatenated

    Example:
        >>> import torch, graphreach as gr
        >>> ring = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> positions = gr.reachability(ring, [0, 2], walk_length=2).to_torch()
        >>> conv = gr.nn.ReachConv(8, 32, aggregation="mean")
        >>> conv
        ReachConv(8, 32, aggregation=mean)
        >>> conv(torch.ones(4, 8), positions).shape
        torch.Size([4, 32])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        aggregation: str = "attention",
        heads: int = 1,
        concat: bool = False,
        negative_slope: float = 0.2,
        **kwargs: Any,
    ) -> None:
        super().__init__(in_channels, out_channels, **kwargs)
        if aggregation not in ("attention", "mean"):
            raise InputError(f'aggregation must be "attention" or "mean", got {aggregation!r}')
        if aggregation == "mean" and heads != 1:
            raise InputError(f"heads must be 1 with aggregation='mean', got {heads}")
        self.aggregation, self.heads, self.concat, self.negative_slope = aggregation, heads, concat, negative_slope
        if aggregation == "attention":
            self.weight_att = nn.Parameter(torch.empty(heads, out_channels, out_channels))
            self.att = nn.Parameter(torch.empty(heads, 2 * out_channels))
            project_self = in_channels != out_channels
            self.weight_self = nn.Parameter(torch.empty(in_channels, out_channels)) if project_self else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        super().reset_parameters()
        if self.aggregation == "attention":
            for head in range(self.heads):
                nn.init.xavier_uniform_(self.weight_att[head])
            nn.init.xavier_uniform_(self.att)
            if self.weight_self is not None:
                nn.init.xavier_uniform_(self.weight_self)

    def forward(self, x: Tensor, positions: Positions) -> Tensor:
        """Aggregate the messages of all anchors."""
        with full_precision(x):
            return self._aggregate(x.to(self.weight.dtype), positions)

    def _aggregate(self, x: Tensor, positions: Positions) -> Tensor:
        P, Q = self.sources(x, positions)
        positions, to, back, background = self.similarities(positions)
        if self.aggregation == "mean":
            return self._mean(positions, to, back, background, P, Q)
        own = x if self.weight_self is None else x @ self.weight_self
        heads = [self._attend(head, own, positions, to, back, background, P, Q) for head in range(self.heads)]
        return torch.cat(heads, -1) if self.concat else torch.stack(heads).mean(0)

    def _mean(self, positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor) -> Tensor:
        if self.factors(positions):
            mean = functional.linear_mean(positions, to, back, P, Q)
            return mean if self.bias is None else mean + self.bias
        bias = self.bias_or_zero()
        return functional.aggregate(
            positions, to, back, background, P, Q, bias, None, None, relu=self.relu, slope=self.negative_slope
        )

    def _attend(
        self,
        head: int,
        own: Tensor,
        positions: Positions,
        to: Tensor,
        back: Tensor,
        background: Tensor,
        P: Tensor,
        Q: Tensor,
    ) -> Tensor:
        weight, att, slope = self.weight_att[head], self.att[head], self.negative_slope
        u, a = own @ (weight @ att[: self.out_channels]), weight @ att[self.out_channels :]
        bias = self.bias_or_zero()
        if self.factors(positions):
            sums = functional.linear_attention(positions, to, back, P, Q, u + bias @ a, a, slope=slope) + bias
        else:
            sums = functional.aggregate(positions, to, back, background, P, Q, bias, u, a, relu=self.relu, slope=slope)
        return (sums + own) @ weight

    def __repr__(self) -> str:
        heads = f", heads={self.heads}" if self.heads > 1 else ""
        return f"ReachConv({self.in_channels}, {self.out_channels}, aggregation={self.aggregation}{heads})"
