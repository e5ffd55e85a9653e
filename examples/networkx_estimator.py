"""fit and transform on a networkx graph with names for nodes."""

import networkx as nx
import numpy as np

import graphreach as gr

families = nx.les_miserables_graph()  # nodes are names, edges have weights: both are honoured

embedding = gr.GraphReachEmbedding(dim=32).fit(families)
print("anchors:", ", ".join(embedding.anchors_[:5]), "...")

ids = embedding.ids_.tolist()
z = embedding.embedding_
near = np.argsort(-z @ z[ids.index("Cosette")])[1:4]
print("near Cosette:", ", ".join(ids[i] for i in near))

# The graph grows: known nodes keep their vectors, the new one is placed.
families.add_edge("Newcomer", "Cosette", weight=3)
families.add_edge("Newcomer", "Valjean", weight=3)
grown = embedding.transform(families)
print("grown embedding:", grown.shape)

likely, unlikely = embedding.score_pairs([("Newcomer", "Marius"), ("Newcomer", "Napoleon")], graph=families)
print(f"Newcomer and Marius {likely:.2f}, Newcomer and Napoleon {unlikely:.2f}")
