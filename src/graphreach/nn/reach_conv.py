"""The layers: messages from anchors to nodes, and their aggregation."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from graphreach.arguments import check_choice, check_flag, check_number, check_whole, describe
from graphreach.errors import InputError
from graphreach.limits import check_memory
from graphreach.nn import functional
from graphreach.nn.checks import DEEPEST, check_channels, check_features
from graphreach.nn.kernels.rows import COMPRESSED
from graphreach.nn.positions import Positions
from graphreach.nn.similarity_map import SimilarityMap


class Messages(nn.Module):
    r"""Messages from anchors to nodes, Eqs. 4-5, as far as they are made before they are aggregated.

    .. math::
        \mathcal{M}_v[i] = act\big((s(v, a_i)\, h_v \,\Vert\, s(a_i, v)\, h_{a_i}) W_{\mathcal{M}} + b\big)

    With :math:`W_{\mathcal M} = [W_1; W_2]` this is :math:`act(s(v, a_i) P_v + s(a_i, v) Q_i + b)` for
    :math:`P = H W_1` and :math:`Q = H_A W_2`: the tensor of n x k x 2d numbers is never stored.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        message_activation: str | None = None,
        similarity: bool = True,
        similarity_map: str | SimilarityMap | None = None,
        hops: int | None = None,
        bias: bool = False,
    ) -> None:
        super().__init__()
        check_channels("in_channels", in_channels)
        check_channels("out_channels", out_channels)
        check_flag("similarity", similarity)
        check_flag("bias", bias)
        if hops is not None:
            check_whole("hops", hops, 1, DEEPEST)
        if message_activation is not None and not (
            isinstance(message_activation, str) and message_activation == "relu"
        ):
            raise InputError(f'message_activation must be None or "relu", got {describe(message_activation)}')
        check_memory(8 * int(in_channels) * int(out_channels), "the weights of this layer", "lower out_channels")
        if hops is not None and similarity_map is None:
            raise InputError(
                'hops must go with similarity_map="learned", which turns L similarities into one, got None'
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.message_activation, self.similarity, self.hops = message_activation, similarity, hops
        self.weight = nn.Parameter(torch.empty(2 * in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.similarity_map = _resolve_map(similarity_map, hops)

    def reset_parameters(self) -> None:
        """Draw new weights."""
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if self.similarity_map is not None:
            self.similarity_map.reset_parameters()

    def sources(self, x: Tensor, positions: Positions) -> tuple[Tensor, Tensor]:
        """P = H W_1 of the nodes and Q = H_A W_2 of the anchors."""
        P = x @ self.weight[: self.in_channels]
        Q = x.index_select(0, positions.anchor_index) @ self.weight[self.in_channels :]
        return P, Q

    def similarities(self, positions: Positions) -> tuple[Positions, Tensor, Tensor, Tensor]:
        """The entries to use in both directions, and the similarity of anchors without one."""
        positions = positions.in_precision(self.weight.dtype)
        if not self.similarity:
            positions = positions.with_equal_similarity
            return positions, positions.to_values, positions.from_values, self.weight.new_zeros(())
        if positions.hops != self.hops:
            raise InputError(f"positions must have hops={self.hops} as the layer has, got hops={positions.hops}")
        if self.similarity_map is None:
            return positions, positions.to_values, positions.from_values, self.weight.new_zeros(())
        return positions, *self.similarity_map(positions)

    def factors(self, positions: Positions) -> bool:
        """Whether messages are linear in what is stored, so that products of matrices replace the kernels."""
        mapped_gaps = self.similarity and self.similarity_map is not None and positions.kind == COMPRESSED
        return self.message_activation is None and not mapped_gaps

    def bias_or_zero(self) -> Tensor:
        """The bias, or zeros."""
        return self.weight.new_zeros(self.out_channels) if self.bias is None else self.bias

    @property
    def relu(self) -> bool:
        """Whether messages pass through ReLU."""
        return self.message_activation == "relu"


class ReachReadout(Messages):
    r"""The last layer of GraphReach, which does not aggregate (Algorithm 1, line 8): :math:`\mathcal{M}_v W_Z`.

    Args:
        in_channels: Width of the input.
        hidden_channels: Width of the messages.
        message_activation: ``None`` or ``"relu"``.
        similarity: ``False`` replaces all similarities by one (the ablation of section 4.4).
        similarity_map: ``None`` or ``"learned"``.
        hops: L, with reachability whose steps are kept separate.
        bias: Whether messages and output have a bias.

    Shapes:
        - **input:** features ``[n, in_channels]``, positions of n nodes
        - **output:** ``[n, k]``

    Example:
        >>> ReachReadout(8, 32)
        ReachReadout(8, 32)
    """

    def __init__(self, in_channels: int, hidden_channels: int, **kwargs: Any) -> None:
        super().__init__(in_channels, hidden_channels, **kwargs)
        self.weight_z = nn.Parameter(torch.empty(hidden_channels))
        self.bias_z = nn.Parameter(torch.empty(())) if self.bias is not None else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        super().reset_parameters()
        nn.init.normal_(self.weight_z, std=self.out_channels**-0.5)
        if self.bias_z is not None:
            nn.init.zeros_(self.bias_z)

    def forward(self, x: Tensor, positions: Positions) -> Tensor:
        """One number for each node and anchor."""
        with full_precision(x):
            return self._project(x.to(self.weight.dtype), positions)

    def _project(self, x: Tensor, positions: Positions) -> Tensor:
        positions, to, back, background = self.similarities(positions)
        if self.factors(positions):
            w1, w2 = (self.weight @ self.weight_z).split(self.in_channels)
            anchors = x.index_select(0, positions.anchor_index)
            z = functional.linear_project(positions, to, back, x @ w1, anchors @ w2)
        else:
            P, Q = self.sources(x, positions)
            z = functional.project(
                positions, to, back, background, P, Q, self.bias_or_zero(), self.weight_z, relu=self.relu
            )
        if self.bias is None or self.bias_z is None:
            return z
        constant = self.bias_z + self.bias @ self.weight_z if self.factors(positions) else self.bias_z
        if positions.rectangular:
            return z + constant
        inside = torch.arange(positions.width, device=z.device) < positions.num_anchors.unsqueeze(-1)
        return z + inside * constant

    def __repr__(self) -> str:
        return f"ReachReadout({self.in_channels}, {self.out_channels})"


def full_precision(x: Tensor) -> AbstractContextManager[Any]:
    """Without autocast: similarities are small and sums over anchors long, and eight bits would not hold them."""
    kind = x.device.type
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()


def _resolve_map(similarity_map: str | SimilarityMap | None, hops: int | None) -> SimilarityMap | None:
    if similarity_map is None or isinstance(similarity_map, SimilarityMap):
        return similarity_map
    if not isinstance(similarity_map, str) or similarity_map != "learned":
        raise InputError(f'similarity_map must be None, "learned" or a SimilarityMap, got {describe(similarity_map)}')
    return SimilarityMap(hops or 1)


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
        negative_slope: Slope of LeakyReLU for negative inputs.
        message_activation: ``None`` (the paper) or ``"relu"``.
        similarity: ``False`` replaces all similarities by one: the ablation M^- of section 4.4.
        similarity_map: ``None`` (the paper) or ``"learned"``, a small network on the similarity.
        hops: L, for reachability whose steps are kept separate (needs a learned map).
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
