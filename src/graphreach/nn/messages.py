"""What all reachability layers share: the making of messages."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from graphreach.arguments import check_flag, check_whole, describe
from graphreach.errors import InputError
from graphreach.limits import check_memory
from graphreach.nn import functional
from graphreach.nn.checks import DEEPEST, check_channels
from graphreach.nn.kernels.rows import COMPRESSED
from graphreach.nn.positions import Positions
from graphreach.nn.similarity_map import SimilarityMap


class Messages(nn.Module):
    r"""Messages from anchors to nodes, Eqs. 4-5, as far as they are made before they are aggregated.

    .. math::
        \mathcal{M}_v[i] = act\big((s(v, a_i)\, h_v \,\Vert\, s(a_i, v)\, h_{a_i}) W_{\mathcal{M}} + b\big)

    With :math:`W_{\mathcal M} = [W_1; W_2]` this is :math:`act(s(v, a_i) P_v + s(a_i, v) Q_i + b)` for
    :math:`P = H W_1` and :math:`Q = H_A W_2`: the tensor of n x k x 2d numbers never exists.
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
        hops: L, with reachability whose steps are kept apart.
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
