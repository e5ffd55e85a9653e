"""Email and Email-Complete: mail within a research institution (SNAP's email-Eu-core)."""

import io

import numpy as np
from numpy.typing import NDArray

from graphreach.datasets.store import DataFile, Plain, Source, Store, as_plain, github, snap
from graphreach.graph import Graph
from graphreach.tasks.dataset import Dataset, Sample, large_components, split_graph

EDGES = DataFile(
    "email/email.txt",
    Plain("23e0ca0bce21a053025e78f7e9691ac9210ae806a0689bd5edff3c3bac572d4c"),
    (Source((github("JiaxuanYou/P-GNN", "data/email.txt"),)), *snap("data/email-Eu-core.txt.gz", as_plain)),
)
LABELS = DataFile(
    "email/email_labels.txt",
    Plain("91a089f21ee35eb224066456fa5322c8ad57c0f07b2da7a58a3220c72b5d54b5"),
    (
        Source((github("JiaxuanYou/P-GNN", "data/email_labels.txt"),)),
        *snap("data/email-Eu-core-department-labels.txt.gz", as_plain),
    ),
)
FILES = (EDGES, LABELS)

MORE_THAN = 10
"""Components of at most this many nodes are left out."""

DEPARTMENTS = 6
"""How many departments, by their number, stay together in Email."""


def read_email(store: Store) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Mails ``[2, m]`` as listed, self-loops and both directions included, and the department of each person."""
    edges = np.loadtxt(io.BytesIO(store.open(EDGES)), np.int64).T
    people, department = np.loadtxt(io.BytesIO(store.open(LABELS)), np.int64).T
    return edges, department[np.argsort(people)]


def email_complete(store: Store) -> Dataset:
    """Email-Complete: an edge where mail went either way, without self-loops; the class is the department.

    Components of at most ten nodes are left out, which leaves the largest one.
    """
    edges, department = read_email(store)
    return _components("email-complete", edges, department)


def email(store: Store) -> Dataset:
    """Email: seven graphs cut from Email-Complete **by the labels that a model has to predict**.

    Edges between people whose ``department // 6`` differ are removed first; what is left of more than ten nodes are the
    graphs. So each graph has at most six of the departments, and which graph a node is in says which ones.
    """
    edges, department = read_email(store)
    group = department // DEPARTMENTS
    return _components("email", edges[:, group[edges[0]] == group[edges[1]]], department)


def _components(name: str, edges: NDArray[np.int64], department: NDArray[np.int64]) -> Dataset:
    graph = Graph.from_edges(edges, len(department))
    part = large_components(graph, MORE_THAN)
    classes = np.unique(department[part >= 0])
    samples = [
        Sample(component, y=np.searchsorted(classes, department[nodes]))
        for nodes, component in split_graph(graph, part)
    ]
    return Dataset(name, tuple(samples), classes)
