"""Forces that draw a graph."""

from typing import Any

import numpy as np
from numba import uint64

from graphreach.jit import kernel
from graphreach.walks.rng import step_bits, walk_key

LONGEST = 4.0
"""Of a move along one axis, before it is scaled by the step."""


PUSH, GRAVITY = 6.0, 0.01
"""How much stronger a push is than a pull, as it stands for many that are not drawn; and the share of its distance from
the middle that a node falls in a round, so that pieces of the graph do not drift away."""


@kernel
def settle(at: Any, source: Any, target: Any, repulsions: Any, rounds: Any, seed: Any) -> None:
    """Move nodes in place: edges pull their ends together, and push both away from nodes drawn at random.

    Forces are those of a Student distribution, a pull of 2 d / (1 + d^2) and a push in proportion to
    d / ((0.01 + d^2)(1 + d^2)), so that near nodes part and far ones hardly feel each other: clusters stay apart without
    comparing all pairs.
    """
    n = len(at)
    for number in range(rounds):
        step = 0.5 * (1.0 - number / rounds)
        key = walk_key(uint64(seed), number)
        for i in range(n):
            at[i, 0] *= 1.0 - GRAVITY * step
            at[i, 1] *= 1.0 - GRAVITY * step
        for edge in range(len(source)):
            i, j = source[edge], target[edge]
            dx, dy = at[i, 0] - at[j, 0], at[i, 1] - at[j, 1]
            pull = -2.0 / (1.0 + dx * dx + dy * dy)
            mx, my = _bounded(pull * dx) * step, _bounded(pull * dy) * step
            at[i, 0] += mx
            at[i, 1] += my
            at[j, 0] -= mx
            at[j, 1] -= my
            for draw in range(repulsions):
                bits = step_bits(key, edge * repulsions + draw)
                end = i if draw % 2 == 0 else j
                other = np.int64(bits % uint64(n))
                if other != end:
                    _push(at, end, other, step)


@kernel
def _push(at: Any, i: Any, j: Any, step: Any) -> None:
    dx, dy = at[i, 0] - at[j, 0], at[i, 1] - at[j, 1]
    d2 = dx * dx + dy * dy
    push = PUSH * 2.0 / ((0.01 + d2) * (1.0 + d2))
    at[i, 0] += _bounded(push * dx) * step
    at[i, 1] += _bounded(push * dy) * step


@kernel
def _bounded(value: Any) -> Any:
    return min(LONGEST, max(-LONGEST, value))
