"""Checks of what layers and models are made of and given, so that torch need not explain itself."""

from typing import Any

import torch
from torch import Tensor

from graphreach.arguments import check_choice, check_flag, check_number, check_whole, describe
from graphreach.errors import InputError
from graphreach.limits import check_memory

WIDEST, DEEPEST, MOST_FEATURES, MOST_NODES = 2**20, 2**10, 2**31, 2**32
"""Channels, layers, features and nodes beyond which something else was meant."""

ACTIVATION_NAMES = ("normalize", "tanh", "sigmoid", "identity")


def check_channels(name: str, value: Any, low: int = 1) -> int:
    """Return a width.

    Example:
        >>> check_channels("in_channels", "a")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: in_channels must be an integer from 1 to 1048576, got 'a'
    """
    return check_whole(name, value, low, WIDEST)


def check_model(
    in_channels: Any, hidden_channels: Any, num_layers: Any, dropout: Any, num_nodes: Any, output_activation: Any,
    **flags: Any,
) -> None:  # fmt: skip
    """Refuse arguments that no model can be made of.

    Example:
        >>> check_model(0, 8, 2, 2, None, "normalize")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: dropout must be a number from 0 to 1, got 2
    """
    check_whole("in_channels", in_channels, 0, MOST_FEATURES)
    check_channels("hidden_channels", hidden_channels)
    check_whole("num_layers", num_layers, 1, DEEPEST)
    check_number("dropout", dropout, 0, 1)
    nodes = 0 if num_nodes is None else check_whole("num_nodes", num_nodes, 0, MOST_NODES)
    check_choice("output_activation", output_activation, ACTIVATION_NAMES)
    for name, value in flags.items():
        check_flag(name, value)
    weights = 4 * int(hidden_channels) * (int(in_channels) + 2 * int(hidden_channels) * int(num_layers) + nodes)
    check_memory(weights, "the weights of this model", "lower hidden_channels")


def check_tensor(name: str, value: Any, what: str) -> Tensor:
    """Return a tensor.

    Example:
        >>> check_tensor("x", [1, 2], "features [n, 8]")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: x must be a tensor of features [n, 8], got [1, 2]
    """
    if not isinstance(value, Tensor):
        raise InputError(f"{name} must be a tensor of {what}, got {describe(value)}")
    return value


def check_features(x: Any, num_nodes: int, channels: int) -> Tensor:
    """Return features of the right shape.

    Example:
        >>> check_features(torch.ones(3, 2), 4, 2)
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: x must have shape [4, 2], got [3, 2]
    """
    if not isinstance(x, Tensor) or x.shape != (num_nodes, channels):
        shape = list(x.shape) if isinstance(x, Tensor) else describe(x)
        raise InputError(f"x must have shape [{num_nodes}, {channels}], got {shape}")
    return x


def check_embedding(z: Any) -> Tensor:
    """Return embeddings ``[n, d]`` of floats.

    Example:
        >>> check_embedding(torch.ones(2))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: z must have shape [n, d] of floats, got shape [2] of torch.float32
    """
    check_tensor("z", z, "embeddings [n, d]")
    if z.dim() != 2 or not z.is_floating_point():
        raise InputError(f"z must have shape [n, d] of floats, got shape {list(z.shape)} of {z.dtype}")
    return z  # type: ignore[no-any-return]


def check_pair_tensor(pairs: Any) -> Tensor:
    """Return pairs ``[2, m]`` of positions.

    Example:
        >>> check_pair_tensor(torch.ones(3, 2, dtype=torch.long))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: pairs must have shape [2, m] of integers, got [3, 2] of torch.int64; transpose it
    """
    check_tensor("pairs", pairs, "positions [2, m]")
    whole = not pairs.is_floating_point() and not pairs.is_complex() and pairs.dtype != torch.bool
    if pairs.dim() != 2 or pairs.size(0) != 2 or (pairs.numel() and not whole):
        hint = "; transpose it" if pairs.dim() == 2 and pairs.size(1) == 2 and pairs.size(0) != 2 else ""
        raise InputError(f"pairs must have shape [2, m] of integers, got {list(pairs.shape)} of {pairs.dtype}{hint}")
    return pairs  # type: ignore[no-any-return]
