"""Embeddings of width 128 by `gr.GraphReachEmbedding(dim=128)`, beside those of other packages.

    python -m benchmarks embedding-classes
    python -m benchmarks embedding-multi-label
    python -m benchmarks embedding-links
    python -m benchmarks embedding-unseen

Every method has its defaults but for the width; nothing is chosen on what is scored here. One run is a line of
`results/<name>.jsonl`, so that an interrupted benchmark goes on where it was; a quick run saves nothing.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import graphreach as gr
from benchmarks import embedding_methods
from benchmarks.embedding_data import (
    CLASSES,
    LINKS,
    MULTI_LABEL,
    PLANTED,
    UNSEEN,
    Labelled,
    grow,
    load,
    load_multi_label,
)
from benchmarks.embedding_methods import OURS, PeerFailedError, embed, ids_of, methods
from benchmarks.harness import RESULTS, Row, resumed
from benchmarks.links import clean_split
from graphreach.auc import auc

DRAWS = 10
"""Draws of the nodes whose labels are known, for one embedding."""

SEEDS = 1
"""Runs for links and unseen nodes, each with a split and an embedding of its own seed."""

CLASS_SHARES, LABEL_SHARES = (0.01, 0.1, 0.5), (0.1, 0.5, 0.9)
CLOSE = 0.005
"""Half a point of F1."""

FASTER_THAN_PECANPY, SLOWER_THAN_NODE2VEC = 10, 1
LOST, TIME_OF_UNSEEN = 0.01, 0.05
"""What a transformed node may lose to fitting anew, in AUC or accuracy, and its share of the time of fitting."""

METRICS = {"micro_f1": "micro F1", "macro_f1": "macro F1"}
Records = list[dict[str, Any]]


def records_of(
    name: str, data: tuple[str, ...], seeds: int, compute: Callable[..., dict[str, Any]], quick: bool
) -> Records:
    """One record per data, method and seed; a peer that fails is recorded with its reason."""

    def run(data: str, method: str, seed: int) -> dict[str, Any]:
        try:
            return compute(data, method, seed, quick)
        except PeerFailedError as error:
            return {"failed": str(error)}

    keys = [
        {"data": each, "method": method, "seed": seed}
        for each in ((PLANTED,) if quick else data)
        for seed in range(1 if quick else seeds)
        for method in methods(quick)
    ]
    return resumed(RESULTS / f"{name}.jsonl", keys, run, save=not quick)


def mean_by_method(records: Records, value: Callable[[dict[str, Any]], float]) -> dict[str, float]:
    """The mean over seeds of each method that did not fail on any."""
    found: dict[str, list[float]] = {}
    failed = {record["method"] for record in records if "failed" in record}
    for record in records:
        if record["method"] not in failed:
            found.setdefault(record["method"], []).append(value(record))
    return {method: float(np.mean(values)) for method, values in found.items()}


def against_best(what: str, found: dict[str, float], unit: str) -> Row:
    """Ours against the best of the others."""
    others = {method: value for method, value in found.items() if method != OURS}
    best = max(others, key=lambda method: others[method])
    return Row(f"{what}, beside {best} {others[best]:.3f}", "at least", others[best], found[OURS], unit, raw=found)


def failures(records: Records) -> list[str]:
    """What is to be said of peers that failed."""
    return [f"{each['data']}: {each['failed']}" for each in records if "failed" in each]


# Labels


def _judge(source: Callable[[str], Labelled], shares: tuple[float, ...], *run: Any) -> dict[str, Any]:
    data, method, seed, quick = run
    graph, labels = source(data)
    found = embed(method, graph, seed)
    scores = gr.tasks.judge_embedding(found.vectors, labels, shares=shares, repeats=2 if quick else DRAWS, seed=0)
    kept = ("share", *METRICS, *(f"{metric}_std" for metric in METRICS))
    return {
        "nodes": graph.num_nodes, "edges": graph.num_edges, "seconds": found.seconds, "versions": found.versions,
        "scores": [{name: getattr(score, name) for name in kept} for score in scores],
    }  # fmt: skip


def _cells(records: Records, metrics: tuple[str, ...]) -> list[Row]:
    """A row for each graph, share of labels and metric."""
    rows = []
    for data in dict.fromkeys(record["data"] for record in records):
        of_data = [record for record in records if record["data"] == data]
        for place, score in enumerate(next(each for each in of_data if "scores" in each)["scores"]):
            for metric in metrics:
                found = mean_by_method(of_data, lambda each, at=place, name=metric: each["scores"][at][name])
                what = f"test {METRICS[metric]}, {data}, {score['share']:.0%} of the labels, embedding of width 128"
                rows.append(against_best(what, found, METRICS[metric]))
    return rows


def _counts(rows: list[Row], task: str, records: Records) -> list[Row]:
    close = sum(row.measured >= row.bar - CLOSE for row in rows)
    of_all = f"cells of {task} (graph, share of labels, metric) with an F1"
    return [
        Row(f"{of_all} at or above the best peer's", "at least", len(rows), sum(row.met for row in rows), "cells"),
        Row(
            f"{of_all} at most half a point below the best peer's", "at least", len(rows), close, "cells",
            notes=failures(records),
        ),
    ]  # fmt: skip


def classes(quick: bool) -> list[Row]:
    """Classes of nodes, told from their vectors by logistic regression."""
    records = records_of("embedding-classes", CLASSES, 1, partial(_judge, load, CLASS_SHARES), quick)
    rows = _cells(records, tuple(METRICS))
    return rows + _counts(rows, "classes", records)


def multi_label(quick: bool) -> list[Row]:
    """Nodes with several labels, whose number is known, as DeepWalk and ProNE have it."""
    compute = partial(_judge, load_multi_label, LABEL_SHARES)
    records = records_of("embedding-multi-label", tuple(MULTI_LABEL), 1, compute, quick)
    rows = _cells(records, ("micro_f1",))
    published = []
    for record in records:
        if record["method"] == OURS and record["data"] in MULTI_LABEL:
            share = f"{LABEL_SHARES[-1]:.0%} of the labels"
            what = f"test micro F1, {record['data']}, {share}, beside the published figure of ProNE"
            ours = record["scores"][-1]["micro_f1"]
            published.append(Row(what, "at least", MULTI_LABEL[record["data"]], ours, "micro F1"))
    return rows + published + _counts(rows, "labels", records)


# Links


def dot(vectors: NDArray[Any], pairs: NDArray[np.int64]) -> NDArray[Any]:
    """Dot products of pairs of positions."""
    found: NDArray[Any] = np.einsum("ij,ij->i", vectors[pairs[0]], vectors[pairs[1]])
    return found


def cosine(vectors: NDArray[Any], pairs: NDArray[np.int64]) -> NDArray[Any]:
    """Cosines of pairs of positions; 0 with a vector of zeros."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return dot(vectors / np.where(length > 0, length, 1), pairs)


