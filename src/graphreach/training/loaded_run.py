"""Any finished run, ready to score: a model, several models whose scores are added, or a method without training."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.lookup import IdLookup
from graphreach.io.files import replacing
from graphreach.nn.decoders import LateFusion
from graphreach.nn.skip_gram import SkipGram
from graphreach.tasks import score
from graphreach.tasks.link_split import without_links
from graphreach.training.methods import SCORERS
from graphreach.training.outcome import load_arrays
from graphreach.training.run_folder import RECORD, RunFolder
from graphreach.training.settings import FITTED, HEURISTICS, Settings
from graphreach.training.trained_run import NO_PROBABILITIES, TrainedRun

Positions = NDArray[np.int64]
Features = NDArray[np.float32] | None

VECTORS = "vectors.npz"


def load_run(folder: str | Path, *, new_anchors: bool = False) -> "LoadedRun | TrainedRun":
    """The run of a folder, whatever its method.

    Args:
        folder: Folder of :func:`graphreach.training.run`.
        new_anchors: Whether every graph gets anchors of its own; see :class:`graphreach.training.TrainedRun`.

    Example:
        >>> import tempfile
        >>> import graphreach as gr
        >>> grid = gr.datasets.load("grid")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = gr.training.run(grid, Settings(method="common-neighbours"), folder)
        ...     run = load_run(folder)
        >>> run.score_pairs(run.embed(grid[0].graph), np.array([[0], [21]]), grid[0].graph)
        array([2.])
    """
    path = Path(folder)
    settings = RunFolder(path).settings
    if "+" in settings.method:
        return _FusedRun(path, settings, new_anchors)
    if settings.method in FITTED:
        return _load_fitted(path, settings, new_anchors)
    if settings.method in HEURISTICS:
        return _HeuristicRun(settings)
    if settings.method in SCORERS and settings.method != "closure":
        return _VectorRun(path, settings)
    return TrainedRun(path, new_anchors=new_anchors)


def _load_fitted(path: Path, settings: Settings, new_anchors: bool) -> "LoadedRun":
    if settings.task == "node":
        from graphreach.training.class_run import ClassRun

        return ClassRun(path, settings, new_anchors)
    from graphreach.training.reach_run import ReachRun

    return ReachRun(path, settings, new_anchors)


def used_features(settings: Settings, x: Features) -> Features:
    """Features of nodes if a run reads them, and there are any."""
    return x if settings.features and x is not None and x.shape[1] else None


def check_features(settings: Settings, x: Features, width: int | None) -> Features:
    """Features of a graph's nodes as a run was trained to read them.

    Args:
        settings: Settings of the run; features that it was told to leave out are left out here.
        x: Features ``[n, width]``, or None.
        width: Number of features that the run was trained with, or None.
    """
    found = used_features(settings, x)
    if width is not None and found is None:
        raise InputError(f"features of {width} columns must be given, as the run was trained with them, got none")
    if width is None and found is not None:
        raise InputError(f"features must not be given, as the run was trained without, got {found.shape[1]} columns")
    return found


class LoadedRun:
    """A finished run that scores pairs; here without classes of nodes, and with a score for every node."""

    settings: Settings

    @property
    def meaning(self) -> str:
        """What scores are, as a clause."""
        return NO_PROBABILITIES

    def meaning_of(self, z: Any) -> str:
        """What scores of pairs of one graph are, given what :meth:`embed` found of it, as a clause."""
        return self.meaning

    def embed(self, graph: Graph, x: Features = None) -> Any:
        """What has to be computed once for a graph; nothing, if pairs are scored as they come."""
        return None

    def knows(self, graph: Graph) -> NDArray[np.bool_]:
        """Which nodes of a graph can be scored."""
        return np.ones(graph.num_nodes, np.bool_)

    def logits(self, z: Any, pairs: Positions, graph: Graph) -> NDArray[Any]:
        """A number for each pair ``[2, m]`` of positions: higher means more likely."""
        raise NotImplementedError

    def score_pairs(self, z: Any, pairs: Positions, graph: Graph) -> NDArray[Any]:
        """The same on the scale that users see."""
        return self.logits(z, pairs, graph)

    def class_probabilities(self, z: Any, nodes: Positions) -> NDArray[Any]:
        """The share of each class for some nodes, ``[m, classes]``."""
        raise InputError(f"the run must be of task 'node' to predict classes, got task {self.settings.task!r}")


class _HeuristicRun(LoadedRun):
    """A run whose method scores pairs by the graph alone, say by common neighbours."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def logits(self, z: Any, pairs: Positions, graph: Graph) -> NDArray[Any]:
        """Scores by all edges but those between the ends of the pairs, which were hidden in training, too."""
        seen = without_links(graph, pairs) if self.settings.task == "link" else graph
        return score(self.settings.method, seen, pairs, **self.settings.model.given())


