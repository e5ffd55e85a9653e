"""The page about the published numbers: what the paper says, what its command does, and what is true without both."""

from collections.abc import Sequence
from pathlib import Path

from graphreach.experiments.definition import Figure, load_experiment
from graphreach.experiments.summary import summarise
from graphreach.experiments.tables import figure_text
from tools.reach_section import reach_section
from tools.templates import fill, table

PUBLISHED, LABELS = "Published split, structure only", "Published split, walks weighted by training pairs"
DISJOINT = "Node-disjoint split, structure only"
SCALED, SCALED_DISJOINT = "Published split, attributes on one scale", "Node-disjoint split, attributes on one scale"
LONG, FREE = "Published split, the paper's 2,000 epochs", "Published split, without weight decay"
LEAKING = "Leaking: the authors' command"
"""Groups of Table 3a; the last is in Table 4 too."""

CORA, CORA_LABELS = "Published split", "Published split, walks weighted by training labels"
UNTRAINED = "Nothing trained"
"""Groups of Table 4."""

LABELLED = ("cora-pair-s", "citeseer-pair-s", "cora-node-s", "citeseer-node-s")
"""Columns of Table 4 with labels and without attributes."""


class Lookup:
    """Figures of one table by group, row and column."""

    def __init__(self, name: str, results: Path) -> None:
        self.experiment = load_experiment(name)
        self.groups = {group.name for group in self.experiment.groups}
        self.found = {
            (each.cell.group.name, each.cell.key, each.cell.name): each for each in summarise(self.experiment, results)
        }

    def __call__(self, group: str, key: str, column: str) -> str:
        """A figure as text, a dash where there is none."""
        if group not in self.groups:
            raise KeyError(group)
        each = self.found.get((group, key, column))
        return "-" if each is None or not each.seeds else figure_text(each)

    def published(self, column: str) -> Figure:
        """The paper's figure of GraphReach."""
        figure = self.experiment.figure("GraphReach", column)
        assert figure is not None  # a test says that every published row has a figure for every column
        return figure


PROTOCOLS = (
    ("authors' command, attention (**leaks**)", LEAKING, "authors-attention"),
    ("authors' command, mean pool (**leaks**)", LEAKING, "authors-mean"),
    ("no labels in the walks, `authors`", PUBLISHED, "authors"),
    ("no labels in the walks, `paper`", PUBLISHED, "paper"),
    ("no labels in the walks, `best`", PUBLISHED, "best"),
    ("no labels in the walks, `reach`", PUBLISHED, "reach"),
    ("training pairs in the walks, `best`", LABELS, "best"),
    ("closure of the training pairs, no graph", PUBLISHED, "closure"),
)
UNSEEN = (
    ("GCN", DISJOINT, "gcn"),
    ("GraphSAGE", DISJOINT, "sage"),
    ("GIN", DISJOINT, "gin"),
    ("P-GNN-E", DISJOINT, "pgnn-e"),
    ("GraphReach, `paper`", DISJOINT, "paper"),
    ("GraphReach, `authors`", DISJOINT, "authors"),
    ("GraphReach, `best`", DISJOINT, "best"),
    ("`reach`", DISJOINT, "reach"),
    ("closure of the training pairs", DISJOINT, "closure"),
)
CITATIONS = (
    ("authors' command (**leaks**)", LEAKING, "authors-attention"),
    ("no labels in the walks, `authors`", CORA, "authors"),
    ("no labels in the walks, `paper`", CORA, "paper"),
    ("no labels in the walks, `best`", CORA, "best"),
    ("no labels in the walks, `reach`", CORA, "reach"),
    ("training labels in the walks, `best`", CORA_LABELS, "best"),
    ("closure of the training pairs, no graph", UNTRAINED, "closure"),
)
"""Rows of a table: label, group and row of the experiment."""

BUDGETS = (
    ("P-GNN-F", "P-GNN-F", "pgnn-f"),
    ("P-GNN-E", "P-GNN-E", "pgnn-e"),
    ("GraphReach, `paper`", "GraphReach", "paper"),
    ("GraphReach, `authors`", "GraphReach", "authors"),
)
"""Rows of the table of training budgets on Protein: label, row of the paper, row of the experiment."""

