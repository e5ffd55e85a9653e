"""From embeddings of two nodes to the score of a pair."""

import torch
from torch import Tensor, nn

from graphreach.arguments import check_choice, check_number, check_whole, describe
from graphreach.errors import InputError
from graphreach.nn.checks import DEEPEST
from graphreach.nn.pair_dot import pair_dot


class DotDecoder(nn.Module):
    r"""The dot product :math:`z_u^T z_v` of App. E; a sigmoid makes it a probability.

    Example:
        >>> DotDecoder()(torch.eye(2), torch.tensor([[0], [1]]))
        tensor([0.])
    """

    def reset_parameters(self) -> None:
        """Nothing to draw."""

    def forward(self, z: Tensor, pairs: Tensor, pair_reach: Tensor | None = None) -> Tensor:
        """Logits of the pairs ``[2, m]``."""
        return pair_dot(z, pairs)


class ScaledDecoder(nn.Module):
    r"""The dot product with a learned scale and bias, :math:`\beta\, z_u^T z_v + \gamma`.

    Rows of unit length keep dot products within [-1, 1]; the scale lets the loss be as sure as the data is.

    Example:
        >>> ScaledDecoder()(torch.eye(2), torch.tensor([[0], [0]])).item()
        1.0
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.empty(()))
        self.bias = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start from the plain dot product."""
        nn.init.ones_(self.scale)
        nn.init.zeros_(self.bias)

    def forward(self, z: Tensor, pairs: Tensor, pair_reach: Tensor | None = None) -> Tensor:
        """Logits of the pairs ``[2, m]``."""
        return self.scale * pair_dot(z, pairs) + self.bias


class ReachDecoder(ScaledDecoder):
    r"""The scaled dot product plus learned weights on the pair's own reachability :math:`s(u, v)`, :math:`s(v, u)`.

    Reachability enters as :math:`\log(1 + s / \epsilon)`: it spans orders of magnitude. When links are learned, the edge
    between a positive pair must not lie in the graph that its reachability is computed on, as it does not for the pairs
    to predict.

    Args:
        hops: How many numbers a pair has in each direction.
        epsilon: Reachability that counts as small; 1 for lift, :math:`s(u, v)` divided by the share of all edges' weight
            that v has.

    Example:
        >>> decoder = ReachDecoder()
        >>> decoder(torch.eye(2), torch.tensor([[0], [1]]), torch.tensor([[0.5, 0.25]])).shape
        torch.Size([1])
    """

    def __init__(self, hops: int = 1, epsilon: float = 1e-3) -> None:
        check_whole("hops", hops, 1, DEEPEST)
        self.hops, self.epsilon = hops, check_number("epsilon", epsilon, 0, above=True)
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2 * hops))

    def reset_parameters(self) -> None:
        """Start from the plain dot product."""
        super().reset_parameters()
        if hasattr(self, "weight"):
            nn.init.zeros_(self.weight)

    def forward(self, z: Tensor, pairs: Tensor, pair_reach: Tensor | None = None) -> Tensor:
        """Logits of the pairs ``[2, m]`` with reachability ``[m, 2]`` (or ``[m, 2, L]``)."""
        features = torch.log1p(self.checked(pairs, pair_reach) / self.epsilon)
        return super().forward(z, pairs) + features.to(z.dtype) @ self.weight

    def checked(self, pairs: Tensor, pair_reach: Tensor | None) -> Tensor:
        """Reachability of the pairs as rows ``[m, 2 L]``, if it has the right shape."""
        if (
            not isinstance(pair_reach, Tensor)
            or pair_reach.dim() < 2
            or pair_reach.size(0) != pairs.size(1)
            or pair_reach.shape[1:].numel() != 2 * self.hops
        ):
            shape = list(pair_reach.shape) if isinstance(pair_reach, Tensor) else describe(pair_reach)
            raise InputError(f"pair_reach must have shape [{pairs.size(1)}, 2, {self.hops}], got {shape}")
        return pair_reach.flatten(1)


def make_decoder(decoder: str | nn.Module, hops: int = 1) -> nn.Module:
    """A decoder by its name: ``"dot"``, ``"scaled"``, ``"reach"``, or ``"lift"`` (``"reach"`` for lift).

    Example:
        >>> make_decoder("dot")
        DotDecoder()
    """
    if isinstance(decoder, nn.Module):
        return decoder
    name = check_choice("decoder", decoder, ("dot", "scaled", "reach", "lift"), more=" or a module")
    if name in ("reach", "lift"):
        return ReachDecoder(hops, 1.0 if name == "lift" else 1e-3)
    return DotDecoder() if name == "dot" else ScaledDecoder()
