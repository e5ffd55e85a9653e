"""How kernels are compiled: once, kept on disk, without the interpreter's lock.

A kernel takes arrays and numbers and knows no Python objects; its arguments are typed ``Any`` because numba makes a
version for each combination of types it meets.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile ``function`` for one thread."""
    compiled: Function = numba.njit(cache=True, nogil=True)(function)
    return compiled


def parallel_kernel(function: Function) -> Function:
    """Compile ``function`` so that its ``prange`` loops use all threads."""
    compiled: Function = numba.njit(cache=True, nogil=True, parallel=True)(function)
    return compiled
