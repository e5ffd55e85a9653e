"""Edges, pairs, nodes and labels as lists, arrays, Series and data frames give the same results everywhere.

A new function that takes one of these joins :data:`CALLS` by one line; the last test finds those that are missing.
"""

import inspect
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphreach as gr
from graphreach import tasks

NAMES = [f"m{i:02}" for i in range(34)]
EDGES = [(NAMES[u], NAMES[v]) for u, v in nx.karate_club_graph().edges]
CLUB = gr.Graph.from_edge_list(EDGES)
WEIGHTED = gr.Graph.from_edge_list([(u, v, 1.0 + i) for i, (u, v) in enumerate(EDGES)])
TIMED = gr.Graph.from_frame(pl.DataFrame(EDGES, schema=["u", "v"], orient="row").with_columns(time=np.arange(78.0)))
PAIRS = [("m00", "m33"), ("m04", "m10"), ("m01", "m02"), ("m05", "m30")]
TEAMS = {
    NAMES[i]: ("officer" if i in (8, 14, 15, 18, 20, 22, 23, 26, 28, 29, 30, 31, 32, 33) else "hi")
    for i in range(0, 34, 2)
}


def tables(rows, names=("first", "second", "weight")):
    """Rows in every form."""
    columns = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=False)}
    frame = pl.DataFrame(columns)
    of_numbers = isinstance(rows[0][0], int)
    return {
        "list": rows,
        "numpy": np.array(rows) if len(rows[0]) == 2 or of_numbers else np.array(rows, object),
        "pandas": pd.DataFrame(columns, index=[f"row{i}" for i in range(len(rows))]),
        "polars": frame,
        "lazy": frame.lazy(),
        "arrow": frame.to_arrow(),
    }


def graphs(rows):
    """Edges where graphs are taken."""
    found = tables(rows)
    return {"graph": gr.Graph.from_edge_list(rows)} | {
        name: found[name] for name in ("pandas", "polars", "lazy", "arrow")
    }


def columns(values):
    """One column in every form."""
    return {
        "list": list(values),
        "numpy": np.array(values),
        "pandas": pd.Series(values, index=range(7, 7 + len(values))),
        "nullable": pd.Series(values, index=range(7, 7 + len(values))).convert_dtypes(),
        "polars": pl.Series(values),
        "arrow": pa.chunked_array([values]),
    }


def ids(values):
    return columns(values) | {"frame": pl.DataFrame({"id": values}), "pandas frame": pd.DataFrame({"id": values})}


def positions(rows):
    """Pairs of positions: lists and arrays ``[2, m]``, frames with one row per pair."""
    found = tables(rows)
    return found | {"list": [list(each) for each in zip(*rows, strict=True)], "numpy": np.array(rows).T}


def labels(of):
    """Labels by id; where rows have no ids, in the order of the graph's ids."""
    pairs = list(of.items())
    frame = pl.DataFrame({"node": list(of), "team": list(of.values())})
    aligned = [of.get(each) for each in CLUB.ids.tolist()]
    return {
        "mapping": of,
        "pairs": pairs[::-1],
        "aligned": aligned,
        "series": pd.Series(of).iloc[::-1],
        "gaps": pd.Series(of).reindex([*NAMES[::-1]]),
        "category": pd.Series(of).astype("category"),
        "aligned series": pd.Series(aligned),
        "polars series": pl.Series(aligned),
        "pandas": frame.to_pandas().iloc[::-1],
        "index": frame.to_pandas().set_index("node").iloc[::-1],
        "polars": frame.reverse(),
        "arrow": frame.to_arrow(),
    }


@cache
def links():
    return gr.LinkPredictor.pretrained().update(graph=CLUB)


@cache
def classes():
    return gr.ReachClassifier(num_anchors=8).fit(CLUB, TEAMS)


@cache
def vectors():
    return gr.GraphReachEmbedding("position", dim=8).fit(CLUB)


@cache
def split():
    return tasks.split(gr.datasets.Sample(CLUB, y=np.arange(34) % 2), "pair", "published")


def fit_links(pairs=PAIRS, y=(1, 0, 1, 0)):
    small = gr.LinkPredictor("uniform", 2, (2,), 4, num_members=1, hidden_channels=4, start=None)
    return small.fit(CLUB, pairs=pairs, y=y).decision_function(PAIRS)


@cache
def edge_file():
    path = Path(tempfile.mkdtemp(), "edges.csv")
    CLUB.to_frame().write_csv(path)
    return path


