"""Models, explanations, plots and training with right arguments."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import samples
from tests.fuzz.call import Call, graph, lazy, reach, sample, trained


def calls() -> list[Call]:
    """All callables that need torch."""
    return [*_models(), *_layers(), *_explain(), *_plots(), *_training()]


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
                       "bias": False, "similarity_map": None, "message_activation": None, "standardise": False,
                           "num_nodes": 5},
        "Neighbourhood": {**common, "kind": "gcn", "heads": 1, "out_channels": 4, "standardise": False},
        "NodeClassifier": {"in_channels": 4, "num_classes": 3, "dropout": 0.1},
        "ReachConv": {"in_channels": 2, "out_channels": 4, "aggregation": "attention", "heads": 2, "concat": False,
            "negative_slope": 0.2},
        "ReachDecoder": {"hops": 1, "epsilon": 0.001},
        "ReachReadout": {"in_channels": 2, "hidden_channels": 4},
        "SimilarityMap": {"hops": 1, "hidden_channels": 4},
        "Standardise": {"channels": 3},
        "LateFusion": {"steps": 21},
        "make_decoder": {"decoder": "dot", "hops": 1},
    }  # fmt: skip
    out = [
        Call(f"nn.{name}", lazy(f"nn:{name}"), lambda base=base: dict(base), share=1) for name, base in names.items()
    ]
    return [
        *out,
        Call("nn.SkipGram", lambda: _skip_gram, lambda: {
            "dim": 4, "num_walks": 2, "walk_length": 4, "window": 2, "negatives": 2, "epochs": 1, "p": 1.0, "q": 1.0,
            "learning_rate": 0.05, "directed": False, "seed": 0, "graph": graph()},
            ("epochs", "num_walks", "negatives", "window", "walk_length"), share=1),
        Call("nn.anchor_sets", lazy("nn:anchor_sets"), lambda: {"graph": graph(), "max_distance": 2, "seed": 0,
            "copies": 1.0}),
        Call("nn.laplacian_encodings", lazy("nn:laplacian_encodings"), lambda: {
            "graph": graph(), "dim": 3, "seed": 0, "flip_signs": False}),
        Call("nn.random_walk_encodings", lazy("nn:random_walk_encodings"), lambda: {
            "graph": graph(), "dim": 3, "seed": 0, "method": "auto", "num_walks": 10}),
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
        Call("nn.GraphReach.forward", lambda: _model(), lambda: {"x": None, "reach": reach()}, share=1),
        Call("nn.GraphReach.forward.tensors", lambda: _model(), lambda: {
            "x": None, "reach": tensor(8, 2), "from_anchors": tensor(8, 2), "anchor_index": torch.tensor([0, 3])},
                share=1),
        Call("nn.GraphReach.score_pairs", lambda: _model().score_pairs, lambda: {"z": tensor(8, 4), "pairs": pairs()}),
        Call("nn.pair_dot", lazy("nn:pair_dot"), lambda: {"z": tensor(8, 4), "pairs": pairs()}),
        Call("nn.pair_terms", lazy("nn:pair_terms"), lambda: {
            "decoder": _model().decoder, "z": tensor(8, 4), "pairs": pairs(), "num_anchors": 2}),
        Call("nn.Standardise.fit", lambda: _standardise().fit, lambda: {"x": tensor(8, 2)}, share=0.3),
        Call("nn.LateFusion.fit", lambda: _fusion().fit, lambda: {
            "first": np.array([0.1, 0.9]), "second": np.array([0.2, 0.8]), "labels": np.array([0, 1])}),
        Call("nn.Positions.dense", lazy("nn:Positions:dense"), lambda: {
            "to_anchors": tensor(8, 2), "from_anchors": tensor(8, 2), "anchor_index": torch.tensor([0, 3])}),
        Call("nn.Adjacency", lazy("nn:Adjacency"), lambda: {"matrix": graph().to_scipy(), "symmetric": True,
            "weighted": True}),
        Call("nn.Adjacency.from_graph", lazy("nn:Adjacency:from_graph"), lambda: {"graph": graph()}, share=0.3),
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
        Call("explain.explain_pair", lazy("explain:explain_pair"), lambda: {
            "run": trained(), "graph": graph("int"), "a": 0, "b": 5, "x": None}, share=1),
        Call("explain.explain_node", lazy("explain:explain_node"), lambda: {
            "run": trained(), "graph": graph("int"), "a": 0, "x": None}, share=1),
        Call("explain.likely_paths", lazy("explain:likely_paths"), lambda: {
            "graph": graph(), "start": 0, "targets": np.array([1, 2]), "max_length": 3}, share=1),
        Call("explain.Explainer.pair", lambda: _explainer().pair, lambda: {"a": 0, "b": 5, "paths": 2}),
        Call("explain.Explainer.node", lambda: _explainer().node, lambda: {"a": 0, "paths": 2}),
        Call("explain.Explainer.terms", lambda: _explainer().terms, lambda: {"pairs": np.array([[0, 1], [2, 3]])}),
        Call("explain.PairExplanation.text", lambda: _explainer().pair(0, 5).text, lambda: {"top": 3}, share=0.3),
    ]  # fmt: skip


@cache
def _explainer() -> Any:
    from graphreach.explain import Explainer

    return Explainer(trained(), graph("int"))


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
            "graph": graph(), "anchors": np.array([0, 3]), "positions": np.zeros((8, 2)), "ax": None}, share=0.4),
        Call("plot.plot_reachability", lambda: close("plot_reachability"), lambda: {
            "graph": graph(), "values": np.linspace(0, 1, 8), "ax": None, **node}, share=0.4),
        Call("plot.plot_scores", lambda: close("plot_scores"), lambda: {
            "graph": graph(), "values": np.linspace(0, 1, 8), "label": "x", "limits": (0.0, 1.0), **node}, share=0.4),
        Call("plot.plot_classes", lambda: close("plot_classes"), lambda: {
            "graph": graph(), "classes": np.arange(8) % 2, "known": np.array([0]), "links": np.array([[0], [5]]),
                "show_ids": True, "positions": np.zeros((8, 2)), "ax": None}, share=0.4),
        Call("plot.plot_comparison", lambda: close("plot_comparison"), lambda: {
            "names": ["gcn", "graphreach"], "means": np.array([0.5, 0.9]), "spreads": np.array([0.1, 0.1]),
                "label": "x"}, share=0.4),
        Call("plot.stress_layout", lambda: close("stress_layout"), lambda: {"graph": graph(), "iterations": 3},
            ("iterations",), share=0.4),
        Call("report.auc_interval", lazy("report:auc_interval"), lambda: {
            "scores": np.linspace(0, 1, 20), "labels": np.arange(20) % 2, "seed": 0}),
        Call("report.communities", lazy("report:communities"), lambda: {"graph": graph(), "seed": 0}, share=0.4),
        Call("report.layout", lazy("report:layout"), lambda: {"graph": graph(), "seed": 0}, share=0.4),
        Call("report.write_report", lazy("report:write_report"), lambda: {
            "folder": samples.folder() / "link", "path": "report.html", "data": sample()}, share=0.3),
        Call("report.make_report", lazy("report:make_report"), lambda: {
            "folder": samples.folder() / "link", "data": sample(), "number": 1, "classes": []}, share=0.4),
    ]  # fmt: skip


def _training() -> list[Call]:
    from graphreach.training import Settings

    fields = {name: field.default for name, field in Settings.model_fields.items()}
    return [
        Call("training.Settings", lazy("training:Settings"), lambda: dict(fields), share=3),
        Call("training.Settings.read", lazy("training:Settings:read"), lambda: {"file": None,
            "changes": ["epochs=1"], "seed": 1}),
        Call("training.run", lazy("training:run"), lambda: {
            "data": sample(), "settings": Settings(epochs=1, hidden_channels=4, num_anchors=2), "folder": "run",
            "check": True, "tensorboard": False, "engine": "local"}, share=1),
        Call("training.TrainedRun", lazy("training:TrainedRun"), lambda: {"folder": samples.folder() / "link"},
            share=0.4),
        Call("training.TrainedRun.embed", lambda: trained().embed, lambda: {"graph": graph("int"), "x": None},
            share=0.5),
        Call("training.TrainedRun.score_pairs", lambda: trained().score_pairs, lambda: {
            "z": np.ones((30, 8), np.float32), "pairs": np.array([[0, 1], [2, 3]]), "graph": graph("int")}),
        Call("training.TrainedRun.class_probabilities", lambda: trained("node").class_probabilities, lambda: {
            "z": trained("node").embed(graph("int")), "nodes": np.array([0, 1])}),
        Call("pair_features", lazy(":pair_features"), lambda: {
            "graph": graph("int"), "pairs": np.array([[0, 1], [2, 3]]), "exclude_own_edge": True,
            "anchors": np.array([0, 5]), "seed": 0, "steps": 3, "lengths": (2,), "num_anchors": 4, "method": "exact",
            "num_walks": 4}, share=2),
        Call("nn.AttributedPairHead", lazy("nn:AttributedPairHead"), lambda: {
            "in_channels": 5, "node_channels": 4, "hidden_channels": 4, "gnn_channels": 4, "num_members": 1,
            "dropout": 0.2, "gnn_dropout": 0.5, "attribute_dropout": 0.7, "apart": True}),
        Call("LinkPredictor", lambda: _links, lambda: {
            "negatives": "uniform", "steps": 3, "lengths": (2,), "num_anchors": 2, "method": "exact", "num_links": 20,
            "hidden_channels": 4, "num_members": 1, "prior": 0.5, "random_state": 0, "graph": graph("small")}, share=2),
        Call("link_prediction", lambda: _link_prediction, lambda: {"G": graph("small"), "ebunch": [(0, 1), (2, 5)]}),
        Call("OnGraph", lambda: _on_graph, lambda: {
            "graph": graph("int"), "X": [1, 4, 7, 10, 13], "y": list("ababa"), "x": samples.features(), "links": True}),
        Call("OnGraph.links", lambda: _on_graph, lambda: {
            "graph": graph("int"), "X": [(1, 29), (4, 28), (7, 20), (10, 25)], "y": [1, 0, 1, 0], "links": False,
            "estimator": _few_links()}),
        Call("LinkPredictor.fit", lambda: _fit_links, lambda: {
            "graph": graph("int"), "pairs": [(1, 4), (7, 10), (1, 10), (4, 7)], "y": [1, 0, 1, 0]}, share=1),
        Call("LinkPredictor.fit.attributes", lambda: _fit_links, lambda: {
            "graph": graph("int"), "x": samples.features(), "pairs": [(1, 4), (7, 10), (1, 10), (4, 7)],
            "y": [1, 0, 1, 0]}, share=0.5),
        Call("LinkPredictor.predict_proba", lambda: _attributed_links().predict_proba, lambda: {
            "pairs": [(1, 4), (7, 10)], "graph": graph("int"), "x": samples.features()}),
        Call("LinkPredictor.new_links", lambda: _attributed_links().new_links, lambda: {
            "top": 2, "graph": graph("int"), "x": samples.features(), "why": True}),
        Call("ReachClassifier.predict_proba", lambda: _attributed_classes().predict_proba, lambda: {
            "ids": [1, 4], "graph": graph("int"), "x": samples.features()}),
        Call("ReachClassifier", lambda: _classes, lambda: {
            "graph": graph("int"), "labels": dict(zip(graph("int").ids.tolist(), "abcab" * 6, strict=False)),
            "num_anchors": 2, "strategy": "greedy", "random_state": 0, "x": samples.features()}, share=1),
        Call("GraphReachEmbedding", lambda: _estimator, lambda: {
            "num_anchors": 2, "strategy": "greedy", "preset": "best", "hidden_channels": 4, "num_layers": 2,
                "epochs": 1,
            "learning_rate": 0.01, "batch_size": 5, "random_state": 0,
            "settings": {"patience": 3}, "graph": graph("small")}, ("epochs",), share=2),
        Call("GraphReachEmbedding.score_pairs", lambda: _fitted().score_pairs, lambda: {"pairs": [(1, 4), (7, 10)],
            "graph": graph("int")}, share=1),
        Call("GraphReachEmbedding.transform", lambda: lambda graph: _fitted().transform(graph), lambda: {
            "graph": graph("int")}),
        Call("GraphReachEmbedding.load", lambda: type(_fitted()).load,
            lambda: {"folder": samples.folder() / "estimator"}, share=0.3),
        Call("GraphReachEmbedding.reach", lambda: _vectors, lambda: {
            "graph": graph("small"), "method": "reach", "dim": 4, "num_anchors": 2, "strategy": "greedy",
            "directed": False, "attributes": "smooth", "random_state": 0, "engine": "local"}, ("dim",), share=2),
        Call("GraphReachEmbedding.reach.x", lambda: _vectors, lambda: {
            "graph": graph("int"), "x": samples.features(), "attributes": "append", "dim": 4}, ("dim",), share=1),
        Call("GraphReachEmbedding.reach.transform", lambda: _embedded().transform, lambda: {
            "graph": graph("int"), "new_anchors": False, "x": samples.features()}, share=1),
        Call("GraphReachEmbedding.reach.partial_fit", lambda: lambda **given: _embedded().partial_fit(**given).embedding_,
            lambda: {"graph": graph("int"), "x": samples.features()}, share=1),
        Call("GraphReachEmbedding.reach.score_pairs", lambda: _embedded().score_pairs, lambda: {
            "pairs": [(1, 4), (7, 10)], "prior": 0.5, "graph": graph("int"), "x": samples.features()}, share=1),
        Call("GraphReachEmbedding.nearest", lambda: _embedded().nearest, lambda: {
            "ids": [1, 4], "top": 2, "metric": "cosine"}, share=1),
        Call("embedding_files.write_embedding", lazy("io.embeddings:write_embedding"), lambda: {
            "path": Path("z.csv"), "ids": np.array(["a", "b"]), "blocks": [np.ones((2, 3), np.float32)], "width": 3}),
    ]  # fmt: skip


def _links(graph: Any, **arguments: Any) -> Any:
    import graphreach as gr

    fitted = gr.LinkPredictor(**arguments).fit(graph)
    return fitted.predict_proba([tuple(fitted.ids_[:2].tolist())])


def _link_prediction(**arguments: Any) -> Any:
    import graphreach as gr

    return list(gr.link_prediction(**arguments))


def _few_links() -> Any:
    import graphreach as gr

    return gr.LinkPredictor(steps=2, lengths=(2,), num_anchors=2, hidden_channels=4, num_members=1)


def _fit_links(**arguments: Any) -> Any:
    return _few_links().fit(**arguments).auc_


def _on_graph(X: Any, y: Any, estimator: Any = None, **arguments: Any) -> Any:
    import graphreach as gr

    inner = gr.ReachClassifier(num_anchors=2) if estimator is None else estimator
    return gr.OnGraph(inner, **arguments).fit(X, y).predict(X)


def _classes(graph: Any, labels: Any, x: Any = None, **arguments: Any) -> Any:
    import graphreach as gr

    return gr.ReachClassifier(**arguments).fit(graph, labels, x).predict()


@cache
def _attributed_links() -> Any:
    import graphreach as gr

    return gr.LinkPredictor.load(samples.folder() / "reach-features/model")


@cache
def _attributed_classes() -> Any:
    import graphreach as gr

    return gr.ReachClassifier.load(samples.folder() / "classes-features/model")


def _estimator(graph: Any, **arguments: Any) -> Any:
    import graphreach as gr

    return gr.GraphReachEmbedding(method="paper", **arguments).fit_transform(graph)


def _vectors(graph: Any, x: Any = None, **arguments: Any) -> Any:
    import graphreach as gr

    return gr.GraphReachEmbedding(**arguments).fit_transform(graph, x=x)


def _embedded() -> Any:
    """Loaded each time, as some calls change it."""
    import graphreach as gr

    return gr.GraphReachEmbedding.load(samples.folder() / "embedding-reach")


@cache
def _fitted() -> Any:
    import graphreach as gr

    return gr.GraphReachEmbedding.load(samples.folder() / "estimator")
