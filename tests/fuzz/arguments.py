"""Every public callable with arguments of every kind."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import GeneratorType
from typing import Any

import numpy as np

from tests.fuzz import samples
from tests.fuzz.entry import Case, Dice, Entry, short
from tests.fuzz.values import near, odd

LARGE = 10_000
"""From here on numbers of epochs and the like are legitimate, and take for ever."""


@dataclass(frozen=True)
class Call:
    """A callable with right arguments.

    Attributes:
        name: Of the entry point.
        target: Returns the callable.
        base: Returns right arguments.
        unbounded: Arguments that may be as large as one has time.
        share: See :class:`tests.fuzz.entry.Entry`.
    """

    name: str
    target: Callable[[], Callable[..., Any]]
    base: Callable[[], dict[str, Any]]
    unbounded: tuple[str, ...] = ()
    share: float = 0.6


def entries() -> list[Entry]:
    """One entry point for each callable."""
    return [Entry(f"call.{call.name}", _maker(call), call.share) for call in calls()]


def _maker(call: Call) -> Callable[[Dice], Case]:
    def make(dice: Dice) -> Case:
        target, arguments = call.target(), call.base()
        for name in dice.sample(sorted(arguments), dice.pick([1, 1, 1, 2])):
            arguments[name] = _value(name, arguments[name], call.unbounded, dice)
        text = ", ".join(f"{name}={short(value, 80)}" for name, value in arguments.items())
        return Case(lambda: _consume(target(**arguments)), f"{call.name}({text})")

    return make


def _value(name: str, value: Any, unbounded: tuple[str, ...], dice: Dice) -> Any:
    while True:
        new = near(value, dice) if dice.chance(0.5) else odd(dice)
        if name not in unbounded or not _is_large(new):
            return new


def _is_large(value: Any) -> bool:
    number = value.item() if isinstance(value, np.generic | np.ndarray) and value.size == 1 else value
    try:
        return bool(float(number) > LARGE)
    except (TypeError, ValueError, OverflowError):
        return isinstance(number, int)


def _consume(value: Any) -> Any:
    return list(value) if isinstance(value, GeneratorType) else value


def calls() -> list[Call]:
    """All callables."""
    return [
        *_graphs(),
        *_core(),
        *_tasks(),
        *_attacks(),
        *_data(),
        *_models(),
        *_layers(),
        *_explain(),
        *_plots(),
        *_training(),
    ]


def _lazy(path: str) -> Callable[[], Any]:
    """A callable of graphreach by its path, imported when it is needed."""

    def find() -> Any:
        import importlib

        module, *names = path.split(":")
        found: Any = importlib.import_module(f"graphreach.{module}" if module else "graphreach")
        for name in names:
            found = getattr(found, name)
        return found

    return find


def _graph(kind: str = "small") -> Any:
    return samples.graph(kind)


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
        Call("Graph.from_edges", _lazy(":Graph:from_edges"), lambda: {
            "edge_index": index(), "num_nodes": 5, "edge_weight": weights(), "ids": list("abcde"), **both}, share=4),
        Call("Graph.from_edge_list", _lazy(":Graph:from_edge_list"), lambda: {
            "edges": [(0, 1, 2.0), (1, "b", 1.0)], "nodes": [7], **both}, share=2),
        Call("Graph.from_networkx", _lazy(":Graph:from_networkx"), lambda: {"G": network(), "weight": "weight", **both}, share=1),
        Call("Graph.from_pyg", _lazy(":Graph:from_pyg"), lambda: {"data": data(), **both}),
        Call("Graph.from_scipy", _lazy(":Graph:from_scipy"), lambda: {"A": matrix(), "ids": ["a", "b", "c"], **both}, share=2),
        Call("Graph.from_scipy.damaged", lambda: _from_damaged, lambda: {
            "data": np.array([1.0, 2.0, 3.0]), "indices": np.array([1, 0, 2]), "indptr": np.array([0, 1, 3, 3]), "shape": (3, 3)}, share=2),
        Call("Graph.from_frame", _lazy(":Graph:from_frame"), lambda: {
            "frame": frame(), "source": "source", "target": "target", "weight": "weight", "nodes": [9], **both}, share=2),
        Call("Graph.index_of", lambda: _graph("str").index_of, lambda: {"ids": ["n1", "n4"]}, share=1),
        Call("read_graph", _lazy(":read_graph"), lambda: {
            "path": samples.folder() / "named.csv", "directed": False, "source": "from", "target": "to", "weight": "weight",
            "nodes": ["n1"], "ids": "auto", "header": True, "comments": "#", "reduce": "sum", "self_loops": True}, share=4),
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
    reach = {
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
        Call("select_anchors", _lazy(":select_anchors"), lambda: {
            "graph": _graph(), "num_anchors": 3, "strategy": "greedy", "num_starts": 4, **walk}, share=3),
        Call("random_walks", _lazy(":random_walks"), lambda: {"graph": _graph(), "starts": np.array([0, 1]), **walk}, share=3),
        Call("reachability", _lazy(":reachability"), lambda: {
            **reach, "graph": _graph(), "anchors": np.array([0, 3]), "cache": None}, share=4),
        Call("reachability.exact", _lazy(":reachability"), lambda: {
            "graph": _graph("directed"), "anchors": np.array([0, 3]), "method": "exact", "walk_length": 3, "hops": 2, "layout": "csr"}, share=2),
        Call("pair_reachability", _lazy(":pair_reachability"), lambda: {
            "graph": _graph(), "pairs": np.array([[0, 1], [2, 3]]), **pair}, share=2),
        Call("diameter", _lazy(":diameter"), lambda: {"graph": _graph(), "budget": 1000}),
        Call("recommended_num_walks", _lazy(":recommended_num_walks"), lambda: {"num_nodes": 100}),
        Call("Reachability.rescaled", lambda: _reach().rescaled, lambda: {"scale": "lift", "graph": _graph(), "num_nodes": 8}),
        Call("Reachability.to_torch", lambda: _reach().to_torch, lambda: {"device": "cpu"}, share=0.3),
        Call("show_progress", lambda: _progress, lambda: {"enabled": False}, share=0.2),
    ]  # fmt: skip


def _progress(enabled: Any) -> None:
    import graphreach as gr

    gr.show_progress(enabled)
    gr.show_progress(None)


@cache
def _reach() -> Any:
    import graphreach as gr

    return gr.reachability(_graph(), [0, 3], num_walks=5, walk_length=3)


@cache
def _split(task: str = "link") -> Any:
    import graphreach as gr

    y = None if task == "link" else (np.arange(30) >= 15).astype(np.int64)
    return gr.tasks.split(gr.datasets.Sample(_graph("int"), None, y), task, "published")


def _sample() -> Any:
    import graphreach as gr

    return gr.datasets.Sample(_graph("int"), np.ones((30, 2), np.float32), (np.arange(30) >= 15).astype(np.int64))


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
        split = _split()
        return {
            "graph": split.graph,
            "train": split.train,
            "val": split.val,
            "test": split.test,
            "task": "link",
            "strict": False,
        }

    return [
        Call("tasks.split", _lazy("tasks:split"), lambda: {"sample": _sample(), "task": "link", "num_classes": 2, **options}, share=2),
        Call("tasks.split_dataset", _lazy("tasks:split_dataset"), lambda: {"dataset": _dataset(), "task": "pair", **options}, share=1),
        Call("tasks.check_leaks", _lazy("tasks:check_leaks"), lambda: {"split": _split(), "strict": False}),
        Call("tasks.check_leaks.parts", _lazy("tasks:check_leaks"), parts),
        Call("tasks.closure", _lazy("tasks:closure"), lambda: {"split": _split("pair"), "part": "test"}),
        Call("tasks.closure_scores", _lazy("tasks:closure_scores"), lambda: {"split": _split("pair"), "pairs": np.array([[0, 1], [2, 3]])}),
        Call("tasks.find_task", _lazy("tasks:find_task"), lambda: {"name": "link"}, share=0.2),
        Call("tasks.join_pairs", _lazy("tasks:join_pairs"), lambda: {
            "positives": np.array([[0, 1], [2, 3]]), "negatives": np.array([[0], [5]]), "candidates": np.array([[4], [5]])}),
        Call("tasks.label_weights", _lazy("tasks:label_weights"), lambda: {"split": _split("node"), "same": 1.0, "other": 0.1}),
        Call("tasks.mean_metrics", _lazy("tasks:mean_metrics"), lambda: {"each": [{"auc": 0.5}, {"auc": 1.0}]}),
        Call("tasks.metrics", _lazy("tasks:metrics"), lambda: {
            "task": "link", "scores": np.linspace(0, 1, len(_split().test.label)), "examples": _split().test}, share=1),
        Call("tasks.score", _lazy("tasks:score"), lambda: {
            "name": "common-neighbours", "graph": _graph(), "pairs": np.array([[0, 1], [2, 3]])}, share=1),
        Call("tasks.Examples", _lazy("tasks:Examples"), lambda: {
            "index": np.array([[0, 1], [2, 3]]), "label": np.array([0, 1]), "candidates": np.array([[1]])}),
    ]  # fmt: skip


def _attacks() -> list[Call]:
    return [
        Call("attacks.clique", _lazy("attacks:clique"), lambda: {"graph": _graph("int"), "fraction": 0.2, "seed": 0}),
        Call("attacks.noise", _lazy("attacks:noise"), lambda: {"graph": _graph("int"), "fraction": 0.2, "seed": 0}),
        Call("attacks.hubs", _lazy("attacks:hubs"), lambda: {
            "graph": _graph("int"), "candidates": np.arange(10), "fraction": 0.2, "top": 0.1, "seed": 0}),
        Call("attacks.add_edges", _lazy("attacks:add_edges"), lambda: {
            "graph": _graph("int"), "pairs": np.array([[0, 1], [9, 12]]), "colluders": np.array([0, 1])}),
        Call("attacks.assess", _lazy("attacks:assess"), lambda: {
            "run": _trained(), "split": _split(), "kind": "clique", "fraction": 0.2, "groups": 2, "seed": 0}, share=1),
        Call("attacks.curve", _lazy("attacks:curve"), lambda: {
            "run": _trained(), "split": _split(), "fractions": [0.1, 0.2], "kind": "clique", "groups": 2, "seed": 0}),
        Call("attacks.interval", _lazy("attacks:interval"), lambda: {
            "first": [_assessment()], "second": [_assessment()], "which": "any", "samples": 50, "seed": 0}, ("samples",)),
        Call("attacks.Assessment.from_dict", _lazy("attacks:Assessment:from_dict"), lambda: {"content": _assessment().to_dict()}),
        Call("attacks.plot_curve", _lazy("attacks:plot_curve"), lambda: {"assessments": [_assessment()], "which": "any"}, share=0.4),
    ]  # fmt: skip


@cache
def _trained(task: str = "link") -> Any:
    from graphreach.training import TrainedRun

    return TrainedRun(samples.folder() / task)


@cache
def _assessment() -> Any:
    import graphreach as gr

    return gr.attacks.assess(_trained(), _split(), "clique", 0.2, groups=2, seed=0)


def _dataset() -> Any:
    import graphreach as gr

    return gr.datasets.Dataset("mine", (_sample(),))


def _data() -> list[Call]:
    return [
        Call("datasets.Sample", _lazy("datasets:Sample"), lambda: {
            "graph": _graph("int"), "x": np.ones((30, 2), np.float32), "y": np.zeros(30, np.int64)}, share=2),
        Call("datasets.Dataset", lambda: _make_dataset, lambda: {"name": "mine", "samples": (_sample(),), "classes": np.arange(2)}),
        Call("datasets.load", _lazy("datasets:load"), lambda: {"name": "grid", "root": Path("none"), "seed": 0}),
        Call("datasets.find", _lazy("datasets:find"), lambda: {"name": "grid"}, share=0.3),
        Call("tables.read_labels", _lazy("tables:read_labels"), lambda: {
            "path": samples.folder() / "tables/labels.csv", "graph": _graph("int"), "id": "id", "label": "label"}, share=1),
        Call("tables.read_features", _lazy("tables:read_features"), lambda: {
            "path": samples.folder() / "tables/features.csv", "graph": _graph("int"), "id": "id"}),
        Call("tables.read_pairs", _lazy("tables:read_pairs"), lambda: {
            "path": samples.folder() / "tables/pairs.csv", "graph": _graph("int")}),
        Call("transforms.AddReachability", lambda: _transform, lambda: {
            "num_anchors": 2, "strategy": "greedy", "anchors": [0, 1], "layout": "dense", "num_walks": 5, "walk_length": 3, "seed": 0}, share=1),
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


def _models() -> list[Call]:
    common = {
        "in_channels": 2,
        "hidden_channels": 8,
        "num_layers": 2,
        "dropout": 0.1,
        "decoder": "dot",
        "output_activation": "normalize",
    }
    names = {
        "MLP": {**common, "out_channels": 4, "input_projection": False, "standardise": False, "num_nodes": 5},
        "PGNN": {**common, "similarity_map": None, "input_projection": True, "standardise": False, "num_nodes": 5},
        "GraphReach": {**common, "aggregation": "attention", "heads": 2, "local": None, "similarity": True, "hops": 2,
                       "bias": False, "similarity_map": None, "message_activation": None, "standardise": False, "num_nodes": 5},
        "Neighbourhood": {**common, "kind": "gcn", "heads": 1, "out_channels": 4, "standardise": False},
        "NodeClassifier": {"in_channels": 4, "num_classes": 3, "dropout": 0.1},
        "ReachConv": {"in_channels": 2, "out_channels": 4, "aggregation": "attention", "heads": 2, "concat": False, "negative_slope": 0.2},
        "ReachDecoder": {"hops": 1, "epsilon": 0.001},
        "ReachReadout": {"in_channels": 2, "hidden_channels": 4},
        "SimilarityMap": {"hops": 1, "hidden_channels": 4},
        "Standardise": {"channels": 3},
        "LateFusion": {"steps": 21},
        "make_decoder": {"decoder": "dot", "hops": 1},
    }  # fmt: skip
    out = [
        Call(f"nn.{name}", _lazy(f"nn:{name}"), lambda base=base: dict(base), share=1) for name, base in names.items()
    ]
    return [
        *out,
        Call("nn.SkipGram", lambda: _skip_gram, lambda: {
            "dim": 4, "num_walks": 2, "walk_length": 4, "window": 2, "negatives": 2, "epochs": 1, "p": 1.0, "q": 1.0,
            "learning_rate": 0.05, "directed": False, "seed": 0, "graph": _graph()}, ("epochs",), share=1),
        Call("nn.anchor_sets", _lazy("nn:anchor_sets"), lambda: {"graph": _graph(), "max_distance": 2, "seed": 0, "copies": 1.0}),
        Call("nn.laplacian_encodings", _lazy("nn:laplacian_encodings"), lambda: {
            "graph": _graph(), "dim": 3, "seed": 0, "flip_signs": False}),
        Call("nn.random_walk_encodings", _lazy("nn:random_walk_encodings"), lambda: {
            "graph": _graph(), "dim": 3, "seed": 0, "method": "auto", "num_walks": 10}),
    ]  # fmt: skip


def _skip_gram(graph: Any, **arguments: Any) -> Any:
    from graphreach.nn import SkipGram

    return SkipGram(**arguments).fit(graph)


def _layers() -> list[Call]:
    """Calls of modules, with tensors and without."""
    import torch

    def tensor(*shape: int) -> Any:
        return torch.ones(shape)

    def pairs() -> Any:
        return torch.tensor([[0, 1], [2, 3]])

    return [
        Call("nn.GraphReach.forward", lambda: _model(), lambda: {"x": None, "reach": _reach()}, share=1),
        Call("nn.GraphReach.forward.tensors", lambda: _model(), lambda: {
            "x": None, "reach": tensor(8, 2), "from_anchors": tensor(8, 2), "anchor_index": torch.tensor([0, 3])}, share=1),
        Call("nn.GraphReach.score_pairs", lambda: _model().score_pairs, lambda: {"z": tensor(8, 4), "pairs": pairs()}),
        Call("nn.pair_dot", _lazy("nn:pair_dot"), lambda: {"z": tensor(8, 4), "pairs": pairs()}),
        Call("nn.Standardise.fit", lambda: _standardise().fit, lambda: {"x": tensor(8, 2)}, share=0.3),
        Call("nn.LateFusion.fit", lambda: _fusion().fit, lambda: {
            "first": np.array([0.1, 0.9]), "second": np.array([0.2, 0.8]), "labels": np.array([0, 1])}),
        Call("nn.Positions.dense", _lazy("nn:Positions:dense"), lambda: {
            "to_anchors": tensor(8, 2), "from_anchors": tensor(8, 2), "anchor_index": torch.tensor([0, 3])}),
        Call("nn.Adjacency", _lazy("nn:Adjacency"), lambda: {"matrix": _graph().to_scipy(), "symmetric": True, "weighted": True}),
        Call("nn.Adjacency.from_graph", _lazy("nn:Adjacency:from_graph"), lambda: {"graph": _graph()}, share=0.3),
    ]  # fmt: skip


@cache
def _model() -> Any:
    from graphreach import nn

    return nn.GraphReach(0, 8, 2).eval()


def _standardise() -> Any:
    from graphreach import nn

    return nn.Standardise(2)


def _fusion() -> Any:
    from graphreach import nn

    return nn.LateFusion()


def _explain() -> list[Call]:
    return [
        Call("explain.explain_pair", _lazy("explain:explain_pair"), lambda: {
            "run": _trained(), "graph": _graph("int"), "a": 0, "b": 5, "x": None}, share=1),
        Call("explain.explain_node", _lazy("explain:explain_node"), lambda: {
            "run": _trained(), "graph": _graph("int"), "a": 0, "x": None}, share=1),
        Call("explain.likely_paths", _lazy("explain:likely_paths"), lambda: {
            "graph": _graph(), "start": 0, "targets": np.array([1, 2]), "max_length": 3}, share=1),
        Call("explain.Explainer.pair", lambda: _explainer().pair, lambda: {"a": 0, "b": 5, "paths": 2}),
        Call("explain.Explainer.node", lambda: _explainer().node, lambda: {"a": 0, "paths": 2}),
        Call("explain.Explainer.terms", lambda: _explainer().terms, lambda: {"pairs": np.array([[0, 1], [2, 3]])}),
        Call("explain.PairExplanation.text", lambda: _explainer().pair(0, 5).text, lambda: {"top": 3}, share=0.3),
    ]  # fmt: skip


@cache
def _explainer() -> Any:
    from graphreach.explain import Explainer

    return Explainer(_trained(), _graph("int"))


def _plots() -> list[Call]:
    def close(name: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            import matplotlib.pyplot as plt

            from graphreach import plot

            try:
                return getattr(plot, name)(**arguments)
            finally:
                plt.close("all")

        return call

    node = {"node": 0, "positions": np.zeros((8, 2))}
    return [
        Call("plot.plot_anchors", lambda: close("plot_anchors"), lambda: {
            "graph": _graph(), "anchors": np.array([0, 3]), "positions": np.zeros((8, 2)), "ax": None}, share=0.4),
        Call("plot.plot_reachability", lambda: close("plot_reachability"), lambda: {
            "graph": _graph(), "values": np.linspace(0, 1, 8), "ax": None, **node}, share=0.4),
        Call("plot.plot_scores", lambda: close("plot_scores"), lambda: {
            "graph": _graph(), "values": np.linspace(0, 1, 8), "label": "x", "limits": (0.0, 1.0), **node}, share=0.4),
        Call("plot.plot_comparison", lambda: close("plot_comparison"), lambda: {
            "names": ["gcn", "graphreach"], "means": np.array([0.5, 0.9]), "spreads": np.array([0.1, 0.1]), "label": "x"}, share=0.4),
        Call("plot.stress_layout", lambda: close("stress_layout"), lambda: {"graph": _graph(), "iterations": 3}, ("iterations",), share=0.4),
        Call("report.auc_interval", _lazy("report:auc_interval"), lambda: {
            "scores": np.linspace(0, 1, 20), "labels": np.arange(20) % 2, "seed": 0}),
        Call("report.communities", _lazy("report:communities"), lambda: {"graph": _graph(), "seed": 0}, share=0.4),
        Call("report.layout", _lazy("report:layout"), lambda: {"graph": _graph(), "seed": 0}, share=0.4),
        Call("report.make_report", _lazy("report:make_report"), lambda: {
            "folder": samples.folder() / "link", "data": _sample(), "number": 1, "classes": []}, share=0.4),
    ]  # fmt: skip


def _training() -> list[Call]:
    from graphreach.training import Settings

    fields = {name: field.default for name, field in Settings.model_fields.items()}
    return [
        Call("training.Settings", _lazy("training:Settings"), lambda: dict(fields), share=3),
        Call("training.Settings.make", _lazy("training:Settings:make"), lambda: dict(fields), share=1),
        Call("training.Settings.read", _lazy("training:Settings:read"), lambda: {"file": None, "changes": ["epochs=1"], "seed": 1}),
        Call("training.run", _lazy("training:run"), lambda: {
            "data": _sample(), "settings": Settings(epochs=1, hidden_channels=4, num_anchors=2), "folder": "run",
            "check": True, "tensorboard": False, "engine": "local", "address": None, "workers": None}, share=1),
        Call("training.TrainedRun", _lazy("training:TrainedRun"), lambda: {"folder": samples.folder() / "link"}, share=0.4),
        Call("training.TrainedRun.embed", lambda: _trained().embed, lambda: {"graph": _graph("int"), "x": None}, share=0.5),
        Call("training.TrainedRun.score_pairs", lambda: _trained().score_pairs, lambda: {
            "z": np.ones((30, 8), np.float32), "pairs": np.array([[0, 1], [2, 3]]), "graph": _graph("int")}),
        Call("training.TrainedRun.class_probabilities", lambda: _trained("node").class_probabilities, lambda: {
            "z": _trained("node").embed(_graph("int")), "nodes": np.array([0, 1])}),
        Call("GraphReachEmbedding", lambda: _estimator, lambda: {
            "num_anchors": 2, "strategy": "greedy", "preset": "best", "hidden_channels": 4, "num_layers": 2, "epochs": 1,
            "learning_rate": 0.01, "batch_size": 5, "random_state": 0, "graph": _graph("small")}, ("epochs",), share=2),
        Call("GraphReachEmbedding.score_pairs", lambda: _fitted().score_pairs, lambda: {"pairs": [(1, 4), (7, 10)], "graph": _graph("int")}, share=1),
        Call("GraphReachEmbedding.transform", lambda: _fitted().transform, lambda: {"X": _graph("int")}),
        Call("GraphReachEmbedding.load", lambda: type(_fitted()).load, lambda: {"folder": samples.folder() / "estimator"}, share=0.3),
        Call("embedding.embed_graph", _lazy("embedding:embed_graph"), lambda: {
            "sample": _sample(), "changes": ["hidden_channels=4", "num_anchors=2"], "compare": False, "epochs": 1}, ("epochs",), share=0.5),
        Call("embedding_files.write_embedding", _lazy("embedding_files:write_embedding"), lambda: {
            "path": Path("z.csv"), "ids": np.array(["a", "b"]), "blocks": [np.ones((2, 3), np.float32)], "width": 3}),
    ]  # fmt: skip


def _estimator(graph: Any, **arguments: Any) -> Any:
    import graphreach as gr

    return gr.GraphReachEmbedding(**arguments).fit_transform(graph)


@cache
def _fitted() -> Any:
    import graphreach as gr

    return gr.GraphReachEmbedding.load(samples.folder() / "estimator")


def uncovered() -> list[str]:
    """Public callables of graphreach's rooms that no entry point calls."""
    import importlib

    called = {call.name for call in calls()}
    out = []
    for room in ("", "tasks", "attacks", "nn", "datasets", "explain", "report"):
        module = importlib.import_module(f"graphreach.{room}" if room else "graphreach")
        for name in module.__all__:
            full = f"{room}.{name}" if room else name
            known = any(each == full or each.startswith(f"{full}.") for each in called)
            found = getattr(module, name)
            if callable(found) and not known and not inspect.ismodule(found):
                out.append(full)
    return out
