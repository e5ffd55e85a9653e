"""How kernels are compiled: once, kept on disk, without the interpreter's lock; and how threads share their work.

A kernel takes arrays and numbers and knows no Python objects; its arguments are typed ``Any`` because numba makes a
version for each combination of types it meets. Threads are Python's: a kernel for several of them is compiled for one and
called by each for its share, which takes less than half of the time that numba needs to compile a ``prange`` loop.
"""

import math
import os
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial, wraps
from queue import Empty, SimpleQueue
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import event
from numba.extending import intrinsic

from graphreach.progress import watched

Function = Callable[..., Any]


class _Listener(event.Listener):  # type: ignore[misc]
    """Tells who watches of kernels that are compiled."""

    def on_start(self, event: Any) -> None:
        for each in watched:
            each.begin()

    def on_end(self, event: Any) -> None:
        for each in watched:
            each.end()


event.register("numba:compile", _Listener())


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


ALGEBRA = {"reassoc", "contract", "nsz", "arcp"}
"""Freedoms of real arithmetic that let sums be vectorised; not-a-number and infinity keep their meaning."""

kernel = partial(_compile)
"""Compile a function for one thread."""

inline_kernel = partial(_compile, forceinline=True)
"""Compile a function into those that call it: for what is called in the innermost loop."""

fast_kernel = partial(_compile, fastmath=ALGEBRA)
"""Compile a function for one thread; sums may be taken in another order (the same one every time)."""

fast_inline_kernel = partial(_compile, fastmath=ALGEBRA, forceinline=True)
"""Like :func:`fast_kernel`, compiled into those that call it.

For what several kernels call: of two copies of a function, made for two callers with sums in different orders, a process
that compiles them and one that finds them on disk may take different ones.
"""


def parallel_kernel(function: Function) -> Function:
    """Compile ``function`` for threads: its first argument is the share ``(i, count)`` of one of them.

    A thread takes items ``i``, ``i + count``, ... or those of :func:`rows_of`. Callers leave the share out. All threads see
    the same arrays, so what is written must not depend on who writes it, and nothing is returned.
    """
    return _on_all_threads(kernel(function))


def fast_parallel_kernel(function: Function) -> Function:
    """:func:`parallel_kernel` with the freedoms of :func:`fast_kernel`."""
    return _on_all_threads(fast_kernel(function))


def long_kernel(function: Function) -> Function:
    """:func:`parallel_kernel` for work of seconds and more: Ctrl-C is seen while it lasts.

    Helpers do all shares ``(i, count, stop)`` while this thread waits. A kernel ends early once ``stop[0]`` is not zero.
    """
    return on_helpers(kernel(function))


SHORT = 4e-4
"""Seconds of work that are not worth waking a helper, which takes some tenths of a millisecond."""

GRACE = 1.0
"""Seconds that the shares of an interrupted :func:`long_kernel` have to end."""

_pool: tuple[SimpleQueue[Any], list[threading.Thread]] = SimpleQueue(), []
"""Calls that wait for a helper, and the helpers."""


def _on_all_threads(compiled: Function) -> Function:
    """Call ``compiled`` for every share, that of this thread included; as many as ``numba.get_num_threads()`` says.

    A kernel whose last call was :data:`SHORT` is one share: to wake a helper would take longer. No result depends on it.
    """
    last = math.inf

    @wraps(compiled)
    def launch(*arguments: Any) -> None:
        nonlocal last
        count = 1 if last < SHORT else numba.get_num_threads()
        shares = None if count == 1 else _Shares(compiled, [((i, count), *arguments) for i in range(1, count)])
        began = time.perf_counter()
        try:
            compiled((0, count), *arguments)
            last = (time.perf_counter() - began) * count
            if shares is not None:
                _help_out()
        finally:
            if shares is not None:
                shares.wait()
        if shares is not None:
            shares.raise_errors()

    launch.compiled = compiled  # type: ignore[attr-defined]
    return launch


