"""fit and transform for people who want no training loop."""

import inspect
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from graphreach.arguments import as_frame, check_flag, describe, frame_columns, pair_rows, series_values
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.matching import find_ids, match_ids
from graphreach.io.graphs import as_graph, changed_graph
from graphreach.io.model_folder import saved_model
from graphreach.nn.skip_gram import undirected
from graphreach.pairs import check_attributes
from graphreach.progress import Clock
from graphreach.vectors.fitted import Fitted
from graphreach.vectors.link_scorer import fit_with_links
from graphreach.vectors.node_vectors import NodeVectors, fit_vectors
from graphreach.vectors.output import FrameOutput, column_names
from graphreach.vectors.parameters import PAPER_ONLY, check_parameters, choose_options
from graphreach.vectors.positions import PositionVectors, find_anchors, fit_positions
from graphreach.vectors.saved import SavedVectors, load_fitted, save_fitted
from graphreach.walks.defaults import STRATEGY
from graphreach.walks.engine import Engine


# Without scikit-learn's wrapper of transform, which knows no argument of the name graph.
class GraphReachEmbedding(FrameOutput, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """Vectors of a graph's nodes as a scikit-learn estimator, without labels: for classes, nearest nodes and links.

    There are three methods:

    - ``"reach"`` compresses four parts together, after scaling each row of a part: reachability in one step to all nodes
      (neighbours), reachability to many anchors (position), skip-gram vectors of short walks, and leading eigenvectors
      (outline). Neighbours and outline are added up over two steps unless held-out links show that linked nodes are not
      alike. Nodes that come later get vectors without changing those of other nodes.
    - ``"position"`` is log(1 + lift) of walks to anchors, with one column per anchor and per length of walk (two lengths).
      It trains nothing.
    - ``"paper"`` is the model of the GraphReach paper, trained on the graph's links.

    The first two methods hold out a tenth of the links, at least 10 and at most 10,000, to learn how to score pairs by
    their vectors (``score_pairs``, ``auc_``). Then they make the vectors again with all links. They hold out none of
    fewer than 50 links, or where nearly every pair is linked.

    Args:
        method: ``"reach"``, ``"position"`` or ``"paper"``; see above.
        dim: Width of the embedding, by default 128; for the paper's model it is the number of anchors.
        num_anchors: Number of anchors; see :func:`graphreach.select_anchors`. ``"auto"`` is 256, or 128 beyond 50,000
            nodes. With ``"position"`` it is half the width, which is the maximum. With ``"paper"`` it is ``"log2"`` up to
            10,000 nodes and 128 beyond.
        strategy: How anchors are selected.
        directed: With ``"reach"``, whether a node has one half of its vector as a source and the other half as a target of
            directed edges. Otherwise directions are ignored.
        attributes: ``"smooth"`` adds up attributes over two steps, ``"append"`` uses them unchanged. In both cases they
            become a fifth part.
        preset: ``"best"``, ``"paper"`` or ``"authors"``; see :data:`graphreach.nn.PRESETS`. This and all arguments below
            except ``random_state`` have an effect with ``method="paper"`` only.
        hidden_channels: Width of the hidden layers.
        num_layers: Number of layers.
        epochs: Maximum number of epochs; None is 300 up to 10,000 nodes, 200 up to 50,000 and 30 beyond.
        learning_rate: Learning rate of Adam; a tenth of it after 200 epochs.
        batch_size: Pairs per step; by default all of them on graphs up to 50,000 nodes and 8,192 beyond.
        random_state: Random seed. The same seed gives the same embedding bit for bit on any number of threads.
        settings: Other settings of training, see :class:`graphreach.training.Settings`.
        device: ``"cpu"``, ``"cuda"``, or ``"auto"``, which is CUDA where there is a GPU.
        engine: ``"local"``, ``"ray"``, or an engine such as :class:`graphreach.cluster.Ray`, whose workers share the steps.

    Attributes:
        embedding_: ``[n, dim]``, rows in the order of ``ids_``. Nodes without edges have zeros.
        ids_: The graph's node ids.
        anchors_: Ids of the anchors.
        auc_: AUC of the held-out links, nan if none were held out.
        held_out_links_: Number of links that ``auc_`` was measured on.
        seconds_: Times by phase.
        best_epoch_: Epoch whose model was chosen. This and the following four exist with ``"paper"`` only.
        loss_: Training loss of each epoch.
        model_: The trained :class:`graphreach.nn.GraphReach`.
        settings_: All settings that the model was trained with.
        cluster_: Workers, cores and nodes that trained it, or None.
        changed_: After :meth:`update`, ids of the nodes whose vectors it changed, new ones among them.

    Example:
        >>> import graphreach as gr
        >>> graph = gr.datasets.load("communities")[0].graph
        >>> embedding = gr.GraphReachEmbedding(dim=32).fit(graph)
        >>> embedding.embedding_.shape
        (400, 32)
        >>> near, far = embedding.score_pairs([(1, 3), (1, 399)])
        >>> bool(near > far)
        True
    """

    _fitted: Fitted
    _base: Fitted
    _graph: Graph | None
    _nearest: tuple[Any, Any]

    def __init__(
        self,
        method: str = "reach",
        dim: int | None = None,
        num_anchors: int | float | str = "auto",
        strategy: str = STRATEGY,
        directed: bool = False,
        attributes: str = "smooth",
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
        self.method = method
        self.dim = dim
        self.num_anchors = num_anchors
        self.strategy = strategy
        self.directed = directed
        self.attributes = attributes
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
    def from_settings(cls, settings: Any, **arguments: Any) -> Self:
        """An estimator of the paper's model, with the values in ``settings`` that were set.

        Args:
            settings: :class:`graphreach.training.Settings`.
            arguments: Other arguments of the estimator.

        Example:
            >>> from graphreach.training import Settings
            >>> GraphReachEmbedding.from_settings(Settings(seed=3))
            GraphReachEmbedding(method='paper', random_state=3)
        """
        from graphreach.paper_embedding import PaperEmbedding

        return cls("paper", **{**PaperEmbedding.from_settings(settings).get_params(), **arguments})

    def fit(self, graph: Any, y: Any = None, *, x: Any = None) -> Self:
        """Embed all nodes of a graph.

        Args:
            graph: A :class:`Graph`, a networkx, SciPy or PyG graph, a data frame of edges, or the path of a file.
            y: Ignored; scikit-learn passes it.
            x: Attributes ``[n, d]`` in the order of the graph's ids, or None.
        """
        given = self.get_params(deep=False)
        check_parameters(given, DEFAULTS)
        if self.method == "paper":
            self._take(self._new_paper().fit(graph, x=x))
            return self
        known, clock = as_graph(graph), Clock()
        if known.num_edges == 0:
            raise InputError("graph must have links to embed, got none")
        attributes, options = self._read_attributes(x, known), choose_options(given, known)
        walked = undirected(known) if known.directed and not options.directed else known
        with clock.phase("anchors"):
            anchors = find_anchors(walked, options.num_anchors, options.strategy, options.seed)
        with clock.phase("vectors"):

            def make(graph: Graph, start: Any, examples: Any) -> Any:
                if self.method == "position":
                    return fit_positions(graph, options.dim, options.strategy, options.seed, anchors)
                return fit_vectors(graph, options, attributes, anchors, start, examples)

            vectors, scorer = fit_with_links(walked, make, options.seed)
        self._keep(Fitted(vectors, scorer, known.ids, known.ids[vectors.anchors]), known)
        self.seconds_ = clock.seconds
        return self

    def partial_fit(self, graph: Any, y: Any = None, *, x: Any = None) -> Self:
        """Embed a graph that has changed, starting from the existing vectors: those of known nodes move a little.

        New nodes get their first vectors as in :meth:`transform`. Then training of the vectors of walks continues, and the
        other parts are computed again and rotated so that known nodes stay as close to their old vectors as possible. The
        scoring of pairs does not change. This fits an estimator that was not fitted yet, and refuses a graph without
        any known node.

        Args:
            graph: The graph that was embedded, grown or changed.
            y: Ignored; scikit-learn passes it.
            x: Attributes, if it was fitted with them.
        """
        if self.method != "reach":
            raise InputError(f"method must be 'reach' for partial_fit, got {self.method!r}")
        before: Fitted | None = getattr(self, "_fitted", None)
        if before is None or not isinstance(before.vectors, NodeVectors):
            return self.fit(graph, y, x=x)
        known, clock = as_graph(graph), Clock()
        attributes = before.read_attributes(x, known)
        with clock.phase("vectors"):
            start = before.known_vectors(known, attributes)
            if start is None:
                raise InputError("graph must have nodes of the graph that was embedded, got none; call fit(graph)")
            anchors = match_ids(before.anchors.tolist(), known.ids)
            kept = anchors if (anchors >= 0).all() else None
            vectors = fit_vectors(known, start.options, attributes, kept, start)
        self._keep(Fitted(vectors, before.scorer, known.ids, known.ids[vectors.anchors]), known)
        self.seconds_ = clock.seconds
        return self

    def update(
        self, add: Any = None, remove: Any = None, weights: Any = None, *, graph: Any = None, x: Any = None
    ) -> Self:
        """Change the graph of the embedding; all methods then answer for the changed graph.

        The embedding becomes what :meth:`transform` gives for the changed graph, bit for bit: nodes that were fitted keep
        their vectors, and all later ones are placed by the edges that there are now. So the order in which these came
        does not matter. With ``"position"`` all positions are computed in the changed graph.

        Args:
            add: Edges to add, as :meth:`graphreach.Graph.updated` takes them.
            remove: Edges to remove.
            weights: Edges with their new weights.
            graph: The changed graph itself, instead of what changes: one that :meth:`graphreach.Graph.updated` gave. A
                loaded estimator gets its first graph this way.
            x: Attributes of all nodes of the changed graph, in the order of its ids, if it was fitted with them.

        Example:
            >>> import graphreach as gr
            >>> graph = gr.datasets.load("communities")[0].graph
            >>> embedding = gr.GraphReachEmbedding(dim=32).fit(graph).update(add=[(0, 400), (1, 400)])
            >>> embedding.changed_, embedding.embedding_.shape
            (array([400]), (401, 32))
        """
        if self._is_paper():
            raise InputError("method must be 'reach' or 'position' for update, got 'paper', which has transform(graph)")
        if self._graph is None and graph is None:
            raise InputError("graph must be given to update an estimator that was loaded from a folder, got None")
        changed = changed_graph(self._graph, add, remove, weights, graph)
        base: Fitted = getattr(self, "_base", self._fitted)
        vectors = base.on(changed, x, False, self.strategy, self.random_state)
        before, differs = self.embedding_, np.ones(changed.num_nodes, np.bool_)
        if np.array_equal(self.ids_, changed.ids[: len(before)]):
            differs[: len(before)] = (vectors.rows[: len(before)] != before).any(axis=1)
        seconds = getattr(self, "seconds_", {})
        self._keep(Fitted(vectors, base.scorer, changed.ids, base.anchors), changed)
        self._base, self.changed_, self.seconds_ = base, changed.ids[differs], seconds
        return self

    def transform(self, graph: Any, new_anchors: bool = False, *, x: Any = None) -> NDArray[np.float32]:
        """Vectors of a graph's nodes, in the order of its ids.

        With ``"reach"``, embedded nodes keep their vectors, and the vectors of other nodes come from their neighbours
        and from walks that start at them. If no node of the graph is known, it is embedded separately, with a warning:
        its vectors cannot be compared with those of the first graph. With ``"position"``, all positions are computed in
        the given graph, relative to the same anchors.

        Args:
            graph: The graph that was embedded, grown or changed. Ids may have turned from integers to text or back. With
                ``"paper"`` a few anchors that are gone are named in a warning and their columns are zero.
            new_anchors: Whether to choose other anchors in this graph, with ``"paper"`` and ``"position"``, for one that
                has nothing to do with the graph that was embedded.
            x: Attributes, if it was fitted with them.
        """
        known, is_paper = as_graph(graph), self._is_paper()
        rows = self._paper.transform(known, new_anchors, x=x) if is_paper else self._on(known, x, new_anchors).rows
        placed: NDArray[np.float32] = self._in_container(rows, known.ids)
        return placed

    def score_pairs(
        self, pairs: Iterable[tuple[Any, Any]], graph: Any = None, new_anchors: bool = False, *, x: Any = None,
        prior: float | str = 0.5,
    ) -> NDArray[np.float32]:  # fmt: skip
        """The probability that each pair of ids is a link.

        It follows from the vectors of both nodes, the context vectors of walks and the degrees, which are stored with the
        embedding, and is calibrated on held-out links. If none were held out, the score is higher the more similar two
        vectors are, and is not a probability.

        Args:
            pairs: Rows ``(u, v)`` of node ids: a list of pairs, an array ``[m, 2]`` or a data frame of two columns.
            graph: The graph that they are in, if it is not the one that was embedded; see :meth:`transform`.
            new_anchors: See :meth:`transform`.
            x: Attributes of another graph, if it was fitted with them.
            prior: The share of links among these pairs; ``"density"`` is the share among all pairs of the graph. With
                ``"paper"`` it is one half.
        """
        if self._is_paper():
            if prior != 0.5:
                raise InputError(f"prior must be 0.5 with method 'paper', got {prior!r}")
            scores: NDArray[np.float32] = self._paper.score_pairs(pairs, graph, new_anchors, x=x)
            return scores
        if graph is None:
            ids, vectors, known = self.ids_, self._fitted.vectors, self._graph
        else:
            known = as_graph(graph)
            ids, vectors = known.ids, self._on(known, x, new_anchors)
        ends = pair_rows(pairs)
        rate = self._rate(prior, known)
        if not ends[0]:
            return np.empty(0, np.float32)
        index = np.stack([find_ids(side, ids, "pairs") for side in ends])
        logits = self._fitted.scorer.logits(vectors, index) + np.log(rate / (1 - rate))
        chance: NDArray[np.float32] = (1 / (1 + np.exp(-np.clip(logits, -80, 80)))).astype(np.float32)
        return chance

    def nearest(self, ids: Any, top: int = 10, metric: str = "cosine") -> list[list[tuple[Any, float]]]:
        """The nodes with the most similar vectors, for each of some nodes: their ids and similarities, the most similar
        first.

        Args:
            ids: Ids of nodes as a list, array, Series or range, or one id.
            top: Number of nodes for each.
            metric: ``"cosine"`` or ``"dot"``.

        Example:
            >>> import graphreach as gr
            >>> graph = gr.datasets.load("communities")[0].graph
            >>> ((partner, alike),) = gr.GraphReachEmbedding(dim=30).fit(graph).nearest(0, top=1)[0]
            >>> partner < 20  # the first community
            True
        """
        from graphreach.nearest import NearestNodes

        rows, known = self.get_embedding(), self.ids_
        index = find_ids(_listed(ids, known), known, "ids")
        if getattr(self, "_nearest", (None,))[0] is not rows or self._nearest[1].metric != metric:
            self._nearest = (rows, NearestNodes(rows, metric))
        found, alike = self._nearest[1].of(index, top)
        return [
            list(zip(known[near].tolist(), own.tolist(), strict=True)) for near, own in zip(found, alike, strict=True)
        ]

    def save(self, folder: str | Path) -> None:
        """Write all that was fitted and all parameters to a folder; nothing is pickled.

        With ``"paper"`` these are the model and its anchors, and :meth:`transform` makes the embedding again.
        """
        if self._is_paper():
            self._paper.save(folder)
            return
        own = {name: value for name, value in self.get_params().items() if name not in PAPER_ONLY}
        save_fitted(_check_folder(folder), self._fitted, own)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """An estimator that :meth:`save` wrote, ready to ``transform``."""
        from graphreach.training.saved_models import check_saved

        path = _check_folder(folder)
        check_saved(path, "GraphReachEmbedding")
        if saved_model(path) != SavedVectors.__name__:
            from graphreach.paper_embedding import PaperEmbedding

            paper = PaperEmbedding.load(folder)
            whole = cls("paper", **paper.get_params())
            whole._take(paper)
            return whole
        fitted, given = load_fitted(path)
        try:
            estimator = cls(**given)
            check_parameters(estimator.get_params(deep=False), DEFAULTS)
        except (InputError, TypeError) as error:
            raise InputError(f"{folder} must hold a saved GraphReachEmbedding, but {error}") from None
        estimator._keep(fitted, None)
        return estimator

    def _keep(self, fitted: Fitted, graph: Graph | None) -> None:
        """Keep what was fitted, as attributes too, and nothing of what was fitted before."""
        self._forget()
        self._fitted, self._graph = fitted, graph
        self.embedding_, self.ids_, self.anchors_ = fitted.vectors.rows, fitted.ids, fitted.anchors
        self.auc_, self.held_out_links_ = fitted.scorer.auc, fitted.scorer.links

    def _on(self, graph: Graph, x: Any, new_anchors: bool) -> NodeVectors | PositionVectors:
        """Vectors of another graph."""
        chosen = check_flag("new_anchors", new_anchors)
        return getattr(self, "_base", self._fitted).on(graph, x, chosen, self.strategy, self.random_state)

    def _read_attributes(self, x: Any, graph: Graph) -> Any:
        """Attributes of the nodes of a graph that is fitted."""
        if x is not None and self.method == "position":
            raise InputError("x must be None with method 'position', which reads no attributes")
        return None if x is None else check_attributes(x, graph.num_nodes)

    def _rate(self, prior: float | str, graph: Graph | None) -> float:
        from graphreach.training.base_rate import check_prior, density

        check_prior(prior)
        if not isinstance(prior, str):
            return float(prior)
        if graph is None:
            raise InputError("graph must be given where prior is 'density' and the estimator was loaded, got None")
        return density([graph])

    def _new_paper(self) -> Any:
        """An estimator of the paper's model with the same arguments."""
        from graphreach.paper_embedding import PaperEmbedding

        own = inspect.signature(PaperEmbedding.__init__).parameters
        return PaperEmbedding(**{name: value for name, value in self.get_params().items() if name in own})

    def _take(self, paper: Any) -> None:
        """Keep a fitted estimator of the paper's model, and its attributes as one's own."""
        self._forget()
        self._paper, self._graph = paper, paper._graph
        for name, value in vars(paper).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)

    def fit_transform(self, graph: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float32]:
        """Embed a graph, and return the embedding."""
        embedded: NDArray[np.float32] = self.fit(graph, **fit_params)._in_container(self.embedding_, self.ids_)
        return embedded

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the embedding's columns: ``z0``, ``z1``, ...

        Args:
            input_features: Ignored; scikit-learn passes it.
        """
        return column_names(self.get_embedding().shape[1])

    def get_embedding(self) -> NDArray[np.float32]:
        """The embedding of the fitted graph; karateclub uses this name."""
        if not hasattr(self, "embedding_"):
            raise InputError(
                "GraphReachEmbedding must be fitted first: call fit(graph), or transform(graph) if it was loaded"
            )
        return self.embedding_

    def to_frame(self, kind: str = "polars") -> Any:
        """The embedding as a data frame, with the columns ``id``, ``z0``, ``z1``, ... of ``graphreach embed``.

        Args:
            kind: ``"polars"`` or ``"pandas"``.

        Example:
            >>> import graphreach as gr
            >>> graph = gr.datasets.load("communities")[0].graph
            >>> gr.GraphReachEmbedding("position", dim=2).fit(graph).to_frame().columns
            ['id', 'z0', 'z1']
        """
        from graphreach.graph.outgoing import make_frame

        rows = self.get_embedding()
        return make_frame({"id": self.ids_, **dict(zip(self.get_feature_names_out(), rows.T, strict=True))}, kind)

    def _forget(self) -> None:
        for name in [*vars(self)]:
            if name in ("_fitted", "_base", "_paper", "_nearest") or (name.endswith("_") and not name.startswith("_")):
                delattr(self, name)

    def _is_paper(self) -> bool:
        """Whether the paper's model was fitted, whatever the parameters say since."""
        if not hasattr(self, "_fitted") and not hasattr(self, "_paper"):
            raise InputError("GraphReachEmbedding must be fitted first: call fit(graph)")
        return hasattr(self, "_paper")


DEFAULTS = {name: each.default for name, each in inspect.signature(GraphReachEmbedding.__init__).parameters.items()}
"""Defaults of the estimator's arguments."""


def _listed(ids: Any, known: NDArray[Any]) -> list[Any]:
    """One id or several as a list; a tuple is one id if a node has it."""
    frame = as_frame(ids)
    ids = series_values(ids if frame is None else frame_columns("ids", frame, 1, "node ids")[0])
    if isinstance(ids, np.ndarray):
        return list(np.atleast_1d(ids).tolist())
    if isinstance(ids, tuple) and match_ids([ids], known)[0] >= 0:
        return [ids]
    return list(ids) if isinstance(ids, list | tuple | range) else [ids]


def _check_folder(folder: Any) -> Path:
    if not isinstance(folder, str | PathLike):
        raise InputError(f"folder must be the name of a folder, got {describe(folder)}")
    return Path(folder)
