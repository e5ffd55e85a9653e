"""What a run was trained on, as hashes that tell the same data from other data."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.graph.ids import hash_ids
from graphreach.tasks import Split
from graphreach.tasks.dataset import Dataset, Sample

FORMAT = 1
KEYS = ("graph", "features", "labels", "split")

Hashes = dict[str, str | None]


def content_hashes(dataset: Dataset | Sample, splits: Sequence[Split]) -> Hashes:
    """The sha256 of all graphs, of their features, of their labels, and of the examples that the task was cut into."""
    samples = _samples(dataset)
    return {
        "graph": _digest(sample.graph for sample in samples),
        "features": _digest(None if sample.x is None else np.asarray(sample.x, np.float32) for sample in samples),
        "labels": _digest(None if sample.y is None else np.asarray(sample.y) for sample in samples),
        "split": _digest(part for split in splits for part in _parts(split)),
    }


def describe_content(
    dataset: Dataset | Sample, splits: Sequence[Split], walked: Sequence[Graph] | None = None
) -> dict[str, Any]:
    """What ``content.json`` holds: the hashes, and the sizes by which a message can say what differs."""
    samples, hashes = _samples(dataset), content_hashes(dataset, splits)
    if walked is not None:
        hashes["walk graph"] = _digest(walked)
    graphs, classes = [each.graph for each in samples], [each.y for each in samples if each.y is not None]
    sizes = {
        "graph": {
            "graphs": len(graphs),
            "nodes": sum(graph.num_nodes for graph in graphs),
            "edges": sum(graph.num_edges for graph in graphs),
        },
        "features": {"columns": max((sample.x.shape[1] for sample in samples if sample.x is not None), default=0)},
        "labels": {"classes": len(np.unique(np.concatenate(classes))) if classes else 0},
        "split": {part: sum(len(getattr(split, part)) for split in splits) for part in ("train", "val", "test")},
    }
    return {"format": FORMAT, "hashes": hashes, "sizes": sizes}


def content_difference(there: dict[str, Any], here: dict[str, Any], keys: Sequence[str] | None = None) -> str | None:
    """The first of the hashes that differs, with sizes, or None if the contents are the same."""
    names = {"graph": "another graph", "split": "another split of the data", "walk graph": "other weights for walks"}
    for key in keys or [*KEYS, "walk graph"]:
        if there["hashes"].get(key) != here["hashes"].get(key):
            before, now = (_size(key, each) for each in (there, here))
            sizes = f"{before} there, {now} here" if before != now else f"{now} here as there, of other content"
            return f"{names.get(key, f'other {key}')}{f' ({sizes})' if now else ''}"
    return None


def ids_hash(graph: Graph) -> str:
    """The sha256 of a graph's ids in order."""
    digest = hashlib.sha256()
    hash_ids(graph.ids, digest)
    return digest.hexdigest()


def _size(key: str, content: dict[str, Any]) -> str:
    size = content["sizes"].get(key)
    if size is None:
        return ""
    if key != "graph" and content["hashes"].get(key) is None:
        return "none"
    if key == "graph":
        several = f"{size['graphs']} graphs with " if size["graphs"] != 1 else ""
        return f"{several}{size['nodes']} nodes and {size['edges']} edges"
    return ", ".join(f"{value} {name}" for name, value in size.items()) + (" examples" if key == "split" else "")


def _samples(dataset: Dataset | Sample) -> tuple[Sample, ...]:
    return dataset.samples if isinstance(dataset, Dataset) else (dataset,)


def _parts(split: Split) -> list[Any]:
    out: list[Any] = [split.graph]
    for examples in (split.train, split.val, split.test):
        out += [examples.index, examples.label, examples.candidates]
    return out


def _digest(parts: Any) -> str | None:
    """One hash for graphs and arrays in order, or None if all of them are missing."""
    digest, found = hashlib.sha256(b"graphreach content 1"), False
    for part in parts:
        found = found or part is not None
        if part is None:
            digest.update(b"none;")
        elif isinstance(part, Graph):
            digest.update(f"graph {part.content_hash};".encode())
        else:
            _add_array(digest, part)
    return digest.hexdigest() if found else None


def _add_array(digest: Any, array: NDArray[Any]) -> None:
    if array.dtype.kind in "iub":
        array = array.astype(np.int64, copy=False)
    digest.update(f"array {array.dtype.str} {array.shape};".encode())
    if array.dtype.kind == "O":  # its bytes would be addresses
        digest.update(repr(array.tolist()).encode())
    elif array.size:
        digest.update(np.ascontiguousarray(array).data.cast("B"))
