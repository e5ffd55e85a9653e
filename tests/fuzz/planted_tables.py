"""Labels, features and pairs with a known truth, in the dialects that people write."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz import samples
from tests.fuzz.entry import Case, Dice, Entry, short, write
from tests.fuzz.judge import TOLD
from tests.fuzz.planted import Table, write_table

HEADS = ["id", "node", "Knoten", "name", "user", "person_id", "key", "a"]
CLASSES = ["label", "class", "y", "Klasse", "team", "group", "category"]


def entries() -> list[Entry]:
    """Labels, features, pairs and pairs with labels."""
    return [
        Entry("planted.labels", _labels, 2.5),
        Entry("planted.features", _features, 2.5),
        Entry("planted.pairs", _pairs, 1.5),
        Entry("planted.pair_labels", _pair_labels, 1.5),
    ]


def _tell(wrong: str | None, said: list[str]) -> str | None:
    return wrong and (f"{TOLD}{wrong}; {said[0]}" if said else wrong)


def _case(reader: str, table: Table, graph: Any, dice: Dice, check: Callable[[Any], str | None]) -> Case:
    from graphreach.io import tables

    name, data = write_table(table, dice, "case")
    path = write(name, data)
    call = getattr(tables, reader)
    return Case(
        lambda: call(path, graph), f"{reader}({name}) of {short(data)}", lambda value, said: _tell(check(value), said)
    )


def _add_index(table: Table, dice: Dice) -> None:
    if table.header and dice.chance(0.2):
        table.insert(0, "", [str(i) for i in range(len(table.columns[0]))])


def _labels(dice: Dice) -> Case:
    graph = samples.graph(dice.pick(["int", "str"]))
    ids = dice.shuffled([str(each) for each in graph.ids.tolist()])[: dice.pick([30, 30, 20])]
    kind = dice.below(5)
    pools = [["red", "blue", "green"], ["0", "1", "2"], ["5", "17"], ["yes", "no"], ["a b", "c"]]
    labels = [dice.pick(pools[kind]) for _ in ids]
    table = Table([dice.pick(HEADS), dice.pick(CLASSES)], [ids, labels], dice.chance(0.6))
    _add_index(table, dice)
    expected = dict(zip(ids, labels, strict=True))
    if dice.chance(0.15):  # numbers that are no classes
        expected = {each: repr(dice.below(10**6) / 997) for each in ids}
        table.columns[-1] = list(expected.values())

    def check(value: Any) -> str | None:
        y, classes = value[0], value[1]
        if len(classes) > len(ids) // 2:
            return f"{len(classes)} classes of {len(ids)} nodes"
        found = {str(each): str(classes[c]) for each, c in zip(graph.ids.tolist(), y.tolist(), strict=True) if c >= 0}
        odd = [each for each in expected.keys() | found.keys() if expected.get(each) != found.get(each)]
        return f"{odd[0]} is {found.get(odd[0])!r}, planted {expected.get(odd[0])!r}" if odd else None

    return _case("read_labels", table, graph, dice, check)


def _features(dice: Dice) -> Case:
    graph = samples.graph(dice.pick(["int", "str"]))
    ids = dice.shuffled([str(each) for each in graph.ids.tolist()])
    width = dice.between(1, 4)
    numbers = [[dice.pick([dice.below(3), dice.below(1000) / 8, -dice.below(9)]) for _ in ids] for _ in range(width)]
    names = dice.sample(["age", "height", "f1", "f2", "f3", "Alter", "x0", "deg"], width)
    table = Table(
        [dice.pick(HEADS), *names], [ids, *([str(each) for each in column] for column in numbers)], dice.chance(0.6)
    )
    _add_index(table, dice)
    order = {each: i for i, each in enumerate(ids)}
    expected = np.array(numbers, np.float32).T[[order[str(each)] for each in graph.ids.tolist()]]

    def check(value: Any) -> str | None:
        if value.shape != expected.shape:
            return f"shape {value.shape}, planted {expected.shape}"
        return None if np.array_equal(value, expected) else "other numbers than planted"

    return _case("read_features", table, graph, dice, check)


def _some_pairs(dice: Dice) -> tuple[Any, Table, Any]:
    graph = samples.graph(dice.pick(["int", "str"]))
    ids = [str(each) for each in graph.ids.tolist()]
    pairs = [(dice.below(30), dice.below(30)) for _ in range(dice.between(1, 20))]
    names = dice.pick(
        [["u", "v"], ["source", "target"], ["Quelle", "Ziel"], ["follower", "followee"], ["a", "b"], ["x", "y"]]
    )
    table = Table(list(names), [[ids[u] for u, _ in pairs], [ids[v] for _, v in pairs]], dice.chance(0.6))
    return graph, table, np.array(pairs).T


def _pairs(dice: Dice) -> Case:
    graph, table, expected = _some_pairs(dice)
    _add_index(table, dice)
    return _case("read_pairs", table, graph, dice, lambda value: _compare(value.positions, expected))


def _pair_labels(dice: Dice) -> Case:
    graph, table, expected = _some_pairs(dice)
    labels = [dice.below(2) for _ in range(expected.shape[1])]
    table.insert(2, dice.pick(CLASSES), [str(each) for each in labels])
    _add_index(table, dice)

    def check(value: Any) -> str | None:
        return _compare(value[0], expected) or (None if value[1].tolist() == labels else "other labels than planted")

    return _case("read_pair_labels", table, graph, dice, check)


def _compare(value: Any, expected: Any) -> str | None:
    return None if np.array_equal(value, expected) else f"pairs {short(value, 80)}, planted {short(expected, 80)}"
