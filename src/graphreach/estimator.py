"""fit and transform for people who want no training loop."""

import inspect
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from graphreach.anchors.select_anchors import resolve_num_anchors
from graphreach.anchors.strategies import STRATEGIES
from graphreach.arguments import check_choice, check_flag, check_whole, describe, pair_rows
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import ids_array
from graphreach.graph.matching import check_anchor_ids, check_saved_ids, match_ids
from graphreach.io.graphs import as_graph
from graphreach.nn.pretrained import saved_model
from graphreach.pairs import check_attributes
from graphreach.progress import Clock
from graphreach.vectors.link_scorer import LinkScorer, fit_with_links
from graphreach.vectors.node_vectors import NodeVectors, VectorOptions, fit_vectors
from graphreach.vectors.positions import PositionVectors, default_anchors, find_anchors, fit_positions
from graphreach.vectors.saved import SavedVectors, load_vectors, save_vectors, vector_arrays, vectors_from
from graphreach.walks.defaults import STRATEGY
from graphreach.walks.engine import Engine

METHODS = ("reach", "position", "paper")
"""What makes an embedding."""

DIM = 128
"""Width of an embedding that is not the paper's."""

ATTRIBUTES = ("smooth", "append")
"""How attributes are read: with those around a node, or by themselves."""

PAPER_ONLY = (
    "preset", "hidden_channels", "num_layers", "epochs", "learning_rate", "batch_size", "settings", "engine", "device",
)  # fmt: skip
"""Arguments that only the paper's model has."""

Pairs = NDArray[np.int64]


