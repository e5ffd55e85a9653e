"""Train on one graph, embed another that shares no node with it."""

import networkx as nx
import numpy as np
from sklearn.metrics import roc_auc_score

import graphreach as gr


def communities(seed: int) -> nx.Graph:
    """A graph of ten communities, whose nodes are named ``seed:number``."""
    graph = nx.planted_partition_graph(10, 20, 0.4, 0.005, seed=seed)
    return nx.relabel_nodes(graph, {node: f"{seed}:{node}" for node in graph})


def same_community(first: str, second: str) -> bool:
    """Whether two nodes were planted in one community."""
    return int(first.split(":")[1]) // 20 == int(second.split(":")[1]) // 20


trained = gr.GraphReachEmbedding(method="paper", num_anchors=32, epochs=100).fit(communities(seed=1))

unseen = communities(seed=2)
names = list(unseen)
rng = np.random.default_rng(0)
pairs = [(names[i], names[j]) for i, j in rng.integers(0, len(names), (4000, 2)) if i != j]
scores = trained.score_pairs(pairs, graph=unseen, new_anchors=True)
truth = [same_community(*pair) for pair in pairs]
print(f"same community or not, in a graph never seen: AUC {roc_auc_score(truth, scores):.3f}")