def index(graph=CLUB):
    return gr.ReachIndex(graph, [0, 5], num_walks=5, walk_length=3)


def changed(known, **arguments):
    """The graph that something knows after an update."""
    known.update(**arguments)
    return known.graph if isinstance(known, gr.ReachIndex) else known._graph


def numbered(rows):
    return [(NAMES.index(u), NAMES.index(v)) for u, v in rows]


NEW, OLD = [("m00", "x1"), ("x1", "x2"), ("m04", "m10")], EDGES[:3]
HEAVY = [("m00", "x1", 2.0), ("x1", "x2", 3.0)]
REWEIGHTED = [(*pair, 5.0) for pair in EDGES[:3]]
SOME = ["m05", "m33", "m00"]
FREE = numbered([("m00", "m33"), ("m04", "m11")])

CALLS = {
    "Graph.from_edge_list.edges": (tables, EDGES, gr.Graph.from_edge_list),
    "Graph.from_edge_list.weighted": (tables, HEAVY, gr.Graph.from_edge_list),
    "Graph.from_edge_list.nodes": (ids, SOME, lambda nodes: gr.Graph.from_edge_list(NEW, nodes=nodes)),
    "Graph.from_edges.edge_index": (positions, numbered(EDGES), gr.Graph.from_edges),
    "Graph.from_edges.edge_weight": (
        columns,
        [1.0, 2.5],
        lambda w: gr.Graph.from_edges([[0, 1], [1, 2]], edge_weight=w),
    ),
    "Graph.from_edges.ids": (columns, ["c", "a", "b"], lambda ids: gr.Graph.from_edges([[0, 1], [1, 2]], ids=ids)),
    "Graph.from_scipy.ids": (columns, NAMES, lambda ids: gr.Graph.from_scipy(CLUB.to_scipy(), ids=ids)),
    "Graph.from_pyg.ids": (columns, NAMES, lambda ids: gr.Graph.from_pyg(CLUB.to_pyg(), ids=ids)),
    "Graph.from_frame.nodes": (ids, SOME, lambda nodes: gr.Graph.from_frame(CLUB.to_frame(), nodes=nodes)),
    "Graph.index_of.ids": (ids, SOME, CLUB.index_of),
    "Graph.rows.nodes": (columns, [5, 0], CLUB.rows),
    "Graph.updated.add": (tables, NEW, lambda add: CLUB.updated(add=add)),
    "Graph.updated.heavy": (tables, HEAVY, lambda add: WEIGHTED.updated(add=add)),
    "Graph.updated.remove": (tables, OLD, lambda remove: CLUB.updated(remove=remove)),
    "Graph.updated.weights": (tables, REWEIGHTED, lambda weights: WEIGHTED.updated(weights=weights)),
    "Graph.updated.nodes": (ids, SOME, lambda nodes: CLUB.updated(nodes=nodes)),
    "Graph.updated.time": (columns, [90.0, 91.0, 92.0], lambda time: TIMED.updated(add=NEW, time=time)),
    "GraphReachEmbedding.fit.graph": (graphs, EDGES, lambda graph: vectors().fit(graph).embedding_),
    "GraphReachEmbedding.nearest.ids": (ids, SOME, lambda ids: vectors().nearest(ids, 3)),
    "GraphReachEmbedding.score_pairs.pairs": (tables, PAIRS, lambda pairs: vectors().score_pairs(pairs)),
    "GraphReachEmbedding.update.add": (
        tables,
        NEW,
        lambda add: changed(gr.GraphReachEmbedding("position", dim=8).fit(CLUB), add=add),
    ),
    "GraphReachEmbedding.update.remove": (
        tables,
        OLD,
        lambda add: changed(gr.GraphReachEmbedding("position", dim=8).fit(CLUB), remove=add),
    ),
    "GraphReachEmbedding.update.weights": (
        tables,
        REWEIGHTED,
        lambda w: changed(gr.GraphReachEmbedding("position", dim=8).fit(WEIGHTED), weights=w),
    ),
    "GraphReachEmbedding.transform.graph": (graphs, EDGES, lambda graph: vectors().transform(graph)),
    "LinkPredictor.decision_function.pairs": (tables, PAIRS, lambda pairs: links().decision_function(pairs)),
    "LinkPredictor.explain.pair": (columns, PAIRS[0], lambda pair: links().explain(pair).logit),
    "LinkPredictor.fit.pairs": (tables, PAIRS, fit_links),
    "LinkPredictor.fit.y": (columns, [1, 0, 1, 0], lambda y: fit_links(y=y)),
    "LinkPredictor.predict.pairs": (tables, PAIRS, lambda pairs: links().predict(pairs)),
    "LinkPredictor.predict_proba.pairs": (tables, PAIRS, lambda pairs: links().predict_proba(pairs)),
    "LinkPredictor.predict_proba.graph": (graphs, EDGES, lambda graph: links().predict_proba(PAIRS, graph)),
    "LinkPredictor.recommend.nodes": (ids, SOME, lambda nodes: links().recommend(nodes, 2).columns()),
    "LinkPredictor.recommend_blocks.nodes": (
        ids,
        SOME,
        lambda nodes: [b.columns() for b in links().recommend_blocks(nodes, 2)],
    ),
    "LinkPredictor.score.pairs": (tables, PAIRS, lambda pairs: links().score(pairs, [1, 0, 1, 0])),
    "LinkPredictor.score.y": (columns, [1, 0, 1, 0], lambda y: links().score(PAIRS, y)),
    "LinkPredictor.update.add": (
        tables,
        NEW,
        lambda add: changed(gr.LinkPredictor.pretrained().update(graph=CLUB), add=add),
    ),
    "LinkPredictor.update.remove": (
        tables,
        OLD,
        lambda add: changed(gr.LinkPredictor.pretrained().update(graph=CLUB), remove=add),
    ),
    "LinkPredictor.update.weights": (
        tables,
        REWEIGHTED,
        lambda w: changed(gr.LinkPredictor.pretrained().update(graph=WEIGHTED), weights=w),
    ),
    "NearestNodes.of.index": (columns, [5, 0], lambda index: gr.NearestNodes(vectors().embedding_).of(index, 2)),
    "ReachClassifier.fit.labels": (
        labels,
        TEAMS,
        lambda found: gr.ReachClassifier(num_anchors=8).fit(CLUB, found).predict_proba(),
    ),
    "ReachClassifier.predict.ids": (ids, SOME, lambda ids: classes().predict(ids)),
    "ReachClassifier.predict_proba.ids": (ids, SOME, lambda ids: classes().predict_proba(ids)),
    "ReachClassifier.score.labels": (labels, TEAMS, lambda found: classes().score(found)),
    "ReachIndex.anchors": (
        columns,
        [0, 5],
        lambda anchors: gr.ReachIndex(CLUB, anchors, num_walks=5, walk_length=3).to_anchors(),
    ),
    "ReachIndex.index_of.ids": (ids, SOME, lambda ids: index().index_of(ids)),
    "ReachIndex.to_anchors.nodes": (columns, [5, 0], lambda nodes: index().to_anchors(nodes)),
    "ReachIndex.update.add": (tables, NEW, lambda add: changed(index(), add=add)),
    "ReachIndex.update.remove": (tables, OLD, lambda remove: changed(index(), remove=remove)),
    "ReachIndex.update.weights": (tables, REWEIGHTED, lambda weights: changed(index(WEIGHTED), weights=weights)),
    "ReachIndex.update.nodes": (ids, SOME, lambda nodes: changed(index(), nodes=nodes)),
    "AnchorSet.to_frame.ids": (columns, NAMES, lambda ids: gr.select_anchors(CLUB, 3).to_frame(ids).rows()),
    "Reachability.to_frame.ids": (columns, NAMES, lambda ids: index().reachability().to_frame(ids).rows()),
    "link_prediction.G": (graphs, EDGES, lambda graph: list(gr.link_prediction(graph, PAIRS))),
    "link_prediction.ebunch": (tables, PAIRS, lambda pairs: list(gr.link_prediction(CLUB, pairs))),
    "nearest_nodes.index": (columns, [5, 0], lambda index: gr.nearest_nodes(vectors().embedding_, index, 2)),
    "pair_features.pairs": (positions, numbered(PAIRS), lambda pairs: gr.pair_features(CLUB, pairs)[0]),
    "pair_features.anchors": (columns, [0, 5], lambda anchors: gr.pair_features(CLUB, [[0], [9]], anchors=anchors)[0]),
    "pair_reachability.pairs": (positions, numbered(PAIRS), lambda pairs: gr.pair_reachability(CLUB, pairs)),
    "random_walks.starts": (columns, [0, 5], lambda starts: gr.random_walks(CLUB, starts, num_walks=2)),
    "reachability.anchors": (columns, [0, 5], lambda anchors: gr.reachability(CLUB, anchors, num_walks=3).to_anchors),
    "tasks.Examples.index": (columns, [3, 4], lambda index: tasks.Examples(index, [0, 1]).index),
    "tasks.Examples.label": (columns, [0, 1], lambda label: tasks.Examples([3, 4], label).label),
    "tasks.GivenPairs.test_pairs": (positions, numbered(PAIRS), lambda pairs: tasks.GivenPairs(pairs).pairs(2)),
    "tasks.GivenPairs.val_pairs": (
        positions,
        numbered(PAIRS),
        lambda pairs: tasks.GivenPairs([[0], [1]], val_pairs=pairs).pairs(1),
    ),
    "tasks.closure_scores.pairs": (positions, numbered(PAIRS), lambda pairs: tasks.closure_scores(split(), pairs)),
    "tasks.join_pairs.positives": (positions, FREE, lambda pairs: tasks.join_pairs(pairs, [[1], [2]]).index),
    "tasks.join_pairs.negatives": (positions, FREE, lambda pairs: tasks.join_pairs([[1], [2]], pairs).index),
    "tasks.judge_embedding.labels": (
        columns,
        [i % 2 for i in range(34)],
        lambda labels: tasks.judge_embedding(vectors().embedding_, labels, [0.5], 1),
    ),
    "tasks.judge_embedding.vectors": (
        tables,
        list(zip(range(34), [i % 5 for i in range(34)], strict=True)),
        lambda rows: tasks.judge_embedding(rows, np.arange(34) % 2, [0.5], 1),
    ),
    "tasks.score.pairs": (positions, numbered(PAIRS), lambda pairs: tasks.score("common-neighbours", CLUB, pairs)),
    "tasks.split_given.test_pairs": (
        positions,
        numbered(EDGES[:9]),
        lambda pairs: tasks.split_given(CLUB, test_pairs=pairs).test.index,
    ),
    "tasks.split_given.val_pairs": (
        positions,
        numbered(EDGES[:9]),
        lambda pairs: tasks.split_given(CLUB, test_pairs=np.array(numbered(EDGES[9:12])).T, val_pairs=pairs).val.index,
    ),
    "read_graph.nodes": (ids, SOME, lambda nodes: gr.read_graph(edge_file(), nodes=nodes)),
    "datasets.Sample.y": (columns, list(range(34)), lambda y: gr.datasets.Sample(CLUB, y=y).y),
    "attacks.add_edges.pairs": (positions, FREE, lambda pairs: gr.attacks.add_edges(CLUB, pairs, [0]).graph),
    "attacks.add_edges.colluders": (
        columns,
        [0, 5],
        lambda nodes: gr.attacks.add_edges(CLUB, np.array(FREE).T, nodes).graph,
    ),
    "attacks.hubs.candidates": (positions, numbered(PAIRS), lambda pairs: gr.attacks.hubs(CLUB, pairs, 0.2, 0.5).graph),
    "explain.likely_paths.targets": (columns, [33, 5], lambda nodes: gr.explain.likely_paths(CLUB, 0, nodes, 3)),
}
"""For each argument what makes its forms, a value, and the call."""

