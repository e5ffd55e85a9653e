"""The figure of the page on splits: the same models on the same graphs, asked four questions.

``python -m tools.split_questions`` runs all of it in some minutes and writes ``docs/images/splits.csv`` and ``splits.png``;
``--draw`` draws the picture again from the table. Settings are the defaults, and each test set is scored once.
"""

import argparse
import csv
import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import graphreach as gr
from graphreach.auc import auc
from graphreach.io.files import replacing
from graphreach.plot import MODEL_COLOURS, require_matplotlib
from graphreach.training import Settings, load_run
from graphreach.training.harness import make_splits

IMAGES = Path(__file__).parent.parent / "docs" / "images"
TABLE, PICTURE = IMAGES / "splits.csv", IMAGES / "splits.png"
COLUMNS = ["graph", "question", "model", "seed", "auc"]
SEEDS = 5

QUESTIONS: dict[str, dict[str, Any]] = {
    "uniform": {"protocol": "clean"},
    "degree": {"protocol": "clean", "negatives": "degree"},
    "time": {"protocol": "time"},
    "unseen nodes": {},
}
"""Settings of a split for each question; unseen nodes have a split of their own, see :func:`arrivals`."""

WORDS = {
    "uniform": "links hidden at random,\nrandom other pairs",
    "degree": "links hidden at random,\nequally popular other pairs",
    "time": "the latest links",
    "unseen nodes": "links of unseen nodes",
}
"""What the picture says of a question."""

POPULARITY = "degrees"
"""The product of both degrees, which is all that this model knows."""

MODELS = {POPULARITY: "product of degrees", "common-neighbours": "common neighbours", "gcn": "GCN", "reach": "reach"}
MARKS = {POPULARITY: ("#7F7F7F", "s"), "common-neighbours": ("#0072B2", "D"), "gcn": (MODEL_COLOURS["gcn"], "^"),
         "reach": (MODEL_COLOURS["graphreach"], "o")}  # fmt: skip

Pairs = NDArray[np.int64]


def growing_town(meetings: int = 6000, seed: int = 0) -> gr.Graph:
    """A generated graph with times: people arrive, join a circle or open one, and know the popular sooner than others.

    Three steps in twenty bring somebody new. Seventeen meetings in twenty stay in the circle, and whoever has met many
    meets more. The time of a meeting is its number; two people who meet again have one link.

    Example:
        >>> growing_town(50).time is not None
        True
    """
    rng = np.random.default_rng(seed)
    circle = [0, 0, 0, 1, 1, 1]
    ends = list(range(len(circle)))  # everybody once, and once more per link: a draw from it prefers the popular
    rows: list[tuple[int, int, int]] = []
    while len(rows) < meetings:
        if rng.random() < 0.15:
            newest = max(circle)
            circle.append(newest + 1 if rng.random() < 0.03 else int(rng.integers(newest + 1)))
            first = len(circle) - 1
            ends.append(first)
        else:
            first = ends[rng.integers(len(ends))]
        inside = rng.random() < 0.85
        near = [each for each in ends if circle[each] == circle[first]] if inside else ends
        second = near[rng.integers(len(near))]
        if first != second:
            rows.append((first, second, len(rows)))
            ends += [first, second]
    return gr.Graph.from_frame(pl.DataFrame(rows, schema=["source", "target", "time"], orient="row"))


def split_auc(graph: gr.Graph, question: str, model: str, seed: int) -> float:
    """Test AUC of a model with default settings, on a split that the package draws."""
    sample = gr.datasets.Sample(graph)
    if model == POPULARITY:
        (parts,) = make_splits([sample], Settings(task="link", seed=seed, **QUESTIONS[question]))
        return auc(_popularity(parts.graph, parts.test.index), parts.test.label == 1)
    settings = Settings(task="link", method=model, seed=seed, **QUESTIONS[question])
    return float(gr.training.run(sample, settings).test["auc"])


def unseen_auc(graph: gr.Graph, model: str, seed: int) -> float:
    """Test AUC of a model that was trained before a tenth of the nodes came, on links of these nodes."""
    before, after, links, others = arrivals(graph, seed)
    pairs = np.concatenate([links, others], axis=1)
    linked = np.arange(pairs.shape[1]) < links.shape[1]
    if model == POPULARITY:
        return auc(_popularity(after, pairs), linked)
    with tempfile.TemporaryDirectory() as folder:
        gr.training.run(gr.datasets.Sample(before), Settings(task="link", method=model, seed=seed), folder)
        run = load_run(folder)
        return auc(run.score_pairs(run.embed(after), pairs, after), linked)


