"""How much memory and time a result may take, checked before anything is allocated; and memory that training reuses."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from graphreach.errors import InputError

VARIABLE = "GRAPHREACH_MEMORY_LIMIT"
"""Environment variable with a limit in bytes of the user's own."""

CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

MAX_STEPS = 10**15
"""Steps that the walks of one call may have in all: months."""

STEPS_PER_SECOND = 10**8
"""What one call walks, roughly, on a few cores."""

MAX_PRODUCTS = 10**17
"""Multiplications that one exact computation may take: as long as that many steps."""

PRODUCTS_PER_SECOND = 10**10

KEPT_BYTES = 1 << 30
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
"""Settings of GNU's allocator."""


def memory_limit() -> int:
    """The bytes that one result may take: the memory of the machine or of the container, whichever is less.

    The environment variable ``GRAPHREACH_MEMORY_LIMIT`` replaces it.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        if not chosen.isdecimal() or not int(chosen):
            raise InputError(f"{VARIABLE} must be a number of bytes, got {chosen!r}")
        return int(chosen)
    found = [_physical_memory(), *(_read_limit(path) for path in CGROUP_LIMITS)]
    return min((each for each in found if each is not None), default=2**63 - 1)


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse a result of ``needed`` bytes that would not fit into memory, before any of it is allocated.

    ``what`` is the result, as the subject of a sentence, and ``remedy`` what the caller can do instead.
    """
    limit = memory_limit()
    if needed > limit:
        raise InputError(
            f"{what} would take {format_bytes(needed)} of memory, more than the {format_bytes(limit)} there are "
            f"({VARIABLE} sets another limit); {remedy}"
        )


def check_steps(num_starts: int, num_walks: int, walk_length: int) -> None:
    """Refuse more than :data:`MAX_STEPS` steps."""
    steps = max(1, num_starts) * num_walks * walk_length
    if steps > MAX_STEPS:
        raise InputError(
            f"{_count(num_walks)} walks of {walk_length} jumps from each of {num_starts} nodes are {steps:.0e} steps, "
            f"which would take about {_years(steps // STEPS_PER_SECOND)}; at most {MAX_STEPS:.0e} are allowed: "
            "lower num_walks or walk_length"
        )


def check_products(num_edges: int, columns: int, walk_length: int) -> None:
    """Refuse more than :data:`MAX_PRODUCTS` multiplications."""
    products = num_edges * columns * walk_length
    if products > MAX_PRODUCTS:
        raise InputError(
            f"{walk_length} exact steps of {columns} columns over {num_edges} edges are {products:.0e} products, which "
            f"would take about {_years(products // PRODUCTS_PER_SECOND)}; at most {MAX_PRODUCTS:.0e} are allowed: lower "
            "walk_length, hops or the number of anchors"
        )


def _years(seconds: int) -> str:
    years = seconds // (365 * 24 * 3600)
    return f"{_count(years)} years" if years else f"{seconds // (24 * 3600)} days"


def _count(number: int) -> str:
    return str(number) if number < 10**12 else f"{number:.0e}"


@contextmanager
def reused_memory() -> Iterator[None]:
    """Within the block, memory that is freed is kept for the next array, up to :data:`KEPT_BYTES` of it.

    Training frees and allocates the same large arrays in every step. The C library gives such memory back to the system at
    once, and a fresh array of some megabytes costs thousands of page faults, more time than the kernels take to fill it.
    Does nothing where the C library is not GNU's.
    """
    if not _malloc("mallopt", M_MMAP_MAX, 0):
        yield
        return
    _malloc("mallopt", M_TRIM_THRESHOLD, KEPT_BYTES)
    try:
        yield
    finally:
        _malloc("mallopt", M_MMAP_MAX, 65_536)
        _malloc("mallopt", M_TRIM_THRESHOLD, 1 << 17)
        _malloc("malloc_trim", 0)


def _malloc(function: str, *arguments: int) -> int:
    """Call a function of GNU's allocator; 0 if there is none."""
    try:
        return int(getattr(ctypes.CDLL(None), function)(*arguments))
    except (OSError, TypeError, AttributeError):
        return 0


def format_bytes(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 1e9:.2g} GB" if size >= 10**9 else f"{size / 1e6:.2g} MB"


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on every system
        return None


@cache
def _read_limit(path: str) -> int | None:
    try:
        text = Path(path).read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
