"""Being connected to Ray: to one of our own on this machine, or to a cluster that is there.

Ray is imported when a connection is wanted, never before.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphreach.errors import InputError

LOOPBACK = "127.0.0.1"

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
    host, port = _check_address(address)
    ray = import_ray()
    if ray.is_initialized():
        _check_same_cluster(ray, address, port)
        yield
        return
    if port is not None:
        _check_reachable(str(address), host, port)
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


def _check_address(address: str | None) -> tuple[str, int | None]:
    """Host and port; none where Ray finds out by itself."""
    if address is None or address == "auto":
        return LOOPBACK, None
    host, _, port = str(address).rpartition(":")
    host = host.strip("[]")
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise InputError(f'address must be HOST:PORT of a Ray cluster\'s head node or "auto", got {address!r}')
    return host, int(port)


def _check_same_cluster(ray: Any, address: str | None, port: int | None) -> None:
    current = ray.get_runtime_context().gcs_address
    if port is not None and not current.endswith(f":{port}"):
        raise InputError(f"address must be {current}, which this process is connected to already, got {address!r}")


def _check_reachable(address: str, host: str, port: int) -> None:
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
    except OSError as error:
        raise InputError(
            f"address {address} must be that of a running Ray cluster, but nothing answers there ({error})"
        ) from None


def _connect(ray: Any, address: str | None) -> None:
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        settings |= {"include_dashboard": False, "_node_ip_address": LOOPBACK}
    try:
        with _loopback_kept():
            ray.init(address=address or "local", **settings)
    except (ConnectionError, RuntimeError, ValueError) as error:
        ray.shutdown()  # Ray stays half connected after a failure
        raise _explained(address, error) from error


def _explained(address: str | None, error: Exception) -> InputError:
    """Ray's error in one sentence."""
    text = " ".join(str(error).split())
    if "ersion mismatch" in text:
        return InputError(f"Ray and Python must be of the same versions here and at address {address}: {text}")
    if address == "auto":
        return InputError('address "auto" needs a Ray cluster that this machine is a node of, but none runs here')
    if address is None:
        return InputError(f"Ray could not be started on this machine: {text}")
    return InputError(f"address {address} must be that of a running Ray cluster, but connecting failed: {text}")


@contextmanager
def _loopback_kept() -> Iterator[None]:
    """Keep Ray from replacing the loopback address by one that other machines reach."""
    from ray._private import ray_constants

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before
