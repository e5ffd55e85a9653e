"""fit and transform for people who want no training loop."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from torch import Tensor

from graphreach.anchors import select_anchors
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn.graph_reach import GraphReach
from graphreach.nn.positions import Positions
from graphreach.nn.presets import preset as find_preset
from graphreach.progress import track
from graphreach.reachability import reachability
from graphreach.walks.walk_length import check_count

FULL_BATCH_NODES = 50_000
"""Nodes up to which every step embeds the whole graph."""

DENSE_BYTES = 2 << 30
"""Position matrices up to which exact reachability is used; beyond it is sampled and compressed."""

BLOCK_ROWS = 16_384


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

    def fit(self, graph: Any, y: Any = None) -> Self:
        """Train on the links of ``graph``: a :class:`Graph`, or a networkx, SciPy or PyG graph."""
        graph = as_graph(graph)
        if graph.num_edges == 0:
            raise InputError("graph must have links to train on, got none")
        self._check_parameters()
        anchors = select_anchors(graph, self.num_anchors, self.strategy, seed=self.random_state).anchors
        positions = self._positions(graph, anchors)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.random_state)
            arguments = {**find_preset(self.preset).model, "num_layers": self.num_layers}
            self.model_ = GraphReach(0, self.hidden_channels, **arguments)
            self._train(graph, positions)
        self.ids_, self.anchors_, self._graph = graph.ids, graph.ids[anchors], graph
        self.embedding_ = self._embed(positions)
        return self

    def transform(self, graph: Any) -> NDArray[np.float32]:
        """Embed a graph by the trained model, rows in the order of its ids.

        If it has all anchors' ids it is taken for the same graph, grown or changed: the anchors stay and only reachability
        is computed anew. Any other graph gets as many anchors of its own.
        """
        self._check_fitted()
        graph = as_graph(graph)
        return self._embed(self._positions(graph, self._anchors_in(graph)))

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
        with torch.no_grad():
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

    def _positions(self, graph: Graph, anchors: NDArray[np.int64]) -> Positions:
        settings = find_preset(self.preset)
        options = {**settings.reachability, "seed": self.random_state}
        size = 8 * graph.num_nodes * len(anchors) * (options.get("hops") or 1)
        if size > DENSE_BYTES:
            options |= {"method": "walks", "layout": "csr"}
        reach = reachability(graph, anchors, **options)
        return reach.rescaled(settings.scale).to_torch()

    def _train(self, graph: Graph, positions: Positions) -> None:
        optimizer = torch.optim.Adam(self.model_.parameters(), lr=self.learning_rate)
        schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [200])
        links = torch.from_numpy(np.ascontiguousarray(graph.edge_index[:, _each_once(graph)]))
        generator = torch.Generator().manual_seed(self.random_state)
        large = graph.num_nodes > FULL_BATCH_NODES
        size = self.batch_size or (8192 if large else links.size(1))
        self.loss_ = []
        self.model_.train()
        for _ in track(range(self.epochs), self.epochs, "training"):
            losses = [
                self._step(positions, batch, graph.num_nodes, optimizer, generator, whole=size >= links.size(1))
                for batch in links[:, torch.randperm(links.size(1), generator=generator)].split(size, 1)
            ]
            schedule.step()
            self.loss_.append(float(np.mean(losses)))
            if not np.isfinite(self.loss_[-1]):
                epoch = len(self.loss_)
                raise InputError(
                    f"the loss is not finite in epoch {epoch}; learning_rate {self.learning_rate} is too large"
                )
        self.model_.eval()

    def _step(
        self,
        positions: Positions,
        links: Tensor,
        num_nodes: int,
        optimizer: Any,
        generator: torch.Generator,
        whole: bool,
    ) -> float:
        random_pairs = torch.randint(num_nodes, links.shape, generator=generator)
        pairs = torch.cat([links, random_pairs], 1)
        if whole:
            z = self.model_(None, positions)
        else:
            nodes, pairs = torch.unique(pairs, return_inverse=True)
            z = self.model_(None, positions.rows(nodes))
        labels = (torch.arange(pairs.size(1)) < links.size(1)).to(z.dtype)
        loss = F.binary_cross_entropy_with_logits(self.model_.score_pairs(z, pairs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def _embed(self, positions: Positions) -> NDArray[np.float32]:
        self.model_.eval()
        with torch.no_grad():
            if positions.num_nodes <= FULL_BATCH_NODES:
                whole: NDArray[np.float32] = self.model_(None, positions).numpy()
                return whole
            out = np.empty((positions.num_nodes, positions.width), np.float32)
            begins = range(0, len(out), BLOCK_ROWS)
            for begin in track(begins, len(begins), "embedding"):
                nodes = torch.arange(begin, min(begin + BLOCK_ROWS, len(out)))
                out[begin : begin + len(nodes)] = self.model_(None, positions.rows(nodes))[: len(nodes)].numpy()
        return out

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


def _each_once(graph: Graph) -> NDArray[np.bool_]:
    """Which stored edges to take so that each link is taken once."""
    source, target = graph.edge_index
    once: NDArray[np.bool_] = np.ones(len(source), bool) if graph.directed else source <= target
    return once


def _plain(ids: NDArray[Any]) -> list[Any]:
    values: list[Any] = ids.tolist()
    if not all(isinstance(value, int | float | str) for value in values):
        raise InputError("node ids must be numbers or strings to be saved")
    return values
