"""Graphs, walks, anchors, reachability, tasks, attacks and data sets with right arguments."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import samples
from tests.fuzz.call import Call, dataset, graph, lazy, reach, sample, split, trained


def calls() -> list[Call]:
    """All callables that need no torch, and what is made of their results."""
    return [*_graphs(), *_changing(), *_core(), *_tasks(), *_attacks(), *_data()]


def _graphs() -> list[Call]:
    def index() -> Any:
        return np.array([[0, 1, 2, 3], [1, 2, 3, 0]])

    def weights() -> Any:
        return np.array([1.0, 2.0, 0.5, 1.0])

    def frame() -> Any:
        import pandas as pd

        return pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "weight": [1.0, 2.0, 3.0], "more": list("abc")})

    def matrix() -> Any:
        import scipy.sparse

        return scipy.sparse.csr_array(np.array([[0, 1.5, 0], [1.5, 0, 2], [0, 2, 0]]))

    def network() -> Any:
        import networkx as nx

        return nx.karate_club_graph()

    def data() -> Any:
        import torch
        from torch_geometric.data import Data

        return Data(edge_index=torch.tensor(index()), edge_weight=torch.tensor(weights()), num_nodes=4)

    both = {"directed": False, "reduce": "sum", "self_loops": False}
    return [
        Call("Graph.from_edges", lazy(":Graph:from_edges"), lambda: {
            "edge_index": index(), "num_nodes": 5, "edge_weight": weights(), "ids": list("abcde"), **both}, share=4),
        Call("Graph.from_edge_list", lazy(":Graph:from_edge_list"), lambda: {
            "edges": [(0, 1, 2.0), (1, "b", 1.0)], "nodes": [7], **both}, share=2),
        Call("Graph.from_networkx", lazy(":Graph:from_networkx"), lambda: {"G": network(), "weight": "weight",
            **both}, share=1),
        Call("Graph.from_pyg", lazy(":Graph:from_pyg"), lambda: {"data": data(), **both}),
        Call("Graph.from_scipy", lazy(":Graph:from_scipy"), lambda: {"A": matrix(), "ids": ["a", "b", "c"], **both},
            share=2),
        Call("Graph.from_scipy.damaged", lambda: _from_damaged, lambda: {
            "data": np.array([1.0, 2.0, 3.0]), "indices": np.array([1, 0, 2]), "indptr": np.array([0, 1, 3, 3]),
                "shape": (3, 3)}, share=2),
        Call("Graph.from_frame", lazy(":Graph:from_frame"), lambda: {
            "frame": frame(), "source": "source", "target": "target", "weight": "weight", "nodes": [9], **both},
                share=2),
        Call("Graph.index_of", lambda: graph("str").index_of, lambda: {"ids": ["n1", "n4"]}, share=1),
        Call("Graph.to_frame", lambda: graph("str").to_frame, lambda: {"kind": "polars", "source": "u", "target": "v"}),
        Call("Graph.to_pyg", lambda: _torch_data, lambda: {"dtype": "float64"}, share=0.3),
        Call("read_graph", lazy(":read_graph"), lambda: {
            "path": samples.folder() / "named.csv", "directed": False, "source": "from", "target": "to",
                "weight": "weight",
            "nodes": ["n1"], "ids": "auto", "header": True, "comments": "#", "reduce": "sum", "self_loops": True},
                share=4),
    ]  # fmt: skip


def _torch_data(dtype: Any) -> Any:
    import torch

    return graph("int").to_pyg(getattr(torch, dtype) if isinstance(dtype, str) and hasattr(torch, dtype) else dtype)


def _changing() -> list[Call]:
    import graphreach as gr

    def timed() -> Any:
        import polars as pl

        frame = pl.DataFrame({"source": [0, 1, 2, 0], "target": [1, 2, 3, 3], "time": [5.0, 60.0, 90_000.0, 1e6]})
        return gr.Graph.from_frame(frame, time="time")

    def batch() -> dict[str, Any]:
        edges = graph("int").edge_index.T
        return {
            "add": [(int(edges[0, 0]), 99), (98, 99)],
            "remove": edges[:1].tolist(),
            "nodes": [77],
            "self_loops": True,
        }

    def index(**options: Any) -> Any:
        return gr.ReachIndex(graph("int"), [0, 3], num_walks=5, walk_length=3, **options)

    walk = {"num_walks": 5, "walk_length": 3, "seed": 1, "hops": None, "similarity": "frequency", "steady": False}
    return [
        Call("Graph.updated", lambda: graph("int").updated, lambda: {**batch(), "weights": None, "time": None}, share=3),
        Call("Graph.rows", lambda: graph("int").rows, lambda: {"nodes": np.array([0, 2])}),
        Call("ReachIndex", lazy(":ReachIndex"), lambda: {
            "graph": graph("int"), "anchors": np.array([0, 3]), "method": "walks", "tolerance": 1e-6, **walk}, share=2),
        Call("ReachIndex.exact", lazy(":ReachIndex"), lambda: {
            "graph": graph("directed"), "anchors": np.array([0, 3]), "method": "exact", "walk_length": 3, "hops": 3,
            "tolerance": 1e-6}),
        Call("ReachIndex.update", lambda: index().update, lambda: {**batch(), "weights": None}, share=2),
        Call("ReachIndex.update.steady", lambda: index(steady=True).update, batch),
        Call("ReachIndex.to_anchors", lambda: index().to_anchors, lambda: {"nodes": np.array([0, 2])}),
        Call("ReachIndex.reachability", lambda: index().reachability, lambda: {"layout": "csr"}, share=0.5),
        Call("ReachIndex.wants_other_anchors", lambda: index().wants_other_anchors, lambda: {"share": 0.1}, share=0.5),
        Call("replay", lazy(":replay"), lambda: {"graph": timed(), "by": "day"}),
        Call("replay.batches", lazy(":replay"), lambda: {"graph": timed(), "batches": 2}),
    ]  # fmt: skip


def _from_damaged(data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """A matrix whose parts were changed after it was made, which scipy does not look at again."""
    import scipy.sparse

    import graphreach as gr

    matrix = scipy.sparse.csr_array((np.ones(3), np.array([1, 0, 2]), np.array([0, 1, 3, 3])), shape=(3, 3))
    if not all(isinstance(each, np.ndarray) and each.ndim == 1 for each in (data, indices, indptr)):
        return None
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return gr.Graph.from_scipy(matrix)


def _core() -> list[Call]:
    walk = {"num_walks": 5, "walk_length": 3, "seed": 1}
    walks = {
        "graph": None,
        "method": "walks",
        "similarity": "frequency",
        "num_walks": 5,
        "walk_length": 3,
        "hops": 2,
        "seed": 0,
        "layout": "dense",
    }
    pair = {"method": "exact", "walk_length": 3, "num_walks": 5}
    return [
        Call("select_anchors", lazy(":select_anchors"), lambda: {
            "graph": graph(), "num_anchors": 3, "strategy": "greedy", "num_starts": 4, **walk}, share=3),
        Call("random_walks", lazy(":random_walks"), lambda: {"graph": graph(), "starts": np.array([0, 1]), **walk},
            share=3),
        Call("reachability", lazy(":reachability"), lambda: {
            **walks, "graph": graph(), "anchors": np.array([0, 3]), "cache": None}, share=4),
        Call("reachability.exact", lazy(":reachability"), lambda: {
            "graph": graph("directed"), "anchors": np.array([0, 3]), "method": "exact", "walk_length": 3, "hops": 2,
                "layout": "csr"}, share=2),
        Call("pair_reachability", lazy(":pair_reachability"), lambda: {
            "graph": graph(), "pairs": np.array([[0, 1], [2, 3]]), **pair}, share=2),
        Call("diameter", lazy(":diameter"), lambda: {"graph": graph(), "budget": 1000}),
        Call("recommended_num_walks", lazy(":recommended_num_walks"), lambda: {"num_nodes": 100}),
        Call("Reachability.rescaled", lambda: reach().rescaled, lambda: {"scale": "lift", "graph": graph(),
            "num_nodes": 8}),
        Call("Reachability.to_frame", lambda: reach().to_frame, lambda: {"ids": list("abcdefgh"), "kind": "polars"}),
        Call("Reachability.to_torch", lambda: reach().to_torch, lambda: {"device": "cpu"}, share=0.3),
        Call("nearest_nodes", lazy(":nearest_nodes"), lambda: {
            "vectors": np.eye(5), "index": np.array([0, 3]), "top": 2, "metric": "cosine"}),
        Call("NearestNodes", lazy(":NearestNodes"), lambda: {"vectors": np.eye(5), "metric": "dot"}),
        Call("show_progress", lambda: _progress, lambda: {"enabled": False}, share=0.2),
    ]  # fmt: skip


def _progress(enabled: Any) -> None:
    import graphreach as gr

    gr.show_progress(enabled)
    gr.show_progress(None)


def _tasks() -> list[Call]:
    options = {
        "protocol": "published",
        "seed": 0,
        "negatives": "uniform",
        "fractions": (0.8, 0.1, 0.1),
        "candidates": 2,
        "max_pairs": 50,
    }

    def parts() -> dict[str, Any]:
        link = split()
        return {
            "graph": link.graph,
            "train": link.train,
            "val": link.val,
            "test": link.test,
            "task": "link",
            "strict": False,
        }

    return [
        Call("tasks.split", lazy("tasks:split"), lambda: {"sample": sample(), "task": "link", "num_classes": 2,
            **options}, share=2),
        Call("tasks.split_dataset", lazy("tasks:split_dataset"), lambda: {"dataset": dataset(), "task": "pair",
            **options}, share=1),
        Call("tasks.check_leaks", lazy("tasks:check_leaks"), lambda: {"split": split(), "strict": False}),
        Call("tasks.check_leaks.parts", lazy("tasks:check_leaks"), parts),
        Call("tasks.closure", lazy("tasks:closure"), lambda: {"split": split("pair"), "part": "test"}),
        Call("tasks.closure_scores", lazy("tasks:closure_scores"), lambda: {"split": split("pair"),
            "pairs": np.array([[0, 1], [2, 3]])}),
        Call("tasks.find_task", lazy("tasks:find_task"), lambda: {"name": "link"}, share=0.2),
        Call("tasks.join_pairs", lazy("tasks:join_pairs"), lambda: {
            "positives": np.array([[0, 1], [2, 3]]), "negatives": np.array([[0], [5]]), "candidates": np.array([[4],
                [5]])}),
        Call("tasks.label_weights", lazy("tasks:label_weights"), lambda: {"split": split("node"), "same": 1.0,
            "other": 0.1}),
        Call("tasks.judge_embedding", lazy("tasks:judge_embedding"), lambda: {
            "vectors": np.eye(12, 3), "labels": np.arange(12) % 2, "shares": [0.5], "repeats": 1, "seed": 0,
                "counts": "known"}, share=1, unbounded=("repeats",)),
        Call("tasks.mean_metrics", lazy("tasks:mean_metrics"), lambda: {"each": [{"auc": 0.5}, {"auc": 1.0}]}),
        Call("tasks.metrics", lazy("tasks:metrics"), lambda: {
            "task": "link", "scores": np.linspace(0, 1, len(split().test.label)), "examples": split().test}, share=1),
        Call("tasks.score", lazy("tasks:score"), lambda: {
            "name": "common-neighbours", "graph": graph(), "pairs": np.array([[0, 1], [2, 3]])}, share=1),
        Call("tasks.split_given", lazy("tasks:split_given"), lambda: {
            "sample": graph("int"), "test_pairs": split().test.positives[:, :2], "seed": 0,
            "negatives": "uniform", "fractions": (0.8, 0.1, 0.1), "keep_connected": False, "bipartite": None}),
        Call("tasks.GivenPairs", lazy("tasks:GivenPairs"), lambda: {"test_pairs": np.array([[0, 1], [2, 3]])}),
        Call("tasks.pooled_hits", lazy("tasks:pooled_hits"), lambda: {
            "scores": np.linspace(0, 1, len(split().test.label)), "examples": split().test, "k": 2}),
        Call("tasks.Examples", lazy("tasks:Examples"), lambda: {
            "index": np.array([[0, 1], [2, 3]]), "label": np.array([0, 1]), "candidates": np.array([[1]])}),
    ]  # fmt: skip


def _attacks() -> list[Call]:
    return [
        Call("attacks.clique", lazy("attacks:clique"), lambda: {"graph": graph("int"), "fraction": 0.2, "seed": 0}),
        Call("attacks.noise", lazy("attacks:noise"), lambda: {"graph": graph("int"), "fraction": 0.2, "seed": 0}),
        Call("attacks.hubs", lazy("attacks:hubs"), lambda: {
            "graph": graph("int"), "candidates": np.arange(10), "fraction": 0.2, "top": 0.1, "seed": 0}),
        Call("attacks.add_edges", lazy("attacks:add_edges"), lambda: {
            "graph": graph("int"), "pairs": np.array([[0, 1], [9, 12]]), "colluders": np.array([0, 1])}),
        Call("attacks.assess", lazy("attacks:assess"), lambda: {
            "run": trained(), "split": split(), "kind": "clique", "fraction": 0.2, "groups": 2, "seed": 0}, ("groups",)),
        Call("attacks.curve", lazy("attacks:curve"), lambda: {
            "run": trained(), "split": split(), "fractions": [0.1, 0.2], "kind": "clique", "groups": 2, "seed": 0},
            ("groups",)),
        Call("attacks.interval", lazy("attacks:interval"), lambda: {
            "first": [_assessment()], "second": [_assessment()], "which": "any", "samples": 50, "seed": 0},
                ("samples",)),
        Call("attacks.Assessment.from_dict", lazy("attacks:Assessment:from_dict"),
            lambda: {"content": _assessment().to_dict()}),
        Call("attacks.plot_curve", lazy("attacks:plot_curve"), lambda: {"assessments": [_assessment()],
            "which": "any"}, share=0.4),
    ]  # fmt: skip


@cache
def _assessment() -> Any:
    import graphreach as gr

    return gr.attacks.assess(trained(), split(), "clique", 0.2, groups=2, seed=0)


def _data() -> list[Call]:
    return [
        Call("datasets.Sample", lazy("datasets:Sample"), lambda: {
            "graph": graph("int"), "x": np.ones((30, 2), np.float32), "y": np.zeros(30, np.int64)}, share=2),
        Call("datasets.Dataset", lambda: _make_dataset, lambda: {"name": "mine", "samples": (sample(),),
            "classes": np.arange(2)}),
        Call("datasets.load", lazy("datasets:load"), lambda: {"name": "grid", "root": Path("none"), "seed": 0}),
        Call("datasets.find", lazy("datasets:find"), lambda: {"name": "grid"}, share=0.3),
        Call("tables.read_labels", lazy("io.tables:read_labels"), lambda: {
            "path": samples.folder() / "tables/labels.csv", "graph": graph("int"), "id": "id", "label": "label"},
                share=1),
        Call("tables.read_features", lazy("io.tables:read_features"), lambda: {
            "path": samples.folder() / "tables/features.csv", "graph": graph("int"), "id": "id"}),
        Call("tables.read_pairs", lazy("io.tables:read_pairs"), lambda: {
            "path": samples.folder() / "tables/pairs.csv", "graph": graph("int")}),
        Call("transforms.AddReachability", lambda: _transform, lambda: {
            "num_anchors": 2, "strategy": "greedy", "anchors": [0, 1], "layout": "dense", "num_walks": 5,
                "walk_length": 3, "seed": 0}, share=1),
    ]  # fmt: skip


def _make_dataset(**arguments: Any) -> Any:
    import graphreach as gr

    made = gr.datasets.Dataset(**arguments)
    return made, made.num_nodes, made.num_edges, made.num_features, made.num_classes


def _transform(**arguments: Any) -> Any:
    import torch
    from torch_geometric.data import Data

    from graphreach.transforms import AddReachability

    ring = Data(edge_index=torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), num_nodes=4)
    return AddReachability(**arguments)(ring)