class _VectorRun(LoadedRun):
    """A run of DeepWalk or node2vec: vectors of the nodes that were there when it was trained."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        path = folder / VECTORS
        found = load_arrays(path, "vectors")
        names = ("embedding", "context")
        whole = {"ids", "directed", *names} <= found.keys() and found["ids"].dtype.kind == "U"
        whole = whole and found["ids"].ndim == 1 and found["directed"].shape == () and found["embedding"].ndim == 2
        shape = (len(found["ids"]), *found["embedding"].shape[1:]) if whole else ()
        if not whole or any(found[name].shape != shape or found[name].dtype != np.float32 for name in names):
            raise InputError(f"{path} must hold one vector of each kind per id; train it again")
        self.settings, self.ids, self.model = settings, found["ids"], SkipGram()
        self.model.embedding_, self.model.context_ = found["embedding"], found["context"]
        self.model.directed_ = bool(found["directed"])

    def embed(self, graph: Graph, x: Features = None) -> Any:
        """The row of each node among the vectors, -1 where there is none."""
        return IdLookup(self.ids).positions(_texts(graph))

    def knows(self, graph: Graph) -> NDArray[np.bool_]:
        known: NDArray[np.bool_] = self.embed(graph) >= 0
        return known

    def logits(self, z: Any, pairs: Positions, graph: Graph) -> NDArray[Any]:
        rows = z[pairs]
        if rows.size and rows.min() < 0:
            unknown = graph.ids[pairs[rows < 0][:3]].tolist()
            raise InputError(f"pairs must be of nodes that the run was trained with, got {unknown} without a vector")
        return self.model.score_pairs(rows)


def save_vectors(scorer: Any, graph: Graph, folder: Path) -> None:
    """Keep the vectors of a scorer that has some, by the text of the nodes' ids, so that nothing has to be pickled."""
    model = getattr(scorer, "__self__", None)
    if not isinstance(model, SkipGram):
        return
    ids = _texts(graph)
    order = np.argsort(ids, kind="stable")
    arrays: dict[str, Any] = {"embedding": model.embedding_[order], "context": model.context_[order]}
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / VECTORS) as partial:
        np.savez(partial, ids=ids[order], directed=np.array(model.directed_), **arrays)


def _texts(graph: Graph) -> NDArray[np.str_]:
    return np.array([str(each) for each in graph.ids.tolist()], dtype=np.str_)


class _FusedRun(LoadedRun):
    """A run that adds the scores of several methods with the weights that validation chose."""

    def __init__(self, folder: Path, settings: Settings, new_anchors: bool = False) -> None:
        self.settings = settings
        names = settings.method.split("+")
        if not (folder / RECORD).exists():
            raise InputError(
                f"folder must be of a finished run, as validation weighs its parts at the end, got {folder}"
            )
        self.parts = [load_run(folder / name, new_anchors=new_anchors) for name in names]
        self.weights = _weights(folder, len(names))
        self._fusions = [] if settings.task == "node" else _fusions(folder, names, self.weights)

    def embed(self, graph: Graph, x: Features = None) -> Any:
        return [part.embed(graph, x) for part in self.parts]

    def knows(self, graph: Graph) -> NDArray[np.bool_]:
        known: NDArray[np.bool_] = np.logical_and.reduce([part.knows(graph) for part in self.parts])
        return known

    def logits(self, z: Any, pairs: Positions, graph: Graph) -> NDArray[Any]:
        """Standardised scores, added: 0 is as high as validation pairs on average."""
        total, *others = (part.logits(own, pairs, graph) for part, own in zip(self.parts, z, strict=True))
        for fusion, other in zip(self._fusions, others, strict=True):
            total = fusion.score(total, other)
        return total

    def class_probabilities(self, z: Any, nodes: Positions) -> NDArray[Any]:
        first, *others = (part.class_probabilities(own, nodes) for part, own in zip(self.parts, z, strict=True))
        for other, weight in zip(others, self.weights, strict=True):
            first = (1 - weight) * first + weight * other
        return first


def _weights(folder: Path, count: int) -> list[float]:
    found = RunFolder(folder).record.get("weights")
    weights = found if isinstance(found, list) else []
    if len(weights) != count - 1 or not all(isinstance(each, int | float) and 0 <= each <= 1 for each in weights):
        raise InputError(f"{folder / RECORD} must hold the weights of {count - 1} parts, got {found!r:.80}")
    return [float(each) for each in weights]


def _fusions(folder: Path, names: list[str], weights: list[float]) -> list[LateFusion]:
    """What was added, step by step, with mean and deviation of the scores of validation pairs."""
    total, *others = (_validation(folder / name) for name in names)
    fusions = []
    for other, weight in zip(others, weights, strict=True):
        fusion = LateFusion()
        fusion.mean_ = [float(each.mean()) for each in (total, other)]
        fusion.std_ = [float(each.std()) or 1.0 for each in (total, other)]
        fusion.weight_ = weight
        fusions.append(fusion)
        total = fusion.score(total, other)
    return fusions


def _validation(folder: Path) -> NDArray[np.float64]:
    scores = RunFolder(folder).outcome().scores["val"]
    return np.concatenate([np.asarray(own, np.float64) for own in scores if own is not None])