def best_score(vectors: NDArray[Any], pairs: NDArray[np.int64], positive: NDArray[np.bool_]) -> str:
    """Which of dot product and cosine finds validation links better."""
    return max(SCORES, key=lambda name: auc(SCORES[name](vectors, pairs), positive))


SCORES = {"dot": dot, "cosine": cosine}


def _links(data: str, method: str, seed: int, quick: bool) -> dict[str, Any]:
    split = clean_split(load(data).graph, seed)
    found = embed(method, split.graph, seed)
    vectors, chosen, score = found.vectors.astype(np.float64), "own", found.score
    if score is None:
        chosen = best_score(vectors, split.val.index, split.val.label == 1)
        score = partial(SCORES[chosen], vectors)
    return {
        "auc": auc(score(split.test.index), split.test.label == 1), "score": chosen, "seconds": found.seconds,
        "versions": found.versions, "nodes": split.graph.num_nodes, "edges": split.graph.num_edges,
    }  # fmt: skip


def links(quick: bool) -> list[Row]:
    """Held-out links by the embedding alone, and the time that it takes."""
    records = records_of("embedding-links", LINKS, SEEDS, _links, quick)
    rows = []
    for data in dict.fromkeys(record["data"] for record in records):
        of_data = [record for record in records if record["data"] == data]
        found = mean_by_method(of_data, lambda each: each["auc"])
        row = against_best(f"AUC of test links, {data}, embedding of width 128", found, "AUC")
        row.notes += failures(of_data)
        rows += [row, *_times(data, of_data)]
    return rows


def _times(data: str, records: Records) -> list[Row]:
    """Ratios of medians over seeds, whose runs take turns."""
    seconds: dict[str, list[float]] = {}
    for record in records:
        seconds.setdefault(record["method"], []).append(record.get("seconds", float("nan")))
    median = {method: float(np.median(values)) for method, values in seconds.items()}
    rows = []
    if "pecanpy" in median:
        ratio = median["pecanpy"] / median[OURS]
        what = f"time to embed, {data}, width 128: PecanPy with gensim against ours"
        rows.append(Row(what, "at least", FASTER_THAN_PECANPY, ratio, raw=seconds))
    ratio = median[OURS] / median["node2vec"]
    what = f"time to embed, {data}, width 128, against node2vec of this project"
    return [*rows, Row(what, "at most", SLOWER_THAN_NODE2VEC, ratio, raw=seconds)]


