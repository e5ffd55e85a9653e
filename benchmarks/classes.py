"""Classes of nodes by `ReachClassifier`: Cora and CiteSeer on the splits of Table 4, and the Facebook pages.

Nothing is chosen on what is scored here: penalties and weights are chosen by cross-validation of the training nodes within
`fit`, everything else is a default. The validation nodes of Table 4 are not used at all.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import graphreach as gr
from benchmarks.harness import Row
from graphreach import datasets, tasks

SEEDS, DRAWS = 5, 10


class Citations(NamedTuple):
    """A data set of Table 4, with or without attributes, and the bar of the mean test score."""

    data: str
    attributes: bool
    bar: float


CITATIONS = {
    "classes-cora": Citations("cora", False, 0.90),
    "classes-citeseer": Citations("citeseer", False, 0.80),
    "classes-cora-attributes": Citations("cora", True, 0.919),
    "classes-citeseer-attributes": Citations("citeseer", True, 0.832),
}
PAGES = {"classes-facebook-5": (0.05, 0.885), "classes-facebook-50": (0.5, 0.935)}


def expected_error(found: NDArray[np.float64], right: NDArray[np.bool_], bins: int = 10) -> float:
    """How far the mean probability of the predicted class is from its share of right answers, over bins of equal width."""
    sure = found.max(axis=1)
    place = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [abs(float(np.sum(sure[place == each] - right[place == each]))) for each in range(bins)]
    return sum(gaps) / len(sure)


def citations(name: str, quick: bool) -> list[Row]:
    """The mean one-vs-rest AUC of predicted classes over the seeds of Table 4."""
    case = CITATIONS[name]
    sample = datasets.load(case.data)[0]
    assert sample.y is not None
    scores: list[dict[str, float]] = []
    for seed in range(1 if quick else SEEDS):
        split = tasks.split(sample, "node", "published", seed=seed)
        labels = {sample.graph.ids[node]: int(sample.y[node]) for node in split.train.index}
        began = time.perf_counter()
        fitted = gr.ReachClassifier(random_state=seed).fit(sample.graph, labels, sample.x if case.attributes else None)
        seconds = time.perf_counter() - began
        found = fitted.predict_proba()[split.test.index]
        right = found.argmax(axis=1) == split.test.label
        own = {"seconds": seconds, "calibration_error": expected_error(found, right)}
        scores.append(tasks.metrics("node", found, split.test) | own)
        print(f"seed {seed}: {scores[-1]}", flush=True)
    kind = "with attributes" if case.attributes else "structure only"
    what = f"test AUC of predicted classes, {case.data}, {kind}, {len(scores)} seeds of Table 4"
    return [_row(what, "AUC", case.bar, "hard_auc", scores, {"nodes": sample.graph.num_nodes, "train": 0.8})]


def pages(name: str, quick: bool) -> list[Row]:
    """The mean micro F1 (which is accuracy, as each page has one class) over random draws of the labelled nodes."""
    share, bar = PAGES[name]
    folder = Path(os.environ["GRAPHREACH_DATA"]) / "graphs"
    graph = gr.read_graph(folder / "facebook_edges.csv.gz")
    table = pl.read_csv(folder / "facebook_target.csv.gz")
    y = np.empty(graph.num_nodes, np.int64)
    y[graph.index_of(table["id"].to_numpy())] = table["target"].to_numpy()
    scores: list[dict[str, float]] = []
    for draw in range(1 if quick else DRAWS):
        order = np.random.default_rng(draw).permutation(graph.num_nodes)
        train, test = np.split(order, [round(share * graph.num_nodes)])
        labels = np.full(graph.num_nodes, -1)
        labels[train] = y[train]
        began = time.perf_counter()
        fitted = gr.ReachClassifier(random_state=draw).fit(graph, labels)
        seconds = time.perf_counter() - began
        found = fitted.predict_proba()[test]
        right = found.argmax(axis=1) == y[test]
        own = {"micro_f1": float(right.mean()), "calibration_error": expected_error(found, right), "seconds": seconds}
        scores.append(own)
        print(f"draw {draw}: {own}", flush=True)
    what = f"test micro F1, Facebook pages, {share:.0%} of the labels, {len(scores)} draws"
    return [_row(what, "micro F1", bar, "micro_f1", scores, {"nodes": graph.num_nodes, "labelled": share})]


def _row(what: str, unit: str, bar: float, metric: str, scores: list[dict[str, float]], sizes: dict[str, Any]) -> Row:
    raw = {each: [score[each] for score in scores] for each in scores[0]}
    return Row(
        what, "at least", bar, float(np.mean(raw[metric])), unit, sizes=sizes,
        raw=raw | {"std": float(np.std(raw[metric]))},
        notes=[f"mean calibration error {np.mean(raw['calibration_error']):.3f}, {np.mean(raw['seconds']):.1f} s a fit"],
    )  # fmt: skip


BENCHMARKS = {name: partial(citations, name) for name in CITATIONS} | {name: partial(pages, name) for name in PAGES}
