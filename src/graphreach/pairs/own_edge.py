r"""A pair's own edge taken out of what is known of the graph, without walking again.

To take the edge between u and v out changes two rows of the transition matrix P: that of u by
:math:`\delta_u = \frac{w}{d_u - w} (P(u, \cdot) - e_v)` and that of v alike. So

.. math:: P'^t(x, y) = P^t(x, y) + \sum_{s < t} \sum_{z \in \{u, v\}} P'^s(x, z) \, \delta_z^\top P^{t-1-s}(\cdot, y),

where :math:`\delta_z^\top P^r(\cdot, y)` needs nothing but powers of P from u and from v to y. A node that has no other
edge is isolated: its row is zero.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Between = NDArray[np.float64]
"""``[2, 2, steps + 1, m]``: P^t(x, y) for x and y among the two ends of each pair."""


ROUNDING = 1e-12
"""Probabilities below this are what rounding leaves of zero: of ends that nothing else joins."""


class OwnEdge(NamedTuple):
    """The edge between the ends of each pair, and what is left of the ends without it.

    Attributes:
        weight: From the first end and from the second, ``[2, m]``; zero where there is none.
        degree: (Out-)degrees without it, ``[2, m]``.
    """

    weight: NDArray[np.float64]
    degree: NDArray[np.float64]

    def take(self, chosen: NDArray[np.bool_]) -> "OwnEdge":
        """Those of some pairs."""
        return OwnEdge(self.weight[:, chosen], self.degree[:, chosen])

    @property
    def factors(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What multiplies the two parts of :math:`\\delta`, ``[2, m]`` each; an isolated end loses its row."""
        isolated = (self.weight > 0) & (self.degree <= 0)
        ratio = np.divide(self.weight, self.degree, out=np.zeros_like(self.weight), where=self.degree > 0)
        return np.where(isolated, -1.0, ratio), np.where(isolated, 0.0, ratio)


def without_own_edge(between: Between, own: OwnEdge) -> Between:
    """P'^t between the ends, as :data:`Between`, from P^t."""
    first, second = (each[:, None, None, :] for each in own.factors)
    change = first * between[:, :, 1:] - second * between[::-1, :, :-1]
    after = between.copy()
    for t in range(1, between.shape[2]):
        for s in range(t):
            after[:, :, t] += np.einsum("xzm,zym->xym", after[:, :, s], change[:, :, t - 1 - s])
    after[after < ROUNDING] = 0.0
    return after


def row_weights(after: Between, own: OwnEdge, length: int) -> NDArray[np.float64]:
    r"""What each :math:`P^r(z, a)` counts in the mean of :math:`P'^t(x, a)` over the steps, ``[2, 2, length + 1, m]``.

    Args:
        after: P'^s between the ends, s = 0 .. length at least.
        own: The edges taken out.
        length: Jumps of a walk.
    """
    sums = np.cumsum(after[:, :, :length], axis=2)
    first, second = own.factors
    out = np.zeros((2, 2, length + 1, after.shape[-1]))
    for r in range(length + 1):
        if r > 0:
            out[:, :, r] += first * sums[:, :, length - r]
            out[0, 0, r] += 1.0
            out[1, 1, r] += 1.0
        if r < length:
            out[:, :, r] -= (second * sums[:, :, length - 1 - r])[:, ::-1]
    return out / length


def column_weights(after: Between, own: OwnEdge, before: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    r"""What each :math:`P^s(a, z)` counts in the mean of :math:`P'^t(a, y)`, ``[2 (y), 2 (z), length + 1, m]``.

    Args:
        after: P'^s between the ends.
        own: The edges taken out.
        before: (Out-)degrees with them, ``[2, m]``.
        length: Jumps of a walk.
    """
    share = np.divide(own.weight, before, out=np.zeros_like(own.weight), where=before > 0)[:, None, None, :]
    change = np.cumsum(share * (after[:, :, 1 : length + 1] - after[::-1, :, :length]), axis=2)
    out = np.zeros((2, 2, length + 1, after.shape[-1]))
    for s in range(length + 1):
        if s > 0:
            out[0, 0, s] += 1.0
            out[1, 1, s] += 1.0
        if s < length:
            out[:, :, s] += change[:, :, length - 1 - s].swapaxes(0, 1)
    return out / length
