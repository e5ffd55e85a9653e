"""Data sets that ship with the package: a few kB each, free to share."""

from pathlib import Path

from graphreach.io import read_graph
from graphreach.io.tables import read_labels
from graphreach.tasks.dataset import Dataset, Sample

FOLDER = Path(__file__).parent / "files"
KARATE, KARATE_SIDES = FOLDER / "karate.csv", FOLDER / "karate-sides.csv"
LEADERS = {1: "instructor", 34: "president"}
"""The two members whom the club split over, and their sides."""


def karate() -> Dataset:
    """Karate: friendships among 34 members of a karate club that split in two; the class is the side that a member took.

    The figures are those that W. W. Zachary published in "An information flow model for conflict and fission in small
    groups" (Journal of Anthropological Research 33, 1977). The weight of an edge counts the contexts in which two members
    met outside of the club. Class 0 went with the instructor (member 1), class 1 with the president (member 34).
    """
    graph = read_graph(KARATE)
    return Dataset("karate", (Sample(graph, y=read_labels(KARATE_SIDES, graph)[0]),))
