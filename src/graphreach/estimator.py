"""fit and transform for people who want no training loop."""

import inspect
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from graphreach.anchors import select_anchors
from graphreach.anchors.select_anchors import resolve_num_anchors
from graphreach.anchors.strategies import STRATEGIES
from graphreach.arguments import check_choice, check_flag, check_number, check_whole, describe, pair_rows
from graphreach.embedding import standalone
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import ids_array
from graphreach.nn.graph_reach import GraphReach
from graphreach.nn.presets import PRESETS
from graphreach.tasks import Examples, Split
from graphreach.threads import one_torch_thread
from graphreach.training.anchor_match import match_anchors
from graphreach.training.batches import Batch, Part, make_batches
from graphreach.training.clock import Clock
from graphreach.training.engine import Engine
from graphreach.training.inputs import Inputs
from graphreach.training.methods import find_method
from graphreach.training.model import TaskModel
from graphreach.training.settings import Settings
from graphreach.training.trainer import Trainer
from graphreach.walks.place import check_engine
from graphreach.walks.walk_length import check_count

WIDEST = 2**20
"""Channels and layers beyond which something else was meant."""


def as_graph(graph: Any, name: str = "graph") -> Graph:
    """A graph from what people have: a :class:`Graph`, networkx, SciPy, PyG, a file's path.

    Example:
        >>> import networkx as nx
        >>> as_graph(nx.path_graph(3))
        Graph(num_nodes=3, num_edges=2, directed=False, weighted=False)
    """
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str | PathLike):
        from graphreach.io import read_graph

        return read_graph(graph)
    module = type(graph).__module__.partition(".")[0]
    if module == "networkx":
        return Graph.from_networkx(graph)
    if module == "scipy":
        return Graph.from_scipy(graph)
    if module == "torch_geometric":
        return Graph.from_pyg(graph)
    raise InputError(f"{name} must be a Graph, a networkx, SciPy or PyG graph or a path, got {describe(graph)}")


