"""Tables that set our results beside published figures, from result files and ``benchmarks/published.yaml``."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.published import Published, published
from tools.templates import table

OURS = "graphreach"
LABELS = {
    "cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed", "facebook": "Facebook pages",
    "email-complete": "Email-Complete", "ppi-homo-sapiens": "PPI (Homo sapiens)", "blogcatalog": "BlogCatalog",
    "wikipedia-pos": "Wikipedia (parts of speech)", "polblogs-rachith": "polblogs",
}  # fmt: skip
"""Names of data sets as papers write them."""

PACKAGES = {
    OURS: "`gr.GraphReachEmbedding`", "node2vec": "node2vec (`gr.nn.SkipGram`)", "pecanpy": "node2vec (PecanPy)",
    "prone": "ProNE (nodevectors)", "cleora": "Cleora (pycleora)", "fastrp": "FastRP (fastrp)",
    "fastrp-longer": "FastRP, weights 0, 0, 1, 1", "spectral": "`Spectral` (scikit-network)",
    "random-projection": "`RandomProjection` (scikit-network)", "louvain-ne": "LouvainNE (scikit-network)",
}  # fmt: skip
"""Embeddings that were run here."""


class Ours(NamedTuple):
    """Our figure on one data set, in the unit of the published table.

    Attributes:
        values: One figure per split, repeat or seed.
        spread: Standard deviation, where it is not that of the figures.
    """

    values: Sequence[float]
    spread: float | None = None

    @property
    def mean(self) -> float:
        """Mean of the figures."""
        return float(np.mean(self.values))

    def text(self, digits: int) -> str:
        """Mean and standard deviation.

        Example:
            >>> Ours([0.5, 0.7]).text(2)
            '0.60 ± 0.10'
        """
        spread = float(np.std(self.values)) if self.spread is None else self.spread
        return f"{self.mean:.{digits}f} ± {spread:.{digits}f}"


class Protocol(NamedTuple):
    """One way to test, with our figures and the published ones.

    Attributes:
        name: Words of the table that compares all protocols.
        ours: Our figure by data set.
        others: Published methods; one without a figure for a data set is left out there.
        digits: Decimals that are shown.
        unit: What is measured.
        runs: What the figures of one data set are: splits, repeats, seeds.
    """

    name: str
    ours: Mapping[str, Ours]
    others: Sequence[Published]
    digits: int
    unit: str
    runs: str

    def best(self, data: str) -> tuple[float, str]:
        """The best published figure and its method."""
        return max((each.figures[data], each.name) for each in self.others if data in each.figures)

    def mark(self) -> str:
        """A dagger if some of the published figures were not compared with their source."""
        return "" if all(each.checked for each in self.others) else " †"

    def behind(self) -> dict[str, tuple[float, str]]:
        """Data sets where a published figure is above ours as shown, and the best of these figures."""
        best = {data: self.best(data) for data in self.ours}
        return {data: found for data, found in best.items() if round(self.ours[data].mean, self.digits) < found[0]}

    def words(self) -> str:
        """Where we lose."""
        lost = self.behind()
        if not lost:
            return f"No published figure is above ours on any of the {len(self.ours)} graphs."
        parts = [
            f"{LABELS.get(data, data)} ({self.ours[data].mean:.{self.digits}f}; {name} {figure:.{self.digits}f})"
            for data, (figure, name) in lost.items()
        ]
        return f"**Where we lose:** {len(lost)} of {len(self.ours)}: {', '.join(parts)}."

    def table(self) -> str:
        """One row per data set, one column per method; the best is bold."""
        rows = []
        for data, own in self.ours.items():
            figures = {each.name: each.figures.get(data) for each in self.others}
            top = max(round(own.mean, self.digits), self.best(data)[0])
            cells = [
                "" if figure is None else _bold(f"{figure:.{self.digits}f}", figure >= top)
                for figure in figures.values()
            ]
            mine = _bold(own.text(self.digits), round(own.mean, self.digits) >= top)
            rows.append([LABELS.get(data, data), *cells, mine])
        header = [self.unit, *(_marked(each) for each in self.others), OURS]
        return table(header, rows)


def published_tables(root: Path) -> dict[str, str]:
    """Every table of the page by its name.

    Args:
        root: Folder of the project.
    """
    folder = root / "benchmarks" / "results"
    seal, uniform, degree, attributes, heart, labels = _protocols(folder)
    later = labels._replace(others=published("multi-label-later"))
    return {
        "published": summary(folder),
        "published-seal": _block(seal),
        "published-degree-bias": _degree_bias(uniform, degree),
        "published-attributes": _block(attributes),
        "published-heart": _block(heart),
        "published-labels": f"{_block(labels)}\n\nAgainst a later edition of the same table:\n\n{_block(later)}",
        "embedding-methods": embedding_methods(folder),
        "embedding-unseen": unseen(folder),
    }


def summary(folder: Path) -> str:
    """One row per protocol: ours, the best published figure, and how much was run.

    Args:
        folder: Folder of the result files of the benchmarks.
    """
    seal, uniform, degree, attributes, heart, labels = _protocols(folder)
    rows = [_mean_row(each) for each in (seal, uniform, degree)]
    rows += [_row(each, data) for each in (attributes, heart, labels) for data in each.ours]
    header = ["test", "measure", OURS, "best published", "runs", ""]
    return f"{table(header, rows)}\n\n† Published figure not checked against the paper yet."


def _mean_row(protocol: Protocol) -> list[str]:
    """All graphs of a protocol in one row, each against the best published method on it."""
    ours = np.mean([own.mean for own in protocol.ours.values()])
    best = np.mean([protocol.best(data)[0] for data in protocol.ours])
    graphs, lost = len(protocol.ours), [LABELS.get(data, data) for data in protocol.behind()]
    standing = f"ahead on {graphs - len(lost)} of {graphs}" + (f", **behind** on {' and '.join(lost)}" if lost else "")
    digits = protocol.digits
    figures = [f"{ours:.{digits}f}", f"{best:.{digits}f} (best on each graph){protocol.mark()}"]
    return [f"{protocol.name}, mean", protocol.unit, *figures, f"{graphs} graphs, {protocol.runs} each", standing]


def _row(protocol: Protocol, data: str) -> list[str]:
    own, (figure, name) = protocol.ours[data], protocol.best(data)
    figures = [f"{own.mean:.{protocol.digits}f}", f"{figure:.{protocol.digits}f} ({name}){protocol.mark()}"]
    standing = "**behind**" if data in protocol.behind() else "ahead"
    return [
        f"{protocol.name}, {LABELS.get(data, data)}",
        protocol.unit,
        *figures,
        f"1 graph, {protocol.runs}",
        standing,
    ]


def _protocols(folder: Path) -> list[Protocol]:
    seal = _grouped(_lines(folder / "links" / "seal.jsonl"), "graph", 100)
    bias = _lines(folder / "links" / "degree-bias.jsonl")
    planetoid = {data: _attributes(folder, data, "hits@100") for data in ("cora", "citeseer", "pubmed")}
    heart = {"citeseer": _attributes(folder, "heart", "mrr")}
    return [
        Protocol("links, SEAL's splits", seal, published("seal"), 2, "AUC x 100", "10 splits"),
        *(
            Protocol(
                f"links, {words} negatives", _grouped([line for line in bias if line["negatives"] == kind], "graph", 1),
                published(f"degree-bias-{kind}"), 3, "AUC", "5 repeats",
            )
            for kind, words in (("uniform", "uniform"), ("degree", "degree-matched"))
        ),
        Protocol("links with attributes", planetoid, published("attributes"), 2, "Hits@100 x 100", "10 splits"),
        Protocol("links, HeaRT's hard negatives", heart, published("heart"), 1, "MRR x 100", "5 seeds"),
        Protocol(
            "several labels per node", _multi_label(folder), published("multi-label"), 2, "micro F1 x 100", "10 draws",
        ),
    ]  # fmt: skip


def _attributes(folder: Path, name: str, metric: str) -> Ours:
    return Ours([100 * line[metric] for line in _lines(folder / f"attributes-{name}.jsonl")])


def _multi_label(folder: Path) -> dict[str, Ours]:
    lines = [line for line in _lines(folder / "embedding-multi-label.jsonl") if line["method"] == OURS]
    most = {line["data"]: line["scores"][-1] for line in lines}
    return {data: Ours([100 * score["micro_f1"]], 100 * score["micro_f1_std"]) for data, score in most.items()}


def _grouped(lines: Iterable[dict[str, Any]], key: str, factor: float) -> dict[str, Ours]:
    found: dict[str, list[float]] = {}
    for line in lines:
        found.setdefault(line[key], []).append(factor * line["auc"])
    return {name: Ours(values) for name, values in found.items()}


def _degree_bias(*protocols: Protocol) -> str:
    """Both kinds of negatives, each graph beside the best of the published methods on it."""
    rows = []
    for protocol in protocols:
        for data, own in protocol.ours.items():
            figure, name = protocol.best(data)
            kind = "uniform" if "uniform" in protocol.name else "degree-matched"
            rows.append([LABELS.get(data, data), kind, f"{figure:.3f} ({name})", own.text(3)])
    words = "\n".join(f"- With {each.name.removeprefix('links, ')}: {each.words()}" for each in protocols)
    return f"{table(['graph', 'negatives', 'best of 32 published methods', OURS], rows)}\n\n{words}\n\n{sources(protocols)}"


def _block(protocol: Protocol) -> str:
    return f"{protocol.table()}\n\n{protocol.words()}\n\n{sources([protocol])}"


def sources(protocols: Sequence[Protocol]) -> str:
    """Where published figures come from, and which were not checked."""
    found: dict[tuple[str, int | None, bool], list[str]] = {}
    for each in (method for protocol in protocols for method in protocol.others):
        names = found.setdefault((each.source, each.year, each.checked), [])
        names += [] if each.name in names else [each.name]
    parts = [
        f"{', '.join(names)}: {source}{'' if year is None else f' {year}'}{'' if checked else ' †'}"
        for (source, year, checked), names in found.items()
    ]
    note = "" if all(checked for _, _, checked in found) else " († not checked against the paper.)"
    return f"Published figures: {'; '.join(parts)}.{note}"


def embedding_methods(folder: Path) -> str:
    """Means of all methods over the same cells, and the cells where another embedding is ahead of ours.

    Args:
        folder: Folder of the result files of the benchmarks.
    """
    cells: dict[str, dict[tuple[str, ...], dict[str, float]]] = {
        "classes, micro F1": _label_cells(folder, "embedding-classes", ("micro_f1",)),
        "classes, macro F1": _label_cells(folder, "embedding-classes", ("macro_f1",)),
        "several labels, micro F1": _label_cells(folder, "embedding-multi-label", ("micro_f1",)),
        "links, AUC": _link_cells(folder),
    }
    rows = []
    for method, shown in PACKAGES.items():
        rows.append([shown, *(_mean_of(found, method) for found in cells.values())])
    header = ["embedding of width 128", *(f"{name} ({len(found)} cells)" for name, found in cells.items())]
    return f"{table(header, rows)}\n\n{_ahead(cells)}"


def _label_cells(folder: Path, name: str, metrics: Sequence[str]) -> dict[tuple[str, ...], dict[str, float]]:
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for line in _lines(folder / f"{name}.jsonl"):
        for score in line.get("scores", ()):
            for metric in metrics:
                key = (line["data"], f"{score['share']:.0%}")
                found.setdefault(key, {})[line["method"]] = score[metric]
    return found


def _link_cells(folder: Path) -> dict[tuple[str, ...], dict[str, float]]:
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for line in _lines(folder / "embedding-links.jsonl"):
        if "auc" in line:
            found.setdefault((line["data"],), {})[line["method"]] = line["auc"]
    return found


def _mean_of(cells: Mapping[tuple[str, ...], Mapping[str, float]], method: str) -> str:
    values = [found[method] for found in cells.values() if method in found]
    if not values:
        return ""
    missing = "" if len(values) == len(cells) else f" ({len(values)} only)"
    return f"{np.mean(values):.3f}{missing}"


def _ahead(cells: Mapping[str, Mapping[tuple[str, ...], Mapping[str, float]]]) -> str:
    """The cells where another embedding is ahead, as a table."""
    rows, total = [], 0
    for what, found in cells.items():
        for key, by_method in found.items():
            total += 1
            best = max((name for name in by_method if name != OURS), key=lambda name: by_method[name])
            if by_method[best] > by_method[OURS]:
                data, *rest = key
                rows.append(
                    [
                        LABELS.get(data, data),
                        *(rest or [""]),
                        what,
                        f"{by_method[OURS]:.3f}",
                        f"{by_method[best]:.3f} ({PACKAGES[best]})",
                    ]
                )
    words = f"**Where we lose:** in {len(rows)} of {total} cells another embedding is ahead."
    return words + "\n\n" + table(["graph", "labels known", "measure", OURS, "best other"], rows) if rows else words


def unseen(folder: Path) -> str:
    """Nodes that came after the embedding was fitted, compared with fitting again.

    Args:
        folder: Folder of the result files of the benchmarks.
    """
    lines = {(line["data"], line["method"]): line for line in _lines(folder / "embedding-unseen.jsonl")}
    rows = []
    for data in dict.fromkeys(data for data, _ in lines):
        moved, anew = lines[data, "transform"], lines[data, "anew"]
        label = LABELS.get(data, data.partition(".")[0])
        for metric, words in (("auc", "AUC of links"), ("accuracy", "accuracy of classes")):
            if metric in moved:
                rows.append([label, words, f"{moved[metric]:.3f}", f"{anew[metric]:.3f}"])
        rows.append([label, "share of the time of fitting again", f"{moved['seconds'] / anew['seconds']:.3f}", "1"])
    return table(["graph", "measure", "`transform`", "fitting again"], rows)


def _bold(text: str, is_best: bool) -> str:
    return f"**{text}**" if is_best else text


def _marked(each: Published) -> str:
    return each.name if each.checked else f"{each.name} †"


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
