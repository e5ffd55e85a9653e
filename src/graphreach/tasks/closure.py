"""What transitivity alone knows about pairs."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from graphreach.arguments import check_choice, check_pairs
from graphreach.errors import InputError
from graphreach.tasks.examples import PARTS, Split, check_split


def closure(split: Split, part: str = "test") -> NDArray[np.float64]:
    """Score pairs by transitive closure: 1 if both nodes lie in one component of the training positives, else 0.

    It looks at no graph and learns nothing. To have one label is transitive, so where training pairs are drawn from all
    nodes (protocols ``"published"`` and ``"clean"``) it solves pairwise node classification, and a model that does so has
    shown nothing; with ``"node-disjoint"`` it scores nothing. It belongs in every table of that task.

    Args:
        split: A split of pairs.
        part: Which part to score.

    Returns:
        One score per pair, ``[m]``.

    Example:
        >>> from types import SimpleNamespace
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([range(20), [*range(1, 20), 0]])
        >>> parts = gr.tasks.split(SimpleNamespace(graph=ring, x=None, y=np.arange(20) % 2), "pair", "published")
        >>> gr.tasks.metrics("pair", gr.tasks.closure(parts), parts.test)["auc"]
        1.0
    """
    check_choice("part", part, PARTS)
    return closure_scores(split, check_split(split).parts()[part].index)


def closure_scores(split: Split, pairs: ArrayLike) -> NDArray[np.float64]:
    """Score any pairs ``[2, m]`` by transitive closure of a split's training positives; see :func:`closure`.

    Example:
        >>> from types import SimpleNamespace
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([range(20), [*range(1, 20), 0]])
        >>> parts = gr.tasks.split(SimpleNamespace(graph=ring, x=None, y=np.arange(20) % 2), "pair", "published")
        >>> gr.tasks.closure_scores(parts, [[0, 0], [2, 1]])
        array([1., 0.])
    """
    if check_split(split).task != "pair":
        raise InputError(f"closure needs a split of task pair, got one of task {split.task}")
    listed = check_pairs(pairs, split.graph.num_nodes)
    return same_component(split.train.positives, listed, split.graph.num_nodes).astype(np.float64)


def same_component(links: NDArray[np.int64], pairs: NDArray[np.int64], num_nodes: int) -> NDArray[np.bool_]:
    """Which pairs ``[2, m]`` lie in one component of the undirected graph of ``links`` ``[2, l]``."""
    ones = np.ones(links.shape[1])
    _, component = connected_components(coo_array((ones, (links[0], links[1])), (num_nodes, num_nodes)), directed=False)
    together: NDArray[np.bool_] = component[pairs[0]] == component[pairs[1]]
    return together
