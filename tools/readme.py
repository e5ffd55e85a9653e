"""Tables of the README and the site, written from result files: ``python -m tools.readme``, or ``--check``."""

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

from tools.published_tables import published_tables

ROOT = Path(__file__).parent.parent
FILES = ("README.md", "docs/comparison.md", "docs/published-tables.md", "docs/how-to/million-nodes.md")
"""Files that hold tables, between ``<!-- begin: name -->`` and ``<!-- end: name -->``."""

MARKED = re.compile(r"(<!-- begin: ([\w-]+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)

SPEED = (
    ("uniform-20-ensmallen", 0, "walks on a million nodes, against ensmallen (Rust)"),
    ("weighted-18-ensmallen", 0, "the same with edge weights, 2^18 nodes"),
    (
        "uniform-14-pecanpy",
        0,
        "walks on 2^14 nodes, against PecanPy (numba), whose public function compiles on every call",
    ),
    ("exact", 0, "exact reachability on two threads, against scipy's sparse products, which use one"),
    (
        "step-attention",
        0,
        "a training step as in the paper, with attention, against its equations written out in PyTorch",
    ),
    ("step-authors", 0, "a training step with a learned map and ReLU messages, against the same equations in PyTorch"),
    ("decoder", 0, "scores of a million pairs and their gradients, against PyTorch indexing"),
    (
        "pgnn",
        0,
        "100 epochs on Cora's links, anchors and walks included, against P-GNN-E with new anchor sets in every epoch",
    ),
)
"""Which rows of the benchmarks the README shows: result file, row, words."""

NEIGHBOURHOOD = ("GCN", "GraphSAGE", "GAT", "GIN")
UNSEEN = "Node-disjoint split, structure only"
ACCURACY = (
    ("links", "Grid", "table-3b", "Published split", "Grid"),
    ("links", "Communities", "table-3b", "Published split", "Communities"),
    ("links", "Cora, no attributes", "table-4", "Published split", "LP Cora S"),
    ("links", "CiteSeer, no attributes", "table-4", "Published split", "LP CiteSeer S"),
    ("links", "Cora, attributes", "table-4", "Published split", "LP Cora S+T"),
    ("links", "CiteSeer, attributes", "table-4", "Published split", "LP CiteSeer S+T"),
    ("pairs of unseen nodes", "Communities", "table-3a", UNSEEN, "Communities"),
    ("pairs of unseen nodes", "Email", "table-3a", UNSEEN, "Email"),
    ("pairs of unseen nodes", "Email-Complete", "table-3a", UNSEEN, "Email-Complete"),
    ("classes", "Cora, no attributes", "table-4", "Published split", "NC Cora S"),
    ("classes", "Cora, attributes", "table-4", "Published split", "NC Cora S+T"),
)
"""Which cells of the experiments the README shows: task, data, table, group, column."""

Cells = dict[tuple[str, str, str], Any]
"""Cells of a table by group, row and column."""


def blocks(root: Path) -> dict[str, str]:
    """Every table by its name, from the result files under a folder."""
    benchmarks = root / "benchmarks" / "results"
    return {
        "compare": compare(benchmarks),
        "speed": speed(benchmarks),
        "accuracy": accuracy(root / "results"),
        "files": files(benchmarks),
        "million": million(benchmarks),
        **published_tables(root),
    }


def speed(folder: Path) -> str:
    """Ratios to others."""
    lines = ["| what | times faster | |", "|---|---|---|"]
    for name, number, words in SPEED:
        row = _rows(folder, name)[number]
        shown = f"{row['measured']:.2g} of it" if row["limit"] == "at most" else f"{row['measured']:.3g}"
        fairer = re.search(r"compiled beforehand, .*: ([\d.]+) times", " ".join(row["notes"]))
        if fairer:
            shown += f"; {fairer[1]} against its kernel compiled beforehand"
        lines.append(f"| {words} | {shown} | `python -m benchmarks {name}` |")
    return "\n".join(lines)


def million(folder: Path) -> str:
    """What the embedding of a million nodes costs."""
    minutes, memory, *_ = _rows(folder, "embed-million")
    sizes = minutes["sizes"]
    return (
        f"An R-MAT graph of {sizes['nodes']:,} nodes and {sizes['edges']:,} edges took {minutes['measured']:.1f} minutes "
        f"and {memory['measured']:.1f} GB on two cores, without a GPU."
    )


def files(folder: Path) -> str:
    """Held-out links of files, by ``reach`` and by the embedding alone."""
    lines = [
        "| file | nodes | `graphreach train` | `graphreach embed` | common neighbours | node2vec |",
        "|---|---|---|---|---|---|",
    ]
    records, embedded = (
        [json.loads(line) for line in (folder / name).read_text().splitlines()]
        for name in ("links/raw-files.jsonl", "embedding-links.jsonl")
    )
    found = {(each["file"], each["method"]): each["auc"] for each in records}
    for own in embedded:
        if own["method"] == "graphreach" and own["seed"] == 0:
            file = own["data"]
            figures = [found[file, "reach"], own["auc"], found[file, "common-neighbours"], found[file, "node2vec"]]
            lines.append(f"| {file} | {own['nodes']:,} | " + " | ".join(f"{each:.3f}" for each in figures) + " |")
    return "\n".join(lines)


def accuracy(folder: Path) -> str:
    """Test AUC of reach, GraphReach, P-GNN and the best model of the neighbourhood."""
    tables = {name: _cells(folder, name) for name in {each[2] for each in ACCURACY}}
    head = (
        "| task | data | `reach` | GraphReach, `best` | GraphReach, `paper` | P-GNN-E | best of GCN, SAGE, GAT, GIN |"
    )
    lines = [head, "|---|---|---|---|---|---|---|"]
    for task, data, table, group, column in ACCURACY:
        found = {row: cell for (where, row, name), cell in tables[table].items() if (where, name) == (group, column)}
        if "GraphReach, best" in found:
            own = [_figure(found.get(name)) for name in ("reach", "GraphReach, best", "GraphReach, paper", "P-GNN-E")]
            last = _best([found[name] for name in NEIGHBOURHOOD if name in found])
            lines.append(f"| {task} | {data} | " + " | ".join([*own, last]) + " |")
    return "\n".join(lines) if len(lines) > 2 else "No run is finished yet; `graphreach reproduce all` makes them."


def compare(folder: Path) -> str:
    """What graphreach and its relatives can do."""
    (ours,) = _rows(folder, "pgnn")
    epochs = ours["sizes"]["epochs"]
    seconds = {name: f"{ours['raw'][name]['median'] / epochs * 1000:.0f} ms" for name in ("graphreach", "pgnn-e")}
    added = _rows(folder, "step-attention")[1]["raw"]["gigabytes_ours"] * 1000
    rows = [
        ["", "graphreach", "P-GNN", "node2vec", "PyG's encodings", "the authors' code"],
        ["---"] * 6,
        ["a position is", "walks to k anchors and back", "hops to log² n random sets", "a vector trained for each node",
         "eigenvectors, or returns of walks", "walks to k anchors and back"],
        ["unseen nodes", "yes", "yes", "no", "yes", "not examined"],
        ["edge weights", "yes", "no", "yes", "in the Laplacian", "set by labels in the published command"],
        ["directions", "yes, both ways kept", "one way", "ignored by default", "one vector for both ways", "not examined"],
        ["anchors chosen", "greedy, with a bound", "at random", "none", "none", "greedy among 3k random nodes"],
        ["attention", "trained", "none", "none", "none", "its weights are never trained"],
        ["splits checked for leaks", "before every run", "in our harness", "in our harness", "left to you",
         "test labels in the published command's walks"],
        ["same seed, same numbers", "bit for bit, any threads", "in our harness", "in our harness", "random signs",
         "not examined"],
        ["an epoch, Cora's links", f"{seconds['graphreach']}, walks included", f"{seconds['pgnn-e']}, new sets each time",
         "-", "-", "2.6 s"],
        ["memory, Cora's size", f"{added:.0f} MB added by training", "-", "-", "-", "2.7 GB at its peak, loading included"],
    ]  # fmt: skip
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    return rows


def _cells(folder: Path, name: str) -> Cells:
    from graphreach.experiments import load_experiment, summarise

    found = [each for each in summarise(load_experiment(name), folder) if each.seeds]
    return {(each.cell.group.name, each.cell.row.label, each.cell.column.label): each for each in found}


def _best(others: list[Any]) -> str:
    """The best of the neighbourhood models, of which some may not have run yet."""
    if not others:
        return ""
    best = max(others, key=lambda each: each.mean)
    pending = len(others) < len(NEIGHBOURHOOD) or any(each.seeds < each.wanted for each in others)
    so_far = " so far" if pending and best.seeds == best.wanted else ""
    return f"{best.cell.row.label} {_figure(best)}{so_far}"


def _figure(each: Any) -> str:
    """Mean and deviation, and how many seeds there are if some are missing."""
    if each is None:
        return ""
    deviation = "" if math.isnan(each.std) else f" ± {each.std:.3f}"
    missing = "" if each.seeds == each.wanted else f" ({each.seeds} of {each.wanted} seeds)"
    return f"{each.mean:.3f}{deviation}{missing}"


def filled(text: str, tables: dict[str, str]) -> str:
    """A text with its tables written anew.

    Example:
        >>> filled("a <!-- begin: x -->\\nold\\n<!-- end: x --> b", {"x": "new"})
        'a <!-- begin: x -->\\nnew\\n<!-- end: x --> b'
    """
    return MARKED.sub(lambda found: f"{found[1]}{tables[found[2]]}\n{found[3]}", text)


def main(arguments: list[str]) -> int:
    """Write the tables, or say whether they are as they should be."""
    tables, stale = blocks(ROOT), []
    for name in FILES:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        new = filled(text, tables)
        if new != text:
            stale.append(name)
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    if "--check" in arguments and stale:
        print(f"stale: {', '.join(stale)}; run make readme", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
