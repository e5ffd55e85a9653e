"""Position-aware node embeddings by reachability to anchors."""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from graphreach.threads import prepare

prepare()  # before torch and numba start threads

from graphreach._version import __version__
from graphreach.errors import InputError

if TYPE_CHECKING:
    from graphreach import attacks, cluster, datasets, experiments, explain, nn, report, tasks, training, transforms
    from graphreach.anchors import AnchorSet, select_anchors
    from graphreach.estimator import GraphReachEmbedding
    from graphreach.graph import Graph
    from graphreach.io import read_graph
    from graphreach.progress import show_progress
    from graphreach.reachability import Reachability, pair_reachability, reachability
    from graphreach.walks import Diameter, diameter, random_walks, recommended_num_walks

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

HOMES = {
    "AnchorSet": "anchors",
    "Diameter": "walks",
    "Graph": "graph",
    "GraphReachEmbedding": "estimator",
    "Reachability": "reachability",
    "diameter": "walks",
    "pair_reachability": "reachability",
    "random_walks": "walks",
    "reachability": "reachability",
    "read_graph": "io",
    "recommended_num_walks": "walks",
    "select_anchors": "anchors",
    "show_progress": "progress",
}
"""The rooms that names of the package come from."""


def __getattr__(name: str) -> Any:
    """Import what a name stands for at its first use, so that ``import graphreach`` takes no time."""
    if name in ROOMS:
        return importlib.import_module(f"graphreach.{name}")
    if name not in HOMES:
        raise AttributeError(f"module 'graphreach' has no attribute {name!r}")
    globals()[name] = found = getattr(importlib.import_module(f"graphreach.{HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Python binds a room's name in the package when the room is imported; ``reachability`` stays the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

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
