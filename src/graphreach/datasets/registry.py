"""Which data sets there are, and what is known of them without loading them."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from graphreach.arguments import nearest
from graphreach.datasets import edge_lists, email_core, generated, planetoid, ppi, protein
from graphreach.datasets.data_file import DataFile
from graphreach.datasets.dataset import Dataset
from graphreach.datasets.store import Store
from graphreach.errors import InputError


@dataclass(frozen=True)
class Entry:
    """A data set that can be loaded.

    Attributes:
        name: What it is loaded by.
        about: What it is, in a few words.
        build: Makes it from its files and a seed.
        files: What it is made from; nothing if it is generated.
        num_graphs: Graphs; this and the following counts are those of the loaded data set (with seed 0).
        num_nodes: Nodes of all graphs.
        num_edges: Edges of all graphs.
        num_features: Attributes of a node.
        num_classes: Classes of nodes.
        directed: Whether edges have a direction.
        weighted: Whether edges have weights.
    """

    name: str
    about: str
    build: Callable[[Store, int], Dataset]
    files: tuple[DataFile, ...]
    num_graphs: int
    num_nodes: int
    num_edges: int
    num_features: int = 0
    num_classes: int = 0
    directed: bool = False
    weighted: bool = False

    def store(self, root: str | os.PathLike[str] | None = None) -> Store:
        """Its files on disk."""
        return Store(self.name, self.files, root)


def _from_files(function: Callable[[Store], Dataset]) -> Callable[[Store, int], Dataset]:
    return lambda store, seed: function(store)


def _planetoid(name: str, about: str, nodes: int, edges: int, features: int, classes: int) -> Entry:
    files = tuple(planetoid.FILES[name].values())
    return Entry(name, about, _from_files(planetoid.planetoid), files, 1, nodes, edges, features, classes)


ENTRIES = (
    Entry("grid", "a 20 x 20 grid", lambda store, seed: generated.grid(), (), 1, 400, 760),
    Entry(
        "communities",
        "20 cliques of 20 in a ring, rewired by the seed",
        lambda store, seed: generated.communities(seed),
        (),
        1,
        400,
        3_800,
        num_classes=20,
    ),
    Entry(
        "email",
        "mail among groups of departments",
        _from_files(email_core.email),
        email_core.FILES,
        7,
        920,
        7_201,
        num_classes=41,
    ),
    Entry(
        "email-complete",
        "mail in a research institution",
        _from_files(email_core.email_complete),
        email_core.FILES,
        1,
        986,
        16_064,
        num_classes=42,
    ),
    Entry("protein", "parts of proteins", _from_files(protein.protein), protein.FILES, 364, 17_997, 34_316, 29, 3),
    Entry("ppi", "proteins in 24 tissues", _from_files(ppi.ppi), ppi.FILES, 24, 56_658, 793_617, 50),
    _planetoid("cora", "citations in machine learning", 2_708, 5_278, 1_433, 7),
    _planetoid("citeseer", "citations in computer science", 3_327, 4_552, 3_703, 6),
    _planetoid("pubmed", "citations on diabetes", 19_717, 44_324, 500, 3),
    Entry(
        "ca-astroph",
        "co-authors in astrophysics",
        _from_files(edge_lists.ca_astroph),
        (edge_lists.ASTRO,),
        1,
        18_772,
        198_050,
    ),
    Entry("email-enron", "mail at Enron", _from_files(edge_lists.email_enron), (edge_lists.ENRON,), 1, 36_692, 183_831),
    Entry(
        "soc-epinions1",
        "trust on Epinions",
        _from_files(edge_lists.soc_epinions1),
        (edge_lists.EPINIONS,),
        1,
        75_879,
        508_837,
        directed=True,
    ),
    Entry(
        "chicago-regional",
        "roads of the Chicago region, by capacity",
        _from_files(edge_lists.chicago_regional),
        (edge_lists.CHICAGO,),
        1,
        12_979,
        39_018,
        directed=True,
        weighted=True,
    ),
    Entry(
        "facebook",
        "pages that like each other",
        _from_files(edge_lists.facebook),
        (edge_lists.FACEBOOK_EDGES, edge_lists.FACEBOOK_LABELS),
        1,
        22_470,
        170_823,
        num_classes=4,
    ),
)


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
