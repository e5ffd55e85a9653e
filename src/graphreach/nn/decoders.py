"""From embeddings of two nodes to the score of a pair: dot products, decoders, their terms, and two scorers together."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.utils.weak import WeakTensorKeyDictionary

from graphreach.arguments import check_choice, check_number, check_whole, describe, to_array, to_finite
from graphreach.auc import auc
from graphreach.errors import InputError
from graphreach.nn.checks import DEEPEST, check_embedding, check_pair_tensor
from graphreach.nn.device import use_kernels
from graphreach.nn.fused import apply, as_array
from graphreach.nn.kernels import pairs as kernels

PARTS = 32
GROUPING_PARTS = 4
CACHED_BYTES = 1 << 18
"""Size of the rows that stay in a core's own cache."""

_groups: "WeakTensorKeyDictionary" = WeakTensorKeyDictionary()
"""By tensor of pairs: the pairs of each node, after the tensor's version and the embedding's shape that they are for."""


def pair_dot(z: Tensor, pairs: Tensor) -> Tensor:
    r"""The dot product :math:`z_u^T z_v` of each pair (App. E), without gathering two rows per pair.

    The gradient is summed node by node, in an order that does not depend on threads. For training the pairs of a node are
    found first, once for each tensor of pairs.

    Args:
        z: Embeddings, ``[n, k]``.
        pairs: Positions, ``[2, m]``, like ``edge_label_index``.

    Example:
        >>> pair_dot(torch.eye(3), torch.tensor([[0, 1], [0, 2]]))
        tensor([1., 0.])
    """
    z, pairs = check_embedding(z), check_pair_tensor(pairs)
    if torch.is_autocast_enabled(z.device.type):
        z = z.float()
    if not use_kernels(z, pairs):
        return (z[pairs[0]] * z[pairs[1]]).sum(-1)
    result: Tensor
    if torch.is_grad_enabled() and z.requires_grad:
        result = apply(_PairDot, z, pairs, _group(pairs, z))
        return result
    _check_range(pairs, len(z))
    result = z.new_empty(pairs.size(1))
    kernels.pair_dot(as_array(z), *pairs.contiguous().numpy(), PARTS, result.numpy())
    return result


