"""Where tensors are, and whether the kernels or plain PyTorch work on them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from graphreach.arguments import check_choice
from graphreach.errors import InputError

DEVICES = ("auto", "cpu", "cuda")
KERNEL_TYPES = (torch.float32, torch.float64)
SWITCH = "GRAPHREACH_KERNELS"
"""Environment variable that switches the kernels off if it is 0."""

_enabled = os.environ.get(SWITCH, "1") != "0"


def find_device(name: str = "auto") -> torch.device:
    """The device of that name; ``"auto"`` is CUDA's first if there is one, else the CPU."""
    check_choice("device", name, DEVICES)
    found = torch.cuda.is_available() if name != "cpu" else False
    if name == "cuda" and not found:
        raise InputError('device must be "cpu" or "auto" on a machine without CUDA, got "cuda"')
    return torch.device("cuda" if found else "cpu")


def use_kernels(*tensors: Tensor) -> bool:
    """Whether the compiled kernels apply: to tensors on the CPU in single or double precision, outside ``torch.compile``.

    Elsewhere plain PyTorch does the same work; the numbers agree to single precision.
    """
    if not _enabled or torch.compiler.is_compiling():
        return False
    return all(
        each.device.type == "cpu" and (each.dtype in KERNEL_TYPES or not each.is_floating_point()) for each in tensors
    )


@contextmanager
def without_kernels() -> Iterator[None]:
    """Within it, layers run on plain PyTorch on every device, as they do on a GPU."""
    global _enabled
    before, _enabled = _enabled, False
    try:
        yield
    finally:
        _enabled = before
