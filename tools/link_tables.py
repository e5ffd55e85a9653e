"""Tables of the page on pairs, from the files that benchmarks and pretraining wrote."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
METHODS = ("pretrained", "common-neighbours", "adamic-adar", "katz", "pagerank", "reachability")


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


def _read(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))
