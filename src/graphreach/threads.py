"""Threads: as many as there are CPUs to use, that sleep while they wait; and torch's sums on one of them.

The threads of OpenMP wait for their next piece of work by spinning, which takes the CPU from whoever else could use it. On
a busy machine this may be the threads that they wait for. :func:`prepare` asks for sleep instead, before torch and numba
load their OpenMP. What the user chose in the environment stays.
"""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Variables by which a user chooses how threads wait; the first is understood by GNU's, LLVM's and Intel's OpenMP."""

COUNTS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Variables that are set where the CPUs are limited by a quota; OpenMP, MKL and OpenBLAS read the first."""

QUOTAS = (
    ("/sys/fs/cgroup/cpu.max", None),
    ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)
"""Files with the quota of a container, and with its period where that is a file of its own (cgroup version 2 and 1)."""


def available_cpus() -> int:
    """The CPUs that this process may use: its affinity, or the quota of its container if that is less."""
    allowed = _affinity()
    quotas = [_quota(Path(limit), None if period is None else Path(period)) for limit, period in QUOTAS]
    return max(1, min([allowed, *(math.ceil(each) for each in quotas if each is not None)]))


def prepare() -> None:
    """Let threads sleep while they wait, and be no more than there are CPUs; what the user chose stays.

    Affinity is known to torch and numba, a quota is not: only then numbers of threads are set. Where torch or numba is
    there already, theirs is lowered, unless it is another one than they begin with.
    """
    if not any(name in os.environ for name in WAITING):
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    count, allowed = available_cpus(), _affinity()
    if count == allowed:
        return
    chosen = {name for name in COUNTS if name in os.environ}
    for name in COUNTS:
        os.environ.setdefault(name, str(count))
    torch, numba = sys.modules.get("torch"), sys.modules.get("numba")
    if torch is not None and "OMP_NUM_THREADS" not in chosen and torch.get_num_threads() == allowed:
        torch.set_num_threads(count)
    if numba is not None and "NUMBA_NUM_THREADS" not in chosen and numba.get_num_threads() == allowed:
        numba.set_num_threads(count)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Run torch's own operations on one thread within the block, or the function that this decorates.

    Torch and MKL split sums and products among their threads, so that the last bits depend on how many there are. The
    kernels of this package keep all threads: they sum over fixed blocks.
    """
    import torch

    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the linear algebra of NumPy and SciPy on one thread within the block, for the same reason."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def _affinity() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not on every system
        return os.cpu_count() or 1


def _quota(limit: Path, period: Path | None) -> float | None:
    """CPUs that a container may use, or None without a limit."""
    try:
        words = limit.read_text().split() + ([] if period is None else period.read_text().split())
    except OSError:
        return None
    if len(words) != 2 or not all(word.isdecimal() for word in words) or not int(words[1]):
        return None  # "max", or -1
    return int(words[0]) / int(words[1])
