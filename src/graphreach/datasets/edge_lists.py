"""Larger graphs from plain edge lists, beside the paper's."""

import io

import numpy as np

from graphreach.datasets.contents import Gzipped
from graphreach.datasets.data_file import DataFile, Source, github, snap
from graphreach.datasets.dataset import Dataset, Sample
from graphreach.datasets.pack import as_gzip, links_of_tntp
from graphreach.datasets.store import Store
from graphreach.graph import Graph
from graphreach.io import read_graph

KARATE_CLUB = "benedekrozemberczki/karateclub"
COMMIT = "efbd6505472b0a94ea659ccfe42f28a9dbcff95f"
TNTP = "bstabler/TransportationNetworks"
TNTP_FILE = "master/chicago-regional/ChicagoRegional_net.tntp"

ASTRO = DataFile(
    "graphs/ca-AstroPh.txt.gz",
    Gzipped("bd3e40ba69bfccc0b3d8a0b14f877ae6d034b841b7b782955963df0b402d5db7"),
    snap("data/ca-AstroPh.txt.gz", as_gzip),
)
ENRON = DataFile(
    "graphs/email-Enron.txt.gz",
    Gzipped("b9c8709a66324e262e47b4976e782d8227f2bd829ce979984fba13a2f29472c3"),
    snap("data/email-Enron.txt.gz", as_gzip),
)
EPINIONS = DataFile(
    "graphs/soc-Epinions1.txt.gz",
    Gzipped("3e42b000e66cada74053ac7f8b24de291f9837264421dc2f3730b45cc58d17b1"),
    snap("data/soc-Epinions1.txt.gz", as_gzip),
)
CHICAGO = DataFile(
    "graphs/chicago_regional.csv.gz",
    Gzipped("ab155efe5169b242d2618628fd4f45300fbaa8a7c87b59a9cc6e160dc5dcbfab"),
    (
        Source((f"https://raw.githubusercontent.com/{TNTP}/{TNTP_FILE}",), links_of_tntp),
        Source((f"https://github.com/{TNTP}/raw/{TNTP_FILE}",), links_of_tntp),
    ),
)
FACEBOOK_EDGES = DataFile(
    "graphs/facebook_edges.csv.gz",
    Gzipped("7c50d8f02a75cc0829577814a1fc14535164daa38d79c3612340c9e9cdbd4022"),
    (
        Source((github(KARATE_CLUB, "dataset/node_level/facebook/edges.csv", COMMIT),), as_gzip),
        Source((github(KARATE_CLUB, "dataset/node_level/facebook/edges.csv"),), as_gzip),
    ),
)
FACEBOOK_LABELS = DataFile(
    "graphs/facebook_target.csv.gz",
    Gzipped("95987f6c9246f461511673041c88aa20cbd8596bc52b9688fdaab7bd5a720000"),
    (
        Source((github(KARATE_CLUB, "dataset/node_level/facebook/new_target.csv", COMMIT),), as_gzip),
        Source((github(KARATE_CLUB, "dataset/node_level/facebook/target.csv"),), as_gzip),
    ),
)


def ca_astroph(store: Store) -> Dataset:
    """Co-authors in astrophysics; undirected, self-loops dropped."""
    return Dataset(store.name, (Sample(_read(store, ASTRO)),))


def email_enron(store: Store) -> Dataset:
    """Mail at Enron; undirected."""
    return Dataset(store.name, (Sample(_read(store, ENRON)),))


def soc_epinions1(store: Store) -> Dataset:
    """Who trusts whom on Epinions; directed."""
    return Dataset(store.name, (Sample(_read(store, EPINIONS, directed=True)),))


def chicago_regional(store: Store) -> Dataset:
    """Roads of the Chicago region; directed, weighted by capacity, which is an affinity: walks follow wide roads.

    Of the network's 12,982 nodes three have no link and are not here.
    """
    return Dataset(store.name, (Sample(_read(store, CHICAGO, directed=True, weight="capacity")),))


def facebook(store: Store) -> Dataset:
    """Pages that like each other on Facebook (MUSAE); undirected, self-loops dropped; the class is the kind of page.

    Classes are company, tvshow, politician and government, in this order.
    """
    graph = _read(store, FACEBOOK_EDGES)
    ids, label = np.loadtxt(io.BytesIO(store.open(FACEBOOK_LABELS)), np.int64, delimiter=",", skiprows=1).T
    y = np.empty(graph.num_nodes, np.int64)
    y[graph.index_of(ids)] = label
    return Dataset(store.name, (Sample(graph, y=y),))


def _read(store: Store, file: DataFile, directed: bool = False, weight: str | None = None) -> Graph:
    store.open(file)  # checks it
    return read_graph(store.path(file), directed=directed, weight=weight)
