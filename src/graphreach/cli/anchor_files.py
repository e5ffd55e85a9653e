"""Anchors as files: one id a line (.txt), a column (.csv) or with everything known about them (.json)."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphreach as gr
from graphreach.io.files import replacing

SUFFIXES = (".txt", ".csv", ".json")


def plain_ids(ids: NDArray[Any]) -> list[Any]:
    """Ids as numbers and strings, which is what files can hold; other kinds by their text.

    Example:
        >>> plain_ids(np.array([1, "a", (2, 3)], dtype=object))
        [1, 'a', '(2, 3)']
    """
    return [value if _is_plain(value) else str(value) for value in ids.tolist()]


def write_anchors(path: Path, graph: gr.Graph, chosen: gr.AnchorSet, parameters: dict[str, Any]) -> None:
    """Write the anchors' ids, best first, in the format that the suffix names."""
    ids = plain_ids(graph.ids[chosen.anchors])
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        if path.suffix.lower() == ".json":
            facts = {
                "anchors": ids,
                "coverage": chosen.coverage,
                "coverage_lower": chosen.coverage_lower,
                "upper_bound": chosen.upper_bound,
                "num_starts": chosen.num_starts,
                "num_nodes": chosen.num_nodes,
            }
            json.dump(facts | parameters, file, indent=2, ensure_ascii=False)
            file.write("\n")
        elif path.suffix.lower() == ".csv":
            csv.writer(file, lineterminator="\n").writerows([["anchor"], *([value] for value in ids)])
        else:
            file.writelines(f"{value}\n" for value in ids)


def read_anchors(path: Path, graph: gr.Graph) -> NDArray[np.int64]:
    """Positions of the anchors that :func:`write_anchors` wrote, or that anyone lists in such a file."""
    values = _read_values(path)
    if not values:
        raise gr.InputError(f"{path} must list anchors, but it holds none")
    return _positions(values, graph, path)


def check_anchor_file(path: Path) -> None:
    """Refuse a file of anchors that cannot be one, before the graph is read."""
    if path.suffix.lower() not in SUFFIXES:
        raise gr.InputError(f"--anchors must end in {' or '.join(SUFFIXES)}, got {path.name}")
    if not path.is_file():
        raise gr.InputError(f"there is no file {path} of anchors")


def _read_values(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".json":
            content = json.loads(text)
            values = content.get("anchors") if isinstance(content, dict) else content
            if not isinstance(values, list):
                raise gr.InputError(f"{path} must be a list of ids, or an object with the list 'anchors'")
            return values
    except UnicodeDecodeError:
        raise gr.InputError(f"{path} must be text in UTF-8, but it is not") from None
    except (ValueError, RecursionError) as error:  # beyond JSON's own error also numbers and nesting without end
        if isinstance(error, gr.InputError):
            raise
        raise gr.InputError(f"{path} must be JSON, as its suffix says: {error}") from None
    if path.suffix.lower() == ".txt":
        return [line for line in text.splitlines() if line]
    try:
        rows = [row for row in csv.reader(text.splitlines()) if row]
    except csv.Error as error:
        raise gr.InputError(f"{path} must be a table of ids, as its suffix says: {error}") from None
    return [row[0] for row in rows[rows[:1] == [["anchor"]] :]]


def _positions(values: list[Any], graph: gr.Graph, path: Path) -> NDArray[np.int64]:
    """Ids as they are, or else by their text: text files know no kinds, and 7 is meant by "7"."""
    ids = graph.ids.tolist()
    position: dict[Any, int] = {str(value): index for index, value in enumerate(ids)}
    position |= {value: index for index, value in enumerate(ids) if _is_plain(value)}
    found = [position.get(value, position.get(str(value))) if _is_plain(value) else None for value in values]
    unknown = [value for value, index in zip(values, found, strict=True) if index is None]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise gr.InputError(f"{path} must list ids of nodes, got {unknown[0]!r}{more}")
    return np.array(found, np.int64)


def _is_plain(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)  # true is no name of node 1
