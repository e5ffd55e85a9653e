"""Tables of the page on pairs, from the files that benchmarks and pretraining wrote."""

import json
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
NAMES = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed", "heart": "CiteSeer, HeaRT's hard negatives"}
METHODS = ("pretrained", "common-neighbours", "adamic-adar", "katz", "pagerank", "reachability")


def seal_table() -> str:
    """Mean AUC on SEAL's graphs beside published figures.

    Example:
        >>> seal_table().splitlines()[0]
        '| graph | `gr.LinkPredictor` | bar or published | |'
    """
    rows = _read("benchmarks/results/seal-links.json")["rows"]
    lines = ["| graph | `gr.LinkPredictor` | bar or published | |", "|---|---|---|---|"]
    for row in rows:
        if "AUC x 100" in row["what"]:
            _, name, *_ = row["what"].split(", ")
            beside = row["what"].partition("beside ")[2]
            spread = f" ± {row['raw']['std']:.2f}"
            lines.append(f"| {name} | {row['measured']:.2f}{spread} | {beside} | {'met' if row['met'] else 'missed'} |")
    return "\n".join(lines)


def pretrained_table() -> str:
    """AUC with nothing trained on the graph, beside heuristics, and the graphs that the shipped model learned from."""
    found = _read("results/pretrained.json")
    lines = [f"| graph | {' | '.join(METHODS)} |", f"|---|{'---|' * len(METHODS)}"]
    rows = found["leave_one_graph_out"]
    lines += [f"| {row['graph']} | {' | '.join(f'{row[method]:.3f}' for method in METHODS)} |" for row in rows]
    mean = sum(row["pretrained"] for row in rows) / len(rows)
    names = "; ".join(f"{name} {count:,}" for name, count in found["links"].items())
    lines += [
        "",
        f"The mean of the first column is {mean:.3f}.",
        "",
        f"Links of each graph in the shipped model: {names}.",
    ]
    return "\n".join(lines)


def degree_bias_table() -> str:
    """AUC where a quarter of the links is tested, beside the best of the published methods, for both kinds of negatives."""
    rows = [row for row in _read("benchmarks/results/degree-bias.json")["rows"] if row["what"].startswith("AUC, ")]
    lines = ["| graph | negatives | `gr.LinkPredictor` | rank among 33 |", "|---|---|---|---|"]
    for row in rows:
        _, name, negatives, *_, rank = row["what"].split(", ")
        spread = float(np.std(row["raw"]["auc"]))
        shown = f"{row['measured']:.3f} ± {spread:.3f}"
        lines.append(f"| {name} | {negatives.split()[0]} | {shown} | {rank.split()[1]} |")
    return "\n".join(lines)


def raw_files_table() -> str:
    """AUC, Hits@100 and seconds on files as they come, beside other methods."""
    path = ROOT / "benchmarks/results/links/raw-files.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines = ["| file | method | AUC | Hits@100 | time, node2vec = 1 |", "|---|---|---|---|---|"]
    unit = {each["file"]: each["seconds"] for each in records if each["method"] == "node2vec"}
    for each in records:
        ratio = each["seconds"] / unit[each["file"]]
        found = f"{each['auc']:.3f} | {each['hits@100']:.3f} | {ratio:.2f}"
        lines.append(f"| {each['file'].partition('.')[0]} | {each['method']} | {found} |")
    return "\n".join(lines)


def attributes_table() -> str:
    """Links of graphs whose nodes have attributes: what every finished split gave, beside the bar."""
    lines = ["| data | measure | splits or seeds | `gr.LinkPredictor` |", "|---|---|---|---|"]
    for name, metric in (("cora", "hits@100"), ("citeseer", "hits@100"), ("pubmed", "hits@100"), ("heart", "mrr")):
        path = ROOT / f"benchmarks/results/attributes-{name}.jsonl"
        values = [100 * json.loads(line)[metric] for line in path.read_text(encoding="utf-8").splitlines()]
        shown = f"{np.mean(values):.1f} ± {np.std(values):.1f}" if len(values) > 1 else f"{values[0]:.1f}"
        lines.append(f"| {NAMES[name]} | {metric} x 100 | {len(values)} | {shown} |")
    return "\n".join(lines)


def _read(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))