def arrivals(graph: gr.Graph, seed: int) -> tuple[gr.Graph, gr.Graph, Pairs, Pairs]:
    """The graph before and after a tenth of its nodes came, hidden links of these, and as many pairs that are no links.

    New nodes come with half of their links. The other half is asked for, among pairs of a new node and any other.

    Example:
        >>> before, after, links, others = arrivals(growing_town(200), 0)
        >>> after.num_nodes - before.num_nodes == round(0.1 * after.num_nodes)
        True
    """
    rng = np.random.default_rng([seed, 21])
    n = graph.num_nodes
    old = n - round(0.1 * n)
    place = rng.permutation(n)
    ends = place[graph.edge_index]
    ends = ends[:, ends[0] > ends[1]]  # of the ends of a link, the later node is first
    new = ends[0] >= old
    own = ends[:, new][:, rng.permutation(np.count_nonzero(new))]
    known, asked = np.split(own, [own.shape[1] // 2], axis=1)
    after = gr.Graph.from_edges(np.concatenate([ends[:, ~new], known], axis=1), n)
    taken = gr.Graph.from_edges(ends, n).to_scipy()
    drawn = np.stack([rng.integers(old, n, 9 * asked.shape[1]), rng.integers(0, n, 9 * asked.shape[1])])
    free = drawn[:, (drawn[0] != drawn[1]) & (np.asarray(taken[drawn[0], drawn[1]]).ravel() == 0)]
    return gr.Graph.from_edges(ends[:, ~new], old), after, asked, free[:, : asked.shape[1]]


def _popularity(graph: gr.Graph, pairs: Pairs) -> NDArray[np.float64]:
    degree = np.diff(graph.indptr).astype(np.float64)
    return degree[pairs[0]] * degree[pairs[1]]


GRAPHS: dict[str, Callable[[], gr.Graph]] = {
    "email-complete": lambda: gr.datasets.load("email-complete")[0].graph,
    "growing town": growing_town,
}
"""Mail of an institution, which has no times, and a graph that is generated and has."""


def ask(graph: gr.Graph, question: str, model: str, seed: int) -> float:
    """Test AUC of a model for one of the questions."""
    return unseen_auc(graph, model, seed) if question == "unseen nodes" else split_auc(graph, question, model, seed)


def measure() -> list[dict[str, Any]]:
    """One row for each graph, question, model and seed."""
    rows = []
    for name, load in GRAPHS.items():
        graph = load()
        asked = [each for each in QUESTIONS if each != "time" or graph.time is not None]
        for question, model, seed in itertools.product(asked, MODELS, range(SEEDS)):
            found = round(ask(graph, question, model, seed), 4)
            rows.append(dict(zip(COLUMNS, (name, question, model, seed, found), strict=True)))
            print(*rows[-1].values(), file=sys.stderr, flush=True)
    return rows


def read_rows() -> list[dict[str, Any]]:
    """The rows of the committed table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [{**row, "seed": int(row["seed"]), "auc": float(row["auc"])} for row in csv.DictReader(file)]


def summary(rows: list[dict[str, Any]]) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Mean and standard deviation over seeds, by graph, question and model."""
    groups: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        groups.setdefault((row["graph"], row["question"], row["model"]), []).append(row["auc"])
    return {key: (statistics.mean(own), statistics.stdev(own) if len(own) > 1 else 0.0) for key, own in groups.items()}


def split_table() -> str:
    """The figure's numbers as a table of the page.

    Example:
        >>> split_table().splitlines()[0]
        '| graph | question | product of degrees | common neighbours | GCN | reach |'
    """
    found = summary(read_rows())
    lines = [f"| graph | question | {' | '.join(MODELS.values())} |", f"|---|---|{'---|' * len(MODELS)}"]
    for graph, question in dict.fromkeys(key[:2] for key in found):
        cells = ("{:.3f}\xa0±\xa0{:.3f}".format(*found[graph, question, model]) for model in MODELS)
        lines.append(f"| {graph} | {WORDS[question].replace(chr(10), ' ')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """One panel per graph, one row per question, one mark per model; bars are the standard deviation over seeds."""
    require_matplotlib()
    from matplotlib.figure import Figure

    found = summary(rows)
    names = list(dict.fromkeys(key[0] for key in found))
    figure = Figure(figsize=(10, 3.9), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for ax, name in zip(panels, names, strict=True):
        for number, (model, label) in enumerate(MODELS.items()):
            colour, mark = MARKS[model]
            own = [(at, *found[name, each, model]) for at, each in enumerate(QUESTIONS) if (name, each, model) in found]
            at, mean, deviation = (np.array(each) for each in zip(*own, strict=True))
            ax.errorbar(
                mean, at + 0.14 * (number - 1.5), xerr=deviation, fmt=mark, color=colour, label=label, capsize=2, ms=7
            )
        for at, each in enumerate(QUESTIONS):
            if (name, each, POPULARITY) not in found:
                ax.text(0.5, at, "  no times", va="center", color="#666666")
        ax.axvline(0.5, color="#999999", lw=1, ls=":")
        ax.set(title=name, xlabel="test AUC (0.5 is chance)", yticks=range(len(QUESTIONS)))
        ax.set_yticklabels([WORDS[each] for each in QUESTIONS])
        ax.grid(axis="x", alpha=0.3)
    panels[0].invert_yaxis()
    figure.legend(*panels[-1].get_legend_handles_labels(), loc="outside upper center", ncols=len(MODELS), frameon=False)
    with replacing(path) as partial:
        figure.savefig(partial, dpi=110, format="png", metadata={"Software": None})


def main(arguments: list[str] | None = None) -> int:
    """Measure, write the table, draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m tools.split_questions", description=__doc__)
    parser.add_argument("--draw", action="store_true", help="draw the picture from the table that is there")
    if not parser.parse_args(arguments).draw:
        rows = measure()
        with replacing(TABLE) as partial, partial.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    draw(read_rows(), PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
