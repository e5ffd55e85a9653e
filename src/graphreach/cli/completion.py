"""What a shell offers as the value of an option or an argument; where nothing is offered it offers files.

Choices are written here and not read from the rooms that check them, which would import torch at each press of a key.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DEFINITIONS = Path(__file__).parent.parent / "experiments" / "definitions"


MODELS = (
    "reach", "graphreach", "pgnn-e", "pgnn-f", "gcn", "sage", "gat", "gin", "mlp", "gcn-rw", "gcn-laplacian", "node2vec",
    "deepwalk", "closure", "common-neighbours", "adamic-adar", "katz", "pagerank", "reachability",
)  # fmt: skip

DATASETS = (
    "grid", "communities", "email", "email-complete", "protein", "ppi", "cora", "citeseer", "karate", "pubmed",
    "ca-astroph", "email-enron", "soc-epinions1", "chicago-regional", "facebook",
)  # fmt: skip

CHOICES: dict[str, Sequence[str]] = {
    "attributes": ("smooth", "append"),
    "clear": ("kernels", "reachability", "datasets"),
    "device": ("auto", "cpu", "cuda"),
    "engine": ("local", "ray"),
    "format": ("text", "edgelist", "matrix", "parquet", "npz", "mtx", "graphml", "gml", "gexf", "adjlist", "json"),
    "ids": ("auto", "int", "str"),
    "kind": ("clique", "hubs", "noise"),
    "layout": ("dense", "csr", "auto"),
    "method": ("walks", "exact", "auto"),
    "embed method": ("reach", "position", "paper"),
    "metric": ("cosine", "dot"),
    "model": MODELS,
    "models": MODELS,
    "negatives": ("uniform", "degree", "same-distance", "common-neighbour"),
    "preset": ("best", "paper", "authors"),
    "protocol": ("clean", "node-disjoint", "graph-disjoint", "time", "published", "given"),
    "reduce": ("sum", "mean", "max", "min"),
    "similarity": ("frequency", "order"),
    "strategy": ("greedy", "random", "degree", "pagerank"),
    "task": ("link", "pair", "node"),
}
"""Values of options by their names, or by those of a verb and an option."""

JOINED = {"model": "+", "models": ","}
"""Signs between several values of one option."""


def completer(names: str) -> Callable[..., list[str]] | None:
    """What completes the value of an option with these names; None where files are offered.

    Example:
        >>> completer("--model -m")(None, "gra"), completer("--models")(None, "gcn,rea"), completer("--output -o")
        (['graphreach'], ['gcn,reach', 'gcn,reachability'], None)
    """
    name = names.split()[0].split("/")[0].removeprefix("--")
    if name not in CHOICES:
        return None

    def complete(ctx: Any, incomplete: str) -> list[str]:
        verb = getattr(ctx, "info_name", None)
        done, sign, begun = incomplete.rpartition(JOINED[name]) if name in JOINED else ("", "", incomplete)
        return [
            f"{done}{sign}{each}" for each in CHOICES.get(f"{verb} {name}", CHOICES[name]) if each.startswith(begun)
        ]

    return complete


def complete_graph(incomplete: str) -> list[str]:
    """Names of data sets and of files here; nothing where no data set begins like this: the shell then offers files.

    Example:
        >>> complete_graph("comm"), complete_graph("./comm")
        (['communities'], [])
    """
    fitting = [name for name in DATASETS if name.startswith(incomplete)]
    return fitting + _files(incomplete) if fitting else []


def complete_dataset(incomplete: str) -> list[str]:
    """Names of data sets, or all of them.

    Example:
        >>> complete_dataset("a")
        ['all']
    """
    return [name for name in (*DATASETS, "all") if name.startswith(incomplete)]


def complete_experiment(incomplete: str) -> list[str]:
    """Names of the paper's tables and figures, ``all`` and ``list``; read from the names of their files.

    Example:
        >>> complete_experiment("table-10")
        ['table-10a', 'table-10b']
    """
    here = sorted(path.stem for path in DEFINITIONS.glob("*.yaml") if path.stem != "columns")
    return [name for name in (*here, "all", "list") if name.startswith(incomplete)]


def _files(incomplete: str) -> list[str]:
    """Files and folders here whose names begin with this text."""
    hidden = incomplete.startswith(".")
    found = [
        entry for entry in os.scandir() if entry.name.startswith(incomplete) and entry.name.startswith(".") == hidden
    ]
    return sorted(entry.name + ("/" if entry.is_dir() else "") for entry in found)
