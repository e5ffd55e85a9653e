"""Damaged graphs in every format that read_graph knows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz import samples
from tests.fuzz.entry import Case, Dice, Entry, short, write
from tests.fuzz.mutations import BINARY, damage, damage_gzip, damage_json, damage_text, damage_zip

Damage = Callable[[bytes, Dice], bytes]
TEXTS = ("plain.csv", "named.csv", "plain.tsv", "weights.txt", "times.txt", "quoted.csv", "plain.edgelist")


def entries() -> list[Entry]:
    """One entry point for each format."""
    formats: list[tuple[str, tuple[str, ...], Damage, float]] = [
        ("text", TEXTS, damage_text, 10),
        ("parquet", ("plain.parquet", "named.parquet"), _damage_parquet, 5),
        ("npz", ("plain.npz", "full.npz", "matrix.npz"), damage_zip, 7),
        ("mtx", ("general.mtx", "symmetric.mtx", "dense.mtx"), damage_text, 5),
        ("graphml", ("plain.graphml", "named.graphml"), damage_text, 4),
        ("gml", ("plain.gml", "named.gml"), damage_text, 3),
        ("gexf", ("plain.gexf", "named.gexf"), damage_text, 3),
        ("adjlist", ("plain.adjlist", "named.adjlist"), damage_text, 2),
        ("json", ("plain.json", "named.json"), damage_json, 3),
        ("bare", ("bare", "plain.ungraph"), damage_text, 2),
    ]
    out = [Entry(f"graph.{name}", _reader(seeds, damage), share) for name, seeds, damage, share in formats]
    return [*out, Entry("graph.gz", _gzip, 4), Entry("graph.wrong_suffix", _wrong_suffix, 2)]


def _damage_parquet(data: bytes, dice: Dice) -> bytes:
    return damage(data, dice, BINARY) if dice.chance(0.6) else _odd_parquet(dice)


def _odd_parquet(dice: Dice) -> bytes:
    """A whole Parquet file with columns of kinds that are no ids or weights."""
    import datetime
    import io

    import polars as pl

    columns: list[Any] = [
        [1, 2, 3], ["a", "b", "c"], [1.5, float("nan"), float("inf")], [None, None, None], [1, None, 2], ["a", None,
            ""],
        [[1], [2], []], [{"a": 1}, {"a": 2}, {"a": 3}], [True, False, None], [b"a", b"\xff", b""], [2**63 - 1, -1, 0],
        [datetime.date(2020, 1, 1)] * 3, [datetime.datetime(2020, 1, 1)] * 3, [datetime.timedelta(1)] * 3,
        pl.Series([1, 2, 3], dtype=pl.Decimal(20, 2)), pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        pl.Series([2**64 - 1, 1, 2], dtype=pl.UInt64), pl.Series([1, 2, 3], dtype=pl.Int8), pl.Series([[1, 2]] * 3,
            dtype=pl.Array(pl.Int64, 2)),
        pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b"])), pl.Series([1, 2, 3], dtype=pl.Int128),
    ]  # fmt: skip
    names = dice.pick(
        [["source", "target", "weight"], ["u", "v", "time"], ["", "a", "b"], ["0", "1", "2"], ["weight", "a", "b"]]
    )
    frame = pl.DataFrame({name: dice.pick(columns) for name in names[: dice.between(1, 3)]})
    out = io.BytesIO()
    frame[: dice.pick([0, 1, 3, 3, 3])].write_parquet(out)
    return out.getvalue()


def options(dice: Dice) -> dict[str, Any]:
    """Arguments of read_graph, mostly none."""
    if dice.chance(0.6):
        return {}
    choices: dict[str, list[Any]] = {
        "directed": [True, False, None],
        "source": ["source", "from", 0, 1, 5, -1, "x"],
        "target": ["target", "to", 1, 0, 2, "y"],
        "weight": ["weight", 2, False, 0, "source", 9],
        "ids": ["auto", "int", "str"],
        "header": [True, False, None],
        "comments": ["", "#", "%#", "//", "a"],
        "reduce": ["sum", "mean", "max", "min", None],
        "self_loops": [True],
        "nodes": [[], ["a"], [1, 2], "missing.txt"],
    }
    return {name: dice.pick(choices[name]) for name in dice.sample(sorted(choices), dice.pick([1, 1, 2, 3]))}


def _call(name: str, data: bytes, arguments: dict[str, Any]) -> Case:
    import graphreach as gr

    path = write(name, data)
    return Case(
        lambda: gr.read_graph(path, **arguments), f"read_graph({name}, **{arguments}) of {short(data)}", check_graph
    )


def _reader(seeds: tuple[str, ...], damage: Damage) -> Callable[[Dice], Case]:
    def make(dice: Dice) -> Case:
        name = dice.pick(seeds)
        data = damage(samples.read(name), dice)
        if dice.chance(0.05):  # the tail of another file
            other = samples.read(dice.pick(seeds))
            data = data[: dice.below(len(data) + 1)] + other[dice.below(len(other) + 1) :]
        suffix = name[name.index(".") :] if "." in name else ""
        return _call(f"case{suffix}", data, options(dice))

    return make


def _gzip(dice: Dice) -> Case:
    name = dice.pick(TEXTS)
    return _call(f"case{name[name.index('.') :]}.gz", damage_gzip(samples.read(name), dice), options(dice))


def _wrong_suffix(dice: Dice) -> Case:
    seeds = [
        *TEXTS,
        "plain.parquet",
        "full.npz",
        "general.mtx",
        "plain.graphml",
        "plain.gml",
        "plain.gexf",
        "plain.json",
    ]
    ends = [
        ".csv",
        ".txt",
        ".csv.gz",
        ".parquet",
        ".npz",
        ".mtx",
        ".graphml",
        ".gml",
        ".gexf",
        ".json",
        ".adjlist",
        "",
        ".xyz",
    ]
    data = samples.read(dice.pick(seeds))
    return _call(f"case{dice.pick(ends)}", data if dice.chance(0.7) else damage(data, dice), options(dice))


def check_graph(graph: Any, said: list[str]) -> str | None:
    """What no graph may be, whatever the file held."""
    n, m = graph.num_nodes, len(graph.indices)
    pointer, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    if graph.ids.ndim != 1 or len(pointer) != n + 1 or pointer[0] or pointer[-1] != m or (np.diff(pointer) < 0).any():
        return "row pointers do not fit"
    if m and (indices.min() < 0 or indices.max() >= n):
        return "an edge leads to no node"
    if len(set(graph.ids.tolist())) != n:
        return "two nodes have one id"
    weights = graph.weights
    if weights is not None and (weights.shape != (m,) or not np.isfinite(weights).all() or (weights <= 0).any()):
        return "weights are not positive numbers"
    if any(each is None or each != each for each in graph.ids.tolist()):
        return "a node's id is no id"
    if not graph.directed:
        matrix = graph.to_scipy()
        if abs(matrix - matrix.T).nnz:
            return "an undirected graph is not symmetric"
    return None
