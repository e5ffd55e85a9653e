"""A checksum of tensors, by which a file that has changed on the disk is found out."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def tensor_checksum(tensors: Mapping[str, Tensor]) -> str:
    """The sha256 of tensors with their names, kinds and shapes; the same in whatever order they are given.

    Example:
        >>> one, other = torch.zeros(3), torch.tensor([0.0, 0.0, -0.0])
        >>> tensor_checksum({"a": one}) == tensor_checksum({"a": torch.zeros(3)}), len(tensor_checksum({"a": one}))
        (True, 64)
        >>> tensor_checksum({"a": one}) == tensor_checksum({"a": other})
        False
    """
    digest = hashlib.sha256(b"graphreach tensors 1")
    for name in sorted(tensors):
        value = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name} {value.dtype} {list(value.shape)};".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def json_checksum(content: Any) -> str:
    """The sha256 of plain values, whatever the order of their keys.

    Example:
        >>> json_checksum({"a": 1, "b": 2}) == json_checksum({"b": 2, "a": 1})
        True
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
