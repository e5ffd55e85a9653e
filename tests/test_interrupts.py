"""Long kernels end at Ctrl-C; what is cut into calls gives the same numbers."""

import math
import os
import signal
import subprocess
import sys
import threading
import time

import numba
import numpy as np
import pytest

import graphreach as gr
from graphreach import jit
from graphreach.reachability import pairs
from graphreach.walks import second_order_walks
from helpers import cycle

LONG_WORK = {
    "walks of one start": "gr.random_walks(graph, [0], num_walks=3 * 10**6, walk_length=1000)",
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


def test_long_kernels_run_in_helpers_and_give_every_share():
    seen = []

    @jit.on_helpers
    def work(share, number):
        seen.append((share[:2], int(share[2][0]), number, threading.current_thread() is threading.main_thread()))

    work(5)
    count = numba.get_num_threads()
    assert sorted(seen) == [((i, count), 0, 5, False) for i in range(count)]


def test_what_a_long_kernel_raises_is_raised():
    @jit.on_helpers
    def work(share):
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        work()


@pytest.fixture
def interrupted(monkeypatch):
    """The wait of the next long kernel is interrupted."""
    wait = jit._Shares.wait

    def interrupt(self, seconds=math.inf):
        if seconds == math.inf:
            raise KeyboardInterrupt
        wait(self, seconds)

    monkeypatch.setattr(jit._Shares, "wait", interrupt)
    return lambda: monkeypatch.setattr(jit._Shares, "wait", wait)


def test_an_interrupt_stops_all_shares(interrupted):
    stopped = []

    @jit.on_helpers
    def work(share):
        while share[2][0] == 0:
            time.sleep(0.01)
        stopped.append(share[0])

    with pytest.raises(KeyboardInterrupt):
        work()
    assert sorted(stopped) == list(range(numba.get_num_threads()))


def test_kernels_need_not_wait_for_one_that_does_not_stop(interrupted, monkeypatch):
    monkeypatch.setattr(jit, "GRACE", 0.2)
    goes_on, out = threading.Event(), []

    @jit.on_helpers
    def deaf(share):
        goes_on.wait(60)

    with pytest.raises(KeyboardInterrupt):
        deaf()
    interrupted()
    try:
        jit.on_helpers(lambda share: out.append(share[0]))()
        assert sorted(out) == list(range(numba.get_num_threads()))
    finally:
        goes_on.set()


def test_pieces_adapt_to_the_time_they_take(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(pairs.time, "monotonic", lambda: now[0])
    sizes = []
    for part in pairs._pieces(1000, 100, 400):
        sizes.append(part.stop - part.start)
        now[0] += 0.0025 * sizes[-1] * 2 if len(sizes) < 3 else 0.0
    assert sizes[:3] == [100, 50, 50]
    assert sizes[3:] == [100, 200, 400, 100]
    assert sum(sizes) == 1000


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
