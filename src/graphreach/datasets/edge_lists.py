"""Larger graphs from plain edge lists, in addition to the paper's."""

import io
from functools import partial
from typing import Any

import numpy as np

from graphreach.datasets.store import DataFile, Gzipped, Source, Store, as_gzip, github, links_of_tntp, snap
from graphreach.graph import Graph
from graphreach.io import read_graph
from graphreach.tasks.dataset import Dataset, Sample

KARATE_CLUB = "benedekrozemberczki/karateclub"
COMMIT = "efbd6505472b0a94ea659ccfe42f28a9dbcff95f"
TNTP = "bstabler/TransportationNetworks"
TNTP_FILE = "master/chicago-regional/ChicagoRegional_net.tntp"


def _snap(name: str, sha256: str) -> DataFile:
    return DataFile(f"graphs/{name}.txt.gz", Gzipped(sha256), snap(f"data/{name}.txt.gz", as_gzip))


def _musae(name: str, sha256: str, path: str, older_path: str) -> DataFile:
    folder = "dataset/node_level/facebook"
    urls = github(KARATE_CLUB, f"{folder}/{path}", COMMIT), github(KARATE_CLUB, f"{folder}/{older_path}")
    return DataFile(f"graphs/{name}.csv.gz", Gzipped(sha256), tuple(Source((url,), as_gzip) for url in urls))


ASTRO = _snap("ca-AstroPh", "bd3e40ba69bfccc0b3d8a0b14f877ae6d034b841b7b782955963df0b402d5db7")
ENRON = _snap("email-Enron", "b9c8709a66324e262e47b4976e782d8227f2bd829ce979984fba13a2f29472c3")
EPINIONS = _snap("soc-Epinions1", "3e42b000e66cada74053ac7f8b24de291f9837264421dc2f3730b45cc58d17b1")
FACEBOOK_EDGES = _musae(
    "facebook_edges", "7c50d8f02a75cc0829577814a1fc14535164daa38d79c3612340c9e9cdbd4022", "edges.csv", "edges.csv"
)
FACEBOOK_LABELS = _musae(
    "facebook_target",
    "95987f6c9246f461511673041c88aa20cbd8596bc52b9688fdaab7bd5a720000",
    "new_target.csv",
    "target.csv",
)
CHICAGO = DataFile(
    "graphs/chicago_regional.csv.gz",
    Gzipped("ab155efe5169b242d2618628fd4f45300fbaa8a7c87b59a9cc6e160dc5dcbfab"),
    (
        Source((f"https://raw.githubusercontent.com/{TNTP}/{TNTP_FILE}",), links_of_tntp),
        Source((f"https://github.com/{TNTP}/raw/{TNTP_FILE}",), links_of_tntp),
    ),
)


def plain(store: Store, **reading: Any) -> Dataset:
    """A graph from its one file, self-loops dropped; undirected unless ``reading`` says otherwise."""
    return Dataset(store.name, (Sample(_read(store, store.files[0], **reading)),))


directed = partial(plain, directed=True)


def chicago_regional(store: Store) -> Dataset:
    """Roads of the Chicago region; directed, weighted by capacity, which is an affinity: walks follow wide roads.

    Three of the network's 12,982 nodes have no link and are not here.
    """
    return plain(store, directed=True, weight="capacity")


def facebook(store: Store) -> Dataset:
    """Pages that like each other on Facebook (MUSAE); undirected, self-loops dropped; the class is the kind of page.

    Classes are company, tvshow, politician and government, in this order.
    """
    graph = _read(store, FACEBOOK_EDGES)
    ids, label = np.loadtxt(io.BytesIO(store.open(FACEBOOK_LABELS)), np.int64, delimiter=",", skiprows=1).T
    y = np.empty(graph.num_nodes, np.int64)
    y[graph.index_of(ids)] = label
    return Dataset(store.name, (Sample(graph, y=y),))


def _read(store: Store, file: DataFile, **reading: Any) -> Graph:
    store.open(file)  # checks it
    return read_graph(store.path(file), **({"directed": False, "weight": None} | reading))