SCALES = {
    "mlp": "attributes alone (perceptron)",
    "gcn": "GCN",
    "sage": "GraphSAGE",
    "gat": "GAT",
    "gin": "GIN",
    "pgnn-e": "P-GNN-E",
    "paper": "GraphReach, `paper`",
    "best": "GraphReach, `best`",
}
"""Rows of the table of attribute scales on Protein."""


def story(results: Path, pictures: str) -> str:
    """The page: its template with tables made from the results.

    Args:
        results: Folder of the results.
        pictures: Folder of the pictures, as seen from the page.
    """
    pairs, citations = Lookup("table-3a", results), Lookup("table-4", results)
    columns = list(pairs.experiment.columns)
    paper = [_paper(pairs, name) for name in columns]
    leaking = tuple((LEAKING, f"authors-attention{end}") for end in ("", "-long", "-free"))
    budgets = [
        [label, *_protein(pairs, row, [(group, key) for group in (PUBLISHED, LONG, FREE)])]
        for label, row, key in BUDGETS
    ]
    budgets.append(["authors' command (**leaks**)", *_protein(pairs, "GraphReach", leaking)])
    scales = [
        [label, *(pairs(group, key, "protein") for group in (PUBLISHED, SCALED, SCALED_DISJOINT))]
        for key, label in SCALES.items()
    ]
    published = [f"{citations.published(name).mean:.2f}" for name in LABELLED]
    return fill(
        "published-numbers.md",
        pictures=pictures,
        protocols=_figures(pairs, columns, ["paper", *paper], PROTOCOLS),
        sweeps=_sweeps(results),
        unseen=_figures(pairs, columns, ["paper (published split)", *paper], UNSEEN),
        protein=table(["", "paper", "200 epochs", "the paper's 2,000 epochs", "200 epochs, no weight decay"], budgets),
        scales=table(["", "published scaling", "columns on one scale", "the same, unseen nodes"], scales),
        citations=_figures(citations, LABELLED, ["paper", *published], CITATIONS),
        reach=reach_section(results),
    )


def _figures(lookup: Lookup, columns: Sequence[str], first: list[str], rows: Sequence[tuple[str, str, str]]) -> str:
    """A table with one column per data set, the paper's row first; a row that was not run is left out."""
    header = ["", *(lookup.experiment.columns[name].label for name in columns)]
    ours = [[label, *(lookup(group, key, name) for name in columns)] for label, group, key in rows]
    return table(header, [first, *(row for row in ours if set(row[1:]) != {"-"})])


FOUND = 0.7
"""A run on Protein above this AUC has found the attributes; the others are near 0.5."""


def _protein(lookup: Lookup, row: str, keys: Sequence[tuple[str, str]]) -> list[str]:
    """The paper's figure of a row, and ours with the number of runs that found the attributes."""
    published = lookup.experiment.figure(row, "protein")
    cells = ["-" if published is None else "{:.3f} ± {:.3f}".format(*published)]
    for group, key in keys:
        each = lookup.found.get((group, key, "protein"))
        runs = () if each is None else each.lines
        found = sum(line["metrics"]["test"]["auc"] > FOUND for line in runs)
        cells.append(lookup(group, key, "protein") + (f" ({found} of {len(runs)})" if runs else ""))
    return cells


def _sweeps(results: Path) -> str:
    """How far the sweeps of Email-Complete under the authors' command are from the published ones."""
    distances = [
        abs(each.mean - each.cell.published.mean)
        for name in ("table-9a", "table-10a")
        for each in summarise(load_experiment(name), results)
        if each.cell.leaks and each.cell.name == "email-complete" and each.seeds and each.cell.published is not None
    ]
    if not distances:
        return "by row."
    mean, most = sum(distances) / len(distances), max(distances)
    return (
        f"by row: on Email-Complete they are {mean:.3f} apart in the mean of {len(distances)} rows, {most:.3f} at most."
    )


def _paper(lookup: Lookup, column: str) -> str:
    return "{:.3f} ± {:.3f}".format(*lookup.published(column))
