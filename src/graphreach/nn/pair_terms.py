"""The score of a pair, term by term."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from graphreach.arguments import check_whole
from graphreach.errors import InputError
from graphreach.nn.checks import check_embedding, check_pair_tensor
from graphreach.nn.decoders import DotDecoder, ReachDecoder, ScaledDecoder

Array = NDArray[np.float64]


class PairTerms(NamedTuple):
    """What adds up to the logits of m pairs, in double precision.

    Attributes:
        anchors: ``[m, k]``: of each anchor.
        neighbourhood: ``[m]``: of the columns that a local branch appends; zero without one.
        reachability: ``[m, 2, L]``: of the pair's own reachability, there and back, step by step; L is 0 for decoders that
            do not read it.
        bias: Of the decoder, the same for every pair.
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
