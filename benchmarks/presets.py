"""Which settings are best on validation links: the evidence behind the preset `best`.

    python -m benchmarks.presets

Structure-only link prediction, 80% of the links to walk on and train with, 10% to choose by; the last 10% are left alone.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

import graphreach as gr
from benchmarks.harness import RESULTS, environment, write_atomically

EPOCHS, SEEDS = 300, 3
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "paper, attention": ("paper", {}),
    "paper, mean": ("paper", {"aggregation": "mean"}),
    "authors, attention": ("authors", {"dropout": 0.0}),
    "authors, mean": ("authors", {"dropout": 0.0, "aggregation": "mean"}),
    "best, mean": ("best", {"aggregation": "mean"}),
    "best, attention": ("best", {"aggregation": "attention"}),
    "best, mean, linear messages": ("best", {"aggregation": "mean", "message_activation": None}),
    "best, mean, plain dot product": ("best", {"aggregation": "mean", "decoder": "dot"}),
}


def graphs() -> Iterator[tuple[str, nx.Graph]]:
    """Generated graphs on which position matters in different ways."""
    yield "grid 20 x 20", nx.grid_2d_graph(20, 20)
    yield "connected caveman 20 x 20", nx.connected_caveman_graph(20, 20)
    yield "planted partition 10 x 30", nx.planted_partition_graph(10, 30, 0.3, 0.01, seed=0)
    yield "power law with clusters", nx.powerlaw_cluster_graph(500, 4, 0.5, seed=0)


def split(graph: gr.Graph, seed: int) -> tuple[gr.Graph, dict[str, np.ndarray]]:
    """The graph of training links, and the pairs of each part: links first, then as many other pairs."""
    rng = np.random.default_rng(seed)
    source, target = graph.edge_index
    links = np.stack([source, target])[:, source < target]
    links = links[:, rng.permutation(links.shape[1])]
    cut = links.shape[1] * 8 // 10, links.shape[1] * 9 // 10
    parts = {"train": links[:, : cut[0]], "val": links[:, cut[0] : cut[1]]}
    known = set((links[0] * graph.num_nodes + links[1]).tolist())
    pairs = {}
    for name, positive in parts.items():
        draws = np.sort(rng.integers(0, graph.num_nodes, (2, 4 * positive.shape[1] + 50)), 0)
        fresh = [
            i
            for i, key in enumerate((draws[0] * graph.num_nodes + draws[1]).tolist())
            if key not in known and draws[0, i] != draws[1, i]
        ]
        pairs[name] = np.concatenate([positive, draws[:, fresh[: positive.shape[1]]]], 1)
    return gr.Graph.from_edges(parts["train"], num_nodes=graph.num_nodes), pairs


def validation_auc(graph: gr.Graph, preset: str, changes: dict[str, Any], seed: int) -> float:
    """The best validation AUC, looked at every ten epochs."""
    settings = gr.nn.PRESETS[preset]
    train, pairs = split(graph, seed)
    anchors = gr.select_anchors(train, walk_length=10, seed=seed)
    reach = gr.reachability(train, anchors, seed=seed, **settings.reachability).rescaled(settings.scale)
    positions = reach.to_torch()
    torch.manual_seed(seed)
    model = gr.nn.GraphReach(0, **{**settings.model, **changes})
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [200])
    index = {name: torch.from_numpy(np.ascontiguousarray(part)) for name, part in pairs.items()}
    labels = {name: (torch.arange(part.shape[1]) < part.shape[1] // 2).float() for name, part in pairs.items()}
    best = 0.0
    for epoch in range(EPOCHS):
        model.train()
        loss = F.binary_cross_entropy_with_logits(
            model.score_pairs(model(None, positions), index["train"]), labels["train"]
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if epoch % 10 == 9:
            model.eval()
            with torch.no_grad():
                scores = model.score_pairs(model(None, positions), index["val"])
            best = max(best, float(roc_auc_score(labels["val"], scores)))
    return best


def main() -> None:
    """Print a table and save it."""
    rows = []
    for name, network in graphs():
        graph = gr.Graph.from_networkx(network)
        for variant, (preset, changes) in VARIANTS.items():
            aucs = [validation_auc(graph, preset, changes, seed) for seed in range(SEEDS)]
            rows.append({"graph": name, "settings": variant, "mean": statistics.mean(aucs), "aucs": aucs})
            print(f"{name:28} {variant:32} {rows[-1]['mean']:.3f}", flush=True)
    record = {
        "name": "presets",
        "command": "python -m benchmarks.presets",
        "what": f"validation AUC of links, structure only, {SEEDS} seeds, {EPOCHS} epochs",
        "environment": environment(),
        "rows": rows,
    }
    write_atomically(RESULTS / "presets.json", json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
