"""How well the model does on the paper's small data sets, structure only, ten seeds; test data is scored once a run.

Runs are kept in `.runs/` under the benchmarks' folder, so an interrupted benchmark goes on where it was.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import FOLDER, Row
from graphreach import datasets, training

SEEDS = 10
COMMON: dict[str, Any] = {"protocol": "published", "features": False, "epochs": 1000, "patience": 200}


class Case(NamedTuple):
    """A data set, settings and the bar of the mean test AUC."""

    what: str
    data: str
    bar: float
    settings: dict[str, Any]
    metric: str = "auc"


CASES = {
    "communities-links": Case("Communities, links", "communities", 0.985, {"task": "link"}),
    "communities-pairs": Case("Communities, pairs, published split", "communities", 0.999, {"task": "pair"}),
    "grid-links": Case("Grid, links", "grid", 0.93, {"task": "link"}),
    "email-pairs": Case("Email, pairs, published split", "email", 0.87, {"task": "pair"}),
    "email-pairs-disjoint": Case(
        "Email, pairs of unseen nodes, all graphs' pairs together",
        "email",
        0.94,
        {"task": "pair", "protocol": "node-disjoint"},
        "pooled_auc",
    ),
    "email-complete-pairs-disjoint": Case(
        "Email-Complete, pairs of unseen nodes", "email-complete", 0.93, {"task": "pair", "protocol": "node-disjoint"}
    ),
}


def accuracy(name: str, quick: bool) -> list[Row]:
    """The mean test AUC over seeds."""
    case = CASES[name]
    seeds = 1 if quick else SEEDS
    records = []
    for seed in range(seeds):
        settings = training.Settings(**{**COMMON, **case.settings, "seed": seed, **({"epochs": 20} if quick else {})})
        folder = None if quick else FOLDER / ".runs" / name / str(seed)
        records.append(training.run(datasets.load(case.data, seed=seed), settings, folder).record)
        print(f"seed {seed}: {records[-1]['metrics']['test'][case.metric]:.4f}", flush=True)
    aucs = [record["metrics"]["test"][case.metric] for record in records]
    notes = []
    if case.metric != "auc":
        mean = np.mean([record["metrics"]["test"]["auc"] for record in records])
        notes = [f"mean of the graphs' own AUCs, of which some have one positive pair: {mean:.3f}"]
    return [
        Row(
            f"test AUC, {case.what}, preset `best`, {seeds} seeds", "at least", case.bar, float(np.mean(aucs)), "AUC",
            sizes=records[0]["data"], notes=notes,
            raw={
                "aucs": aucs,
                "std": float(np.std(aucs)),
                "mean_over_graphs": [record["metrics"]["test"]["auc"] for record in records],
                "validation": [record["metrics"]["val"][case.metric] for record in records],
                "best_epochs": [record["best_epoch"] for record in records],
                "epochs": [record["epochs"] for record in records],
                "training_loss": [record["training_loss"] for record in records],
                "settings": json.loads(json.dumps(records[0]["settings"])),
            },
        )
    ]  # fmt: skip


BENCHMARKS = {name: partial(accuracy, name) for name in CASES}
