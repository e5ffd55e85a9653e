"""Memory that comes again: large arrays of a training step are kept for the next one.

A fresh array of some megabytes costs thousands of page faults, more time than the kernels take to fill it.
"""

import math
import threading
import weakref
from typing import Any

import numpy as np
import torch
from torch import Tensor

NUMPY_TYPES = {torch.float32: np.float32, torch.float64: np.float64}

SMALLEST = 1 << 22
"""Bytes below which PyTorch's own allocator does well."""


class _Lease(weakref.ref[Any]):
    """Notices that an array is gone and knows which memory it was in."""

    __slots__ = ("memory",)
    memory: Any


class Pool:
    """Memory of arrays that are gone, by size, the latest first; the oldest is given up when there is too much of it.

    Args:
        most: Bytes to keep at most.
    """

    def __init__(self, most: int) -> None:
        self.most, self.kept = most, 0
        self._free: dict[int, list[Any]] = {}
        self._leases: dict[int, _Lease] = {}
        self._lock = threading.RLock()

    def array(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An uninitialised array, whose memory comes back when it and all its views are gone."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        with self._lock:
            free = self._free.get(size)
            memory = free.pop() if free else None
            if memory is not None:
                self.kept -= size
                if not free:
                    del self._free[size]
        if memory is None:
            memory = np.empty(size, np.uint8)
        array = memory.view(dtype).reshape(shape)
        lease = _Lease(array, self._return)
        lease.memory = memory
        self._leases[id(lease)] = lease
        return array

    def _return(self, lease: Any) -> None:
        memory = lease.memory
        with self._lock:
            self._leases.pop(id(lease), None)
            self._free.setdefault(memory.size, []).append(memory)
            self.kept += memory.size
            while self.kept > self.most:
                oldest = next(iter(self._free))
                self.kept -= self._free[oldest].pop(0).size
                if not self._free[oldest]:
                    del self._free[oldest]

    def clear(self) -> None:
        """Give everything back to the system."""
        with self._lock:
            self._free.clear()
            self.kept = 0


POOL = Pool(1 << 30)


def empty(shape: Any, dtype: torch.dtype) -> Tensor:
    """An uninitialised CPU tensor in memory that comes again, or in large pages, which take far fewer page faults."""
    if math.prod(shape) * dtype.itemsize < SMALLEST:
        return torch.empty(shape, dtype=dtype)
    tensor = torch.from_numpy(POOL.array(tuple(shape), NUMPY_TYPES[dtype]))
    if torch.are_deterministic_algorithms_enabled() and torch.utils.deterministic.fill_uninitialized_memory:  # type: ignore[attr-defined]
        tensor.fill_(torch.nan)
    return tensor
