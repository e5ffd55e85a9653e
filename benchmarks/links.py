"""How well `gr.LinkPredictor` finds links on public splits, beside published figures; nothing is tuned on these tests.

Every run is a line of `results/links/<name>.jsonl`, so that an interrupted benchmark goes on where it was.
"""

from __future__ import annotations

import csv
import functools
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

import graphreach as gr
from benchmarks import harness
from benchmarks.harness import RESULTS, Row
from benchmarks.published import figures
from graphreach import tasks, training
from graphreach.auc import auc
from graphreach.tasks.dataset import Dataset, Sample
from graphreach.tasks.examples import Split
from graphreach.tasks.pair_keys import draw_pairs, encode, unique
from graphreach.training.harness import make_splits

OWN_BARS = {"USAir": 98.4, "Celegans": 91.7, "Power": 95.0}
SEAL = {
    graph: (figure, figures("seal", "WalkPool")[graph], OWN_BARS.get(graph))
    for graph, figure in figures("seal", "SEAL").items()
}
"""Published AUC of SEAL and of WalkPool, and a bar of our own where there is one."""

BIASED = ("jazz", "polblogs-rachith", "Caltech36", "Simmons81", "hep-th", "Haverford76")
REPEATS = 5
TESTED = 0.25
"""Share of the links that the degree-bias benchmark tests."""

Pairs = NDArray[np.int64]


def data_folder(name: str) -> Path:
    """A folder of the data mirror."""
    return Path(os.environ["GRAPHREACH_DATA"]) / name


