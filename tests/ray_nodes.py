"""Ray nodes on this machine that no other machine can reach."""

import os
import signal
from pathlib import Path

import pytest

os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's workers would wait for all other tests

NODE = {"num_cpus": 1, "object_store_memory": 100_000_000, "node_ip_address": "127.0.0.1"}

HEALTH = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000, "health_check_failure_threshold": 5}
"""A lost node is noticed within seconds."""


class Nodes:
    """A head node without CPUs, for the driver, and nodes of one CPU that come and go."""

    def __init__(self):
        pytest.importorskip("ray", reason="ray is not installed")
        from ray.cluster_utils import Cluster

        head = {**NODE, "num_cpus": 0, "include_dashboard": False, "_system_config": HEALTH}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.workers = []

    @property
    def address(self):
        return self.cluster.address

    def grow(self, count):
        """Add nodes until there are ``count``."""
        while len(self.workers) < count:
            self.workers.append(self.cluster.add_node(**NODE))
        self.cluster.wait_for_nodes()

    def remove_one(self):
        """Kill a node with all its processes."""
        self.cluster.remove_node(self.workers.pop(), allow_graceful=False)

    def kill_workers(self, titles):
        """Kill the processes that work for the first node and have one of these titles; returns how many."""
        raylet = self.workers[0].all_processes["raylet"][0].process.pid
        victims = [pid for pid in _children(raylet) if _title(pid).startswith(tuple(f"ray::{each}" for each in titles))]
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        return len(victims)

    def shutdown(self):
        self.cluster.shutdown()


def _title(pid):
    return Path(f"/proc/{pid}/cmdline").read_text()


def _children(parent):
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[1]) == parent:
                yield int(folder.name)


def same_bits(found, expected):
    """Whether two arrays or compressed matrices are equal bit for bit, in type and shape too."""
    if hasattr(expected, "indptr"):
        names = ("data", "indices", "indptr")
        return found.shape == expected.shape and all(
            same_bits(getattr(found, name), getattr(expected, name)) for name in names
        )
    return (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())
