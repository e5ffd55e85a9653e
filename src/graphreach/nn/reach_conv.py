"""The layer."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from graphreach.arguments import check_choice, check_flag, check_number, check_whole, describe
from graphreach.errors import InputError
from graphreach.nn import functional
from graphreach.nn.checks import DEEPEST, check_features
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
        check_choice("aggregation", aggregation, ("attention", "mean"))
        check_whole("heads", heads, 1, DEEPEST)
        check_flag("concat", concat)
        check_number("negative_slope", negative_slope, 0)
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
        if not isinstance(positions, Positions):
            raise InputError(
                f"positions must be Positions, as reachability(...).to_torch() gives, got {describe(positions)}"
            )
        with full_precision(check_features(x, positions.num_nodes, self.in_channels)):
            return self._aggregate(x.to(self.weight.dtype), positions)

    def _aggregate(self, x: Tensor, positions: Positions) -> Tensor:
        positions, *similarities = self.similarities(positions)
        if self.aggregation == "mean":
            return self._mean(x, positions, *similarities)
        attend: Callable[[Tensor, Tensor], Tensor]
        if self.factors(positions):
            attend = partial(self._attend_linear, x, positions, *similarities)
        else:
            attend = partial(self._attend, x, *self.sources(x, positions), positions, *similarities)
        if self.heads == 1:
            return attend(self.weight_att.squeeze(0), self.att.view(2, -1))
        heads = [attend(weight, att.view(2, -1)) for weight, att in zip(self.weight_att, self.att, strict=True)]
        return torch.cat(heads, -1) if self.concat else torch.stack(heads).mean(0)

    def _mean(self, x: Tensor, positions: Positions, to: Tensor, back: Tensor, background: Tensor) -> Tensor:
        if self.factors(positions):
            mean = functional.linear_mean(positions, to, back, x, self.weight)
            return mean if self.bias is None else mean + self.bias
        P, Q = self.sources(x, positions)
        return functional.aggregate(
            positions, to, back, background, P, Q, self.bias_or_zero(), None, None,
            relu=self.relu, slope=self.negative_slope,
        )  # fmt: skip

    def _attend(
        self, x: Tensor, P: Tensor, Q: Tensor, positions: Positions, to: Tensor, back: Tensor, background: Tensor,
        weight: Tensor, att: Tensor,
    ) -> Tensor:  # fmt: skip
        """Eqs. 7-8 of one head."""
        own = x if self.weight_self is None else x @ self.weight_self
        first, other = (att @ weight.t()).unbind()
        sums = functional.aggregate(
            positions, to, back, background, P, Q, self.bias_or_zero(), own @ first, other,
            relu=self.relu, slope=self.negative_slope,
        )  # fmt: skip
        return (sums + own) @ weight

    def _attend_linear(
        self, x: Tensor, positions: Positions, to: Tensor, back: Tensor, background: Tensor, weight: Tensor, att: Tensor
    ) -> Tensor:
        """Eqs. 7-8 of one head for messages that are linear in what is stored.

        Matrices are multiplied in the order that is cheapest: all that is as long as x is a vector or as narrow as x.
        """
        own, other = (att @ weight.t()).unbind()
        start = own if self.weight_self is None else self.weight_self @ own
        w1, w2 = (self.weight @ other).split(self.in_channels)
        anchors = x.index_select(0, positions.anchor_index)
        u = x @ start if self.bias is None else x @ start + self.bias @ other
        narrow = self.in_channels < self.out_channels
        X = anchors if narrow else anchors @ self.weight[self.in_channels :]
        reach, sums = functional.attend(positions, to, back, X, u, x @ w1, anchors @ w2, slope=self.negative_slope)
        if narrow and self.weight_self is not None:
            features = torch.cat([reach.unsqueeze(-1) * x, sums, x], 1)
            out = features @ (torch.cat([self.weight, self.weight_self]) @ weight)
        else:
            near = reach.unsqueeze(-1) * (x @ self.weight[: self.in_channels])
            out = (near + sums + (x if self.weight_self is None else x @ self.weight_self)) @ weight
        return out if self.bias is None else out + self.bias @ weight

    def __repr__(self) -> str:
        heads = f", heads={self.heads}" if self.heads > 1 else ""
        return f"ReachConv({self.in_channels}, {self.out_channels}, aggregation={self.aggregation}{heads})"