# Unseen nodes


class Unseen(NamedTuple):
    """Vectors and scores of a grown graph."""

    vectors: NDArray[Any]
    scores: NDArray[Any]
    seconds: float


def accuracy(vectors: NDArray[Any], labels: NDArray[Any], old: int) -> float:
    """How often logistic regression on the first `old` nodes is right about the others."""
    fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(vectors[:old], labels[:old])
    return float(fitted.score(vectors[old:], labels[old:]))


def _transformed(fitted: Any, graph: gr.Graph, pairs: NDArray[np.int64]) -> Unseen:
    start = time.perf_counter()
    vectors = fitted.transform(graph)
    seconds = time.perf_counter() - start
    return Unseen(vectors, fitted.score_pairs(ids_of(graph, pairs), graph=graph), seconds)


def _anew(graph: gr.Graph, seed: int, pairs: NDArray[np.int64]) -> Unseen:
    start = time.perf_counter()
    fitted = embedding_methods.fit_ours(graph, seed)
    seconds = time.perf_counter() - start
    return Unseen(fitted.embedding_, fitted.score_pairs(ids_of(graph, pairs)), seconds)


@functools.cache
def _warm_up_unseen() -> None:
    """Load what both sides need. On a graph of its own, as a second call on the same one might remember the first."""
    small = grow(load(PLANTED), 1)
    _transformed(embedding_methods.fit_ours(small.before, 1), small.after, small.links)


def _unseen(data: str, method: str, seed: int) -> dict[str, Any]:
    grown = grow(load(data), seed)
    pairs = np.concatenate([grown.links, grown.others], axis=1)
    old = grown.before.num_nodes
    _warm_up_unseen()
    if method == "transform":
        fitted = embedding_methods.fit_ours(grown.before, seed)
        found = _transformed(fitted, grown.after, pairs)
        if not np.array_equal(found.vectors[:old], fitted.embedding_):
            raise RuntimeError("known nodes must keep their vectors")
    else:
        found = _anew(grown.after, seed, pairs)
    record = {
        "auc": auc(found.scores, np.arange(pairs.shape[1]) < grown.links.shape[1]), "seconds": found.seconds,
        "known_nodes": old, "new_nodes": grown.after.num_nodes - old, "links": grown.links.shape[1],
        "new_nodes_without_known_links": int(np.count_nonzero(np.diff(grown.after.indptr.astype(np.int64))[old:] == 0)),
    }  # fmt: skip
    if grown.classes is not None:
        record["accuracy"] = accuracy(found.vectors, grown.classes, old)
    return record


def unseen(quick: bool) -> list[Row]:
    """Nodes that came after the embedding was fitted, against fitting anew with them."""
    keys = [
        {"data": data, "method": method, "seed": seed}
        for data in ((PLANTED,) if quick else UNSEEN)
        for seed in range(1 if quick else SEEDS)
        for method in ("transform", "anew")
    ]
    records = resumed(RESULTS / "embedding-unseen.jsonl", keys, _unseen, save=not quick)
    rows = []
    for data in dict.fromkeys(record["data"] for record in records):
        of_data = [record for record in records if record["data"] == data]
        whose = f"of nodes that came later, {data}, beside fitting anew"
        for metric, what in (("auc", "AUC of links"), ("accuracy", "accuracy of classes")):
            if metric in of_data[0]:
                found = mean_by_method(of_data, lambda each, name=metric: each[name])
                rows.append(
                    Row(f"{what} {whose} {found['anew']:.3f}", "at least", found["anew"] - LOST, found["transform"],
                        "AUC" if metric == "auc" else "accuracy", raw=found)
                )  # fmt: skip
        seconds = mean_by_method(of_data, lambda each: each["seconds"])
        what = f"time to transform a graph with a tenth more nodes against fitting anew, {data}"
        rows.append(Row(what, "at most", TIME_OF_UNSEEN, seconds["transform"] / seconds["anew"], raw=seconds))
    return rows


BENCHMARKS: dict[str, Callable[[bool], list[Row]]] = {
    "embedding-classes": classes,
    "embedding-multi-label": multi_label,
    "embedding-links": links,
    "embedding-unseen": unseen,
}
