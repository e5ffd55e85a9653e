"""A random spanning forest: links that keep every component connected."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphreach.tasks.pair_keys import Keys, contains, decode, encode, unique


def spanning_forest(keys: Keys, num_nodes: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which links, given as sorted keys of pairs, are in a random spanning forest: one tree for each component.

    It is the forest of smallest weight when the links have random weights. Every spanning tree can come out, but not all
    are equally likely: of a triangle with a link to a fourth node they are, of a square with one diagonal they are not.

    Example:
        >>> triangle = np.array([0, 1, 2])
        >>> int(spanning_forest(triangle, 3, np.random.default_rng(0)).sum())
        2
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    low, high = decode(keys)
    weights = 1.0 + rng.permutation(len(keys))  # all different, so that the forest is the only one; zero is no link
    rows, columns = low.astype(np.int32), high.astype(np.int32)  # older versions of SciPy take no others
    tree = minimum_spanning_tree(csr_array((weights, (rows, columns)), shape=(num_nodes, num_nodes))).tocoo()
    kept = unique(encode(np.stack([tree.row, tree.col]).astype(np.int64)))
    return contains(kept, keys)
