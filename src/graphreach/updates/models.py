"""What is kept up to date while a graph changes: a predictor of links or an embedding, and what it writes for a batch."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.estimator import GraphReachEmbedding
from graphreach.graph import Graph
from graphreach.io.embeddings import write_embedding
from graphreach.io.writers import write_table
from graphreach.link_predictor import LinkPredictor
from graphreach.pairs.recommendations import recommendation_frame
from graphreach.vectors.node_vectors import NodeVectors


class Followed(Protocol):
    """An estimator whose graph changes."""

    def move(self, graph: Graph) -> NDArray[Any]:
        """Answer for a graph from now on; returns the ids of the nodes whose rows differ from before."""

    def write(self, path: Path, ends: NDArray[np.int64]) -> int:
        """Write what a batch changed and return the number of rows; ``ends`` are positions of the nodes it named."""


def reads_features(estimator: LinkPredictor | GraphReachEmbedding) -> bool:
    """Whether an estimator was fitted with attributes of nodes."""
    if isinstance(estimator, LinkPredictor):
        return estimator._scorer.node_channels is not None
    vectors = estimator._fitted.vectors
    return isinstance(vectors, NodeVectors) and vectors.attributes is not None


class FollowedLinks:
    """A predictor of links that writes recommendations for the nodes of a batch.

    Args:
        links: The predictor; it reads no attributes.
        top: Number of partners for each node.
    """

    def __init__(self, links: LinkPredictor, top: int = 10) -> None:
        if reads_features(links):
            raise InputError("RUN must be of a model that reads no features, as new nodes have none, got one that does")
        self._links, self._top = links, top

    def move(self, graph: Graph) -> NDArray[Any]:
        """See :class:`Followed`."""
        found: NDArray[Any] = self._links.update(graph=graph).changed_
        return found

    def write(self, path: Path, ends: NDArray[np.int64]) -> int:
        """See :class:`Followed`."""
        ids = self._links.ids_[ends].tolist()
        frame = recommendation_frame(self._links.recommend(ids, self._top))
        write_table(path, [frame])
        return len(frame)


class FollowedVectors:
    """An embedding that writes the vectors that a batch changed.

    Args:
        embedding: The embedding; it reads no attributes.
    """

    def __init__(self, embedding: GraphReachEmbedding) -> None:
        if reads_features(embedding):
            raise InputError("RUN must be of a model that reads no features, as new nodes have none, got one that does")
        self._embedding = embedding

    def move(self, graph: Graph) -> NDArray[Any]:
        """See :class:`Followed`."""
        self._graph = graph
        found: NDArray[Any] = self._embedding.update(graph=graph).changed_
        return found

    def write(self, path: Path, ends: NDArray[np.int64]) -> int:
        """See :class:`Followed`."""
        changed, rows = self._embedding.changed_, self._embedding.embedding_
        kept = self._graph.index_of(changed)
        write_embedding(path, changed, [rows[kept]], rows.shape[1])
        return len(changed)
