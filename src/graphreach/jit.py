"""How kernels are compiled: once, kept on disk, without the interpreter's lock.

A kernel takes arrays and numbers and knows no Python objects; its arguments are typed ``Any`` because numba makes a
version for each combination of types it meets.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numba

Function = Callable[..., Any]


def _compile(function: Function, **options: Any) -> Function:
    """Compile with a cache on disk where there can be one: a kernel works without, it is then compiled in every process."""
    try:
        compiled: Any = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # neither the installation nor the user's cache folder can be written to
        uncached: Function = numba.njit(nogil=True, **options)(function)
        return uncached
    save = compiled._cache.save_overload

    def save_or_warn(signature: Any, data: Any) -> None:
        try:
            save(signature, data)
        except OSError as error:
            _warn_once(error.strerror or str(error))

    compiled._cache.save_overload = save_or_warn
    return compiled  # type: ignore[no-any-return]


@cache
def _warn_once(reason: str) -> None:
    warnings.warn(f"compiled kernels are not kept for the next time: {reason}", stacklevel=2)


def kernel(function: Function) -> Function:
    """Compile ``function`` for one thread."""
    return _compile(function)


def inline_kernel(function: Function) -> Function:
    """Compile ``function`` into those that call it: for what is called in the innermost loop."""
    return _compile(function, forceinline=True)


def parallel_kernel(function: Function) -> Function:
    """Compile ``function`` so that its ``prange`` loops use all threads."""
    return _compile(function, parallel=True)


ALGEBRA = {"reassoc", "contract", "nsz", "arcp"}
"""Freedoms of real arithmetic that let sums be vectorised; not-a-number and infinity keep their meaning."""


def fast_kernel(function: Function) -> Function:
    """Compile ``function`` for one thread; sums may be taken in another order (the same one every time)."""
    return _compile(function, fastmath=ALGEBRA)


def fast_inline_kernel(function: Function) -> Function:
    """Like :func:`fast_kernel`, compiled into those that call it.

    For what several kernels call: of two copies of a function, made for two callers with sums in different orders, a
    process that compiles them and one that finds them on disk may take different ones.
    """
    return _compile(function, fastmath=ALGEBRA, forceinline=True)


def fast_parallel_kernel(function: Function) -> Function:
    """Like :func:`fast_kernel`, with ``prange`` loops on all threads."""
    return _compile(function, parallel=True, fastmath=ALGEBRA)


@kernel
def fill(array: Any, value: Any) -> None:
    """Set every entry of a one-dimensional array.

    Kernels with ``prange`` call this instead of ``array[begin:] = value``: numba 0.68 can drop such an assignment there.
    """
    for i in range(len(array)):
        array[i] = value
