"""Graphs with a known truth in the dialects that people write: read as planted, refused, or what was assumed is said."""

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.entry import Case, Dice, Entry, short, write
from tests.fuzz.judge import TOLD

WORDS = [
    "ann",
    "bob",
    "cid",
    "dora",
    "eve",
    "finn",
    "gus",
    "hal",
    "ida",
    "jo",
    "kim",
    "leo",
    "mia",
    "nils",
    "ola",
    "pia",
]
USUAL = [("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("node1", "node2"), ("Source", "Target")]
UNUSUAL = [
    ("Quelle", "Ziel"), ("follower", "followee"), ("a", "b"), ("A", "B"), ("origen", "destino"), ("person", "friend"),
    ("col1", "col2"), ("id_1", "id_2"), ("x", "y"), ("gene_a", "gene_b"), ("caller", "callee"), ("from node", "to node"),
]  # fmt: skip
WEIGHTS = ["weight", "w", "value", "Gewicht", "rating", "score", "strength", "count", "poids"]
TIMES = ["time", "timestamp", "unixtime", "ts", "date", "t", "Zeit"]


@dataclass(frozen=True)
class Truth:
    """A planted graph: ids and edges as text, weights and times beside the edges, or None."""

    ids: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    weights: tuple[float, ...] | None = None
    times: tuple[str, ...] | None = None
    directed: bool = False


def entries() -> list[Entry]:
    """Graphs as text, as matrices, with two kinds of nodes, ragged, and in other formats."""
    from tests.fuzz import planted_tables

    own = [
        Entry("planted.text", _text, 8),
        Entry("planted.matrix", _matrix, 1.5),
        Entry("planted.bipartite", _bipartite, 1.5),
        Entry("planted.ragged", _ragged, 1.5),
        Entry("planted.formats", _formats, 3),
    ]
    return [*own, *planted_tables.entries()]


def make_ids(dice: Dice, count: int, kind: str) -> list[str]:
    """Distinct ids of a kind."""
    numbers = dice.sample(range(10, 100_000), count)
    if kind == "positions":
        return [str(i) for i in range(count)]
    if kind == "ints":
        return [str(i) for i in numbers]
    if kind == "padded":
        return [f"{i:07d}" for i in numbers]
    if kind == "tags":
        return [f"{dice.pick('#%')}{dice.pick(WORDS)}{i}" for i in numbers]
    if kind == "mixed":
        return [str(i) if dice.chance(0.7) else f"x{i}" for i in numbers]
    if kind == "unicode":
        return [f"{dice.pick(['é', 'ß', 'Ж', '中', 'ø'])}{i}" for i in numbers]
    if kind == "floats":
        return [f"{i}.5" for i in numbers]
    if kind == "missing":
        return [
            *dice.sample(["NA", "null", "nan", "None", "inf", "true", "-"], min(3, count)),
            *(f"v{i}" for i in numbers),
        ][:count]
    if kind == "spaces":
        return [f"{dice.pick(WORDS)} {dice.pick(WORDS)} {i}" for i in numbers]
    return [f"{dice.pick(WORDS)}{i}" for i in numbers]


KINDS = ["positions", "ints", "padded", "tags", "mixed", "unicode", "floats", "missing", "words", "words", "ints"]


def make_truth(dice: Dice, kind: str | None = None) -> Truth:
    """A random graph without repeated edges in which every node has one."""
    count = dice.between(5, 30)
    ids = make_ids(dice, count, kind or dice.pick(KINDS))
    chain = [(ids[i], ids[i + 1]) for i in range(count - 1)]
    more = [(dice.pick(ids), dice.pick(ids)) for _ in range(dice.between(0, 2 * count))]
    found: dict[frozenset[str], tuple[str, str]] = {}
    for u, v in chain + more:
        if u != v:
            found.setdefault(frozenset((u, v)), (u, v))
    edges = dice.shuffled(list(found.values()))
    return Truth(tuple(ids), tuple(edges), directed=dice.chance(0.3))


def _weights(dice: Dice, count: int) -> tuple[float, ...]:
    kind = dice.below(3)
    return tuple(float(dice.between(1, 9)) if kind == 0 else dice.between(1, 400) / 8 for _ in range(count))


def _times(dice: Dice, count: int) -> tuple[str, ...]:
    base = dice.between(1_000_000_000, 1_600_000_000)
    stamps = [base + dice.below(10**7) for _ in range(count)]
    if dice.chance(0.7):
        stamps.sort()
    if dice.chance(0.2):
        return tuple(str(np.datetime64(each, "s")).replace("T", " " if dice.chance(0.3) else "T") for each in stamps)
    return tuple(str(each) for each in stamps)


@dataclass
class Table:
    """Columns of a text file, with names that it may have or not."""

    names: list[str]
    columns: list[list[str]]
    header: bool

    def insert(self, place: int, name: str, column: Sequence[str]) -> None:
        self.names.insert(place, name)
        self.columns.insert(place, list(column))


def write_table(table: Table, dice: Dice, name: str) -> tuple[str, bytes]:
    """A table as people write it: a file's name and content."""
    separator = dice.pick([",", ",", "\t", ";", "|", " "])
    fields = [each for column in [table.names, *table.columns] for each in column]
    if separator == " " and any(" " in each or not each for each in fields):
        separator = ","
    quote = '"' if dice.chance(0.15) else ""
    rows = ([table.names] if table.header else []) + [list(row) for row in zip(*table.columns, strict=True)]
    pad = separator == " " and dice.chance(0.2)
    joint = "   " if pad else separator + (" " if separator in ",;" and dice.chance(0.1) and not quote else "")
    lines = [joint.join(f"{quote}{each}{quote}" for each in row) for row in rows]
    if dice.chance(0.2):
        lines[:0] = dice.pick(
            [["# made by hand"], ["% edges", "% 2020"], ["#"], ["# source target", "# Nodes: 5 Edges: 9"]]
        )
    end = "\r\n" if dice.chance(0.15) else "\n"
    text = end.join(lines) + ("" if dice.chance(0.2) else end) + (end if dice.chance(0.1) else "")
    data = text.encode("utf-8-sig" if dice.chance(0.08) else "utf-8")
    suffix = dice.pick([".csv", ".csv", ".txt", ".tsv"])
    if dice.chance(0.1):
        return f"{name}{suffix}.gz", gzip.compress(data, mtime=0)
    return f"{name}{suffix}", data


def _text(dice: Dice) -> Case:
    truth = make_truth(dice)
    count = len(truth.edges)
    names = list(dice.pick(USUAL + UNUSUAL))
    table = Table(names, [[u for u, _ in truth.edges], [v for _, v in truth.edges]], dice.chance(0.6))
    weight = time = None
    if dice.chance(0.4):
        weight = dice.pick(WEIGHTS)
        truth = Truth(truth.ids, truth.edges, _weights(dice, count), None, truth.directed)
        assert truth.weights is not None
        whole = all(each.is_integer() for each in truth.weights)
        text = [str(int(each)) if whole else repr(each) for each in truth.weights]
        table.insert(
            0 if table.header and dice.chance(0.15) and names[0] in ("source", "from", "src", "u") else 2, weight, text
        )
    if dice.chance(0.25):
        time = dice.pick(TIMES)
        truth = Truth(truth.ids, truth.edges, truth.weights, _times(dice, count), truth.directed)
        table.insert(len(table.names), time, truth.times or ())
    if dice.chance(0.1):
        table.insert(len(table.names), "kind", [dice.pick(["friend", "family"]) for _ in range(count)])
    if table.header and dice.chance(0.15):
        table.insert(0, dice.pick(["", "", "Unnamed: 0"]), [str(i) for i in range(count)])
    return planted_case(truth, *write_table(table, dice, "case"), weight, time)


def planted_case(truth: Truth, name: str, data: bytes, weight: str | None = None, time: str | None = None) -> Case:
    """A file that must be read as the planted graph."""
    import graphreach as gr

    path = write(name, data)
    call = lambda: gr.read_graph(path, directed=truth.directed)  # noqa: E731
    return Case(call, f"read_graph({name}) of {short(data)}", graph_check(truth, weight, time))


def graph_check(
    truth: Truth, weight: str | None = None, time: str | None = None
) -> Callable[[Any, list[str]], str | None]:
    """Compare with the planted graph."""

    def check(graph: Any, said: list[str]) -> str | None:
        wrong = _difference(graph, truth, weight, time)
        told = [*getattr(getattr(graph, "reading", None), "assumed", ()), *said]
        return wrong and (f"{TOLD}{wrong}; {told[0]}" if told else wrong)

    return check


def _difference(graph: Any, truth: Truth, weight: str | None, time: str | None) -> str | None:
    ids = [str(each) for each in graph.ids.tolist()]
    if set(ids) != set(truth.ids):
        odd = sorted(set(ids) ^ set(truth.ids))[:4]
        return f"{len(ids)} nodes, planted {len(truth.ids)}; {odd} differ"
    reading = getattr(graph, "reading", None)
    ignored = len(getattr(reading, "ignored", ()))
    index = graph.edge_index
    found = {(ids[u], ids[v]): i for i, (u, v) in enumerate(index.T.tolist())}
    planted = dict(zip(truth.edges, range(len(truth.edges)), strict=True))
    both = planted if truth.directed else planted | {(v, u): i for (u, v), i in planted.items()}
    if found.keys() != both.keys():
        return f"{len(found)} entries, planted {len(both)}: {sorted(found.keys() ^ both.keys())[:3]} differ"
    if truth.weights is None and graph.weights is not None:
        return f"weights {graph.weights[:3]}, planted none"
    if truth.weights is not None:
        if graph.weights is None:
            return None if ignored else f"no weights, planted column {weight!r}, and nothing said"
        wrong = [pair for pair, i in both.items() if abs(graph.weights[found[pair]] - truth.weights[i]) > 1e-9]
        if wrong:
            return f"weight {graph.weights[found[wrong[0]]]} of {wrong[0]}, planted {truth.weights[both[wrong[0]]]}"
    if truth.times is not None and getattr(graph, "time", None) is None and not ignored:
        return f"no times, planted column {time!r}, and nothing said"
    return None


def _matrix(dice: Dice) -> Case:
    """An adjacency matrix as text, with and without names of rows and columns."""
    count = dice.between(4, 20)
    truth = make_truth(dice, "positions")
    count = len(truth.ids)
    cells = [["0"] * count for _ in range(count)]
    for u, v in truth.edges:
        cells[int(u)][int(v)] = "1"
        if not truth.directed:
            cells[int(v)][int(u)] = "1"
    named, names = dice.chance(0.5), make_ids(dice, count, "words")
    separator = dice.pick([",", ";", "\t", " "])
    lines = [separator.join(row) for row in cells]
    if named:
        lines = [separator.join([name, *row]) for name, row in zip(names, cells, strict=True)]
        lines.insert(0, separator.join(["" if separator != " " else "x", *names]))
        rename = dict(zip(truth.ids, names, strict=True))
        edges = tuple((rename[u], rename[v]) for u, v in truth.edges)
        truth = Truth(tuple(names), edges, directed=truth.directed)
    data = ("\n".join(lines) + "\n").encode()

    def check(graph: Any, said: list[str]) -> str | None:
        told = [*getattr(getattr(graph, "reading", None), "assumed", ()), *said]
        if not named and graph.num_nodes == count and sorted(graph.ids.tolist()) == list(range(1, count + 1)):
            wrong = (
                None if graph.num_edges == len(truth.edges) else f"{graph.num_edges} edges, planted {len(truth.edges)}"
            )
        else:
            wrong = _difference(graph, truth, None, None)
        return wrong and (f"{TOLD}{wrong}; {told[0]}" if told else f"a matrix: {wrong}")

    case = planted_case(truth, dice.pick(["case.csv", "case.txt"]), data)
    return Case(case.call, case.about, check)


def _bipartite(dice: Dice) -> Case:
    """Users and items that are both counted from one number on."""
    import graphreach as gr

    names = dice.pick(
        [
            ("user_id", "item_id"),
            ("user", "item"),
            ("userId", "movieId"),
            ("customer_id", "product_id"),
            ("author", "paper"),
        ]
    )
    users, items = dice.between(3, 12), dice.between(3, 12)
    pairs = sorted({(dice.below(users), dice.below(items)) for _ in range(40)})
    pairs = dice.shuffled(pairs)
    table = Table(list(names), [[str(u) for u, _ in pairs], [str(i) for _, i in pairs]], True)
    name, data = write_table(table, dice, "case")
    path = write(name, data)
    expected = len({u for u, _ in pairs}) + len({i for _, i in pairs})

    def check(graph: Any, said: list[str]) -> str | None:
        told = [*getattr(getattr(graph, "reading", None), "assumed", ()), *said]
        if graph.num_nodes == expected and graph.num_edges == len(pairs):
            return None
        wrong = f"{graph.num_nodes} nodes and {graph.num_edges} edges, planted {expected} and {len(pairs)}"
        return f"{TOLD}{wrong}; {told[0]}" if told else wrong

    return Case(lambda: gr.read_graph(path), f"read_graph({name}) of {short(data)}", check)


def _ragged(dice: Dice) -> Case:
    """One field is missing, or there is one too many."""
    truth = make_truth(dice, dice.pick(["ints", "words"]))
    separator = dice.pick([" ", ",", "\t"])
    weights = [each + 0.25 for each in _weights(dice, len(truth.edges))]
    lines = [separator.join([u, v, str(w)]) for (u, v), w in zip(truth.edges, weights, strict=True)]
    place = dice.below(len(lines))
    kind = dice.below(3)
    lines[place] = separator.join(lines[place].split(separator)[:2]) if kind == 0 else (
        lines[place].split(separator)[0] if kind == 1 else lines[place] + separator + "7")  # fmt: skip
    if dice.chance(0.3):
        lines.insert(0, separator.join(["source", "target", "weight"]))
    data = ("\n".join(lines) + "\n").encode()
    case = planted_case(truth, dice.pick(["case.csv", "case.txt"]), data)

    def check(graph: Any, said: list[str]) -> str | None:
        told = [*getattr(getattr(graph, "reading", None), "assumed", ()), *said]
        wrong = f"a ragged line {lines[place]!r} was read: {graph}, weights {short(graph.weights, 60)}"
        return f"{TOLD}{wrong}; {told[0]}" if told else wrong

    return Case(case.call, case.about, check)


def _formats(dice: Dice) -> Case:
    """The same graph by way of other libraries' writers."""
    import io

    import networkx as nx

    suffix = dice.pick(["parquet", "parquet", "npz", "mtx", "graphml", "gml", "gexf", "adjlist", "json"])
    truth = make_truth(dice, "positions" if suffix in ("npz", "mtx") else dice.pick(["ints", "words", "unicode"]))
    if suffix not in ("adjlist", "json", "gexf") and dice.chance(0.5):
        truth = Truth(truth.ids, truth.edges, _weights(dice, len(truth.edges)), None, truth.directed)
    graph = nx.DiGraph() if truth.directed else nx.Graph()
    graph.add_nodes_from(truth.ids)
    weights = truth.weights or (1.0,) * len(truth.edges)
    for (u, v), w in zip(truth.edges, weights, strict=True):
        graph.add_edge(u, v, **({} if truth.weights is None else {"weight": w}))
    out = io.BytesIO()
    if suffix == "parquet":
        _write_parquet(truth, dice, out)
    elif suffix in ("npz", "mtx"):
        truth = _write_numbers(truth, dice, suffix, out)
    elif suffix == "json":
        out.write(json.dumps(nx.node_link_data(graph, edges=dice.pick(["edges", "links"]))).encode())
    else:
        getattr(nx, f"write_{suffix}")(graph, out)
    return planted_case(truth, f"case.{suffix}", out.getvalue(), "weight")


def _write_parquet(truth: Truth, dice: Dice, out: Any) -> None:
    import pandas as pd

    names = dice.pick(USUAL + UNUSUAL)
    columns: dict[str, Any] = {names[0]: [u for u, _ in truth.edges], names[1]: [v for _, v in truth.edges]}
    if truth.weights is not None:
        columns[dice.pick(["weight", "w", "value"])] = truth.weights
    frame = pd.DataFrame(columns)
    if dice.chance(0.3):  # pandas keeps an index that is not 0 .. m - 1 as a column
        frame = frame.iloc[::-1]
    if dice.chance(0.2):
        frame = frame.reset_index()
    frame.to_parquet(out)


def _write_numbers(truth: Truth, dice: Dice, suffix: str, out: Any) -> Truth:
    import scipy.io
    import scipy.sparse

    index = np.array([[int(u) for u, _ in truth.edges], [int(v) for _, v in truth.edges]])
    count = len(truth.ids)
    weights = np.array(truth.weights or [1.0] * len(truth.edges))
    if suffix == "npz" and dice.chance(0.5):
        arrays = {"edge_index": index, "num_nodes": count, "directed": truth.directed}
        np.savez(out, **(arrays if truth.weights is None else {**arrays, "edge_weight": weights}))
        return truth
    matrix = scipy.sparse.coo_array((weights, index), shape=(count, count)).tocsr()
    if not truth.directed:
        matrix = matrix + matrix.T
    if suffix == "npz":
        scipy.sparse.save_npz(out, dice.pick([matrix, matrix.tocsc(), matrix.tocoo()]))
    else:
        scipy.io.mmwrite(out, matrix.tocoo(), symmetry=dice.pick(["general", "AUTO"]))
        ids = {each: str(int(each) + 1) for each in truth.ids}
        edges = tuple((ids[u], ids[v]) for u, v in truth.edges)
        truth = Truth(tuple(ids.values()), edges, truth.weights, None, truth.directed)
    if truth.weights is not None and all(each == 1 for each in truth.weights):
        return Truth(truth.ids, truth.edges, None, None, truth.directed)
    return truth