class _PairDot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, pairs: Tensor, groups: kernels.Groups) -> Tensor:
        z = z.contiguous()
        ctx.save_for_backward(z, pairs)  # refuses pairs that were changed in between
        ctx.groups = groups
        out = z.new_empty(pairs.size(1))
        kernels.grouped_dot(as_array(z), groups, PARTS, out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        z, _ = ctx.saved_tensors
        dz = torch.empty_like(z)
        kernels.grouped_backward(z.numpy(), ctx.groups, as_array(gradient), PARTS, dz.numpy())
        return dz, None, None


def _check_range(pairs: Tensor, num_nodes: int) -> None:
    if not pairs.numel():
        return
    low, high = (int(end) for end in pairs.aminmax())
    if low < 0 or high >= num_nodes:
        raise InputError(f"pairs must hold positions between 0 and {num_nodes - 1}, got {low} to {high}")


def _block_bits(num_nodes: int, num_pairs: int, row_bytes: int) -> int:
    """The logarithm of the rows in a block: they fit into the cache, unless a node then had hardly a pair in each."""
    blocks = max(1, num_pairs // (8 * max(1, num_nodes)))
    fitting = int(math.log2(max(1, CACHED_BYTES // max(1, row_bytes))))
    return max(fitting, math.ceil(math.log2(max(1, num_nodes / blocks))))


def _group(pairs: Tensor, z: Tensor) -> kernels.Groups:
    made_for = (pairs._version, *z.shape)
    known, ends = _groups.get(pairs, (None, None))
    if known != made_for:
        n, bits = len(z), _block_bits(len(z), pairs.size(1), z.nbytes // max(1, len(z)))
        parts = GROUPING_PARTS if pairs.size(1) >= n else 1  # each part counts the pairs of every node
        left, right = pairs.contiguous().numpy()
        ends = kernels.group_pairs(left, right, n, bits, parts)
        if not len(ends.pointer):
            _check_range(pairs, n)
        _groups[pairs] = made_for, ends
    groups: kernels.Groups = ends
    return groups


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

    Rows of unit length keep dot products within [-1, 1]; the scale allows probabilities close to 0 and 1.

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
        hops: Number of values per pair and direction.
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


Array = NDArray[np.float64]


class PairTerms(NamedTuple):
    """What adds up to the logits of m pairs, in double precision.

    Attributes:
        anchors: ``[m, k]``: of each anchor.
        neighbourhood: ``[m]``: of the columns that a local branch appends; zero without one.
        reachability: ``[m, 2, L]``: of the pair's own reachability, there and back, step by step; L is 0 for decoders that
            do not read it.
        bias: Bias of the decoder, the same for every pair.
    """

    anchors: Array
    neighbourhood: Array
    reachability: Array
    bias: float

    @property
    def total(self) -> Array:
        """The logits, ``[m]``."""
        total: Array = self.anchors.sum(1) + self.neighbourhood + self.reachability.sum((1, 2)) + self.bias
        return total


def pair_terms(
    decoder: nn.Module, z: Tensor, pairs: Tensor, pair_reach: Tensor | None = None, num_anchors: int | None = None
) -> PairTerms:
    r"""Take the logit of a decoder apart: :math:`\beta \sum_i z_{ui} z_{vi} + \gamma` and what reachability adds to it.

    Args:
        decoder: One of this package.
        z: Embeddings ``[n, d]``.
        pairs: Pairs ``[2, m]``.
        pair_reach: Reachability of the pairs ``[m, 2, L]``, for a decoder that reads it.
        num_anchors: How many of the first columns of z belong to anchors; all by default.

    Example:
        >>> terms = pair_terms(ScaledDecoder(), torch.tensor([[1.0, 2.0], [3.0, 0.5]]), torch.tensor([[0], [1]]))
        >>> terms.anchors, terms.total
        (array([[3., 1.]]), array([4.]))
    """
    if not isinstance(decoder, DotDecoder | ScaledDecoder):
        raise InputError(f"decoder must be dot, scaled, reach or lift to be taken apart, got {decoder}")
    z, pairs = check_embedding(z), check_pair_tensor(pairs)
    k = z.size(1) if num_anchors is None else check_whole("num_anchors", num_anchors, 0, z.size(1))
    u, v = (_array(z.index_select(0, side)) for side in pairs)
    scale, bias = (decoder.scale.item(), decoder.bias.item()) if isinstance(decoder, ScaledDecoder) else (1.0, 0.0)
    products = scale * u * v
    own = np.zeros((pairs.size(1), 2, 0))
    if isinstance(decoder, ReachDecoder):
        features = np.log1p(_array(decoder.checked(pairs, pair_reach)) / decoder.epsilon)
        own = (features * _array(decoder.weight)).reshape(len(features), 2, decoder.hops)
    return PairTerms(products[:, :k], products[:, k:].sum(1), own, bias)


def _array(values: Any) -> Array:
    out: Array = values.detach().to(torch.float64).cpu().numpy()
    return out


LARGEST = 1e100
"""Scores up to this size have a finite standard deviation."""


class LateFusion:
    r"""A weighted sum of the standardised scores of two trained models, :math:`(1 - \lambda)\, a + \lambda\, b`.

    Scale and :math:`\lambda` are chosen on validation pairs, never on test pairs. Training a neighbourhood model and
    GraphReach separately and adding their scores works better than training them jointly: they are best at different
    epochs.

    Args:
        steps: How many weights to try between 0 and 1.

    Example:
        >>> fusion = LateFusion().fit([0.1, 0.9, 0.8, 0.2], [5.0, 1.0, 9.0, 2.0], [0, 0, 1, 1])
        >>> fusion.score([0.5], [9.0]).shape
        (1,)
    """

    def __init__(self, steps: int = 21) -> None:
        self.steps = check_whole("steps", steps, 2, 10**6)

    def fit(self, first: ArrayLike, second: ArrayLike, labels: ArrayLike) -> "LateFusion":
        """Choose scale and weight on validation scores; ``labels`` are 0 or 1."""
        scores = [
            to_finite(name, each).astype(np.float64).ravel() for name, each in (("first", first), ("second", second))
        ]
        truth = to_array("labels", labels).ravel()
        if not len(scores[0]) == len(scores[1]) == len(truth):
            lengths = [len(scores[0]), len(scores[1]), len(truth)]
            raise InputError(f"first, second and labels must be equally long, got {lengths}")
        if not np.isin(truth, (0, 1)).all():
            raise InputError("labels must be 0 or 1, got others")
        if len(np.unique(truth)) < 2:
            raise InputError("labels must hold both classes, got one")
        if any(np.abs(each).max() > LARGEST for each in scores):
            raise InputError(f"first and second must be at most {LARGEST:g} in size, so that their spread is a number")
        self.mean_ = [float(each.mean()) for each in scores]
        self.std_ = [float(each.std()) or 1.0 for each in scores]
        weights = np.linspace(0, 1, self.steps)
        self.auc_ = [auc(self._fuse(scores[0], scores[1], weight), truth == 1) for weight in weights]
        self.weight_ = float(weights[int(np.argmax(self.auc_))])
        return self

    def score(self, first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
        """Fused scores of other pairs."""
        if not hasattr(self, "weight_"):
            raise InputError("LateFusion must be fitted first: call fit with validation scores and labels")
        one, two = to_finite("first", first).astype(np.float64), to_finite("second", second).astype(np.float64)
        if one.shape != two.shape:
            raise InputError(
                f"first and second must be equally long, got shapes {list(one.shape)} and {list(two.shape)}"
            )
        return self._fuse(one, two, self.weight_)

    def __repr__(self) -> str:
        return f"LateFusion(steps={self.steps})"

    def _fuse(self, first: NDArray[np.float64], second: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
        a, b = ((each - m) / s for each, m, s in zip((first, second), self.mean_, self.std_, strict=True))
        fused: NDArray[np.float64] = (1 - weight) * a + weight * b
        return fused
