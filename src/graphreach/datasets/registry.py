"""The data sets, what is known about them without loading them, and loading them."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphreach.arguments import nearest
from graphreach.datasets import edge_lists, email_core, generated, packaged, planetoid, ppi, protein
from graphreach.datasets.generated import check_seed
from graphreach.datasets.store import DataFile, Store
from graphreach.errors import InputError
from graphreach.tasks.dataset import Dataset


@dataclass(frozen=True)
class Entry:
    """A data set that can be loaded.

    Attributes:
        name: The name to load it by.
        about: A few words about it.
        build: Makes it from its files, or from a seed if it is generated.
        files: Its source files; none if it is generated or ships with the package.
        num_graphs: Graphs; this and the following counts are those of the loaded data set (with seed 0).
        num_nodes: Nodes of all graphs.
        num_edges: Edges of all graphs.
        num_features: Number of attributes per node.
        num_classes: Classes of nodes.
        directed: Whether edges have a direction.
        weighted: Whether edges have weights.
        packaged: Whether it ships with the package.
    """

    name: str
    about: str
    build: Callable[[Any], Dataset]
    files: tuple[DataFile, ...]
    num_graphs: int
    num_nodes: int
    num_edges: int
    num_features: int = 0
    num_classes: int = 0
    directed: bool = field(default=False, kw_only=True)
    weighted: bool = field(default=False, kw_only=True)
    packaged: bool = field(default=False, kw_only=True)

    def store(self, root: str | os.PathLike[str] | None = None) -> Store:
        """Its files on disk."""
        return Store(self.name, self.files, root)


def _planetoid(name: str, about: str, *counts: int) -> Entry:
    return Entry(name, about, planetoid.planetoid, tuple(planetoid.FILES[name].values()), 1, *counts)


ENTRIES = (
    Entry("grid", "a 20 x 20 grid", lambda seed: generated.grid(), (), 1, 400, 760),
    Entry(
        "communities", "20 cliques of 20 in a ring, rewired by the seed", generated.communities, (), 1, 400, 3_800,
        num_classes=20,
    ),
    Entry("email", "mail among groups of departments", email_core.email, email_core.FILES, 7, 920, 7_201, 0, 41),
    Entry(
        "email-complete", "mail in a research institution", email_core.email_complete, email_core.FILES,
        1, 986, 16_064, 0, 42,
    ),
    Entry("protein", "parts of proteins", protein.protein, protein.FILES, 364, 17_997, 34_316, 29, 3),
    Entry("ppi", "proteins in 24 tissues", ppi.ppi, ppi.FILES, 24, 56_658, 793_617, 50),
    _planetoid("cora", "citations in machine learning", 2_708, 5_278, 1_433, 7),
    _planetoid("citeseer", "citations in computer science", 3_327, 4_552, 3_703, 6),
    Entry(
        "karate", "friends in a karate club that split", lambda seed: packaged.karate(), (), 1, 34, 78, num_classes=2,
        weighted=True, packaged=True,
    ),
    _planetoid("pubmed", "citations on diabetes", 19_717, 44_324, 500, 3),
    Entry("ca-astroph", "co-authors in astrophysics", edge_lists.plain, (edge_lists.ASTRO,), 1, 18_772, 198_050),
    Entry("email-enron", "mail at Enron", edge_lists.plain, (edge_lists.ENRON,), 1, 36_692, 183_831),
    Entry(
        "soc-epinions1", "trust on Epinions", edge_lists.directed, (edge_lists.EPINIONS,), 1, 75_879, 508_837,
        directed=True,
    ),
    Entry(
        "chicago-regional", "roads of the Chicago region, by capacity", edge_lists.chicago_regional,
        (edge_lists.CHICAGO,), 1, 12_979, 39_018, directed=True, weighted=True,
    ),
    Entry(
        "facebook", "pages that like each other", edge_lists.facebook,
        (edge_lists.FACEBOOK_EDGES, edge_lists.FACEBOOK_LABELS), 1, 22_470, 170_823, num_classes=4,
    ),
)  # fmt: skip


def names() -> list[str]:
    """The names that :func:`graphreach.datasets.load` knows.

    Example:
        >>> names()[:4]
        ['grid', 'communities', 'email', 'email-complete']
    """
    return [entry.name for entry in ENTRIES]


def find(name: str) -> Entry:
    """The data set of that name; case does not matter, and ``_`` is as good as ``-``.

    Example:
        >>> find("Email_Complete").num_nodes
        986
        >>> find("coro")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: name must be a data set, got 'coro'; did you mean 'cora'?
    """
    if not isinstance(name, str):
        raise InputError(f"name must be the name of a data set, got {name!r:.80}")
    known = {entry.name: entry for entry in ENTRIES}
    wanted = name.strip().lower().replace("_", "-")
    if wanted in known:
        return known[wanted]
    hint = nearest(wanted, known) or f"; there are {', '.join(known)}"
    raise InputError(f"name must be a data set, got {name!r:.80}{hint}")


def load(name: str, root: str | os.PathLike[str] | None = None, *, seed: int = 0) -> Dataset:
    """Load a data set; files that are missing are downloaded first, and all are checked before they are read.

    The eight data sets of the paper are built by P-GNN's recipe, which the paper uses: ``"grid"``, ``"communities"``,
    ``"email"``, ``"email-complete"``, ``"protein"``, ``"ppi"``, ``"cora"``, ``"citeseer"``. The others are
    ``"karate"``, which ships with the package, ``"pubmed"``, ``"ca-astroph"``, ``"email-enron"``, ``"soc-epinions1"``,
    ``"chicago-regional"`` and ``"facebook"``.

    Args:
        name: One of these; case does not matter, and ``_`` is as good as ``-``.
        root: The folder that holds ``<dataset>/<file>``; by default ``GRAPHREACH_DATA`` or the user's cache.
        seed: Random seed for data sets that are generated; the others are always the same.

    Example:
        >>> import graphreach as gr
        >>> dataset = gr.datasets.load("communities", seed=3)
        >>> dataset[0].graph.num_nodes, dataset.num_classes
        (400, 20)
    """
    entry, seed = find(name), check_seed(seed)
    return entry.build(entry.store(root) if entry.files else seed)


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
