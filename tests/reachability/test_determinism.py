"""Same seed, same walks, anchors and reachability bit for bit: in processes with other threads or another block size."""

import hashlib
from pathlib import Path

import pytest

import graphreach
from helpers import run_python

SCRIPT = """
import hashlib, sys
import numpy as np
import graphreach as gr
from graphreach.reachability import pairs as pair_module
from graphreach.walks import kernels, visits

block, what = int(sys.argv[1]), sys.argv[2]
for module in (kernels, visits, pair_module):
    module.BLOCK = block  # compiled into the kernels at their first call
assert len(kernels.new_block()[0]) == block

rng = np.random.default_rng(0)
edges, weights = rng.integers(0, 300, (2, 900)), rng.random(900) + 0.1
pairs = rng.integers(0, 300, (2, 200))

def show(name, *arrays):
    print(name, directed, weighted, hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest())

def reach(graph, anchors, *, layout="dense", **options):
    result = gr.reachability(graph, anchors, walk_length=6, seed=5, layout=layout, **options)
    sides = result.to_anchors, result.from_anchors
    return sides if layout == "dense" else [part for side in sides for part in (side.data, side.indices)]

for directed, weighted in ((True, True), (False, False), (False, True), (True, False))[: 1 if what == "walks" else 4]:
    graph = gr.Graph.from_edges(edges, 300, weights if weighted else None, directed, reduce="sum" if weighted else None)
    show("graph", np.frombuffer(graph.content_hash.encode(), np.uint8))
    for num_walks in (3, 50, 1300):
        show("walks", gr.random_walks(graph, num_walks=num_walks, walk_length=6, seed=5))
    for num_walks in (7, 60):
        chosen = gr.select_anchors(graph, 70, num_walks=num_walks, walk_length=6, seed=5)
        show("anchors", chosen, [chosen.coverage, chosen.upper_bound])
    sampled = gr.select_anchors(graph, 70, walk_length=6, seed=5, num_starts=40)
    show("sampled anchors", sampled, [sampled.coverage, sampled.coverage_lower, sampled.upper_bound])
    for num_walks in (7, 60):
        show("frequency", *reach(graph, chosen, num_walks=num_walks))
        show("order", *reach(graph, chosen, num_walks=num_walks, similarity="order"))
        show("hops", *reach(graph, chosen, num_walks=num_walks, hops=4))
        show("csr", *reach(graph, chosen, num_walks=num_walks, layout="csr"))
        show("pairs", gr.pair_reachability(graph, pairs, method="walks", num_walks=num_walks, seed=5))
    if what == "walks":
        continue
    show("exact", *reach(graph, chosen, method="exact"))
    show("exact order", *reach(graph, chosen, method="exact", similarity="order"))
    show("exact hops", *reach(graph, chosen, method="exact", hops=4))
    show("exact csr", *reach(graph, chosen, method="exact", layout="csr"))
    show("exact pairs", gr.pair_reachability(graph, pairs))
    show("exact pairs by hops", gr.pair_reachability(graph, pairs, hops=4))
    show("diameter", gr.diameter(graph))
"""


@pytest.fixture(scope="module")
def usual():
    """What two threads and the usual block size give."""
    return run_python(SCRIPT, 512, "all", NUMBA_NUM_THREADS="2").splitlines()


@pytest.mark.parametrize("threads", [1, 7])
def test_any_number_of_threads(usual, threads):
    assert len(usual) == 4 * 24
    assert len(set(usual)) == len(usual)
    assert run_python(SCRIPT, 512, "all", NUMBA_NUM_THREADS=str(threads)).splitlines() == usual


def kernels_digest():
    """Of all kernels' sources: numba's own cache does not notice a change in a kernel that another one calls."""
    digest = hashlib.sha256()
    package = Path(graphreach.__file__).parent
    for room in ("walks", "anchors", "reachability"):
        for source in sorted((package / room).glob("*kernels.py")):
            digest.update(source.read_bytes())
    digest.update((package / "walks" / "rng.py").read_bytes())
    return digest.hexdigest()[:16]


@pytest.mark.slow
def test_any_block_size(usual, pytestconfig):
    """The kernels are compiled anew for this block size, and kept in pytest's cache until the sources change."""
    folder = pytestconfig.cache.mkdir(f"kernels_{kernels_digest()}")
    lines = run_python(SCRIPT, 24, "walks", NUMBA_CACHE_DIR=str(folder)).splitlines()
    assert len(lines) == 17
    walked = [line for line in usual if not line.startswith(("exact", "diameter"))]
    assert lines == walked[: len(lines)]
