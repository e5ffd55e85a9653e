"""Links of graphs whose nodes have attributes, by `LinkPredictor().fit(graph, x)`.

    python -m benchmarks attributes-cora
    python -m benchmarks.attributes cora 0 1 2

NCN's protocol: links are dealt at random, 70% to learn from, 10% to validate and 20% to test; messages go along training
links only; as many uniform negatives as links; Hits@100 is the share of test links that beat the hundredth best of the test
negatives. HeaRT (NeurIPS'23) has a fixed split with 500 hard negatives for each test link, and the mean reciprocal rank.

The first command scores test links, once: each split is a line of `results/<name>.jsonl`, and a run that was cut off goes
on after the last. The second one scores validation links of the listed splits against ten times as many negatives, by the
negative of the same share, as the best few of so many negatives are a matter of chance; settings were chosen by it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import graphreach as gr
from benchmarks.harness import RESULTS, Row, write_atomically

SPLITS = 10
BARS = {"cora": 0.891, "citeseer": 0.930, "pubmed": 0.820}
HEART_BAR, HEART_SEEDS = 0.25, 5


def deal(graph: gr.Graph, seed: int) -> dict[str, np.ndarray]:
    """Links of each part, and for validation and test as many pairs that are not linked."""
    rng = np.random.default_rng([seed, 7])
    edges = graph.edge_index
    links = edges[:, edges[0] < edges[1]]
    links = links[:, rng.permutation(links.shape[1])]
    val, test = links.shape[1] // 10, links.shape[1] // 5
    known, others = set((links[0] * graph.num_nodes + links[1]).tolist()), []
    while len(others) < test + 10 * val:
        u, v = sorted(rng.integers(0, graph.num_nodes, 2).tolist())
        if u != v and u * graph.num_nodes + v not in known:
            known.add(u * graph.num_nodes + v)
            others.append((u, v))
    drawn = np.array(others).T
    return {
        "train": links[:, val + test :],
        "val": links[:, :val], "val_negatives": drawn[:, test:],
        "test": links[:, val : val + test], "test_negatives": drawn[:, :test],
    }  # fmt: skip


def hits(positive: np.ndarray, negative: np.ndarray, k: int) -> float:
    """The share of positives above the k-th best negative."""
    return float((positive > np.sort(negative)[-k]).mean())


def fit(graph: gr.Graph, x: np.ndarray, links: np.ndarray, seed: int) -> tuple[gr.LinkPredictor, float]:
    """A predictor that knows some links of a graph only, and its time."""
    start = time.perf_counter()
    known = gr.Graph.from_edges(links, num_nodes=graph.num_nodes)
    return gr.LinkPredictor(random_state=seed).fit(known, x), time.perf_counter() - start


def score_split(data: str, seed: int, part: str, k: int) -> dict[str, Any]:
    """Hits at k of one part of one split."""
    sample = gr.datasets.load(data)[0]
    parts = deal(sample.graph, seed)
    links, seconds = fit(sample.graph, sample.x, parts["train"], seed)
    both = [links.decision_function(parts[name].T) for name in (part, f"{part}_negatives")]
    return {"split": seed, f"hits@{k}": hits(*both, k), "seconds": seconds}


def heart_folder() -> Path:
    """The files of HeaRT, which are not downloaded."""
    return Path(os.environ.get("GRAPHREACH_DATA", ".")) / "heart-citeseer"


def score_heart(seed: int, part: str) -> dict[str, Any]:
    """The mean reciprocal rank of links among their hard negatives."""
    sample = gr.datasets.load("citeseer")[0]
    train, positive = (np.loadtxt(heart_folder() / f"{name}_pos.txt", dtype=np.int64) for name in ("train", part))
    links, seconds = fit(sample.graph, sample.x, train[train[:, 0] != train[:, 1]].T, seed)
    negative = np.load(heart_folder() / f"{part}_hard_negatives.npz")["pairs"].astype(np.int64)
    flat = negative.reshape(-1, 2)
    different = flat[:, 0] != flat[:, 1]
    scores = np.full(len(flat), -np.inf)
    scores[different] = links.decision_function(flat[different])
    own, others = links.decision_function(positive)[:, None], scores.reshape(negative.shape[:2])
    ranks = 1 + 0.5 * ((others > own).sum(1) + (others >= own).sum(1))
    return {"split": seed, "mrr": float((1 / ranks).mean()), "seconds": seconds}


def resumed(name: str, score: Callable[[int], dict[str, Any]], count: int, quick: bool) -> list[dict[str, Any]]:
    """The records of all splits; those that a file has already are not computed again."""
    path = RESULTS / f"{name}.jsonl"
    records = [] if quick or not path.exists() else [json.loads(line) for line in path.read_text().splitlines()]
    for seed in range(len(records), count):
        records.append(score(seed))
        print(json.dumps(records[-1]), flush=True)
        if not quick:
            write_atomically(path, "".join(json.dumps(record) + "\n" for record in records))
    return records


def planetoid(data: str, quick: bool) -> list[Row]:
    """Hits@100 of test links, the mean of ten splits."""
    score = partial(score_split, data, part="test", k=100)
    records = resumed(f"attributes-{data}", score, 1 if quick else SPLITS, quick)
    found = [record["hits@100"] for record in records]
    what = f"test Hits@100, links of {data} with attributes, {len(found)} splits"
    raw = {"hits": found, "std": float(np.std(found)), "seconds": [record["seconds"] for record in records]}
    return [Row(what, "at least", BARS[data], float(np.mean(found)), "Hits@100", raw=raw)]


def heart(quick: bool) -> list[Row]:
    """MRR of test links of HeaRT's CiteSeer, the mean of seeds."""
    records = resumed("attributes-heart", partial(score_heart, part="test"), 1 if quick else HEART_SEEDS, quick)
    found = [record["mrr"] for record in records]
    what = f"test MRR, HeaRT's CiteSeer with attributes, {len(found)} seeds"
    raw = {"mrr": found, "std": float(np.std(found)), "seconds": [record["seconds"] for record in records]}
    return [Row(what, "at least", HEART_BAR, float(np.mean(found)), "MRR", raw=raw)]


BENCHMARKS: dict[str, Callable[[bool], list[Row]]] = {
    **{f"attributes-{data}": partial(planetoid, data) for data in BARS},
    "attributes-heart": heart,
}

if __name__ == "__main__":
    for number in map(int, sys.argv[2:]):
        chosen = sys.argv[1]
        print(chosen, score_heart(number, "valid") if chosen == "heart" else score_split(chosen, number, "val", 500))
