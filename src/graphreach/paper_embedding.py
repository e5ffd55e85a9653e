"""The embedding that the paper trains, as an estimator."""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from graphreach.anchors.select_anchors import resolve_num_anchors
from graphreach.anchors.strategies import STRATEGIES
from graphreach.arguments import check_choice, check_flag, check_number, check_whole, describe, pair_rows
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import ids_array
from graphreach.graph.matching import check_anchor_ids, check_saved_ids, find_ids
from graphreach.io.graphs import as_graph
from graphreach.nn.device import DEVICES
from graphreach.nn.graph_reach import GraphReach
from graphreach.nn.presets import PRESETS
from graphreach.nn.presets import preset as find_preset
from graphreach.progress import Clock
from graphreach.tasks.dataset import Sample
from graphreach.training.harness import run
from graphreach.training.inputs import WHOLE_GRAPH_NODES, Inputs
from graphreach.training.methods import find_method
from graphreach.training.model import TaskModel
from graphreach.training.outcome import Outcome
from graphreach.training.plan import resolve
from graphreach.training.settings import Settings, plain
from graphreach.training.trained_run import TrainedModel
from graphreach.walks.defaults import STRATEGY
from graphreach.walks.engine import Engine, find_engine
from graphreach.walks.walk_length import check_count

WIDEST = 2**20
"""Maximum number of channels and of layers; more is taken for a mistake."""

FEWEST_LINKS = 10
"""Minimum number of links for holding some out of training."""

HELD_OUT_LINKS = 50_000
"""Maximum number of links that are held out to choose the model, and again to test it."""

APART_NODES = 10_000
"""Maximum number of nodes for which the steps of exact reachability are kept separate."""

TOGETHER_LENGTH = 10
"""Jumps of a walk where steps are taken together; on validation links of Cora better than 4."""

MOST_ANCHORS = 128
"""Default number of anchors, and width of the embedding, of larger graphs."""

PLAIN = {
    "num_anchors": "num_anchors", "strategy": "strategy", "preset": "preset", "hidden_channels": "hidden_channels",
    "num_layers": "num_layers", "epochs": "epochs", "learning_rate": "learning_rate", "batch_size": "pairs_per_step",
    "random_state": "seed", "device": "device",
}  # fmt: skip
"""Arguments of the estimator and the settings that they correspond to."""

ELSEWHERE = ("engine", "address", "workers", "device")
"""Arguments that say where a model is trained, and nothing about the model; earlier versions stored the first three."""


LATER = ("method", "dim", "directed", "attributes")
"""Arguments of :class:`graphreach.GraphReachEmbedding` that the paper's model does not have."""


def recipe(num_nodes: int, num_links: int, preset: str = "best") -> dict[str, Any]:
    """Training settings for embeddings that contain everything: pairs are scored by their vectors only.

    Beyond :data:`APART_NODES` nodes reachability is sampled and its steps are taken together, as exact steps of every node
    and anchor take long and much memory; beyond :data:`WHOLE_GRAPH_NODES` training is in pieces. A tenth of the links, at
    most :data:`HELD_OUT_LINKS`, is held out to choose the model by, and as many to judge it.
    """
    chosen = find_preset(preset)
    held_out = min(0.1, HELD_OUT_LINKS / num_links) if num_links >= FEWEST_LINKS else 0.0
    model: dict[str, Any] = {"decoder": chosen.model.get("decoder", "dot")}
    settings: dict[str, Any] = {
        "task": "link", "protocol": "clean", "fractions": (1 - 2 * held_out, held_out, held_out), "model": model,
        "epochs": 300, "patience": 100,
    }  # fmt: skip
    if num_nodes > APART_NODES:
        settings |= {"num_anchors": MOST_ANCHORS, "epochs": 200, "patience": 50, "evaluate_every": 5}
        if chosen.model.get("hops"):
            large = num_nodes > WHOLE_GRAPH_NODES
            length, scale = (chosen.model["hops"], "log") if large else (TOGETHER_LENGTH, "counts")
            settings |= {"reachability": {"method": "walks", "hops": None, "walk_length": length}, "scale": scale}
            model["hops"] = None
    if num_nodes > WHOLE_GRAPH_NODES:
        settings |= {"epochs": 30, "patience": 8, "evaluate_every": 1, "drop_after": 20, "pairs_per_epoch": 1 << 18}
    return settings


