"""Connections to Ray, on this machine or on an existing cluster, and its errors as sentences.

Ray is imported only when a connection is needed.
"""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphreach.errors import InputError

LOOPBACK = "127.0.0.1"

LOOPBACK_ONLY = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray reads it when it is imported: with 0, a Ray that starts here keeps the loopback address on every system, and is not
given one that other machines reach."""

if "ray" not in sys.modules:
    os.environ.setdefault(LOOPBACK_ONLY, "0")
REACHABLE = os.environ.get(LOOPBACK_ONLY) != "0"
"""Whether a Ray that starts here would be open to other machines."""

DISK_FULL = (
    "the disk of a node of the cluster is full: Ray keeps there what does not fit into memory;"
    " make room on it, or use more or larger nodes"
)

PATIENCE = 10.0
"""Seconds to wait for an answer from an address; Ray itself would wait for minutes."""


@contextmanager
def connected(address: str | None = None) -> Iterator[None]:
    """Be connected to Ray within the block.

    If Ray is already initialised in this process, that connection is used and left as it is. Otherwise, without an
    address, a Ray of this machine's cores starts, reachable from this machine only, and ends with the block.

    Args:
        address: ``"HOST:PORT"`` of a cluster's head node, or ``"auto"`` for the cluster that this machine is a node of.

    Example:
        >>> with connected("nowhere"):
        ...     pass
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: address must be HOST:PORT of a Ray cluster's head node or "auto", got 'nowhere'
    """
    host, port = check_address(address)
    ray = import_ray()
    if ray.is_initialized():
        current = ray.get_runtime_context().gcs_address
        if port is not None and not current.endswith(f":{port}"):
            raise InputError(f"address must be {current}, which this process is connected to already, got {address!r}")
        yield
        return
    if port is not None:
        try:
            socket.create_connection((host, port), timeout=PATIENCE).close()
        except OSError as error:
            raise InputError(
                f"address {address} must be that of a running Ray cluster, but nothing answers there ({error})"
            ) from None
    _connect(ray, address)
    try:
        yield
    finally:
        ray.shutdown()


def import_ray() -> Any:
    """Ray, or one sentence that says how to get it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise InputError('engine="ray" needs Ray, which is not installed: pip install "graphreach[ray]"') from None
    return ray


def check_address(target: str | None) -> tuple[str, int | None]:
    """Host and port; no port where Ray finds out by itself."""
    if target is None or target == "auto":
        return LOOPBACK, None
    host, _, port = str(target).rpartition(":")
    host = host.strip("[]")
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise InputError(f'address must be HOST:PORT of a Ray cluster\'s head node or "auto", got {target!r}')
    return host, int(port)


def _connect(ray: Any, target: str | None) -> None:
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if target is None:
        if REACHABLE:
            raise InputError(
                "a Ray of this machine alone must not be open to others, which ray prevents only if graphreach.cluster is"
                f" imported before it or {LOOPBACK_ONLY}=0 is set: do so, call ray.init() yourself, or give an address"
            )
        settings["include_dashboard"] = False
    try:
        ray.init(address=target or "local", **settings)
    except (ConnectionError, RuntimeError, ValueError) as error:
        ray.shutdown()  # Ray stays half connected after a failure
        raise _refused(target, error) from error


def _refused(target: str | None, error: Exception) -> InputError:
    """Ray's error in one sentence."""
    text = " ".join(str(error).split())
    if "ersion mismatch" in text:
        return InputError(f"Ray and Python must be of the same versions here and at address {target}: {text}")
    if target == "auto":
        return InputError('address "auto" needs a Ray cluster that this machine is a node of, but none runs here')
    if target is None:
        return InputError(f"Ray could not be started on this machine: {text}")
    return InputError(f"address {target} must be that of a running Ray cluster, but connecting failed: {text}")


@contextmanager
def explained() -> Iterator[None]:
    """Turn what a user can mend into one sentence; everything else stays as Ray raises it."""
    from ray import exceptions

    try:
        yield
    except exceptions.OutOfDiskError:
        raise InputError(DISK_FULL) from None
    except exceptions.ObjectStoreFullError as error:
        raise InputError(
            "the object store of a node of the cluster is full: start Ray with a larger object_store_memory,"
            " or use more partitions"
        ) from error
    except exceptions.RayTaskError as error:
        cause = error.cause
        while isinstance(cause, exceptions.RayTaskError):  # a task whose argument is the failed result of another
            cause = cause.cause
        sentence = _sentence(cause)
        if sentence is None:
            raise
        raise InputError(sentence) from error


def _sentence(cause: BaseException | None) -> str | None:
    if isinstance(cause, InputError):
        return str(cause)
    if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    if isinstance(cause, ModuleNotFoundError):
        return f"every node of the cluster must have graphreach installed, but one of them says: {cause}"
    return None
