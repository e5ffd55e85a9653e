"""How well tomorrow's links are known with a graph kept up to date, with a new model every day, and with neither."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.metrics import roc_auc_score

import graphreach as gr

DAYS, EDGES_A_DAY, SIZE = 12, 200, 20


def growing_communities(seed: int) -> pl.DataFrame:
    """Edges with dates, nine in ten within a community; every day a new community joins the first six."""
    rng = np.random.default_rng(seed)
    rows = []
    for day in range(DAYS):
        groups = 6 + day
        first = rng.integers(0, groups * SIZE, EDGES_A_DAY)
        near = first // SIZE * SIZE + rng.integers(0, SIZE, EDGES_A_DAY)
        second = np.where(rng.random(EDGES_A_DAY) < 0.9, near, rng.integers(0, groups * SIZE, EDGES_A_DAY))
        date = (np.datetime64("2024-03-01") + day).item()
        rows += [(int(u), int(v), date) for u, v in zip(first, second, strict=True)]
    return pl.DataFrame(rows, schema=["source", "target", "date"], orient="row")


def asked_tomorrow(tomorrow: gr.Snapshot, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Tomorrow's new links, and as many random pairs of tomorrow's nodes that are not linked."""
    pairs = rng.choice(tomorrow.graph.ids, (10 * len(tomorrow.new), 2))
    free = (pairs[:, 0] != pairs[:, 1]) & (tomorrow.graph.to_scipy()[*tomorrow.graph.index_of(pairs.T)] == 0)
    others = pairs[free][: len(tomorrow.new)]
    return np.concatenate([tomorrow.new, others]), np.repeat([1, 0], [len(tomorrow.new), len(others)])


snapshots = list(gr.replay(gr.Graph.from_frame(growing_communities(seed=0), time="date"), by="day"))[2:]
start, rng = snapshots[0].graph, np.random.default_rng(1)
first = gr.LinkPredictor(num_members=1, prior=0.5).fit(start)

rows = []
for today, tomorrow in pairwise(snapshots):
    pairs, linked = asked_tomorrow(tomorrow, rng)
    ids = tomorrow.graph.ids  # nodes that come tomorrow have no edges today
    known, old = today.graph.updated(nodes=ids), start.updated(nodes=ids)
    retrained = gr.LinkPredictor(num_members=1, prior=0.5).fit(today.graph)
    models = {"updated": (first, known), "retrained": (retrained, known), "neither": (first, old)}
    found = {name: roc_auc_score(linked, model.decision_function(pairs, on)) for name, (model, on) in models.items()}
    rows.append({"day": tomorrow.begin.date(), **found})
table = pl.DataFrame(rows)
print(table, "on average", table.select(pl.mean("updated", "retrained", "neither")), sep="\n")
table.write_csv("next_day_links.csv")
figure, ax = plt.subplots(layout="constrained")
for name, colour, marker in (("updated", "#0072B2", "o"), ("retrained", "#E69F00", "s"), ("neither", "#999999", "^")):
    ax.plot(table["day"], table[name], color=colour, marker=marker, label=name)
ax.set(ylabel="AUC of next-day links", ylim=(0.4, 1))
ax.legend()
figure.autofmt_xdate()
figure.savefig("next_day_links.png", dpi=150)
