"""Connecting to Ray, and each way in which it fails."""

import builtins
import subprocess
import sys

import pytest

import graphreach as gr
from graphreach.cluster import Ray, connected, connection

GRAPH = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]])


@pytest.fixture
def ray():
    return pytest.importorskip("ray", reason="ray is not installed")


@pytest.mark.parametrize("address", ["nowhere", "host:port", ":6379", "host:99999", "ray://host:10001"])
def test_an_address_that_is_none(address):
    with pytest.raises(gr.InputError, match="address must be HOST:PORT"), connected(address):
        pass


def test_an_unreachable_address(ray):
    with pytest.raises(gr.InputError, match=r"address 127\.0\.0\.1:1 must be .* nothing answers"):
        gr.random_walks(GRAPH, engine=Ray("127.0.0.1:1"))


def test_no_cluster_here(ray, monkeypatch):
    def init(**arguments):
        raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(gr.InputError, match='"auto" needs a Ray cluster'), connected("auto"):
        pass


def test_ray_is_not_installed(monkeypatch):
    real = builtins.__import__

    def no_ray(name, *arguments, **options):
        if name == "ray":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", no_ray)
    with pytest.raises(gr.InputError, match=r"pip install \"graphreach\[ray\]\""):
        gr.random_walks(GRAPH, engine="ray")


def test_a_ray_of_our_own_is_on_loopback_and_ends(ray):
    with connected():
        (node,) = ray.nodes()
        assert node["NodeManagerAddress"] == "127.0.0.1"
        with connected():  # the one that is there
            pass
        assert ray.is_initialized()
        port = ray.get_runtime_context().gcs_address.rpartition(":")[2]
        with pytest.raises(gr.InputError, match="which this process is connected to already"), connected("127.0.0.1:1"):
            pass
        with connected(f"localhost:{port}"):
            pass
    assert not ray.is_initialized()


def test_a_ray_that_others_could_reach_is_not_started(ray, monkeypatch):
    monkeypatch.setattr(connection, "REACHABLE", True)
    with pytest.raises(gr.InputError, match="must not be open to others"), connected():
        pass
    assert not ray.is_initialized()


def test_another_version_at_the_address(ray):
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 0, "object_store_memory": 100_000_000, "node_ip_address": "127.0.0.1"}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    from ray._private import utils

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "compute_version_info", lambda: ("1.0.0", "3.8.0"))
        with pytest.raises(gr.InputError, match=r"must be of the same versions .* 1\.0\.0") as caught:
            gr.random_walks(GRAPH, engine=Ray(cluster.address))
        assert "\n" not in str(caught.value)
    cluster.shutdown()


def test_local_does_not_import_ray():
    code = """
import sys
import graphreach as gr
graph = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]])
anchors = gr.select_anchors(graph, 2)
gr.reachability(graph, anchors)
gr.random_walks(graph, num_walks=1)
import graphreach.cluster
assert "ray" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
