"""An index that follows a graph against reachability of the changed graph, and against literal powers."""

from itertools import pairwise

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.index import exact_layers, visit_lists, walk_counts
from helpers import KIND_NAMES, KINDS, matrix_powers, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
ANCHORS = [0, 3, 5]
WALKS = {"num_walks": 6, "walk_length": 4, "seed": 2}


def draw_batch(data, graph):
    """Edges to add, to remove and to weigh anew, of nodes that are there and of up to two that are not."""
    n, weighted = graph.num_nodes, graph.weighted
    ends = st.integers(0, n + 1)
    listed = data.draw(st.lists(st.tuples(ends, ends, st.integers(1, 8)), max_size=5))
    late = sorted({end for u, v, _ in listed for end in (u, v) if end >= n})
    place = {end: n + i for i, end in enumerate(late)}
    add = {}
    for u, v, w in listed:
        u, v = place.get(u, u), place.get(v, v)
        add[(u, v) if graph.directed else (min(u, v), max(u, v))] = w / 4
    there = {tuple(edge) if graph.directed else tuple(sorted(edge)) for edge in graph.edge_index.T.tolist()}
    free = sorted(there - set(add))
    gone = data.draw(st.lists(st.sampled_from(free), max_size=3, unique=True)) if free else []
    kept = [edge for edge in free if edge not in gone]
    heavy = data.draw(st.lists(st.sampled_from(kept), max_size=2, unique=True)) if kept and weighted else []
    rows = [(*edge, w) if weighted else edge for edge, w in add.items()]
    return {
        "add": rows or None,
        "remove": gone or None,
        "weights": [(*edge, 0.3) for edge in heavy] or None,
        "nodes": [n + len(late)] if data.draw(st.booleans()) else (),
    }


def literal_powers(graph, anchors, length, backward):
    powers = np.stack(matrix_powers(graph, length)[:length])
    return np.moveaxis(powers.transpose(0, 2, 1) if backward else powers, 0, 2)[:, anchors]


