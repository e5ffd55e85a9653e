"""Data sets by name."""

import os
from pathlib import Path

from graphreach.datasets.dataset import Dataset
from graphreach.datasets.generated import check_seed
from graphreach.datasets.registry import find


def load(name: str, root: str | os.PathLike[str] | None = None, *, seed: int = 0) -> Dataset:
    """Load a data set; files that are missing are downloaded first, and all are checked before they are read.

    The eight data sets of the paper are built by P-GNN's recipe, which the paper uses: ``"grid"``, ``"communities"``,
    ``"email"``, ``"email-complete"``, ``"protein"``, ``"ppi"``, ``"cora"``, ``"citeseer"``. Beside them there are
    ``"pubmed"``, ``"ca-astroph"``, ``"email-enron"``, ``"soc-epinions1"``, ``"chicago-regional"`` and ``"facebook"``.

    Args:
        name: One of these; case does not matter, and ``_`` is as good as ``-``.
        root: The folder that holds ``<dataset>/<file>``; by default ``GRAPHREACH_DATA`` or the user's cache.
        seed: Of data sets that are generated; the others are always the same.

    Example:
        >>> import graphreach as gr
        >>> dataset = gr.datasets.load("communities", seed=3)
        >>> dataset[0].graph.num_nodes, dataset.num_classes
        (400, 20)
    """
    entry = find(name)
    return entry.build(entry.store(root), check_seed(seed))


def fetch(name: str, root: str | os.PathLike[str] | None = None) -> list[Path]:
    """Download the files of a data set that are missing, check those that are there, and return their paths.

    Args:
        name: See :func:`load`.
        root: See :func:`load`.

    Example:
        >>> fetch("grid")
        []
    """
    return find(name).store(root).fetch()
