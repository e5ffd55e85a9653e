"""Position-aware node embeddings by reachability to anchors."""

from typing import TYPE_CHECKING

from graphreach.threads import prepare

prepare()  # before torch and numba start threads

from graphreach._version import __version__
from graphreach.errors import InputError
from graphreach.lazy import import_lazily

if TYPE_CHECKING:
    from graphreach import attacks, cluster, datasets, experiments, explain, nn, report, tasks, training, transforms
    from graphreach.anchors import AnchorSet, select_anchors
    from graphreach.estimator import GraphReachEmbedding
    from graphreach.graph import Graph, Snapshot, replay
    from graphreach.index import IndexUpdate, ReachIndex
    from graphreach.io import read_graph
    from graphreach.link_prediction import link_prediction
    from graphreach.link_predictor import LinkPredictor
    from graphreach.nearest import NearestNodes, nearest_nodes
    from graphreach.on_graph import OnGraph
    from graphreach.pairs import pair_features
    from graphreach.progress import show_progress
    from graphreach.reach_classifier import ReachClassifier
    from graphreach.reachability import Reachability, pair_reachability, reachability
    from graphreach.walks import Diameter, diameter, random_walks, recommended_num_walks

__getattr__, __dir__ = import_lazily(
    __name__,
    {
        "anchors": "AnchorSet select_anchors",
        "estimator": "GraphReachEmbedding",
        "graph": "Graph Snapshot replay",
        "index": "IndexUpdate ReachIndex",
        "io": "read_graph",
        "link_prediction": "link_prediction",
        "link_predictor": "LinkPredictor",
        "nearest": "NearestNodes nearest_nodes",
        "on_graph": "OnGraph",
        "pairs": "pair_features",
        "progress": "show_progress",
        "reach_classifier": "ReachClassifier",
        "reachability": "Reachability pair_reachability reachability",
        "walks": "Diameter diameter random_walks recommended_num_walks",
    },
    modules="attacks cluster datasets experiments explain nn report tasks training transforms",
)

__all__ = [
    "AnchorSet",
    "Diameter",
    "Graph",
    "GraphReachEmbedding",
    "IndexUpdate",
    "InputError",
    "LinkPredictor",
    "NearestNodes",
    "OnGraph",
    "ReachClassifier",
    "ReachIndex",
    "Reachability",
    "Snapshot",
    "__version__",
    "attacks",
    "cluster",
    "datasets",
    "diameter",
    "experiments",
    "explain",
    "link_prediction",
    "nearest_nodes",
    "nn",
    "pair_features",
    "pair_reachability",
    "random_walks",
    "reachability",
    "read_graph",
    "recommended_num_walks",
    "replay",
    "report",
    "select_anchors",
    "show_progress",
    "tasks",
    "training",
    "transforms",
]