# Without scikit-learn's wrapper of transform, which knows no argument of the name graph.
class PaperEmbedding(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """The paper's model, trained on the graph's links without labels: :class:`graphreach.GraphReachEmbedding` with
    ``method="paper"``.

    A tenth of the links, at most 50,000, is held out to choose the epoch, and as many to measure how well links are found
    (``auc_``). With fewer than 10 links all are used for training. The embedding itself is computed with all links.

    Args:
        num_anchors: Number of anchors, which is the width of the embedding; see :func:`graphreach.select_anchors`.
            ``"auto"`` is ``"log2"`` up to 10,000 nodes and 128 beyond.
        strategy: How anchors are selected.
        preset: ``"best"``, ``"paper"`` or ``"authors"``; see :data:`graphreach.nn.PRESETS`.
        hidden_channels: Width of the hidden layers.
        num_layers: Number of layers.
        epochs: Maximum number of epochs; None is 300 up to 10,000 nodes, 200 up to 50,000 and 30 beyond.
        learning_rate: Learning rate of Adam; a tenth of it after 200 epochs.
        batch_size: Pairs per step; by default all of them on graphs up to 50,000 nodes and 8,192 beyond.
        random_state: Random seed for the links held out, walks and weights. The same seed gives the same embedding bit for
            bit.
        settings: Other settings of training, see :class:`graphreach.training.Settings`.
        device: ``"cpu"``, ``"cuda"``, or ``"auto"``, which is CUDA where there is a GPU. Its numbers differ from a CPU's by
            rounding.
        engine: ``"local"``, ``"ray"``, or an engine such as :class:`graphreach.cluster.Ray`, whose workers share the steps;
            the result is the same up to rounding.

    Attributes:
        embedding_: ``[n, k]``, rows in the order of ``ids_``.
        ids_: The graph's node ids.
        anchors_: Ids of the anchors.
        auc_: AUC of the held-out links, nan if none were held out.
        held_out_links_: Number of links that ``auc_`` was measured on.
        best_epoch_: Epoch whose model was chosen.
        loss_: Training loss of each epoch.
        model_: The trained :class:`graphreach.nn.GraphReach`.
        settings_: All settings that the model was trained with.
        seconds_: Times by phase.
        cluster_: Workers, cores and nodes that trained it, or None.

    Example:
        >>> import graphreach as gr
        >>> graph = gr.Graph.from_edge_list([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")])
        >>> embedding = gr.GraphReachEmbedding(method="paper", num_anchors=2, epochs=3).fit(graph)
        >>> embedding.embedding_.shape
        (5, 2)
        >>> embedding.score_pairs([("a", "b"), ("a", "e")]).shape
        (2,)
    """

    _graph: Graph | None

    def __init__(
        self,
        num_anchors: int | float | str = "auto",
        strategy: str = STRATEGY,
        preset: str = "best",
        hidden_channels: int = 32,
        num_layers: int = 2,
        epochs: int | None = None,
        learning_rate: float = 0.01,
        batch_size: int | None = None,
        random_state: int = 0,
        settings: Mapping[str, Any] | None = None,
        engine: Engine | str = "local",
        device: str = "auto",
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
        self.settings = settings
        self.engine = engine
        self.device = device

    @classmethod
    def from_settings(cls, settings: Settings, **arguments: Any) -> Self:
        """An estimator with the values in ``settings`` that were set; the recipe provides the rest.

        Args:
            settings: Settings of training.
            arguments: Other arguments of the estimator.

        Example:
            >>> PaperEmbedding.from_settings(Settings(seed=3, weight_decay=0.0))
            PaperEmbedding(random_state=3, settings={'weight_decay': 0.0})
        """
        rest = settings.model_dump(exclude_unset=True)
        own = {name: rest.pop(field) for name, field in PLAIN.items() if field in rest}
        return cls(**own, settings=rest or None, **arguments)

    def fit(self, graph: Any, y: Any = None, *, x: Any = None) -> Self:
        """Train on the links of a graph and embed all of it.

        Args:
            graph: A :class:`Graph`, a networkx, SciPy or PyG graph, or the path of a file.
            y: Ignored; scikit-learn passes it.
            x: Features ``[n, d]`` in the order of the graph's ids, or None.
        """
        inputs = self.fit_inputs(graph, x)
        self.embedding_ = np.concatenate(list(inputs.blocks(self.model_)))
        return self

    def fit_inputs(self, graph: Any, x: Any = None) -> Inputs:
        """Train as :meth:`fit` does, and return what the model reads of the whole graph, to embed it in blocks.

        For graphs whose embedding is written to a file and need not be in memory.

        Args:
            graph: See :meth:`fit`.
            x: See :meth:`fit`.

        Example:
            >>> ring = Graph.from_edges([range(20), [*range(1, 20), 0]])
            >>> embedding = PaperEmbedding(num_anchors=4, epochs=1)
            >>> inputs = embedding.fit_inputs(ring)
            >>> [block.shape for block in inputs.blocks(embedding.model_)]
            [(20, 4)]
        """
        sample = Sample(as_graph(graph), x)
        if sample.graph.num_edges == 0:
            raise InputError("graph must have links to train on, got none")
        settings = self.settings_on(sample.graph)
        engine = find_engine(self.engine)
        with engine.ready():
            outcome = run(sample, settings, engine=engine)
            anchors, clock = outcome.inputs[0].anchors, Clock(outcome.record["seconds"])
            outcome.inputs.clear()  # so that there is room for those of the whole graph
            with clock.phase("whole graph"):
                features = sample.x if settings.features else None
                plan = resolve(settings, sample.graph.num_nodes, features is not None)
                method = find_method(settings.method)
                inputs = method.inputs(sample.graph, features, plan, Clock(), anchors, engine=engine)
        self.__dict__.pop("embedding_", None)
        self.ids_, self._graph, self.settings_ = sample.graph.ids, sample.graph, settings
        self.anchors_, self.seconds_ = sample.graph.ids[inputs.anchors], clock.seconds
        self._keep(outcome)
        return inputs

    def _keep(self, outcome: Outcome) -> None:
        if outcome.model is None or not isinstance(outcome.model.encoder, GraphReach):
            raise TypeError("the method graphreach trains GraphReach")
        record = outcome.record
        self.model_ = outcome.model.encoder
        self.auc_ = outcome.test.get("auc", math.nan)
        self.held_out_links_ = record["test_examples"] // 2
        self.best_epoch_, self.loss_ = record["best_epoch"], outcome.losses
        self.cluster_ = record.get("cluster")

    def transform(self, graph: Any, new_anchors: bool = False, *, x: Any = None) -> NDArray[np.float32]:
        """Embed a graph by the trained model, rows in the order of its ids.

        Args:
            graph: The graph that was trained on, grown or changed: the anchors stay and only reachability is computed
                again. Ids may have turned from integers to text or back. A few anchors that are gone are named in a
                warning and their columns are zero; a graph without more of them is refused.
            new_anchors: Whether to choose as many anchors in this graph instead, for one that has nothing to do with the
                graph that was trained on.
            x: Features, if the model was trained with them.
        """
        self._check_fitted()
        known = as_graph(graph)
        trained = self._trained(known)
        if x is not None and trained.settings.features and not self.model_.in_channels:
            raise InputError("x must be None, as it was fitted without attributes of nodes")
        return trained.embed(known, x, new_anchors=check_flag("new_anchors", new_anchors))

    def score_pairs(
        self, pairs: Iterable[tuple[Any, Any]], graph: Any = None, new_anchors: bool = False, *, x: Any = None
    ) -> NDArray[np.float32]:
        """The probability that each pair of ids is a link.

        Args:
            pairs: Rows ``(u, v)`` of node ids: a list of pairs or an array ``[m, 2]``.
            graph: The graph that they are in, if it is not the one that was trained on.
            new_anchors: See :meth:`transform`.
            x: Features of another graph, if the model was trained with them.
        """
        self._check_fitted()
        known = self._graph if graph is None else as_graph(graph)
        if known is None:
            raise InputError("graph must be given to an estimator that was loaded from a folder, got None")
        ends = pair_rows(pairs)
        if not ends[0]:
            return np.empty(0, np.float32)
        index = np.stack([find_ids(side, known.ids, "pairs") for side in ends])
        same = graph is None and hasattr(self, "embedding_")
        z = self.embedding_ if same else self.transform(known, new_anchors, x=x)
        return self._trained(known).score_pairs(z, index, known)

    def save(self, folder: str | Path) -> None:
        """Write the model, the anchors' ids and all parameters to a folder; nothing is pickled."""
        self._check_fitted()
        _check_folder(folder)
        parameters = {name: value for name, value in self.get_params().items() if name not in ELSEWHERE}
        stored = {"settings": self.settings_.model_dump(mode="json")} if hasattr(self, "settings_") else {}
        self.model_.save_pretrained(folder, estimator=parameters, anchors=check_saved_ids(self.anchors_), **stored)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """An estimator that :meth:`save` wrote, ready to ``transform``."""
        _check_folder(folder)
        model = GraphReach.from_pretrained(folder)
        metadata: dict[str, Any] = model.metadata  # type: ignore[assignment]
        if not {"estimator", "anchors"} <= metadata.keys():
            raise InputError(f"folder must hold a saved GraphReachEmbedding, got a bare model in {folder}")
        parameters, stored = metadata["estimator"], metadata.get("settings")
        for part, value in (("estimator", parameters), ("settings", stored or {}), ("anchors", metadata["anchors"])):
            if not isinstance(value, list if part == "anchors" else dict):
                raise InputError(f"{folder} must hold the {part} of a GraphReachEmbedding, got {describe(value)}")
        unknown = [name for name in parameters if name not in (*cls().get_params(), *ELSEWHERE, *LATER)]
        if unknown:
            raise InputError(f"{folder} must hold the parameters of an estimator, got one with {unknown[0]!r}")
        own = {name: value for name, value in parameters.items() if name not in ELSEWHERE}
        estimator = cls(**{name: value for name, value in own.items() if name not in LATER})
        try:
            estimator._check_parameters()
            # An estimator of an earlier version kept no settings: they follow from the graph that it is given.
            if stored:
                estimator.settings_ = Settings(**stored)
            estimator.anchors_ = ids_array(check_anchor_ids(metadata["anchors"], Path(folder)) or [])
        except InputError as error:
            raise InputError(f"{folder} must hold a saved GraphReachEmbedding, but {error}") from None
        estimator.model_, estimator._graph = model, None
        return estimator

    def _trained(self, graph: Graph) -> TrainedModel:
        settings = self.settings_ if hasattr(self, "settings_") else self.settings_on(graph)
        return TrainedModel(TaskModel(self.model_, settings.task), settings, self.anchors_.tolist())

    def settings_on(self, graph: Graph) -> Settings:
        """All settings of training on a graph: the recipe's, then the arguments, then those given one by one."""
        self._check_parameters()
        if not (isinstance(self.num_anchors, str) and self.num_anchors == "auto"):
            resolve_num_anchors(self.num_anchors, graph.num_nodes)
        own = {field: getattr(self, name) for name, field in PLAIN.items()}
        own["later_learning_rate"] = self.learning_rate / 10
        own = {name: value for name, value in own.items() if value is not None and value != "auto"}
        other, settings = dict(self.settings or {}), recipe(graph.num_nodes, graph.num_edges, self.preset)
        for group in ("model", "reachability"):
            other[group] = {**settings.get(group, {}), **plain(other.get(group, {}))}
        found = Settings(**{**settings, **own, **other})
        for name, only in (("method", "graphreach"), ("task", "link")):
            if getattr(found, name) != only:
                got = getattr(found, name)
                raise InputError(f"{name} must be {only}, as embed makes its embeddings, got {got!r}")
        return found

    def _check_parameters(self) -> None:
        if self.epochs is not None:
            check_count("epochs", self.epochs)
        check_whole("hidden_channels", self.hidden_channels, 1, WIDEST)
        check_whole("num_layers", self.num_layers, 1, WIDEST)
        check_choice("preset", self.preset, PRESETS)
        check_whole("random_state", self.random_state, 0, 2**32 - 1)
        find_engine(self.engine)
        check_choice("device", self.device, DEVICES)
        check_choice("strategy", self.strategy, ["greedy", *STRATEGIES])
        if self.batch_size is not None:
            check_count("batch_size", self.batch_size)
        check_number("learning_rate", self.learning_rate, 0, above=True)
        named = isinstance(self.settings, Mapping) and all(isinstance(name, str) for name in self.settings)
        if self.settings is not None and not named:
            raise InputError(f"settings must be names and values, got {describe(self.settings)}")
        twice = [name for name, field in PLAIN.items() if field in (self.settings or {})]
        if twice:
            raise InputError(f"settings must not hold {PLAIN[twice[0]]!r}, which is the argument {twice[0]}")

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise InputError("GraphReachEmbedding must be fitted first: call fit(graph)")


def _check_folder(folder: Any) -> None:
    if not isinstance(folder, str | PathLike):
        raise InputError(f"folder must be the name of a folder, got {describe(folder)}")
