"""Train in pieces: a batch needs the rows of its own nodes and of the anchors, and nothing else."""

import numpy as np
import torch
import torch.nn.functional as F

import graphreach as gr

rng = np.random.default_rng(0)
n, communities = 20_000, 40
group = rng.integers(0, communities, n)
order = np.argsort(group, kind="stable")  # most links are drawn between nodes near each other in this order
source = rng.integers(0, n, 8 * n)
target = (source + rng.geometric(0.01, 8 * n)) % n
graph = gr.Graph.from_edges(order[np.stack([source, target])], num_nodes=n)

anchors = gr.select_anchors(graph, num_anchors=64, walk_length=10)
print(anchors)
positions = gr.reachability(graph, anchors, walk_length=10, layout="csr").to_torch()

torch.manual_seed(0)
model = gr.nn.GraphReach(0, hidden_channels=32, decoder="scaled")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
links = torch.from_numpy(graph.edge_index)
for step in range(30):
    positive = links[:, torch.randint(links.size(1), (4096,))]
    pairs = torch.cat([positive, torch.randint(n, (2, 4096))], 1)
    nodes, local = torch.unique(pairs, return_inverse=True)
    z = model(None, positions.rows(nodes))  # rows of these nodes, then of the anchors
    labels = (torch.arange(8192) < 4096).float()
    loss = F.binary_cross_entropy_with_logits(model.score_pairs(z, local), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"step {step + 1}: loss {loss.item():.3f}")

with torch.no_grad():  # pieces and the whole graph give the same embedding
    piece = model(None, positions.rows(torch.arange(100)))[:100]
    whole = model(None, positions)[:100]
print(f"largest difference between pieces and whole: {(piece - whole).abs().max():.1e}")