def resumed(name: str, keys: Iterable[dict[str, Any]], compute: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """One record per key, from the file of earlier runs where it has one."""
    return harness.resumed(RESULTS / "links" / f"{name}.jsonl", keys, compute)


def measure(
    name: str, graph: gr.Graph, test: Pairs, truth: NDArray[Any], seed: int, **arguments: Any
) -> dict[str, Any]:
    """Fit on a graph, from a model that was trained without it or from nothing, score test pairs once."""
    from tools.pretrain import without  # which reads this module

    start = without(name)
    began = time.perf_counter()
    links = gr.LinkPredictor(prior=0.5, start=start, random_state=seed, **arguments).fit(graph)
    scores = links.decision_function(graph.ids[test].T)
    return {
        "auc": auc(scores, truth == 1), "out_of_fold_auc": links.auc_, "seconds": time.perf_counter() - began,
        "recipe": links.recipe_.as_dict(),
    }  # fmt: skip


def seal_split(graph: str, split: int) -> tuple[gr.Graph, Pairs, NDArray[Any]]:
    """The training graph of an official split, its test pairs ``[2, m]`` and their kinds."""
    found = loadmat(data_folder("seal-splits") / f"{graph}_split_{split}.mat")
    parts = {name: found[name].astype(np.int64) for name in ("train_pos", "train_neg", "test_pos", "test_neg")}
    first = min(int(part.min()) for part in parts.values())  # some files count from 1
    nodes = max(int(part.max()) for part in parts.values()) + 1 - first
    train = gr.Graph.from_edges((parts["train_pos"] - first).T, nodes)
    test = np.concatenate([parts["test_pos"], parts["test_neg"]]).T - first
    return train, test, np.repeat([1, 0], [len(parts["test_pos"]), len(parts["test_neg"])])


def _seal_run(graph: str, split: int) -> dict[str, Any]:
    return measure(graph, *seal_split(graph, split), seed=split)


def seal(quick: bool) -> list[Row]:
    """SEAL's eight graphs, ten official splits each, structure only."""
    graphs, splits = (["USAir"], [1]) if quick else (list(SEAL), list(range(1, 11)))
    rows, ahead, level = [], 0, 0
    for graph in graphs:
        records = resumed("seal", [{"graph": graph, "split": split} for split in splits], _seal_run)
        values = [100 * each["auc"] for each in records]
        mean, (seal_auc, walkpool, own) = float(np.mean(values)), SEAL[graph]
        ahead, level = ahead + (mean > seal_auc), level + (mean >= walkpool)
        rows.append(
            Row(
                f"test AUC x 100, {graph}, {len(values)} splits of SEAL's, beside SEAL {seal_auc} and WalkPool {walkpool}",
                "at least", own or seal_auc, mean, "AUC", sizes={"splits": len(values)},
                raw={"auc": values, "std": float(np.std(values)), "seconds": [each["seconds"] for each in records]},
            )
        )  # fmt: skip
    rows.append(Row("SEAL's graphs with a mean AUC above SEAL's", "at least", len(graphs), ahead, "graphs"))
    rows.append(
        Row("SEAL's graphs with a mean AUC at or above WalkPool's", "at least", 0.75 * len(graphs), level, "graphs")
    )
    return rows


def biased_split(graph: str, negatives: str, repeat: int) -> tuple[gr.Graph, Pairs, NDArray[Any]]:
    """A quarter of the links tested, a random spanning tree in training, negatives uniform or by training degree."""
    whole = gr.read_graph(data_folder("degree-bias") / f"{graph}.edges.txt.gz")
    rng = np.random.default_rng([repeat, 2405])
    edges = whole.edge_index
    edges = edges[:, edges[0] < edges[1]]
    size = (whole.num_nodes, whole.num_nodes)
    weights = csr_array((rng.random(edges.shape[1]) + 0.5, (edges[0], edges[1])), size)
    tree = minimum_spanning_tree(weights).tocoo()
    inside = np.isin(encode(edges), encode(np.stack([tree.row, tree.col]).astype(np.int64)))
    others = rng.permutation(np.flatnonzero(~inside))[: int(TESTED * edges.shape[1])]
    tested = np.zeros(edges.shape[1], np.bool_)
    tested[others] = True
    train, positives = gr.Graph.from_edges(edges[:, ~tested], whole.num_nodes), edges[:, tested]
    taken = unique(encode(edges))
    if negatives == "uniform":
        drawn = draw_pairs(rng, whole.num_nodes, positives.shape[1], taken)
    else:
        drawn = _by_degree(rng, train, positives.shape[1], taken)
    truth = np.repeat([1, 0], [positives.shape[1], drawn.shape[1]])
    return train, np.concatenate([positives, drawn], axis=1), truth


def _by_degree(rng: np.random.Generator, graph: gr.Graph, size: int, taken: NDArray[Any]) -> Pairs:
    """Pairs that are no links, both ends drawn in proportion to their degree; a pair may come twice, as there."""
    parts: list[Pairs] = []
    chance = graph.degree / graph.degree.sum()
    while sum(part.shape[1] for part in parts) < size:
        drawn = rng.choice(graph.num_nodes, (2, 2 * size), p=chance)
        drawn = drawn[:, drawn[0] != drawn[1]]
        parts.append(drawn[:, ~np.isin(encode(drawn), taken)])
    return np.concatenate(parts, axis=1)[:, :size]


def _biased_run(graph: str, negatives: str, repeat: int) -> dict[str, Any]:
    return measure(graph, *biased_split(graph, negatives, repeat), seed=repeat, negatives=negatives)


def degree_bias(quick: bool) -> list[Row]:
    """Six graphs of the degree-bias benchmark, beside 32 published methods."""
    with (data_folder("degree-bias") / "published.csv").open() as file:
        published = list(csv.DictReader(file))
    rows = []
    for negatives in ("uniform", "degree"):
        first, jazz = 0, 0
        for graph in BIASED[: 1 if quick else None]:
            repeats = range(1 if quick else REPEATS)
            keys = [{"graph": graph, "negatives": negatives, "repeat": repeat} for repeat in repeats]
            records = resumed("degree-bias", keys, _biased_run)
            mean = float(np.mean([each["auc"] for each in records]))
            others = sorted((float(row["auc"]) for row in _published(published, graph, negatives)), reverse=True)
            rank = 1 + sum(other > mean for other in others)
            first, jazz = first + (rank == 1), rank if graph == "jazz" else jazz
            rows.append(
                Row(
                    f"AUC, {graph}, {negatives} negatives, {len(records)} repeats, rank {rank} of {len(others) + 1}",
                    "at least", others[2] if graph == "jazz" else others[0], mean, "AUC",
                    raw={"auc": [each["auc"] for each in records], "seconds": [each["seconds"] for each in records]},
                )
            )  # fmt: skip
        rows.append(Row(f"graphs where it is first, {negatives} negatives", "at least", 5, first, "graphs"))
        rows.append(Row(f"rank on jazz, {negatives} negatives", "at most", 3, jazz, "th"))
    return rows


def _published(rows: list[dict[str, str]], graph: str, negatives: str) -> list[dict[str, str]]:
    kind = {"uniform": "uniform", "degree": "degreeBiased"}[negatives]
    return [row for row in rows if row["graph"] == graph and row["negatives"] == kind]


RAW_FILES: dict[str, dict[str, Any]] = {
    "ca-AstroPh.txt.gz": {}, "email-Enron.txt.gz": {}, "soc-Epinions1.txt.gz": {"directed": True},
    "chicago_regional.csv.gz": {"directed": True, "weight": "capacity"}, "facebook_edges.csv.gz": {},
}  # fmt: skip
PEERS = ("node2vec", "common-neighbours", "adamic-adar")
TIMED = 3
"""Runs of which the median time is taken: on a busy machine one run says little."""

SURE = 10
"""Bins of the expected calibration error."""


@functools.cache
def _warm_up() -> None:
    """Import and load from the cache what any of the timed runs needs: whichever came first would pay for all."""
    whole = gr.datasets.load("communities")[0].graph
    weight = 1.0 + np.arange(whole.edge_index.shape[1]) % 3
    for directed, own in ((False, None), (True, None), (True, weight)):
        graph = gr.Graph.from_edges(whole.edge_index, whole.num_nodes, edge_weight=own, directed=directed)
        for method in ("reach", *PEERS):
            training.run(Sample(graph), training.Settings(method=method, task="link", protocol="clean"))


def read_raw(file: str) -> gr.Graph:
    """The graph of a raw file."""
    return gr.read_graph(data_folder("graphs") / file, **RAW_FILES[file])


def clean_split(graph: gr.Graph, seed: int = 0) -> Split:
    """80% of the links to learn from, 10% to choose by, 10% to test."""
    settings = training.Settings(task="link", protocol="clean", seed=seed)
    return make_splits(Dataset("graph", (Sample(graph),)), settings)[0]


def _raw_run(file: str, method: str) -> dict[str, Any]:
    """One method on the clean split of a raw file."""
    _warm_up()
    graph = read_raw(file)
    settings = training.Settings(method=method, task="link", protocol="clean", seed=0)
    seconds = []
    for _ in range(TIMED):  # the same run each time
        began = time.perf_counter()
        outcome = training.run(Sample(graph), settings)
        seconds.append(time.perf_counter() - began)
    split = clean_split(graph)
    scores = np.asarray(outcome.scores["test"][0], np.float64)
    found = {
        "auc": outcome.test["auc"], "hits@100": tasks.pooled_hits(scores, split.test, 100),
        "seconds": float(np.median(seconds)), "nodes": graph.num_nodes, "edges": graph.num_edges,
    }  # fmt: skip
    if method == "reach":
        found["calibration_error"] = calibration_error(1 / (1 + np.exp(-scores)), split.test.label)
    return found


def calibration_error(chance: NDArray[Any], truth: NDArray[Any]) -> float:
    """The mean distance of a probability from the share of links among the pairs that have about that probability."""
    bins = np.minimum((chance * SURE).astype(int), SURE - 1)
    return float(
        sum(abs(truth[bins == b].mean() - chance[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins))
    )


def raw_files(quick: bool) -> list[Row]:
    """Five raw files: links found, beside node2vec, common neighbours and Adamic-Adar, and the time against node2vec."""
    rows = []
    for file in list(RAW_FILES)[: 1 if quick else None]:
        keys = [{"file": file, "method": method} for method in ("reach", *PEERS)]
        ours, *others = resumed("raw-files", keys, _raw_run)
        for metric in ("auc", "hits@100"):
            best = max(others, key=lambda each: each[metric])
            shown = ", ".join(f"{each['method']} {each[metric]:.3f}" for each in others)
            rows.append(
                Row(f"{metric} of test links, {file}, beside {shown}", "at least", best[metric], ours[metric], metric)
            )
        error = ours["calibration_error"]
        rows.append(
            Row(f"expected calibration error at a base rate of one half, {file}", "at most", 0.03, error, "error")
        )
        ratio = ours["seconds"] / others[0]["seconds"]
        rows.append(Row(f"time to fit and score against node2vec, {file}", "at most", 1, ratio))
    return rows


BENCHMARKS: dict[str, Any] = {"seal-links": seal, "degree-bias": degree_bias, "raw-links": raw_files}
