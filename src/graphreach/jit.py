"""How kernels are compiled: once, kept on disk, without the interpreter's lock.

A kernel takes arrays and numbers and knows no Python objects; its arguments are typed ``Any`` because numba makes a
version for each combination of types it meets.
"""

from collections.abc import Callable
from typing import Any

import numba

Function = Callable[..., Any]


def kernel(function: Function) -> Function:
    """Compile ``function`` for one thread."""
    compiled: Function = numba.njit(cache=True, nogil=True)(function)
    return compiled


def inline_kernel(function: Function) -> Function:
    """Compile ``function`` into those that call it: for what is called in the innermost loop."""
    compiled: Function = numba.njit(cache=True, nogil=True, forceinline=True)(function)
    return compiled


def parallel_kernel(function: Function) -> Function:
    """Compile ``function`` so that its ``prange`` loops use all threads."""
    compiled: Function = numba.njit(cache=True, nogil=True, parallel=True)(function)
    return compiled


ALGEBRA = {"reassoc", "contract", "nsz", "arcp"}
"""Freedoms of real arithmetic that let sums be vectorised; not-a-number and infinity keep their meaning."""


def fast_kernel(function: Function) -> Function:
    """Compile ``function`` for one thread; sums may be taken in another order (the same one every time)."""
    compiled: Function = numba.njit(cache=True, nogil=True, fastmath=ALGEBRA)(function)
    return compiled


def fast_parallel_kernel(function: Function) -> Function:
    """Like :func:`fast_kernel`, with ``prange`` loops on all threads."""
    compiled: Function = numba.njit(cache=True, nogil=True, parallel=True, fastmath=ALGEBRA)(function)
    return compiled


@kernel
def fill(array: Any, value: Any) -> None:
    """Set every entry of a one-dimensional array.

    Kernels with ``prange`` call this instead of ``array[begin:] = value``: numba 0.68 can drop such an assignment there.
    """
    for i in range(len(array)):
        array[i] = value
