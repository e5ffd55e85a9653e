"""The method ``reach`` on classes of nodes in the harness: learned, kept in the run's folder, and loaded again."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import describe, to_array, to_integers
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.io.model_folder import MODEL
from graphreach.progress import Clock
from graphreach.tasks import Split
from graphreach.tasks.node_labels import NodeLabels
from graphreach.training.class_scorer import ClassOptions, ClassScorer, learn_classes
from graphreach.training.loaded_run import Features, LoadedRun, Positions, check_features, used_features
from graphreach.training.settings import Settings


def fit_nodes(split: Split, settings: Settings, clock: Clock) -> tuple[ClassScorer, NDArray[np.float64]]:
    """Learn the classes of the training nodes; returns the scorer and the probabilities of all nodes.

    Classes are the numbers in the split, also those without a training node. Validation nodes are not used: what has to be
    chosen is chosen by cross-validation of the training nodes.
    """
    order = np.argsort(split.train.index, kind="stable")
    known, classes = split.train.label[order], split.num_classes or 0
    y = (known if split.train.several else known[:, None] == np.arange(classes)).astype(np.uint8)
    labels = NodeLabels(split.train.index[order], y, np.arange(classes), split.train.several)
    options = ClassOptions(**settings.model.given())
    return learn_classes(split.graph, labels, used_features(settings, split.x), options, settings.seed, clock)


def save_classes(scorer: ClassScorer, settings: Settings, folder: Path) -> None:
    """Keep the model and what it needs, as :meth:`graphreach.ReachClassifier.load` reads it too."""
    options = ClassOptions(**settings.model.given()).as_dict()
    scorer.save(folder / MODEL, estimator=options | {"random_state": settings.seed})


class ClassRun(LoadedRun):
    """A run of task ``node`` by method ``reach``: a linear model that reads reachability to anchors and to classes.

    Anchors and labelled nodes are found by id in a graph that has grown or changed. Nodes may have several labels; the
    probabilities are then those of having each of them, and do not sum to one.

    Args:
        folder: Folder of the run.
        settings: Settings of the run.
        new_anchors: Must be False: the classes are learned from the anchors.

    Attributes:
        scorer: The model, its anchors and its labels.
    """

    def __init__(self, folder: Path, settings: Settings, new_anchors: bool = False) -> None:
        if new_anchors:
            raise InputError("new_anchors must be False for classes of nodes, which are learned from the anchors")
        self.settings = settings
        self.scorer = ClassScorer.load(folder / MODEL, "model of method reach")[0]
        if self.scorer.classes.tolist() != list(range(len(self.scorer.classes))):
            raise InputError(f"{folder / MODEL} must hold a model of numbered classes; train it again")

    @property
    def several_labels(self) -> bool:
        """Whether nodes may have several labels."""
        return self.scorer.model.several

    def embed(self, graph: Graph, x: Features = None) -> NDArray[np.float64]:
        """The probability of each class for all nodes of a graph, ``[n, classes]``."""
        return self.scorer.probabilities(
            check_graph(graph), check_features(self.settings, x, self.scorer.num_attributes)
        )

    def logits(self, z: Any, pairs: Positions, graph: Graph) -> NDArray[Any]:
        """Refused: the run knows classes, not pairs."""
        raise InputError("the run must be of task 'link' or 'pair' to score pairs, got task 'node'")

    def class_probabilities(self, z: Any, nodes: Positions) -> NDArray[Any]:
        """The probability of each class for some nodes, ``[m, classes]``; ``z`` is what :meth:`embed` returned."""
        rows, classes = to_array("z", z, what="what embed(graph) gave"), len(self.scorer.classes)
        if rows.ndim != 2 or rows.shape[1] != classes:
            raise InputError(f"z must be what embed(graph) gave, [n, {classes}], got shape {list(rows.shape)}")
        found = to_integers("nodes", nodes)
        if found.ndim != 1 or (len(found) and not 0 <= found.min() <= found.max() < len(rows)):
            raise InputError(f"nodes must be a list of positions from 0 to {len(rows) - 1}, got {describe(nodes)}")
        chosen: NDArray[Any] = rows[found]
        return chosen
