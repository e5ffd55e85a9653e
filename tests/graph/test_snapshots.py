"""Snapshots of graphs with times against graphs of the edges so far."""

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.graph import Graph
from graphreach.graph.updated import in_order

DAY = 86_400
events = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 30)), min_size=1, max_size=25)


def read(rows, directed=False, **options):
    frame = pl.DataFrame(rows, schema=["source", "target", "time"], orient="row")
    return Graph.from_frame(frame, "source", "target", directed=directed, time="time", **options)


def ends(pairs):
    return {tuple(pair) for pair in pairs.tolist()}


@settings(deadline=None)
@given(rows=events, directed=st.booleans(), loops=st.booleans(), width=st.sampled_from([1, 4, 2.5]))
def test_snapshots_are_the_graphs_of_the_edges_so_far(rows, directed, loops, width):
    whole = read(rows, directed, self_loops=loops, nodes=[20])
    if not whole.num_edges:
        return
    known, ever = [20], {end for row in rows for end in row[:2]}
    rows = [row for row in rows if loops or row[0] != row[1]]
    alone = {20} | (ever - {end for row in rows for end in row[:2]})
    for number, each in enumerate(gr.replay(whole, by=width)):
        graph = each.graph
        assert number == 0 or graph.ids.tolist()[: len(known)] == known
        known = graph.ids.tolist()
        so_far = [row for row in rows if row[2] < each.begin + width]
        expected = read(so_far, directed, self_loops=loops, nodes=[20, *known])
        assert sorted(known) == sorted(alone.union(*(row[:2] for row in so_far)))
        again = in_order(graph, np.sort(graph.ids))
        assert again.content_hash == expected.content_hash
        assert again.first_time.tolist() == expected.first_time.tolist()
        new = {row[:2] for row in so_far} - {row[:2] for row in rows if row[2] < each.begin}
        if directed:
            assert ends(each.new) == new
        assert not ends(each.new) & ends(each.repeated)
        assert all(each.begin <= row[2] or row in so_far for row in rows)
    ordered = in_order(graph, whole.ids)
    assert ordered.content_hash == whole.content_hash
    assert ordered.time.tolist() == whole.time.tolist()
    assert ordered.first_time.tolist() == whole.first_time.tolist()


DATES = ["2023-12-31", "2024-01-01", "2024-01-07", "2024-01-08 10:30", "2024-02-01 10:31:05", "2024-02-01 10:31:06"]


@pytest.mark.parametrize("scale", [1, 1000, 10**6, 10**9])
@pytest.mark.parametrize(
    ("by", "begins"),
    [
        ("year", ["2023-01-01", "2024-01-01"]),
        ("month", ["2023-12-01", "2024-01-01", "2024-02-01"]),
        ("week", ["2023-12-25", "2024-01-01", "2024-01-08", "2024-01-29"]),
        ("day", ["2023-12-31", "2024-01-01", "2024-01-07", "2024-01-08", "2024-02-01"]),
        ("hour", ["2023-12-31", "2024-01-01", "2024-01-07", "2024-01-08T10", "2024-02-01T10"]),
        ("minute", ["2023-12-31", "2024-01-01", "2024-01-07", "2024-01-08T10:30", "2024-02-01T10:31"]),
        ("second", [each.replace(" ", "T") for each in DATES]),
    ],
)
def test_intervals_of_the_calendar(by, begins, scale):
    graph = read([(i, i + 1, date) for i, date in enumerate(DATES)])
    graph.time, graph.first_time = graph.time * scale, graph.first_time * scale
    found = [each.begin for each in gr.replay(graph, by=by)]
    assert found == [datetime.fromisoformat(each).replace(tzinfo=UTC) for each in begins]


def test_dates_before_1970():
    graph = read([("a", "b", "1951-07-01"), ("b", "c", "1951-07-02")])
    assert [str(each.begin.date()) for each in gr.replay(graph, by="week")] == ["1951-06-25", "1951-07-02"]


def test_intervals_of_a_number():
    graph = read([(0, 1, 7), (1, 2, 9), (2, 3, 10), (0, 1, 31)])
    found = list(gr.replay(graph, by=5))
    assert [each.begin for each in found] == [5, 10, 30]
    assert [each.new.tolist() for each in found] == [[[0, 1], [1, 2]], [[2, 3]], []]
    assert [each.repeated.tolist() for each in found] == [[], [], [[0, 1]]]
    assert [each.graph.time.max() for each in found] == [9, 10, 31]
    since = read([(0, 1, 10 * DAY + 2e8), (1, 2, 30 * DAY + 2e8)])
    assert [type(each.begin) for each in gr.replay(since, by=DAY)] == [datetime, datetime]


