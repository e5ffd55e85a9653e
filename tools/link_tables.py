"""Tables of the page on pairs, from the files that benchmarks and pretraining wrote."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
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


def _read(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))
