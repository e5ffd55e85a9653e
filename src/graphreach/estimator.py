"""fit and transform for people who want no training loop."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from graphreach.anchors import select_anchors
from graphreach.embedding import standalone
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn.graph_reach import GraphReach
from graphreach.tasks import Examples, Split
from graphreach.threads import one_torch_thread
from graphreach.training.batches import Batch, Part, make_batches
from graphreach.training.clock import Clock
from graphreach.training.engine import Engine
from graphreach.training.inputs import Inputs
from graphreach.training.methods import find_method
from graphreach.training.model import TaskModel
from graphreach.training.settings import Settings
from graphreach.training.trainer import Trainer
from graphreach.walks.walk_length import check_count


class GraphReachEmbedding(TransformerMixin, BaseEstimator):  # type: ignore[misc]
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
        engine = Engine.make(self.engine, self.address, self.workers)
        with engine.ready(), torch.random.fork_rng(devices=[]):
            inputs = self._inputs(graph, None, engine)
            self._train(graph, inputs, engine)
        self.ids_, self.anchors_, self._graph = graph.ids, graph.ids[inputs.anchors], graph
        self.embedding_ = self._embed(inputs)
        return self

    def transform(self, graph: Any) -> NDArray[np.float32]:
        """Embed a graph by the trained model, rows in the order of its ids.

        If it has all anchors' ids it is taken for the same graph, grown or changed: the anchors stay and only reachability
        is computed anew. Any other graph gets as many anchors of its own.
        """
        self._check_fitted()
        graph = as_graph(graph)
        return self._embed(self._inputs(graph, self._anchors_in(graph)))

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

    def score_pairs(self, pairs: Iterable[tuple[Any, Any]], graph: Any = None) -> NDArray[np.float32]:
        """The probability that each pair of ids is a link.

        Args:
            pairs: Pairs of node ids.
            graph: The graph that they are in, if it is not the one that was trained on.
        """
        self._check_fitted()
        known = self._graph if graph is None else as_graph(graph)
        if known is None:
            raise InputError("graph must be given to an estimator that was loaded from a folder, got None")
        ends: list[Any] = [list(side) for side in zip(*pairs, strict=True)]
        if not ends:
            return np.empty(0, np.float32)
        z = self.embedding_ if graph is None and hasattr(self, "embedding_") else self.transform(known)
        index = torch.from_numpy(np.stack([known.index_of(side) for side in ends]))
        with torch.no_grad(), one_torch_thread():
            scores: NDArray[np.float32] = self.model_.score_pairs(torch.from_numpy(z), index).sigmoid().numpy()
        return scores

    def save(self, folder: str | Path) -> None:
        """Write the model, the anchors' ids and all parameters to a folder; nothing is pickled."""
        self._check_fitted()
        self.model_.save_pretrained(folder, estimator=self.get_params(), anchors=_plain(self.anchors_))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """An estimator that :meth:`save` wrote, ready to ``transform``."""
        model = GraphReach.from_pretrained(folder)
        metadata: dict[str, Any] = model.metadata  # type: ignore[assignment]
        if not {"estimator", "anchors"} <= metadata.keys():
            raise InputError(f"folder must hold a saved GraphReachEmbedding, got a bare model in {folder}")
        estimator = cls(**metadata["estimator"])
        estimator.model_, estimator._graph = model, None
        anchors = metadata["anchors"]
        kinds = {type(each) for each in anchors}
        estimator.anchors_ = np.array(anchors, dtype=None if len(kinds) == 1 else object)
        return estimator

    def _anchors_in(self, graph: Graph) -> NDArray[np.int64]:
        present = set(graph.ids.tolist())
        if all(each in present for each in self.anchors_.tolist()):
            return np.asarray(graph.index_of(self.anchors_))
        count = min(len(self.anchors_), graph.num_nodes)
        return select_anchors(graph, count, self.strategy, seed=self.random_state).anchors

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
        if self.batch_size is not None:
            check_count("batch_size", self.batch_size)
        if not self.learning_rate > 0:
            raise InputError(f"learning_rate must be above 0, got {self.learning_rate}")

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise InputError("GraphReachEmbedding must be fitted first: call fit(graph)")


def as_graph(graph: Any) -> Graph:
    """A graph from what people have: a :class:`Graph`, networkx, SciPy, PyG, a file's path.

    Example:
        >>> import networkx as nx
        >>> as_graph(nx.path_graph(3))
        Graph(num_nodes=3, num_edges=2, directed=False, weighted=False)
    """
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str | Path):
        from graphreach.graph import read_graph

        return read_graph(graph)
    module = type(graph).__module__.partition(".")[0]
    if module == "networkx":
        return Graph.from_networkx(graph)
    if module == "scipy":
        return Graph.from_scipy(graph)
    if module == "torch_geometric":
        return Graph.from_pyg(graph)
    raise InputError(f"graph must be a Graph, a networkx, SciPy or PyG graph or a path, got {type(graph).__name__}")


def _with_random_pairs(batches: list[Batch], seed: int) -> list[Batch]:
    """The links, and as many random pairs, drawn anew in every epoch."""
    (batch,) = batches
    links = batch.train.index
    generator = torch.Generator().manual_seed(seed)
    others = torch.randint(batch.inputs.num_nodes, links.shape, generator=generator)
    label = torch.cat([torch.ones(links.size(1)), torch.zeros(links.size(1))])
    return [replace(batch, train=Part(torch.cat([links, others], 1), label, None))]


def _plain(ids: NDArray[Any]) -> list[Any]:
    values: list[Any] = ids.tolist()
    if not all(isinstance(value, int | float | str) for value in values):
        raise InputError("node ids must be numbers or strings to be saved")
    return values
