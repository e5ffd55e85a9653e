"""Embeddings of width 128 by this project and by other packages, each of those in an environment of its own."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphreach as gr
from benchmarks.against_peers import is_installed, peer_python
from benchmarks.harness import FOLDER, thread_environment

WIDTH = 128
OURS = "graphreach"
LONGEST = 600
"""Seconds after which a peer is stopped."""

Scorer = Callable[[NDArray[np.int64]], NDArray[Any]]


class PeerFailedError(RuntimeError):
    """A peer ended with an error of its own, or took too long."""


class Peer(NamedTuple):
    """The environment of a package, and the script in `peers/` that embeds with it."""

    environment: str
    script: str


PEERS = {
    "pecanpy": Peer("pecanpy", "pecanpy_embedding.py"),
    "prone": Peer("nodevectors", "nodevectors_embedding.py"),
    "cleora": Peer("cleora", "cleora_embedding.py"),
    "fastrp": Peer("fastrp", "fastrp_embedding.py"),
    "fastrp-longer": Peer("fastrp", "fastrp_embedding.py"),
    "spectral": Peer("scikit-network", "scikit_network_embedding.py"),
    "random-projection": Peer("scikit-network", "scikit_network_embedding.py"),
    "louvain-ne": Peer("louvain-ne", "louvain_ne_embedding.py"),
}


class Embedded(NamedTuple):
    """Vectors in the order of positions, the seconds that they took, the versions of a peer's packages, and how pairs of
    positions ``[2, m]`` are scored if the method has a score of its own.
    """

    vectors: NDArray[Any]
    seconds: float
    versions: dict[str, str]
    score: Scorer | None


def methods(quick: bool) -> list[str]:
    """Ours first, then node2vec of this project, then the peers; in a quick run only those that are installed."""
    peers = [name for name, peer in PEERS.items() if not quick or is_installed(peer.environment)]
    return [OURS, "node2vec", *peers]


def fit_ours(graph: gr.Graph, seed: int) -> Any:
    """The embedding that is measured, fitted."""
    return gr.GraphReachEmbedding(dim=WIDTH, random_state=seed).fit(graph)


def ids_of(graph: gr.Graph, pairs: NDArray[np.int64]) -> NDArray[Any]:
    """Rows of ids ``[m, 2]`` from positions ``[2, m]``."""
    rows: NDArray[Any] = graph.ids[pairs].T
    return rows


def _graphreach(graph: gr.Graph, seed: int) -> tuple[NDArray[Any], Scorer]:
    fitted = fit_ours(graph, seed)
    return fitted.embedding_, lambda pairs: fitted.score_pairs(ids_of(graph, pairs))


def _node2vec(graph: gr.Graph, seed: int) -> tuple[NDArray[Any], Scorer]:
    fitted = gr.nn.SkipGram(dim=WIDTH, seed=seed).fit(graph)
    return fitted.embedding_, fitted.score_pairs


OWN = {OURS: _graphreach, "node2vec": _node2vec}


@functools.cache
def warm_up(method: str, directed: bool, weighted: bool) -> None:
    """Import and load from the cache what a timed run needs."""
    small = gr.datasets.load("communities")[0].graph
    weight = np.full(small.edge_index.shape[1], 2.0) if weighted else None
    graph = gr.Graph.from_edges(small.edge_index, small.num_nodes, edge_weight=weight, directed=directed)
    _, score = OWN[method](graph, 0)
    score(np.array([[0, 1], [1, 2]]))


def embed(method: str, graph: gr.Graph, seed: int) -> Embedded:
    """Embed a graph by a method of this project or of another package."""
    if method in PEERS:
        return _embed_by_peer(method, graph, seed)
    warm_up(method, graph.directed, graph.weighted)
    start = time.perf_counter()
    vectors, score = OWN[method](graph, seed)
    seconds = time.perf_counter() - start
    if vectors.shape != (graph.num_nodes, WIDTH):
        raise RuntimeError(f"{method} must give [{graph.num_nodes}, {WIDTH}] vectors, got {list(vectors.shape)}")
    return Embedded(vectors, seconds, {}, score)


def undirected(graph: gr.Graph) -> gr.Graph:
    """The graph without directions, made as :class:`graphreach.nn.SkipGram` makes it."""
    if not graph.directed:
        return graph
    reduce: Any = "sum" if graph.weighted else None
    return gr.Graph.from_edges(graph.edge_index, graph.num_nodes, graph.weights, reduce=reduce)


def store(graph: gr.Graph, path: Path) -> None:
    """Write a graph for a peer: without directions, each edge listed in both."""
    graph = undirected(graph)
    weight = {} if graph.weights is None else {"edge_weight": graph.weights}
    np.savez(path, edge_index=graph.edge_index, num_nodes=graph.num_nodes, **weight)


def _embed_by_peer(method: str, graph: gr.Graph, seed: int) -> Embedded:
    peer = PEERS[method]
    python = peer_python(peer.environment)
    # A path of this project's modules would come before the peer's own packages; gensim hashes words.
    environment = {name: value for name, value in thread_environment().items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        stored, output = Path(folder) / "graph.npz", Path(folder) / "vectors.npy"
        store(graph, stored)
        command = [python, f"peers/{peer.script}", method, str(stored), str(output), str(seed)]
        run_peer(command, environment | {"PYTHONHASHSEED": "0"})
        found = json.loads(output.with_suffix(".json").read_text())
        return Embedded(np.load(output), found["seconds"], found["versions"], None)


def run_peer(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run to the end, or raise: PeerFailedError if it is the peer's fault, another error if someone stopped it."""
    name = command[2] if len(command) > 2 else command[0]
    try:
        done = subprocess.run(
            command, cwd=FOLDER, env=environment or dict(os.environ), stdout=sys.stderr, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        raise PeerFailedError(f"{name} was stopped after {LONGEST} s") from None
    if done.returncode > 0:
        raise PeerFailedError(f"{name} ended with exit code {done.returncode}")
    done.check_returncode()