MADE = {
    "AnchorSet", "Graph", "Reachability", "attacks.Assessment", "attacks.Attack", "attacks.Tally", "explain.Explainer",
    "explain.LinkExplanation", "explain.NodeExplanation", "explain.PairExplanation", "explain.Path",
}  # fmt: skip
"""Objects that graphreach makes itself, and what asks a trained run, by positions alone."""

OPTIONS = {"read_graph.ids"}
"""Arguments that have such a name and are something else."""

ROLES = {
    "edges", "edge_index", "add", "remove", "pairs", "pair", "ebunch", "test_pairs", "val_pairs", "nodes", "ids", "starts",
    "targets", "colluders", "labels", "anchors",
}  # fmt: skip
"""Names of arguments that hold edges, pairs, nodes or labels."""

FORMS = [(call, form) for call, (make, value, _) in CALLS.items() for form in list(make(value))[1:]]


def check_same(found, expected):
    if isinstance(expected, gr.Graph):
        assert found.content_hash == expected.content_hash
        check_same(found.time, expected.time)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        check_same(list(found.values()), list(expected.values()))
    elif isinstance(expected, list | tuple) and expected and not isinstance(expected[0], str | int | float):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            check_same(one, other)
    elif isinstance(expected, np.ndarray | list | tuple):
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected or (found != found and expected != expected)


