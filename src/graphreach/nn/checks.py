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
    """Return a width."""
    return check_whole(name, value, low, WIDEST)


def check_model(config: dict[str, Any]) -> None:
    """Refuse arguments that make no model."""
    features = check_whole("in_channels", config["in_channels"], 0, MOST_FEATURES)
    hidden = check_channels("hidden_channels", config["hidden_channels"])
    layers = check_whole("num_layers", config["num_layers"], 1, DEEPEST)
    check_number("dropout", config["dropout"], 0, 1)
    nodes = 0 if config["num_nodes"] is None else check_whole("num_nodes", config["num_nodes"], 0, MOST_NODES)
    check_choice("output_activation", config["output_activation"], ACTIVATION_NAMES)
    for name in ("input_projection", "standardise"):
        check_flag(name, config[name])
    check_memory(
        4 * hidden * (features + 2 * hidden * layers + nodes), "the weights of this model", "lower hidden_channels"
    )


def check_tensor(name: str, value: Any, what: str) -> Tensor:
    """Return a tensor."""
    if not isinstance(value, Tensor):
        raise InputError(f"{name} must be a tensor of {what}, got {describe(value)}")
    return value


def check_features(x: Any, num_nodes: int, channels: int) -> Tensor:
    """Return features of the right shape."""
    if not isinstance(x, Tensor) or x.shape != (num_nodes, channels):
        shape = list(x.shape) if isinstance(x, Tensor) else describe(x)
        raise InputError(f"x must have shape [{num_nodes}, {channels}], got {shape}")
    return x


def check_embedding(z: Any) -> Tensor:
    """Return embeddings ``[n, d]`` of floats."""
    check_tensor("z", z, "embeddings [n, d]")
    if z.dim() != 2 or not z.is_floating_point():
        raise InputError(f"z must have shape [n, d] of floats, got shape {list(z.shape)} of {z.dtype}")
    return z  # type: ignore[no-any-return]


def check_pair_tensor(pairs: Any) -> Tensor:
    """Return pairs ``[2, m]`` of positions."""
    check_tensor("pairs", pairs, "positions [2, m]")
    whole = not pairs.is_floating_point() and not pairs.is_complex() and pairs.dtype != torch.bool
    if pairs.dim() != 2 or pairs.size(0) != 2 or (pairs.numel() and not whole):
        hint = "; transpose it" if pairs.dim() == 2 and pairs.size(1) == 2 and pairs.size(0) != 2 else ""
        raise InputError(f"pairs must have shape [2, m] of integers, got {list(pairs.shape)} of {pairs.dtype}{hint}")
    return pairs  # type: ignore[no-any-return]
