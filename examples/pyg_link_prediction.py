"""Link prediction in a PyG script: one transform and one model more than usual."""

import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch_geometric.data import Data
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import stochastic_blockmodel_graph

import graphreach as gr

torch.manual_seed(0)
blocks = torch.full((8,), 25)
chances = torch.full((8, 8), 0.005).fill_diagonal_(0.3)
data = Data(edge_index=stochastic_blockmodel_graph(blocks, chances), num_nodes=200)

train, val, test = RandomLinkSplit(num_val=0.1, num_test=0.1, is_undirected=True)(data)
train = gr.transforms.AddReachability(num_anchors=32, method="exact")(train)  # sees edge_index, never edge_label_index
shared = gr.transforms.AddReachability(anchors=train.anchor_index, method="exact")
val, test = shared(val), shared(test)

model = gr.nn.GraphReach(0, hidden_channels=32, aggregation="mean", decoder="scaled")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def scores(part: Data) -> torch.Tensor:
    """Logits of a part's pairs."""
    z = model(None, part.to_anchors, part.from_anchors, part.anchor_index)
    return model.score_pairs(z, part.edge_label_index)


for _ in range(100):
    loss = F.binary_cross_entropy_with_logits(scores(train), train.edge_label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    for name, part in {"validation": val, "test": test}.items():
        print(f"{name} AUC {roc_auc_score(part.edge_label, scores(part)):.3f}")
