"""Damaged labels, features, pairs, nodes, anchors and embeddings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import samples
from tests.fuzz.entry import Case, Dice, Entry, short, write
from tests.fuzz.mutations import damage, damage_gzip, damage_json, damage_npy, damage_text, damage_zip

SEEDS = {
    "labels": ("labels.csv", "labels.txt", "labels.parquet"),
    "features": ("features.csv", "features.tsv", "features.parquet", "features.npy", "features.npz"),
    "pairs": ("pairs.csv", "pairs.txt", "labels.parquet"),
    "pair_labels": ("pair_labels.csv", "pair_labels.parquet"),
    "nodes": ("nodes.csv", "nodes.txt", "labels.parquet"),
}


def entries() -> list[Entry]:
    """One entry point for each reader of tables."""
    shares = {"labels": 6, "features": 6, "pairs": 3, "pair_labels": 3, "nodes": 2}
    out = [Entry(f"table.{name}", _reader(name), shares[name]) for name in SEEDS]
    return [*out, Entry("table.anchors", _anchors, 2), Entry("table.embedding", _embedding, 4)]


def damage_by_suffix(name: str, data: bytes, dice: Dice) -> bytes:
    """Damage that fits the format."""
    suffix = Path(name).suffix
    kinds: dict[str, Callable[[bytes, Dice], bytes]] = {".npy": damage_npy, ".npz": damage_zip, ".json": damage_json}
    if suffix in (".parquet", ".safetensors"):
        return damage(data, dice)
    return kinds.get(suffix, damage_text)(data, dice)


def _reader(kind: str) -> Callable[[Dice], Case]:
    def make(dice: Dice) -> Case:
        from graphreach.io import tables

        name = dice.pick(SEEDS[kind])
        data, suffix = samples.read(f"tables/{name}"), Path(name).suffix
        if suffix in (".csv", ".tsv", ".txt") and dice.chance(0.1):
            data, suffix = damage_gzip(data, dice), f"{suffix}.gz"
        else:
            data = damage_by_suffix(name, data, dice)
        path, graph = write(f"case{suffix}", data), samples.graph(dice.pick(["int", "int", "str"]))
        arguments: dict[str, Any] = {}
        if kind in ("labels", "features") and dice.chance(0.2):
            arguments["id"] = dice.pick(["id", 0, 1, "0", "x", -1, 99])
        if kind == "labels" and dice.chance(0.2):
            arguments["label"] = dice.pick(["label", 1, 0, "1", "y"])
        reader = getattr(tables, f"read_{kind}")
        return Case(
            lambda: reader(path, graph, **arguments),
            f"read_{kind}({path}, **{arguments}) of {short(data)}",
            _check(kind),
        )

    return make


def _check(kind: str) -> Callable[[Any, list[str]], str | None]:
    def check(value: Any, said: list[str]) -> str | None:
        n = samples.graph().num_nodes
        if kind == "labels":
            y, classes = value[0], value[1]
            if y.ndim == 2:  # a node that has rows with different labels
                fine = y.shape == (n, len(classes)) and y.dtype == np.bool_ and y.any(axis=0).all()
            else:
                fine = y.shape == (n,) and y.max() < len(classes) and y.min() >= -1
            fine = fine and len(set(classes)) == len(classes)
        elif kind == "features":
            fine = value.ndim == 2 and len(value) == n and value.dtype == np.float32 and np.isfinite(value).all()
        else:
            index = value[0]
            fine = index.ndim == (1 if kind == "nodes" else 2) and index.min() >= 0 and index.max() < n
        return None if fine else f"not what read_{kind} promises: {short(value)}"

    return check


def _anchors(dice: Dice) -> Case:
    from graphreach.io.results import check_anchor_file, read_anchors

    name = dice.pick(["anchors.txt", "anchors.csv", "anchors.json"])
    data = damage_by_suffix(name, samples.read(f"tables/{name}"), dice)
    path, graph = write(name, data), samples.graph(dice.pick(["int", "str"]))

    def call() -> Any:
        check_anchor_file(path)
        return read_anchors(path, graph)

    return Case(call, f"read_anchors({name}) of {short(data)}")


def _embedding(dice: Dice) -> Case:
    from graphreach.io.embeddings import read_embedding

    kind = dice.pick(["csv", "parquet", "npy", "npz", "emb"])
    folder = samples.copy(f"embeddings/{kind}", "embedding")
    name = dice.pick(samples.names(f"embeddings/{kind}"))
    data = damage_by_suffix(name, samples.read(f"embeddings/{kind}/{name}"), dice)
    write(f"embedding/{name}", data)
    path = folder / f"vectors.{kind}"
    return Case(lambda: read_embedding(path), f"read_embedding({kind}) with {name} {short(data)}", _check_embedding)


def _check_embedding(value: Any, said: list[str]) -> str | None:
    ids, rows = value[0], value[1]
    fine = rows.ndim == 2 and len(ids) == len(rows) and rows.dtype == np.float32
    return None if fine else f"ids and rows do not fit: {short(value)}"
