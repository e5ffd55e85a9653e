"""How much memory a result may take, checked before it is allocated."""

import os
from pathlib import Path

from graphreach.errors import InputError

VARIABLE = "GRAPHREACH_MEMORY_LIMIT"
"""Environment variable with a limit in bytes of the user's own."""

CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_limit() -> int:
    """The bytes that one result may take: the memory of the machine or of the container, whichever is less.

    The environment variable ``GRAPHREACH_MEMORY_LIMIT`` replaces it.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        if not chosen.isdecimal() or not int(chosen):
            raise InputError(f"{VARIABLE} must be a number of bytes, got {chosen!r}")
        return int(chosen)
    found = [_physical_memory(), *(_read_limit(Path(path)) for path in CGROUP_LIMITS)]
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


def format_bytes(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 1e9:.2g} GB" if size >= 10**9 else f"{size / 1e6:.2g} MB"


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on every system
        return None


def _read_limit(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
