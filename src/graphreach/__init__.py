"""Position-aware node embeddings by reachability to anchors."""

import importlib
from typing import TYPE_CHECKING, Any

from graphreach.threads import prepare

prepare()  # before torch and numba start threads

from graphreach._version import __version__
from graphreach.anchors import AnchorSet, select_anchors
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io import read_graph
from graphreach.progress import show_progress
from graphreach.reachability import Reachability, pair_reachability, reachability
from graphreach.walks import Diameter, diameter, random_walks, recommended_num_walks
from graphreach.walks.engine import ENGINES

ENGINES["ray"] = lambda: importlib.import_module("graphreach.cluster").Ray()  # by its name: no room knows a later one

if TYPE_CHECKING:
    from graphreach import attacks, cluster, datasets, experiments, explain, nn, report, tasks, training, transforms
    from graphreach.estimator import GraphReachEmbedding

ROOMS = (
    "attacks",
    "cluster",
    "datasets",
    "experiments",
    "explain",
    "nn",
    "report",
    "tasks",
    "training",
    "transforms",
)


def __getattr__(name: str) -> Any:
    """What needs torch, the data sets, the tasks and the cluster load at first use."""
    if name in ROOMS:
        return importlib.import_module(f"graphreach.{name}")
    if name == "GraphReachEmbedding":
        return importlib.import_module("graphreach.estimator").GraphReachEmbedding
    raise AttributeError(f"module 'graphreach' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "AnchorSet",
    "Diameter",
    "Graph",
    "GraphReachEmbedding",
    "InputError",
    "Reachability",
    "__version__",
    "attacks",
    "cluster",
    "datasets",
    "diameter",
    "experiments",
    "explain",
    "nn",
    "pair_reachability",
    "random_walks",
    "reachability",
    "read_graph",
    "recommended_num_walks",
    "report",
    "select_anchors",
    "show_progress",
    "tasks",
    "training",
    "transforms",
]
