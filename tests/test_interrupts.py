"""Long kernels end at Ctrl-C; what is cut into calls gives the same numbers."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import graphreach as gr
from graphreach import interrupts
from graphreach.interrupts import call, pieces, row_pieces
from graphreach.walks import distances, second_order_walks
from helpers import cycle, grid, random_graph

LONG_WORK = {
    "walks of one start": "gr.random_walks(graph, [0], num_walks=10**6, walk_length=1000)",
    "counted walks": "gr.reachability(graph, [0], num_walks=2 * 10**4, walk_length=10**4)",
    "counted pairs": "gr.pair_reachability(graph, [[0], [1]], 'walks', num_walks=10**9, walk_length=10**5)",
    "measured coverage": "gr.select_anchors(graph, 2, 'degree', num_walks=10**8, walk_length=10**5)",
    "exact powers": "gr.reachability(large, range(64), 'exact', walk_length=10**5)",
    "exact pairs": "gr.pair_reachability(large, np.stack([np.arange(10**5), np.arange(10**5)]), walk_length=400)",
}

SCRIPT = """
import sys, time
import numpy as np
import graphreach as gr

nodes = np.arange(1000)
graph = gr.Graph.from_edges([nodes, (nodes + 1) % 1000])
many = np.arange(10**5)
large = gr.Graph.from_edges([np.tile(many, 5), np.concatenate([(many + step) % 10**5 for step in (1, 2, 3, 5, 8)])])
gr.random_walks(graph, [0], num_walks=2, walk_length=3)  # compiled or loaded before the clock runs
gr.reachability(graph, [0], num_walks=2, walk_length=3)
gr.reachability(graph, [0], "exact", walk_length=3)
gr.pair_reachability(graph, [[0], [1]], "walks", num_walks=2)
gr.pair_reachability(graph, [[0], [1]])
gr.select_anchors(graph, 2, "degree", num_walks=2, walk_length=2)
for work in sys.argv[1:]:
    print("begins", flush=True)
    try:
        exec(work)
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_ctrl_c_ends_long_kernels():
    command = [sys.executable, "-c", SCRIPT, *LONG_WORK.values()]
    options = {"env": {**os.environ, "GRAPHREACH_MEMORY_LIMIT": str(10**15)}, "text": True}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        try:
            for name in LONG_WORK:
                assert process.stdout.readline() == "begins\n", process.stderr.read()
                time.sleep(0.7)
                process.send_signal(signal.SIGINT)
                began = time.monotonic()
                assert process.stdout.readline() == "interrupted\n", name  # the work would take minutes and more
                print(f"{name}: {time.monotonic() - began:.2f} s")
        finally:
            process.kill()


def test_call_in_a_thread_of_its_own_gives_the_same():
    seen = []

    def kernel(number, stop):
        seen.append((threading.current_thread() is threading.main_thread(), int(stop[0])))
        return number + 1

    assert call(kernel, 1, work=interrupts.LONG) == 2
    assert call(kernel, 1, work=interrupts.LONG + 1) == 2
    assert seen == [(True, 0), (False, 0)]


def test_what_a_kernel_raises_is_raised():
    def kernel(stop):
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        call(kernel, work=10**12)


def test_an_interrupt_raises_the_flag(monkeypatch):
    stopped = threading.Event()

    def kernel(stop):
        while stop[0] == 0:
            time.sleep(0.01)
        stopped.set()

    def interrupt(self, timeout=None):
        if timeout != interrupts.GRACE:
            raise KeyboardInterrupt
        return join(self, timeout)

    join = threading.Thread.join
    monkeypatch.setattr(threading.Thread, "join", interrupt)
    with pytest.raises(KeyboardInterrupt):
        call(kernel, work=10**12)
    assert stopped.is_set()


def test_pieces_adapt_to_the_time_they_take(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(interrupts.time, "monotonic", lambda: now[0])
    sizes = []
    for part in pieces(1000, 100, 400):
        sizes.append(part.stop - part.start)
        now[0] += 0.0025 * sizes[-1] * 2 if len(sizes) < 3 else 0.0
    assert sizes[:3] == [100, 50, 50]
    assert sizes[3:] == [100, 200, 400, 100]
    assert sum(sizes) == 1000


def test_row_pieces_cover_all_rows_once():
    indptr = np.concatenate([[0], np.cumsum(np.random.default_rng(0).integers(0, 9, 200))])
    for most in (1, 5, 100, 10**6):
        parts = row_pieces(indptr, most)
        assert [v for part in parts for v in range(part.start, part.stop)] == list(range(200))
        assert all(indptr[part.stop] - indptr[part.start] <= most or part.stop - part.start == 1 for part in parts)


def test_exact_powers_in_pieces_of_rows(monkeypatch):
    graph = random_graph(50, 120, directed=True, weighted=True)
    whole = gr.reachability(graph, range(9), "exact", walk_length=4)
    from graphreach.reachability import exact

    monkeypatch.setattr(exact, "row_pieces", lambda indptr: row_pieces(indptr, 7))
    cut = gr.reachability(graph, range(9), "exact", walk_length=4)
    assert np.array_equal(whole.to_anchors, cut.to_anchors)
    assert np.array_equal(whole.from_anchors, cut.from_anchors)


def test_distances_in_pieces_of_sets(monkeypatch):
    graph, sets = grid(6), [[v, v + 1] for v in range(20)]
    whole = distances.set_distances(graph, sets, 4)
    monkeypatch.setattr(distances, "LONG", 1)
    cut = distances.set_distances(graph, sets, 4)
    assert np.array_equal(whole.distance, cut.distance)
    assert np.array_equal(whole.nearest, cut.nearest)


@pytest.mark.parametrize("weighted", [False, True])
def test_second_order_walks_end_where_no_proposal_is_accepted(weighted):
    graph = gr.Graph.from_edges([[0, 0, 0], [1, 2, 3]], edge_weight=[1.0, 2.0, 3.0] if weighted else None)
    walks = second_order_walks.second_order_walks(graph, [1], 200, 4, p=1e90, q=1e90)
    assert set(walks[:, :, 1::2].ravel()) == {0}  # back from a leaf, where there is nothing else
    middle = np.bincount(walks[0, :, 2], minlength=4) / walks.shape[1]
    weights = np.array([0, 1, 2, 3] if weighted else [0, 1, 1, 1])
    assert np.abs(middle - weights / weights.sum()).max() < 0.15  # all ways are unlikely alike


def test_second_order_walks_on_a_ring_never_turn_back():
    walks = second_order_walks.second_order_walks(cycle(5), [0], 10, 5, p=1e100)
    assert (walks[0, :, -1] == 0).all()