# Without scikit-learn's wrapper of transform, which knows no argument of the name graph.
class GraphReachEmbedding(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """Position-aware node embeddings as a scikit-learn estimator, trained on the graph's links without labels.

    Args:
        num_anchors: Number of anchors, which is the width of the embedding; see :func:`graphreach.select_anchors`.
        strategy: Of anchor selection.
        preset: ``"best"``, ``"paper"`` or ``"authors"``; see :data:`graphreach.nn.PRESETS`.
        hidden_channels: Width of the hidden layers.
        num_layers: Layers of the model.
        epochs: Passes over the links.
        learning_rate: Of Adam; a tenth of it after 200 epochs.
        batch_size: Links of a step; by default all of them on graphs up to 50,000 nodes and 8,192 beyond.
        random_state: Seed of walks, weights and sampled pairs. The same seed gives the same embedding bit for bit.
        engine: ``"local"``, or ``"ray"``: training steps are shared by workers of a Ray cluster; the same but for rounding.
        address: Of the cluster, see :func:`graphreach.cluster.connected`; None starts a Ray on this machine.
        workers: Processes of ``"ray"`` that share the steps; 2 by default.

    Attributes:
        embedding_: ``[n, k]``, rows in the order of ``ids_``.
        ids_: The graph's node ids.
        anchors_: Ids of the anchors.
        loss_: Training loss of each epoch.
        model_: The trained :class:`graphreach.nn.GraphReach`.

    Example:
        >>> import graphreach as gr
        >>> graph = gr.Graph.from_edge_list([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")])
        >>> embedding = gr.GraphReachEmbedding(num_anchors=2, epochs=3).fit(graph)
        >>> embedding.embedding_.shape
        (5, 2)
        >>> embedding.score_pairs([("a", "b"), ("a", "e")]).shape
        (2,)
    """

    def __init__(
        self,
        num_anchors: int | float | str = "log2",
        strategy: str = "greedy",
        preset: str = "best",
        hidden_channels: int = 32,
        num_layers: int = 2,
        epochs: int = 200,
        learning_rate: float = 0.01,
        batch_size: int | None = None,
        random_state: int = 0,
        engine: str = "local",
        address: str | None = None,
        workers: int | None = None,
    ) -> None:
        self.num_anchors = num_anchors
        self.strategy = strategy
        self.preset = preset
        self.hidden_channels = hidden_channels
        self.num_layers = num_layers
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.random_state = random_state
        self.engine = engine
        self.address = address
        self.workers = workers

    def fit(self, graph: Any, y: Any = None) -> Self:
        """Train on the links of ``graph``: a :class:`Graph`, or a networkx, SciPy or PyG graph."""
        graph = as_graph(graph)
        if graph.num_edges == 0:
            raise InputError("graph must have links to train on, got none")
        self._check_parameters()
        resolve_num_anchors(self.num_anchors, graph.num_nodes)
        engine = Engine.make(self.engine, self.address, self.workers)
        with engine.ready(), torch.random.fork_rng(devices=[]):
            inputs = self._inputs(graph, None, engine)
            self._train(graph, inputs, engine)
        self.ids_, self.anchors_, self._graph = graph.ids, graph.ids[inputs.anchors], graph
        self.embedding_ = self._embed(inputs)
        return self

    def transform(self, graph: Any, new_anchors: bool = False) -> NDArray[np.float32]:
        """Embed a graph by the trained model, rows in the order of its ids.

        Args:
            graph: The graph that was trained on, grown or changed: the anchors stay and only reachability is computed
                anew. Ids may have turned from integers to text or back. A few anchors that are gone are named in a
                warning and their columns are zero; a graph without more of them is refused.
            new_anchors: Whether to choose as many anchors in this graph instead, for one that has nothing to do with the
                graph that was trained on.
        """
        self._check_fitted()
        graph = as_graph(graph)
        if check_flag("new_anchors", new_anchors):
            count = min(len(self.anchors_), graph.num_nodes)
            chosen = select_anchors(graph, count, self.strategy, seed=self.random_state).anchors
            return self._embed(self._inputs(graph, chosen))
        match = match_anchors(self.anchors_.tolist(), graph)
        return match.widen(self._embed(self._inputs(graph, match.positions)))

    def fit_transform(self, graph: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float32]:
        """Train, and return the embedding."""
        return self.fit(graph).embedding_

    def get_embedding(self) -> NDArray[np.float32]:
        """The embedding of the graph that was trained on, as karateclub names it."""
        if not hasattr(self, "embedding_"):
            raise InputError(
                "GraphReachEmbedding must be fitted first: call fit(graph), or transform(graph) if it was loaded"
            )
        return self.embedding_

    def score_pairs(
        self, pairs: Iterable[tuple[Any, Any]], graph: Any = None, new_anchors: bool = False
    ) -> NDArray[np.float32]:
        """The probability that each pair of ids is a link.

        Args:
            pairs: Rows ``(u, v)`` of node ids: a list of pairs or an array ``[m, 2]``.
            graph: The graph that they are in, if it is not the one that was trained on.
            new_anchors: See :meth:`transform`.
        """
        self._check_fitted()
        known = self._graph if graph is None else as_graph(graph)
        if known is None:
            raise InputError("graph must be given to an estimator that was loaded from a folder, got None")
        ends = pair_rows(pairs)
        if not ends[0]:
            return np.empty(0, np.float32)
        index = torch.from_numpy(np.stack([known.index_of(side) for side in ends]))
        z = self.embedding_ if graph is None and hasattr(self, "embedding_") else self.transform(known, new_anchors)
        with torch.no_grad(), one_torch_thread():
            scores: NDArray[np.float32] = self.model_.score_pairs(torch.from_numpy(z), index).sigmoid().numpy()
        return scores

    def save(self, folder: str | Path) -> None:
        """Write the model, the anchors' ids and all parameters to a folder; nothing is pickled."""
        self._check_fitted()
        _check_folder(folder)
        self.model_.save_pretrained(folder, estimator=self.get_params(), anchors=_plain(self.anchors_))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """An estimator that :meth:`save` wrote, ready to ``transform``."""
        _check_folder(folder)
        model = GraphReach.from_pretrained(folder)
        metadata: dict[str, Any] = model.metadata  # type: ignore[assignment]
        if not {"estimator", "anchors"} <= metadata.keys():
            raise InputError(f"folder must hold a saved GraphReachEmbedding, got a bare model in {folder}")
        estimator = cls(**_saved_parameters(cls, metadata["estimator"], folder))
        estimator.model_, estimator._graph = model, None
        estimator.anchors_ = _saved_anchors(metadata["anchors"], folder)
        try:
            estimator._check_parameters()
        except InputError as error:
            raise InputError(f"{folder} must hold a saved GraphReachEmbedding, but {error}") from None
        return estimator

    def _settings(self, graph: Graph) -> Settings:
        large = {
            name: standalone(graph.num_nodes, self.preset).get(name) for name in ("model", "reachability", "scale")
        }
        return Settings.make(
            preset=self.preset, hidden_channels=self.hidden_channels, num_layers=self.num_layers,
            num_anchors=self.num_anchors, strategy=self.strategy, epochs=self.epochs, learning_rate=self.learning_rate,
            weight_decay=0.0, later_learning_rate=self.learning_rate / 10, pairs_per_step=self.batch_size,
            seed=self.random_state, **{name: value for name, value in large.items() if value is not None},
        )  # fmt: skip

    def _inputs(self, graph: Graph, anchors: NDArray[np.int64] | None, engine: Engine | None = None) -> Inputs:
        place = {} if engine is None else engine.place
        return find_method("graphreach").inputs(graph, None, self._settings(graph), Clock(), anchors, **place)

    def _train(self, graph: Graph, inputs: Inputs, engine: Engine) -> None:
        settings = self._settings(graph)
        torch.manual_seed(self.random_state)
        model = TaskModel(find_method("graphreach").build(0, None, settings), "link")
        source, target = graph.edge_index
        once = slice(None) if graph.directed else source <= target
        links = np.stack([source[once], target[once]])
        nothing = Examples(np.empty((2, 0), np.int64), np.empty(0, np.int64))
        examples = Examples(links, np.ones(links.shape[1], np.int64))
        split = Split("link", graph, None, examples, nothing, nothing, None, "all", self.random_state)
        trainer = Trainer(model, make_batches([split], [inputs], 1), settings, refresh=_with_random_pairs)
        engine.train(trainer)
        self.loss_ = trainer.progress.losses
        if not isinstance(model.encoder, GraphReach):
            raise TypeError("the method graphreach builds GraphReach")
        self.model_ = model.encoder

    def _embed(self, inputs: Inputs) -> NDArray[np.float32]:
        return np.concatenate(list(inputs.blocks(self.model_.eval())))

    def _check_parameters(self) -> None:
        check_count("epochs", self.epochs)
        check_whole("hidden_channels", self.hidden_channels, 1, WIDEST)
        check_whole("num_layers", self.num_layers, 1, WIDEST)
        check_choice("preset", self.preset, PRESETS)
        check_whole("random_state", self.random_state, 0, 2**63 - 1)
        check_engine(self.engine, address=self.address, workers=self.workers)
        if not callable(self.strategy):
            check_choice("strategy", self.strategy, ["greedy", *STRATEGIES], more=" or a function")
        if self.batch_size is not None:
            check_count("batch_size", self.batch_size)
        check_number("learning_rate", self.learning_rate, 0, above=True)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise InputError("GraphReachEmbedding must be fitted first: call fit(graph)")


def _with_random_pairs(batches: list[Batch], seed: int) -> list[Batch]:
    """The links, and as many random pairs, drawn anew in every epoch."""
    (batch,) = batches
    links = batch.train.index
    generator = torch.Generator().manual_seed(seed)
    others = torch.randint(batch.inputs.num_nodes, links.shape, generator=generator)
    label = torch.cat([torch.ones(links.size(1)), torch.zeros(links.size(1))])
    return [replace(batch, train=Part(torch.cat([links, others], 1), label, None))]


def _check_folder(folder: Any) -> None:
    if not isinstance(folder, str | PathLike):
        raise InputError(f"folder must be the name of a folder, got {describe(folder)}")


def _saved_parameters(kind: type, parameters: Any, folder: Any) -> dict[str, Any]:
    known = list(inspect.signature(kind).parameters)
    if not isinstance(parameters, dict):
        raise InputError(f"{folder} must hold the parameters of an estimator, got {describe(parameters)}")
    unknown, missing = set(parameters) - set(known), set(known) - set(parameters)
    if unknown or missing:
        odd = sorted(map(str, unknown or missing))[0]
        raise InputError(
            f"{folder} must hold the parameters of an estimator, got one {'with' if unknown else 'without'} {odd!r}"
        )
    return parameters


def _saved_anchors(anchors: Any, folder: Any) -> NDArray[Any]:
    plain = isinstance(anchors, list) and all(type(each) in (int, float, str) for each in anchors)
    if not plain or not anchors or len(set(anchors)) < len(anchors):
        raise InputError(f"{folder} must hold the ids of different anchors, got {describe(anchors)}")
    return ids_array(anchors)


def _plain(ids: NDArray[Any]) -> list[Any]:
    values: list[Any] = ids.tolist()
    if not all(isinstance(value, int | float | str) for value in values):
        raise InputError("node ids must be numbers or strings to be saved")
    return values