@cache
def expected(call):
    make, value, function = CALLS[call]
    return function(next(iter(make(value).values())))


@pytest.mark.parametrize(("call", "form"), FORMS, ids=lambda value: value)
def test_every_form_gives_the_same(call, form):
    make, value, function = CALLS[call]
    check_same(function(make(value)[form]), expected(call))


WIDE = pl.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": ["u", "v"], "d": [0.5, 0.25]})
OF_TABLES = [call for call, (make, _, _) in CALLS.items() if make is not columns and call.rpartition(".")[2] in ROLES]


@pytest.mark.parametrize("frame", [WIDE, WIDE.to_pandas(), WIDE.to_arrow()], ids=["polars", "pandas", "arrow"])
@pytest.mark.parametrize("call", OF_TABLES)
def test_a_frame_that_does_not_fit_is_refused_in_one_sentence(call, frame):
    if "updated.add" in call or "update.add" in call or "from_edge_list.edges" in call:
        frame = frame.select(["a"]) if not hasattr(frame, "loc") else frame[["a"]]
    with pytest.raises(gr.InputError) as caught:
        CALLS[call][2](frame)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_labels_of_another_graph_are_refused():
    with pytest.raises(gr.InputError, match=r"labels must be of nodes of the graph, but .* got 'nobody'"):
        gr.ReachClassifier().fit(CLUB, pd.Series({"m00": "hi", "nobody": "officer"}))


