"""What can be updated: the folder of a run on links or pairs, of a predictor of links, or of an embedding."""

import hashlib
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from graphreach.errors import InputError
from graphreach.estimator import GraphReachEmbedding
from graphreach.graph import Graph
from graphreach.graph.build import CSR
from graphreach.io.embeddings import write_embedding
from graphreach.io.files import new_folder
from graphreach.io.model_folder import CONFIG, MODEL, WEIGHTS, saved_model
from graphreach.link_predictor import LinkPredictor
from graphreach.training.run_folder import CONTENT, RECORD, SCORES, SETTINGS, SOURCE, RunFolder
from graphreach.training.saved_models import ESTIMATORS
from graphreach.training.settings import FITTED
from graphreach.updates.graph_folder import VECTORS, read_updates, write_folder_graph

COPIED = (SETTINGS, CONTENT, SOURCE, RECORD, SCORES, CONFIG, WEIGHTS)
"""Files of a run or of an estimator that stay as they are when its graph changes."""


class Updatable(NamedTuple):
    """A folder whose graph may change.

    Attributes:
        folder: The folder.
        estimator: A predictor of links or an embedding, which knows no graph yet.
        is_run: Whether it is the folder of a run, which remembers where its graph was read.
    """

    folder: Path
    estimator: Any
    is_run: bool

    @property
    def is_embedding(self) -> bool:
        """Whether nodes have vectors that are kept in files."""
        return isinstance(self.estimator, GraphReachEmbedding)

    @property
    def model_hash(self) -> str:
        """The sha256 of the model's ``config.json``, which has that of its weights."""
        path = (self.folder / MODEL if self.is_run else self.folder) / CONFIG
        return hashlib.sha256(path.read_bytes()).hexdigest()


def open_updatable(folder: Path) -> Updatable:
    """What a folder holds; one that cannot be updated is refused."""
    if not folder.is_dir():
        raise InputError(f"RUN must be a folder, got {folder}")
    if (folder / SETTINGS).exists():
        settings = RunFolder(folder).settings
        if settings.method not in FITTED or settings.task == "node":
            raise InputError(
                f"RUN must be of model reach on links or pairs to be updated, got {settings.method} of task {settings.task}"
            )
        if not RunFolder(folder).finished:
            raise InputError(f"RUN must be a finished run, got {folder}, whose training did not end")
        return Updatable(folder, LinkPredictor.load(folder / MODEL), True)
    kind = ESTIMATORS.get(saved_model(folder) or "")
    if kind == "LinkPredictor":
        return Updatable(folder, LinkPredictor.load(folder), False)
    embedding = GraphReachEmbedding.load(folder)
    if embedding.method == "paper":
        raise InputError("RUN must be an embedding of method 'reach' or 'position' to be updated, got 'paper'")
    return Updatable(folder, embedding, False)


def without_times(graph: Graph) -> Graph:
    """The same graph without the times of its edges, which only splits read."""
    if graph.time is None:
        return graph
    plain = Graph(CSR(graph.indptr, graph.indices, graph.weights), graph.ids, graph.directed)
    plain.sides = graph.sides
    return plain


def save_embedding(embedding: GraphReachEmbedding, output: Path, graph: Graph) -> None:
    """Write an embedding with its graph and its vectors, to be updated and followed.

    Args:
        embedding: The fitted estimator.
        output: The new folder, a name that nothing has.
        graph: The graph that it was fitted to.
    """
    with new_folder(output) as folder:
        embedding.save(folder)
        _write_graph(folder, graph, embedding, [])


def _write_graph(folder: Path, graph: Graph, estimator: Any, updates: list[dict[str, Any]]) -> None:
    write_folder_graph(folder, without_times(graph), updates)
    if isinstance(estimator, GraphReachEmbedding):
        rows = estimator.embedding_
        write_embedding(folder / VECTORS, graph.ids, [rows], rows.shape[1])


def save_updated(run: Updatable, output: Path, graph: Graph, update: dict[str, Any]) -> None:
    """Write a folder like another one, with a graph of its own; it appears when all of it is written.

    Args:
        run: The folder from before, whose estimator knows the changed graph.
        output: The new folder, a name that nothing has.
        graph: The changed graph.
        update: A record of what was changed.
    """
    with new_folder(output) as folder:
        for name in COPIED:
            if (run.folder / name).exists():
                shutil.copy2(run.folder / name, folder / name)
        if run.is_run:
            shutil.copytree(run.folder / MODEL, folder / MODEL, ignore=shutil.ignore_patterns(".*"))
        _write_graph(folder, graph, run.estimator, [*read_updates(run.folder), update])