def on_helpers(compiled: Function) -> Function:
    """What :func:`long_kernel` does with a function that is compiled, or releases the interpreter's lock by itself."""

    @wraps(compiled)
    def launch(*arguments: Any) -> None:
        count, stop = numba.get_num_threads(), np.zeros(1, np.int64)
        shares = _Shares(compiled, [((i, count, stop), *arguments) for i in range(count)])
        try:
            shares.wait()
        except BaseException:
            stop[0] = 1
            try:
                shares.wait(GRACE)
            finally:
                if shares.left():  # they go on: the next kernel gets other helpers
                    _forget_helpers()
            raise
        shares.raise_errors()

    launch.compiled = compiled  # type: ignore[attr-defined]
    return launch


class _Shares:
    """Calls that helpers do."""

    def __init__(self, function: Function, calls: list[Any]) -> None:
        self.count = len(calls)
        self.errors: list[BaseException | None] = []
        self.bell: SimpleQueue[None] = SimpleQueue()
        tasks, helpers = _pool
        while len(helpers) < self.count:  # they end with the process
            helpers.append(threading.Thread(target=_help, args=(tasks,), name="graphreach helper", daemon=True))
            helpers[-1].start()
        for arguments in calls:
            tasks.put((function, arguments, self.errors, self.bell))

    def left(self) -> int:
        """How many are not done; counted by what they left, as an interrupt may swallow the sound of the bell."""
        return self.count - len(self.errors)

    def wait(self, seconds: float = math.inf) -> None:
        """Until all are done, or for some time."""
        end = seconds if seconds == math.inf else time.monotonic() + seconds
        while len(self.errors) < self.count and (end == math.inf or time.monotonic() < end):
            try:  # noqa: SIM105 -- suppress() takes a tenth of the time that a launch may take
                self.bell.get(True, 0.1)  # without a timeout Windows sees no Ctrl-C
            except Empty:
                pass

    def raise_errors(self) -> None:
        """Raise what one of them raised."""
        for error in filter(None, self.errors):
            raise error


def _help(tasks: SimpleQueue[Any]) -> None:
    while True:
        _call(*tasks.get())


def _help_out() -> None:
    """Do shares that no helper has begun: on a busy machine, or after a short share, it may still be asleep."""
    tasks = _pool[0]
    with suppress(Empty):
        while True:
            _call(*tasks.get_nowait())


def _call(function: Function, arguments: Any, errors: list[BaseException | None], bell: SimpleQueue[None]) -> None:
    try:
        function(*arguments)
    except BaseException as error:
        errors.append(error)
    else:
        errors.append(None)
    bell.put(None)


def _forget_helpers() -> None:
    """Begin without helpers, as a forked process has none of its parent's threads."""
    global _pool
    _pool = SimpleQueue(), []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)


@inline_kernel
def rows_of(share: Any, count: Any) -> Any:
    """The rows of a share: as many in a row as others have."""
    return range(share[0] * count // share[1], (share[0] + 1) * count // share[1])


@kernel
def fill(array: Any, value: Any) -> None:
    """Set every entry of a one-dimensional array."""
    for i in range(len(array)):
        array[i] = value


@intrinsic  # type: ignore[untyped-decorator]
def borrowed(typing_context: Any, arguments: Any) -> Any:
    """Arrays, or tuples of them, as they are, but without counting references: whoever called the kernel keeps them.

    Every row that a kernel takes of its argument would be counted by two instructions that take as long as some sums.
    """

    def without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            array.meminfo = context.get_constant_null(types.MemInfoPointer(kind.dtype))
            return array._getvalue()
        for i, each in enumerate(kind if isinstance(kind, types.BaseTuple) else ()):
            entry = without_owner(context, builder, each, builder.extract_value(value, i))
            value = builder.insert_value(value, entry, i)
        return value

    return arguments(arguments), lambda context, builder, sig, args: without_owner(context, builder, arguments, *args)