def test_several_labels_come_in_frames_too():
    several = pd.DataFrame({"id": ["m00", "m00", "m33", "m01"], "team": ["a", "b", "b", "a"]})
    matrix = pd.DataFrame({"a": [1, 0, 1], "b": [1, 1, 0]}, index=["m00", "m33", "m01"])
    listed = gr.ReachClassifier(num_anchors=8).fit(CLUB, {"m00": ["a", "b"], "m33": ["b"], "m01": ["a"]})
    for found in (several, pl.from_pandas(several), matrix, matrix.reset_index(names="node")):
        fitted = gr.ReachClassifier(num_anchors=8).fit(CLUB, found)
        np.testing.assert_array_equal(fitted.predict_proba(), listed.predict_proba())


def test_an_index_that_only_counts_means_the_order_of_ids_unless_it_is_ids():
    shifted = gr.Graph.from_edge_list([(i + 1, j + 1) for i, j in numbered(EDGES)])
    grown = gr.Graph.from_edge_list([(1, 2)]).updated(add=[(0, 1)])  # positions 0, 1, 2 have the ids 1, 2, 0
    assert tasks.node_labels.read_labels(pd.Series(["a"] * 33 + ["b"]), shifted).nodes.tolist() == list(range(34))
    found = tasks.node_labels.read_labels(pd.Series(["zero", "one", "two"]), grown)
    assert found.classes[found.y.argmax(axis=1)].tolist() == ["one", "two", "zero"]


def test_labels_of_vectors_in_a_frame_are_found_by_its_index():
    rows, teams = np.random.default_rng(0).standard_normal((34, 3)), np.arange(34) % 2
    frame, series = pd.DataFrame(rows, index=NAMES), pd.Series(teams, index=NAMES)
    expected = tasks.judge_embedding(rows, teams, [0.5], 2)
    for labels in (series, series.iloc[::-1], pd.Series(teams)):
        assert tasks.judge_embedding(frame, labels, [0.5], 2) == expected
    with pytest.raises(gr.InputError, match="labels must have the index of vectors, got another one"):
        tasks.judge_embedding(frame, series.rename({"m00": "nobody"}), [0.5], 2)


def test_every_public_argument_of_these_roles_is_tried():
    missing = []
    for room in ("", "tasks", "attacks", "explain"):
        module = import_module(f"graphreach.{room}" if room else "graphreach")
        for name in module.__all__:
            thing, full = getattr(module, name), f"{room}.{name}" if room else name
            if inspect.ismodule(thing) or not callable(thing):
                continue
            methods = inspect.getmembers(thing, callable) if inspect.isclass(thing) else []
            public = {f"{full}.{name}": method for name, method in methods if name[0] != "_"} | {full: thing}
            for path, function in public.items():
                if "graphreach" not in (getattr(function, "__module__", None) or ""):
                    continue
                wanted = {f"{path}.{each}" for each in ROLES & set(inspect.signature(function).parameters)}
                made = path in MADE or path.rpartition(".")[0] in MADE - {"AnchorSet", "Graph", "Reachability"}
                missing += [] if made else sorted(wanted - {*CALLS} - OPTIONS)
    assert missing == []
