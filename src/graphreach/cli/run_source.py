"""Where a run's graph, features and labels came from, kept in its folder."""

import inspect
from pathlib import Path
from typing import Any

from graphreach.cli.graph_options import GraphFile
from graphreach.cli.run_options import Tables
from graphreach.errors import InputError
from graphreach.io import read_graph


def describe_source(file: GraphFile, tables: Tables, classes: list[Any]) -> dict[str, Any]:
    """How to read the data of a run again, as plain values.

    Example:
        >>> describe_source(GraphFile(graph=Path("grid")), Tables(), [])["graph"]
        'grid'
    """
    labels = None if tables.labels is None else {"path": _plain(tables.labels), "column": tables.label_column}
    return {
        "graph": _plain(file.graph) if file.graph.is_file() else str(file.graph),
        "options": {name: _plain(value) for name, value in file.arguments().items()},
        "features": _plain(tables.features),
        "labels": labels,
        "classes": classes,
    }


def read_source(folder: Path) -> dict[str, Any]:
    """Where a run's graph came from; a part of several methods' run has it in the folder above."""
    from graphreach.training.outcome import SETTINGS
    from graphreach.training.record import read_dict
    from graphreach.training.run_folder import SOURCE, read_settings

    own, above = folder.resolve(), folder.resolve().parent
    inside = not (own / SOURCE).exists() and (above / SETTINGS).exists() and (above / SOURCE).exists()
    part = inside and own.name in read_settings(above).method.split("+")
    path = (above if part else folder) / SOURCE
    text = (str, type(None))
    found = {"labels": None, **read_dict(path, {"graph": str, "options": dict, "features": text, "classes": list})}
    known = inspect.signature(read_graph).parameters
    odd = [name for name in found["options"] if name not in known]
    if odd:
        raise InputError(f"{path} must hold options for reading the graph, got the unknown {odd[0]!r}")
    labels = found["labels"]
    if labels is not None and not (
        isinstance(labels, dict) and isinstance(labels.get("path"), str) and isinstance(labels.get("column"), text)
    ):
        raise InputError(f"{path} must have path and column of the labels, or null, as 'labels', got {labels!r:.80}")
    return found


def _plain(value: Any) -> Any:
    return str(value.resolve()) if isinstance(value, Path) else value