def assert_same(found, expected):
    for name in ("to_anchors", "from_anchors"):
        a, b = getattr(found, name), getattr(expected, name)
        if isinstance(b, np.ndarray):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()
        else:
            assert (a.indptr == b.indptr).all()
            assert (a.indices == b.indices).all()
            assert a.data.tobytes() == b.data.tobytes()
    for name in ("anchors", "hops", "method", "similarity", "walk_length", "num_walks", "seed"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


def changed_rows(before, after):
    """Positions of nodes whose rows differ; a node that came had zeros."""
    flat = [matrix.reshape(len(matrix), -1) for matrix in (before, after)]
    padded = np.zeros_like(flat[1])
    padded[: len(flat[0])] = flat[0]
    return np.flatnonzero((padded != flat[1]).any(axis=1))


@kinds
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("how", [{}, {"similarity": "order"}, {"hops": 4}], ids=["frequency", "order", "hops"])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_walks_after_updates_are_those_of_the_changed_graph_bit_for_bit(directed, weighted, threads, how, data):
    graph = random_graph(12, data.draw(st.integers(1, 30)), directed, weighted, data.draw(st.integers(0, 99)))
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    try:
        index = gr.ReachIndex(graph, ANCHORS, **how, **WALKS)
        reach = index.reachability()
        for _ in range(data.draw(st.integers(1, 4))):
            batch = draw_batch(data, graph)
            graph = graph.updated(**batch)
            update = index.update(**batch)
            assert index.graph.content_hash == graph.content_hash
            anew = gr.reachability(graph, ANCHORS, **how, **WALKS, layout="dense")
            found = index.reachability()
            assert_same(found, anew)
            for name, listed in (("to_anchors", update.to_anchors), ("from_anchors", update.from_anchors)):
                wanted = changed_rows(getattr(reach, name), getattr(found, name))
                if how.get("similarity") != "order":  # sums of 1 / t may differ by less than single precision holds
                    assert listed.tolist() == wanted.tolist()
                assert set(wanted) <= set(listed.tolist())
            assert set(update.changed) == {*update.to_anchors, *update.from_anchors}
            reach = found
        assert_same(index.reachability("csr"), gr.reachability(graph, ANCHORS, **how, **WALKS, layout="csr"))
    finally:
        numba.set_num_threads(before)


@kinds
@pytest.mark.parametrize("hops", [None, 4])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_exact_powers_after_updates_are_within_the_bound(directed, weighted, hops, data):
    graph = random_graph(12, data.draw(st.integers(5, 40)), directed, weighted, data.draw(st.integers(0, 99)))
    tolerance = data.draw(st.sampled_from([0.0, 1e-7, 1e-4, 1e-2]))
    index = gr.ReachIndex(graph, ANCHORS, "exact", walk_length=4, hops=hops, tolerance=tolerance)
    for _ in range(data.draw(st.integers(1, 5))):
        batch = draw_batch(data, graph)
        graph = graph.updated(**batch)
        before = index.reachability()
        update = index.update(**batch)
        assert update.error_bound == index.error_bound <= tolerance
        found = index.reachability()
        assert min(found.to_anchors.min(), found.from_anchors.min()) >= 0
        for backward, matrix in ((False, found.to_anchors), (True, found.from_anchors)):
            expected = literal_powers(graph, ANCHORS, 4, backward)
            expected = expected if hops else expected.mean(axis=2)
            degrees = graph.degree[graph.degree > 0]
            times = degrees.max() / degrees.min() if backward and not directed and len(degrees) else 1.0
            assert np.abs(matrix - expected).max() <= index.error_bound * max(1.0, times) + 1e-6
        assert set(changed_rows(before.to_anchors, found.to_anchors)) <= set(update.to_anchors.tolist())
        assert set(changed_rows(before.from_anchors, found.from_anchors)) <= set(update.from_anchors.tolist())


@pytest.mark.parametrize("method", ["walks", "exact"])
def test_an_anchor_with_another_degree_reaches_its_old_neighbours_otherwise(method):
    tree = gr.Graph.from_edges([[0, 0, 0, 1, 2], [1, 2, 3, 3, 4]])
    index = gr.ReachIndex(tree, [0], method, walk_length=1, num_walks=200)
    update = index.update(add=[(0, 4)])
    assert update.to_anchors.tolist() == [4]
    assert update.from_anchors.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("tolerance", [0.0, 1e-6])
def test_coverage_by_exact_powers_does_not_count_what_differences_leave(directed, tolerance):
    rng = np.random.default_rng(1)
    index = gr.ReachIndex(random_graph(30, 45, directed), [0, 3], "exact", walk_length=6, tolerance=tolerance)
    for _ in range(10):
        there = index.graph.edge_index.T
        index.update(remove=there[rng.choice(len(there), 3, replace=False)])
        assert index.coverage == gr.ReachIndex(index.graph, [0, 3], "exact", walk_length=6).coverage


def test_exact_rows_that_add_hardly_anything_are_left_out_and_noted():
    nodes = np.arange(200)
    ring = gr.Graph.from_edges([nodes, (nodes + 1) % 200])
    index = gr.ReachIndex(ring, [0], "exact", walk_length=40, tolerance=1e-2)
    update = index.update(add=[(15, 90)])
    assert 0 < index.error_bound <= 1e-2
    precise = gr.ReachIndex(ring, [0], "exact", walk_length=40, tolerance=0.0)
    assert len(update.to_anchors) < len(precise.update(add=[(15, 90)]).to_anchors)
    assert precise.error_bound == 0
    assert np.abs(precise.to_anchors() - index.to_anchors()).max() <= index.error_bound


def test_exact_powers_are_computed_anew_before_the_bound_passes_the_tolerance(monkeypatch):
    monkeypatch.setattr(exact_layers, "UPDATES", 2)
    graph = random_graph(200, 300, seed=1)
    index = gr.ReachIndex(graph, ANCHORS, "exact", walk_length=8, tolerance=1e-3)
    bounds = []
    for i in range(30):
        index.update(add=[(i, 199 - i)])
        bounds.append(index.error_bound)
    assert max(bounds) <= 1e-3
    assert any(later < earlier for earlier, later in pairwise(bounds))


@pytest.mark.parametrize("similarity", ["frequency", "order"])
@pytest.mark.parametrize("directed", [False, True])
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_steady_walks_after_updates_are_those_of_an_index_made_anew(directed, similarity, data):
    graph = random_graph(12, data.draw(st.integers(1, 40)), directed, seed=data.draw(st.integers(0, 99)))
    settings_ = {"similarity": similarity, "steady": True, **WALKS}
    index = gr.ReachIndex(graph, ANCHORS, **settings_)
    for _ in range(3):
        index.update(**draw_batch(data, index.graph))
        assert_same(index.reachability(), gr.ReachIndex(index.graph, ANCHORS, **settings_).reachability())


def test_steady_walks_have_the_law_of_others():
    graph = random_graph(30, 80, seed=3)
    index = gr.ReachIndex(graph, ANCHORS, num_walks=20_000, walk_length=5, steady=True)
    exact = gr.reachability(graph, ANCHORS, "exact", walk_length=5)
    for name in ("to_anchors", "from_anchors"):  # five steps of a walk depend on each other
        assert np.abs(getattr(index.reachability(), name) - getattr(exact, name)).max() < 5 * np.sqrt(0.25 / 20_000)


def test_an_edge_at_a_hub_turns_few_steady_walks():
    hub = np.stack([np.zeros(1500, np.int64), np.arange(1, 1501)])
    graph = gr.Graph.from_edges(hub, num_nodes=1600)
    turned = []
    for steady in (False, True):
        index = gr.ReachIndex(graph, [1, 2], num_walks=20, walk_length=6, steady=steady)
        turned.append([index.update(add=[(0, node)]).walks for node in range(1501, 1521)])
    plain, few = np.mean(turned, axis=1)
    assert plain > 20 * few  # the 20 walks of the node that comes are among both


@pytest.mark.parametrize("steady", [False, True])
def test_the_lists_hold_each_walk_where_it_passes(steady):
    graph = random_graph(20, 30, seed=5)
    index = gr.ReachIndex(graph, ANCHORS, **WALKS, steady=steady)
    for step in range(6):
        index.update(add=[(step, 15), (20 + step, 3)], remove=[tuple(index.graph.edge_index[:, step])])
        counts = index._walks
        walks = np.arange(index.num_nodes * 6)
        paths = counts._follow(walks, np.zeros(len(walks), np.uint16), (walks // 6).astype(np.uint32))
        if not steady:
            literal = gr.random_walks(index.graph, num_walks=6, walk_length=4, seed=2).reshape(-1, 5)
            assert (np.where(paths[:, 1:] == 0xFFFFFFFF, -1, paths[:, 1:].astype(np.int64)) == literal[:, 1:]).all()
        for node in range(index.num_nodes):
            passing = [(w << counts.bits) | (t + 1) for w, t in np.argwhere(paths[:, 1:4] == node)]
            assert sorted(counts.lists.entries(node).tolist()) == sorted(passing)


def test_it_does_not_matter_how_much_is_done_at_once(monkeypatch):
    graph, rng = random_graph(40, 60, seed=1), np.random.default_rng(0)
    edges = [(int(u), int(v)) for u, v in rng.permutation(60)[:40].reshape(-1, 2)]
    whole = gr.ReachIndex(graph, ANCHORS, **WALKS)
    found = whole.update(add=edges)
    monkeypatch.setattr(walk_counts, "STEPS_AT_ONCE", 30)
    small = gr.ReachIndex(graph, ANCHORS, **WALKS)
    again = small.update(add=edges)
    assert_same(small.reachability(), whole.reachability())
    assert (found.walks, found.changed.tolist()) == (again.walks, again.changed.tolist())
    assert found.walks > 30


def test_the_order_of_edges_and_of_batches_between_known_nodes_does_not_matter():
    graph, edges = random_graph(30, 40, seed=4), [(0, 29), (1, 28), (2, 27), (3, 26)]
    indexes = [gr.ReachIndex(graph, ANCHORS, **WALKS) for _ in range(3)]
    indexes[0].update(add=edges)
    indexes[1].update(add=edges[::-1])
    for edge in [edges[2], edges[0], edges[3], edges[1]]:
        indexes[2].update(add=[edge])
    for index in indexes[1:]:
        assert_same(index.reachability(), indexes[0].reachability())
        assert index.graph.content_hash == indexes[0].graph.content_hash


def test_what_goes_and_comes_back_leaves_everything_as_it_was():
    graph = random_graph(30, 60, seed=4)
    edge = tuple(graph.edge_index[:, 7].tolist())
    index = gr.ReachIndex(graph, ANCHORS, **WALKS)
    before = index.reachability()
    gone = index.update(remove=[edge])
    back = index.update(add=[edge])
    assert gone.walks == back.walks > 0
    assert gone.changed.tolist() == back.changed.tolist()
    assert_same(index.reachability(), before)


def test_entries_that_outgrow_32_bits_take_64(monkeypatch):
    graph = random_graph(10, 12, seed=1)
    index = gr.ReachIndex(graph, ANCHORS, **WALKS)
    index._walks.lists.most = ((index._walks._room(10) * 6) << index._walks.bits) - 1
    index.update(nodes=range(10, 60), add=[(5, 40), (0, 59)])
    assert index._walks.lists.kind is np.uint64
    index.update(add=[(3, 41)], remove=[(5, 40)])
    assert_same(index.reachability(), gr.reachability(index.graph, ANCHORS, **WALKS))


def test_the_pool_of_tables_is_written_anew_when_it_is_full(monkeypatch):
    monkeypatch.setattr(visit_lists, "POOL_ROOM", 1.0)
    graph = random_graph(60, 60, seed=1)
    index = gr.ReachIndex(graph, ANCHORS, num_walks=60, walk_length=4)
    moved, rewrite = [], visit_lists.VisitLists._rewrite
    monkeypatch.setattr(visit_lists.VisitLists, "_rewrite", lambda self: (moved.append(1), rewrite(self)))
    for i in range(20):
        index.update(add=[(i, 59 - i), (i, 60 + i)])
    assert moved
    assert_same(index.reachability(), gr.reachability(index.graph, ANCHORS, num_walks=60, walk_length=4))


def test_what_an_update_says():
    index = gr.ReachIndex(gr.Graph.from_edge_list([("a", "b"), ("b", "c")]), [0], num_walks=4, walk_length=2)
    update = index.update(add=[("a", "b"), ("c", "d"), ("e", "d")], remove=[("b", "c")])
    assert (update.added, update.present, update.removed, update.reweighted) == (2, 1, 1, 0)
    assert index.ids[update.new_nodes].tolist() == ["d", "e"]
    assert index.index_of(["e", "a"]).tolist() == [4, 0]
    assert index.num_nodes == index.graph.num_nodes == 5
    nothing = index.update()
    assert (nothing.walks, len(nothing.changed), len(nothing.new_nodes)) == (0, 0, 0)
    frame = pl.DataFrame({"from": ["a"], "to": ["e"]})
    assert index.update(add=frame).added == 1
    assert repr(index) == "ReachIndex(num_nodes=5, num_anchors=1, method=walks, similarity=frequency, walk_length=2)"


def test_weights_are_added_and_set():
    index = gr.ReachIndex(gr.Graph.from_edge_list([(0, 1, 1.0), (1, 2, 2.0)]), [0], num_walks=4, walk_length=2)
    update = index.update(add=[(0, 1, 0.5)], weights=[(1, 2, 5.0)])
    assert (update.added, update.present, update.reweighted) == (0, 1, 1)
    assert index.graph.weights.tolist() == [1.5, 1.5, 5.0, 5.0]
    assert_same(index.reachability(), gr.reachability(index.graph, [0], num_walks=4, walk_length=2))


@pytest.mark.parametrize("method", ["walks", "exact"])
def test_a_refused_update_changes_nothing(method):
    graph = random_graph(20, 30, seed=2)
    index = gr.ReachIndex(graph, ANCHORS, method, **WALKS)
    before = index.reachability()
    with pytest.raises(gr.InputError, match="remove must list edges that are in the graph"):
        index.update(add=[(0, 100)], remove=[(0, 0)])
    with pytest.raises(gr.InputError, match="add must be pairs"):
        index.update(add=[(0, 1, 2.0)])
    assert index.num_nodes == 20
    assert index.graph is graph
    assert_same(index.reachability(), before)
    index.update(add=[(0, 100)])
    assert index.num_nodes == 21


@pytest.mark.parametrize("method", ["walks", "exact"])
def test_an_interrupted_update_leaves_an_index_that_refuses_further_use(method, monkeypatch):
    index = gr.ReachIndex(random_graph(20, 30, seed=2), ANCHORS, method, **WALKS)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(walk_counts, "count", interrupt)
    monkeypatch.setattr(exact_layers.ExactLayers, "_kept", interrupt)
    with pytest.raises(KeyboardInterrupt):
        index.update(add=[(0, 19), (1, 18), (2, 17)])
    for use in (index.update, index.reachability, index.to_anchors, lambda: index.graph):
        with pytest.raises(gr.InputError, match="index must be made anew"):
            use()


def test_coverage_follows_and_says_when_other_anchors_would_cover_more():
    star = gr.Graph.from_edges([np.zeros(20, int), np.arange(1, 21)])
    index = gr.ReachIndex(star, [0], num_walks=20, walk_length=2)
    assert index.coverage == pytest.approx(20 / 21)
    assert not index.wants_other_anchors()
    update = index.update(add=[(21, node) for node in range(22, 80)])
    assert len(update.new_nodes) == 59
    assert index.coverage == pytest.approx(20 / 80)
    chosen = gr.select_anchors(index.graph, 1, num_walks=20, walk_length=2)
    assert index.gain() == pytest.approx(chosen.coverage - 0.25)
    assert index.wants_other_anchors(0.4)
    assert not index.wants_other_anchors(0.8)


@kinds
@settings(deadline=None, max_examples=15)
@given(data=st.data())
def test_coverage_is_the_share_of_nodes_that_reach_another_that_is_an_anchor(directed, weighted, data):
    graph = random_graph(12, data.draw(st.integers(1, 20)), directed, weighted, data.draw(st.integers(0, 99)))
    index = gr.ReachIndex(graph, ANCHORS, **WALKS)
    for _ in range(3):
        update = index.update(**draw_batch(data, index.graph))
        assert update.coverage == index.coverage
        reached = index.to_anchors() > 0
        reached[ANCHORS, range(3)] = False
        assert index.coverage == pytest.approx(reached.any(axis=1).mean(), abs=1e-12)


def test_rows_of_some_nodes():
    index = gr.ReachIndex(random_graph(20, 30), ANCHORS, **WALKS)
    assert (index.to_anchors([4, 2]) == index.to_anchors()[[4, 2]]).all()
    apart = gr.ReachIndex(random_graph(20, 30), ANCHORS, "exact", hops=3)
    assert apart.to_anchors([4, 2]).shape == (2, 3, 3)
    assert (apart.to_anchors([4, 2]) == apart.to_anchors()[[4, 2]]).all()


@pytest.mark.parametrize("method", ["walks", "exact"])
@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([20], "nodes must"),
        ([-1], "nodes must"),
        ([1.5], "nodes must be"),
        (3, "nodes must be"),
        ([True], "nodes must be"),
    ],
)
def test_positions_that_are_none_are_refused(method, nodes, message):
    index = gr.ReachIndex(random_graph(20, 30), ANCHORS, method, walk_length=4)
    assert index.to_anchors([]).shape == (0, 3)
    with pytest.raises(gr.InputError, match=message):
        index.to_anchors(nodes)


def test_two_kinds_of_nodes_stay_two():
    graph = gr.Graph.from_frame(pl.DataFrame({"user": ["u", "v"], "item": ["i", "j"]}), bipartite=True)
    index = gr.ReachIndex(graph, [0])
    with pytest.raises(gr.InputError, match="add must list edges between the two kinds of nodes"):
        index.update(add=[(graph.ids[0], graph.ids[1])])
    edge = (graph.ids[0], "w") if graph.sides[0] else ("w", graph.ids[0])
    index.update(add=[edge])
    assert index.graph.sides.tolist() == graph.updated(add=[edge]).sides.tolist()


def test_memory_of_the_lists():
    graph = random_graph(3000, 20_000, seed=1)
    index = gr.ReachIndex(graph, range(10), num_walks=50, walk_length=10)
    assert 4 < index.bytes_per_step <= 8
    rng = np.random.default_rng(0)
    for _ in range(5):
        index.update(add=rng.integers(0, 3000, (500, 2)))
    assert 4 < index.bytes_per_step <= 8
    assert gr.ReachIndex(graph, [0], "exact", walk_length=2).bytes_per_step == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"anchors": [0, 0]}, "anchors must be different positions"),
        ({"anchors": [99]}, "anchors must"),
        ({"method": "auto"}, 'method must be "walks" or "exact", got'),
        ({"similarity": "both"}, 'similarity must be "frequency" or'),
        ({"similarity": "order", "hops": 2}, 'similarity must be "frequency" with'),
        ({"similarity": "order", "method": "exact"}, 'similarity must be "frequency" with'),
        ({"method": "exact", "steady": True}, 'steady must be False with method="exact"'),
        ({"steady": 1}, "steady must be"),
        ({"tolerance": -1}, "tolerance must be"),
        ({"walk_length": 70_000}, "walk_length must be"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(gr.InputError, match=message):
        gr.ReachIndex(random_graph(10, 20), **{"anchors": [0], **arguments})


def test_steady_walks_are_for_unweighted_graphs():
    with pytest.raises(gr.InputError, match="steady must be False with a weighted graph"):
        gr.ReachIndex(random_graph(10, 20, weighted=True), [0], steady=True)


def test_too_large_an_index_is_refused_before_it_is_made():
    graph = gr.Graph.from_edges([[0], [1]], num_nodes=2_000_000)
    with pytest.raises(gr.InputError, match="memory"):
        gr.ReachIndex(graph, range(100_000), "exact", walk_length=10)
    with pytest.raises(gr.InputError, match="memory"):
        gr.ReachIndex(graph, range(100_000), walk_length=10)
