"""Length and number of walks: l_w and n_w (section 3.5)."""

import math
import warnings

import numpy as np

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.diameter import diameter
from graphreach.walks.engine import AnyGraph

MAX_WALK_LENGTH = 100
"""Where ``walk_length="diameter"`` stops: longer walks on road-like graphs cost much and reach little more."""

LONGEST_WALK = 2**20 - 1
"""Largest value that fits into 64 bits together with a node's number, where visits are sorted."""


def resolve_walk_length(graph: AnyGraph, walk_length: int | str, hops: int | None = None) -> int:
    """The number of jumps that ``walk_length`` means on ``graph``: the number of hops where these are kept separate.

    ``"diameter"`` is the diameter in hops (see :func:`diameter`), at least 1 and at most :data:`MAX_WALK_LENGTH`, with a
    warning when it is cut; where only bounds are known, the lower one, which is the length of a shortest path that exists.
    """
    if hops is not None:
        return _check_length("hops", hops)
    if isinstance(walk_length, str):
        if walk_length != "diameter":
            raise InputError(f'walk_length must be a positive integer or "diameter", got {walk_length!r}')
        if not isinstance(graph, Graph):
            raise InputError('walk_length must be a number on a partitioned graph, got "diameter"')
        hops = diameter(graph).lower
        if hops > MAX_WALK_LENGTH:
            warnings.warn(
                f"the graph's diameter is at least {hops}; walks are cut at {MAX_WALK_LENGTH} jumps: "
                "pass walk_length as a number for longer ones",
                stacklevel=3,
            )
        return min(max(1, hops), MAX_WALK_LENGTH)
    return _check_length("walk_length", walk_length)


def check_count(name: str, value: int) -> int:
    """Return ``value`` if it is a positive integer."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a positive integer, got {value!r}")
    if value >= 2**63:
        raise InputError(f"{name} must be a positive integer below 2**63, got one of {int(value).bit_length()} bits")
    return int(value)


def _check_length(name: str, value: int) -> int:
    """Return ``value`` if it is a number of jumps that a walk can have."""
    length = check_count(name, value)
    if length > LONGEST_WALK:
        raise InputError(f"{name} must be at most {LONGEST_WALK}, got {length}")
    return length


def recommended_num_walks(num_nodes: int) -> int:
    r"""The number of walks that finds an existing path with probability :math:`1 - 1/n`.

    The theorem of section 3.5 gives :math:`n_w = \Theta(\sqrt[3]{n^2 \ln n})` for walks as long as the diameter; the
    constant is taken as 1. The paper's experiments use 50.

    Example:
        >>> recommended_num_walks(400)
        99
    """
    n = check_count("num_nodes", num_nodes)
    return max(1, math.ceil(math.cbrt(n * n * math.log(n))))
