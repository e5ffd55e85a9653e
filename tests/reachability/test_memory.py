"""Never an n x n array: 200,000 nodes in a process whose address space is limited."""

import pytest

from helpers import run_python

LIMIT = 3 * 2**30
"""Twice what the process needs; an n x n matrix of bits alone would take 5 GB."""

SCRIPT = """
import resource, sys
import numpy as np
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
import graphreach as gr

n = 200_000
rng = np.random.default_rng(0)
graph = gr.Graph.from_edges(rng.integers(0, n, (2, 4 * n)), num_nodes=n)
anchors = gr.select_anchors(graph, 64, num_walks=20, walk_length=5)
for layout in ("dense", "csr"):
    for method in ("walks", "exact"):
        reach = gr.reachability(graph, anchors, method, num_walks=20, walk_length=5, layout=layout)
        assert reach.to_anchors.shape == (n, 64)
        assert reach.from_anchors.sum(axis=0).min() > 0.999
pairs = gr.pair_reachability(graph, rng.integers(0, n, (2, 2000)), walk_length=4)
assert pairs.shape == (2000, 2)
try:
    np.ones((n, n // 8), np.uint8)
except MemoryError:
    print("done", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_200_000_nodes_in_limited_address_space():
    # each thread reserves address space for its stack and heap, so their number is fixed
    output = run_python(SCRIPT, LIMIT, NUMBA_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")
    assert output.startswith("done")
