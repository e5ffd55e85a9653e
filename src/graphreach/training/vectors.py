"""Vectors of nodes by id, which a run of walks and skip-gram keeps to score pairs later."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io.files import replacing
from graphreach.nn.skip_gram import SkipGram
from graphreach.training.outcome import load_arrays

VECTORS = "vectors.npz"


@dataclass(frozen=True, eq=False)
class Vectors:
    """What skip-gram learned of each node.

    Attributes:
        ids: Ids of the nodes, as text, sorted.
        embedding: One row per id.
        context: One row per id.
        directed: Whether the score of (u, v) differs from that of (v, u).

    Example:
        >>> graph = Graph.from_edge_list([(5, 7), (7, 9)])
        >>> vectors = Vectors.of(SkipGram(dim=4, num_walks=2).fit(graph), graph)
        >>> vectors.rows(Graph.from_edge_list([("7", "new")])).tolist()
        [1, -1]
    """

    ids: NDArray[np.str_]
    embedding: NDArray[np.float32]
    context: NDArray[np.float32]
    directed: bool

    @classmethod
    def of(cls, model: SkipGram, graph: Graph) -> "Vectors":
        """The vectors of a fitted model."""
        ids = texts(graph)
        order = np.argsort(ids, kind="stable")
        return cls(ids[order], model.embedding_[order], model.context_[order], model.directed_)

    def save(self, folder: Path) -> None:
        """Write them by rename; ids are text, so that nothing has to be pickled."""
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / VECTORS) as partial:
            np.savez(
                partial, ids=self.ids, embedding=self.embedding, context=self.context, directed=np.array(self.directed)
            )

    @classmethod
    def load(cls, folder: Path) -> "Vectors":
        """Read them again, or say in one sentence what is wrong."""
        path = folder / VECTORS
        found = load_arrays(path, "vectors")
        if not {"ids", "embedding", "context", "directed"} <= found.keys():
            raise InputError(f"{path} must hold ids, embedding, context and directed; train it again")
        shape = (len(found["ids"]), *found["embedding"].shape[1:])
        whole = found["ids"].dtype.kind == "U" and found["ids"].ndim == 1 and found["embedding"].ndim == 2
        whole = whole and found["embedding"].shape == found["context"].shape == shape and found["directed"].shape == ()
        if not whole or any(found[name].dtype != np.float32 for name in ("embedding", "context")):
            raise InputError(f"{path} must hold one vector of each kind per id; train it again")
        return cls(found["ids"], found["embedding"], found["context"], bool(found["directed"]))

    def rows(self, graph: Graph) -> NDArray[np.int64]:
        """The row of each node of a graph, -1 for nodes without a vector."""
        wanted = texts(graph)
        place = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return np.where(self.ids[place] == wanted, place, -1)

    def score_pairs(self, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each pair ``[2, m]`` of rows."""
        model = SkipGram()
        model.embedding_, model.context_, model.directed_ = self.embedding, self.context, self.directed
        return model.score_pairs(pairs)


def texts(graph: Graph) -> NDArray[np.str_]:
    """The ids of a graph as text.

    Example:
        >>> texts(Graph.from_edge_list([(5, 7)])).tolist()
        ['5', '7']
    """
    return np.array([str(each) for each in graph.ids.tolist()], dtype=np.str_)


def save_vectors(scorer: Any, graph: Graph, folder: Path) -> None:
    """Keep the vectors of a scorer of :data:`graphreach.training.scorers.SCORERS`, if it has any."""
    model = getattr(scorer, "__self__", None)
    if isinstance(model, SkipGram):
        Vectors.of(model, graph).save(folder)