def test_a_time_that_is_a_multiple_but_for_rounding_begins_its_interval():
    times = [0.1, 0.2, 0.3, 0.35, 0.6, 0.7]
    frame = pl.DataFrame({"source": range(6), "target": range(1, 7), "time": times})
    found = [
        (snapshot.begin, len(snapshot.new)) for snapshot in gr.replay(gr.Graph.from_frame(frame, time="time"), by=0.1)
    ]
    assert [begin for begin, _ in found] == pytest.approx([0.1, 0.2, 0.3, 0.6, 0.7])
    assert [count for _, count in found] == [1, 1, 2, 1, 1]


def test_batches_have_about_the_same_number_of_edges():
    graph = read([(i, i + 1, i // 2) for i in range(40)])
    for count, sizes in ((1, [40]), (4, [10] * 4), (3, [12, 14, 14]), (1000, [2] * 20)):
        assert [len(each.new) for each in gr.replay(graph, batches=count)] == sizes
    assert [each.begin for each in gr.replay(graph, batches=4)] == [0, 5, 10, 15]


def test_weights_come_with_their_edges():
    frame = pl.DataFrame({"source": [1, 2], "target": [2, 3], "weight": [0.5, 2.0], "time": [3, 8]})
    first, second = gr.replay(Graph.from_frame(frame, time="time"), by=1)
    assert (first.graph.weights.tolist(), second.graph.weights.tolist()) == ([0.5, 0.5], [0.5, 0.5, 2.0, 2.0])


def test_two_kinds_of_nodes_stay_two():
    rows = {"user": ["u", "v", "a"], "item": ["i", "j", "z"], "time": [1, 2, 3]}
    graph = Graph.from_frame(pl.DataFrame(rows), time="time", nodes=["alone"])
    for each in gr.replay(graph, by=1):
        expected = graph.sides[graph.index_of(each.graph.ids)]
        assert each.graph.sides.tolist() == expected.tolist()


def test_intervals_shorter_than_times_are_known_are_refused():
    frame = pl.DataFrame({"u": [0, 0], "v": [1, 2], "time": [1.0, 2e9]})
    with pytest.raises(gr.InputError, match=r"by must be at least 2.2.*e-07 for times as large as these, got 1e-300"):
        list(gr.replay(gr.Graph.from_frame(frame, time="time"), by=1e-300))


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (Graph.from_edges([[0], [1]]), {"by": 1}, "graph must have times, got one without; .*read_graph"),
        (read([(0, 1, 1)]), {}, "by or batches must be given, and not both, got by=None and batches=None"),
        (read([(0, 1, 1)]), {"by": 1, "batches": 1}, "by or batches must be given, and not both, got by=1"),
        (read([(0, 1, 1)]), {"by": "days"}, "by must be one of second, .*did you mean 'day'"),
        (read([(0, 1, 1), (1, 2, 20)]), {"by": "day"}, "by must be a number .* from 1 to 20, got 'day'"),
        (read([(0, 1, 1)]), {"by": 0}, "by must be a positive number, got 0"),
        (read([(0, 1, 1)]), {"by": 1e-320}, "by must be at least 1.11.*e-16 for times as large as these, got"),
        (read([(0, 1, 1)]), {"by": True}, "by must be a positive number, got True"),
        (read([(0, 1, 1)]), {"batches": 0}, "batches must be an integer of at least 1, got 0"),
        (read([(0, 0, 1)]), {"by": 1}, "graph must have edges, got one without"),
        ("edges.csv", {"by": 1}, "graph must be a Graph"),
        (
            Graph.from_frame(
                pl.DataFrame({"u": [0, 0], "v": [1, 1], "weight": [1.0, 1.0], "time": [1, 2]}), time="time"
            ),
            {"by": 1},
            "graph must have no weights, or no edge at several times.*got 2 entries.*weight=False",
        ),
    ],
)
def test_what_does_not_fit_is_refused_at_once(graph, options, message):
    with pytest.raises(gr.InputError, match=message):
        gr.replay(graph, **options)