# Without scikit-learn's wrapper of transform, which knows no argument of the name graph.
class GraphReachEmbedding(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """Vectors of a graph's nodes as a scikit-learn estimator, without labels: for classes, nearest nodes and links.

    Three methods:

    - ``"reach"`` compresses three parts together, each row of length 1: reachability in one step to all nodes (neighbours),
      reachability to many anchors (position), and skip-gram vectors of short walks. Neighbours are added up over two steps
      unless held-out links say that linked nodes are not alike. Nodes that come later are placed without changing others.
    - ``"position"`` is log(1 + lift) of walks to anchors, one column for each anchor and each of two lengths: nothing is
      trained.
    - ``"paper"`` is the model of the GraphReach paper, trained on the graph's links.

    With the first two, a tenth of the links, at most 10,000, are held out to learn how pairs are scored by their vectors
    (``score_pairs``, ``auc_``); then vectors are made again with all links.

    Args:
        method: See above.
        dim: Width of the embedding, by default 128; of the paper's model it is the number of anchors.
        num_anchors: Number of anchors; see :func:`graphreach.select_anchors`. ``"auto"`` is 256, or 128 beyond 50,000
            nodes; half the width with ``"position"``; ``"log2"`` up to 10,000 nodes and 128 beyond with ``"paper"``.
        strategy: How anchors are selected.
        directed: Whether source and target of directed edges have a half of the width each, with ``"reach"``. Directions do
            not count otherwise.
        attributes: ``"smooth"``: attributes are added up over two steps; ``"append"``: they are read by themselves. In both
            cases they are compressed to a fourth part.
        preset: ``"best"``, ``"paper"`` or ``"authors"``; see :data:`graphreach.nn.PRESETS`. This and all arguments below
            but ``random_state`` go with ``method="paper"`` only.
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
        held_out_links_: Number of links that ``auc_`` is of.
        seconds_: Times by phase.
        best_epoch_: Epoch whose model was chosen, with ``"paper"``; so are the following.
        loss_: Training loss of each epoch.
        model_: The trained :class:`graphreach.nn.GraphReach`.
        settings_: All settings that the model was trained with.
        cluster_: Workers, cores and nodes that trained it, or None.

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

    _vectors: NodeVectors | PositionVectors
    _scorer: LinkScorer
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
        """An estimator of the paper's model with those of ``settings`` that were set.

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
            graph: A :class:`Graph`, a networkx, SciPy or PyG graph, or the path of a file.
            y: Ignored; scikit-learn passes it.
            x: Attributes ``[n, d]`` in the order of the graph's ids, or None.
        """
        self._check_parameters()
        if self.method == "paper":
            self._take(self._new_paper().fit(graph, x=x))
            return self
        known, clock = as_graph(graph), Clock()
        if known.num_edges == 0:
            raise InputError("graph must have links to embed, got none")
        attributes = self._read_attributes(x, known)
        options = self._options(known)
        with clock.phase("anchors"):
            anchors = find_anchors(known, options.num_anchors, options.strategy, options.seed)
        with clock.phase("vectors"):

            def make(graph: Graph, start: Any, examples: Any) -> Any:
                if self.method == "position":
                    return fit_positions(graph, options.dim, options.strategy, options.seed, anchors)
                return fit_vectors(graph, options, attributes, anchors, start, examples)

            vectors, scorer = fit_with_links(known, make, options.seed)
        self._keep_vectors(known, vectors, scorer)
        self.seconds_ = clock.seconds
        return self

    def partial_fit(self, graph: Any, y: Any = None, *, x: Any = None) -> Self:
        """Embed a graph that has changed, going on from the vectors there are: those of known nodes move a little.

        New nodes are placed first, as :meth:`transform` does. Then the vectors of walks are trained on, and the other
        parts are computed anew and turned so that known nodes stay as near to where they were as they can. How pairs are
        scored stays.

        Args:
            graph: The graph that was embedded, grown or changed.
            y: Ignored; scikit-learn passes it.
            x: Attributes, if it was fitted with them.
        """
        if self.method != "reach":
            raise InputError(f"method must be 'reach' for partial_fit, got {self.method!r}")
        if not hasattr(self, "_scorer"):
            return self.fit(graph, y, x=x)
        known = as_graph(graph)
        attributes = self._read_again(x, known)
        start = self._on(known, attributes)
        if not isinstance(start, NodeVectors):
            raise InputError("graph must have nodes of the graph that was embedded, got none; call fit(graph)")
        anchors = match_ids(self.anchors_.tolist(), known.ids)
        kept = anchors[anchors >= 0]
        vectors = fit_vectors(known, start.options, attributes, kept if len(kept) == len(anchors) else None, start)
        self._keep_vectors(known, vectors, self._scorer)
        return self

    def transform(self, graph: Any, new_anchors: bool = False, *, x: Any = None) -> NDArray[np.float32]:
        """Vectors of a graph's nodes, in the order of its ids.

        With ``"reach"``, nodes that were embedded keep their vectors, and others are placed by their neighbours and by
        walks from them. A graph none of whose nodes is known is embedded by itself, with a warning: such vectors cannot be
        compared with those of the first graph. With ``"position"``, all positions are computed in the graph that is given,
        relative to the same anchors.

        Args:
            graph: The graph that was embedded, grown or changed. Ids may have turned from integers to text or back. With
                ``"paper"`` a few anchors that are gone are named in a warning and their columns are zero.
            new_anchors: Whether to choose other anchors in this graph, with ``"paper"`` and ``"position"``, for one that
                has nothing to do with the graph that was embedded.
            x: Attributes, if it was fitted with them.
        """
        self._check_fitted()
        if self.method == "paper":
            placed: NDArray[np.float32] = self._paper.transform(graph, new_anchors, x=x)
            return placed
        known = as_graph(graph)
        return self._on(known, self._read_again(x, known), check_flag("new_anchors", new_anchors)).rows

    def score_pairs(
        self, pairs: Iterable[tuple[Any, Any]], graph: Any = None, new_anchors: bool = False, *, x: Any = None,
        prior: float | str = 0.5,
    ) -> NDArray[np.float32]:  # fmt: skip
        """The probability that each pair of ids is a link.

        By the vectors of both nodes, with the context vectors of walks and the degrees, which are stored beside the
        embedding. It is calibrated on held-out links. With fewer than 20 links none are held out: the more alike two
        vectors are, the higher the pair scores.

        Args:
            pairs: Rows ``(u, v)`` of node ids: a list of pairs or an array ``[m, 2]``.
            graph: The graph that they are in, if it is not the one that was embedded; see :meth:`transform`.
            new_anchors: See :meth:`transform`.
            x: Attributes of another graph, if it was fitted with them.
            prior: The share of links among the pairs asked about, or ``"density"``, that among all pairs of the graph. With
                ``"paper"`` it is one half.
        """
        self._check_fitted()
        if self.method == "paper":
            if prior != 0.5:
                raise InputError(f"prior must be 0.5 with method 'paper', got {prior!r}")
            scores: NDArray[np.float32] = self._paper.score_pairs(pairs, graph, new_anchors, x=x)
            return scores
        if graph is None:
            ids, vectors, known = self.ids_, self._vectors, self._graph
        else:
            known = as_graph(graph)
            ids, vectors = known.ids, self._on(known, self._read_again(x, known), new_anchors)
        ends = pair_rows(pairs)
        rate = self._rate(prior, known)
        if not ends[0]:
            return np.empty(0, np.float32)
        index = np.stack([known.index_of(side) if known is not None else _find(side, ids) for side in ends])
        logits = self._scorer.logits(vectors, index) + np.log(rate / (1 - rate))
        chance: NDArray[np.float32] = (1 / (1 + np.exp(-np.clip(logits, -80, 80)))).astype(np.float32)
        return chance

    def nearest(self, ids: Any, top: int = 10, metric: str = "cosine") -> list[list[tuple[Any, float]]]:
        """The nodes with the nearest vectors, for each of some nodes: their ids and how alike they are, the nearest first.

        Args:
            ids: Ids of nodes, or one id.
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
        asked = ids if isinstance(ids, list | tuple | np.ndarray) else [ids]
        index = _find(list(asked), known, "ids")
        if getattr(self, "_nearest", (None,))[0] is not rows or self._nearest[1].metric != metric:
            self._nearest = (rows, NearestNodes(rows, metric))
        found, alike = self._nearest[1].of(index, top)
        return [
            list(zip(known[near].tolist(), own.tolist(), strict=True)) for near, own in zip(found, alike, strict=True)
        ]

    def save(self, folder: str | Path) -> None:
        """Write all that was fitted and all parameters to a folder; nothing is pickled."""
        self._check_fitted()
        if self.method == "paper":
            self._paper.save(folder)
            return
        _check_folder(folder)
        own = {name: value for name, value in self.get_params().items() if name not in PAPER_ONLY}
        arrays = {"rows": self._vectors.rows, "degree": self._vectors.degree}
        options: dict[str, Any] | None = None
        if isinstance(self._vectors, NodeVectors):
            arrays, options = vector_arrays(self._vectors), asdict(self._vectors.options)
        save_vectors(
            folder, arrays, self._scorer, estimator=own, ids=check_saved_ids(self.ids_),
            anchors=check_saved_ids(self.anchors_), anchor_positions=self._vectors.anchors.tolist(), options=options,
        )  # fmt: skip

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """An estimator that :meth:`save` wrote, ready to ``transform``."""
        from graphreach.training.saved_models import check_saved

        _check_folder(folder)
        path = Path(folder)
        check_saved(path, "GraphReachEmbedding")
        if saved_model(path) != SavedVectors.__name__:
            from graphreach.paper_embedding import PaperEmbedding

            paper = PaperEmbedding.load(folder)
            whole = cls("paper", **paper.get_params())
            whole._take(paper)
            return whole
        arrays, scorer, found = load_vectors(path)
        try:
            estimator = cls(**found["estimator"])
            estimator._check_parameters()
            ids, anchors = (check_anchor_ids(found[name], path) for name in ("ids", "anchors"))
            at = [int(place) for place in found["anchor_positions"]]
            vectors: NodeVectors | PositionVectors = (
                PositionVectors(arrays["rows"], np.array(at, np.int64), arrays["degree"].astype(np.float64))
                if found["options"] is None
                else vectors_from(arrays, found["options"], at)
            )
            if ids is None or len(ids) != len(vectors.rows):
                raise InputError(f"it has {len(vectors.rows)} vectors for {len(ids or [])} ids")
        except (InputError, KeyError, TypeError, ValueError, AttributeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{folder} must hold a saved GraphReachEmbedding, but {reason}") from None
        estimator._scorer, estimator._vectors, estimator._graph = scorer, vectors, None
        estimator.ids_, estimator.anchors_ = ids_array(ids), ids_array(anchors or [])
        estimator.embedding_ = vectors.rows
        estimator.auc_, estimator.held_out_links_ = scorer.auc, scorer.links
        return estimator

    def _keep_vectors(self, graph: Graph, vectors: NodeVectors | PositionVectors, scorer: LinkScorer) -> None:
        self._vectors, self._scorer, self._graph = vectors, scorer, graph
        self.embedding_, self.ids_, self.anchors_ = vectors.rows, graph.ids, graph.ids[vectors.anchors]
        self.auc_, self.held_out_links_ = scorer.auc, scorer.links

    def _on(self, graph: Graph, x: Any, new_anchors: bool = False) -> NodeVectors | PositionVectors:
        """Vectors of another graph."""
        if isinstance(self._vectors, PositionVectors):
            at = np.empty(0, np.int64) if new_anchors else match_ids(self.anchors_.tolist(), graph.ids)
            gone = int((at < 0).sum())
            if gone:
                raise InputError(
                    f"graph must have all {len(at)} anchors, got one without {gone}; new_anchors=True chooses others"
                )
            width = self._vectors.rows.shape[1]
            return fit_positions(graph, width, self.strategy, self.random_state, None if new_anchors else at)
        if new_anchors:
            raise InputError("new_anchors must be False with method 'reach', which needs no anchors for new nodes")
        place = match_ids(self.ids_.tolist(), graph.ids)
        kept = np.flatnonzero(place >= 0)
        if not len(kept):
            warnings.warn(
                "no node of graph was embedded before, so that it is embedded by itself: its vectors cannot be compared"
                " with those of the graph that was fitted",
                stacklevel=3,
            )
            before = self._vectors.options
            return fit_vectors(graph, replace(before, num_anchors=min(before.num_anchors, graph.num_nodes)), x)
        vectors = self._vectors if len(kept) == len(place) else self._vectors.taken(kept)
        known = place[kept]
        is_new = np.ones(graph.num_nodes, np.bool_)
        is_new[known] = False
        return vectors.grown(graph, known, np.flatnonzero(is_new), x)

    def _options(self, graph: Graph) -> VectorOptions:
        dim = DIM if self.dim is None else int(self.dim)
        if self.directed and not graph.directed:
            raise InputError("directed must be False for a graph whose edges have no direction, got True")
        auto = isinstance(self.num_anchors, str) and self.num_anchors == "auto"
        if auto:
            count = (
                min(-(-dim // 2), graph.num_nodes) if self.method == "position" else default_anchors(graph.num_nodes)
            )
        else:
            count = resolve_num_anchors(self.num_anchors, graph.num_nodes)
        return VectorOptions(dim, count, self.strategy, self.directed, self.attributes, int(self.random_state))

    def _read_attributes(self, x: Any, graph: Graph) -> Any:
        """Attributes of the nodes of a graph that is fitted."""
        if x is not None and self.method == "position":
            raise InputError("x must be None with method 'position', which reads no attributes")
        return None if x is None else check_attributes(x, graph.num_nodes)

    def _read_again(self, x: Any, graph: Graph) -> Any:
        """Attributes of the nodes of another graph: as many as were fitted with, or none."""
        part = self._vectors.attributes if isinstance(self._vectors, NodeVectors) else None
        if part is None and x is not None:
            raise InputError("x must be None, as it was fitted without attributes of nodes")
        if part is not None and x is None:
            raise InputError(f"x must be given, as it was fitted with {len(part.axes)} attributes, got None")
        return None if part is None else check_attributes(x, graph.num_nodes, len(part.axes))

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
        self._paper, self._graph = paper, paper._graph
        for name, value in vars(paper).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)

    def fit_transform(self, graph: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float32]:
        """Embed a graph, and return the embedding."""
        return self.fit(graph, **fit_params).embedding_

    def get_embedding(self) -> NDArray[np.float32]:
        """The embedding of the graph that was fitted, as karateclub names it."""
        if not hasattr(self, "embedding_"):
            raise InputError(
                "GraphReachEmbedding must be fitted first: call fit(graph), or transform(graph) if it was loaded"
            )
        return self.embedding_

    def _check_parameters(self) -> None:
        check_choice("method", self.method, METHODS)
        if self.method == "paper":
            for name in ("dim", "directed", "attributes"):
                if getattr(self, name) != DEFAULTS[name]:
                    hint = "num_anchors is its width" if name == "dim" else f"leave {name} out"
                    raise InputError(
                        f"{name} must not be given with method 'paper', got {getattr(self, name)!r}: {hint}"
                    )
        else:
            for name in PAPER_ONLY:
                value = getattr(self, name)
                if value is not DEFAULTS[name] and value != DEFAULTS[name]:
                    raise InputError(f"{name} must not be given with method {self.method!r}, got {describe(value)}")
            if self.dim is not None:
                check_whole("dim", self.dim, 1, 2**16)
            check_flag("directed", self.directed)
            check_choice("attributes", self.attributes, ATTRIBUTES)
            if self.directed and (self.dim or DIM) % 2:
                raise InputError(f"dim must be even with directed=True, got {self.dim}")
            if self.directed and self.method == "position":
                raise InputError("directed must be False with method 'position', got True")
            check_whole("random_state", self.random_state, 0, 2**32 - 1)
            check_choice("strategy", self.strategy, ["greedy", *STRATEGIES])

    def _check_fitted(self) -> None:
        if not hasattr(self, "_scorer") and not hasattr(self, "_paper"):
            raise InputError("GraphReachEmbedding must be fitted first: call fit(graph)")


DEFAULTS = {name: each.default for name, each in inspect.signature(GraphReachEmbedding.__init__).parameters.items()}
"""Defaults of the estimator's arguments."""


def _find(side: list[Any], ids: NDArray[Any], name: str = "pairs") -> NDArray[np.int64]:
    """Positions of ids of an embedding."""
    found = match_ids(side, ids)
    if (found < 0).any():
        raise InputError(f"{name} must hold ids of the embedding, got {side[int(np.argmax(found < 0))]!r}")
    return found


def _check_folder(folder: Any) -> None:
    if not isinstance(folder, str | PathLike):
        raise InputError(f"folder must be the name of a folder, got {describe(folder)}")
