"""Checks that a split hides what a model has to predict."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_flag, check_pairs, describe, to_array
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.progress import stage
from graphreach.tasks.examples import PARTS, Examples, Split, find_task
from graphreach.tasks.labels import same_component
from graphreach.tasks.pair_keys import contains

LONG = {"train": "training", "val": "validation", "test": "test"}

PROMISES = ("published", "clean", "node-disjoint", "graph-disjoint", "time", "given")
"""Protocols under which no example is in two parts."""


class LeakError(InputError):
    """A split shows what a model has to predict; the message says which part, how many, and an example."""


@dataclass(frozen=True)
class LeakReport:
    """What :func:`check_leaks` found that need not be a leak but should be known.

    Attributes:
        task: The task.
        protocol: The split's protocol, ``"own"`` for arrays.
        train_negatives: How many training negatives there are.
        false_negatives_val: Training negatives that are validation positives.
        false_negatives_test: Training negatives that are test positives.
        duplicates_val: Validation examples (positive pairs, or nodes) that are training examples too.
        duplicates_test: Test examples that are training examples too.
        shared_nodes_val: For pairs and nodes, nodes of validation examples that occur in training examples.
        shared_nodes_test: The same of test examples.
        closure: For pairs, the share of test positives inside one component of the training positives, which
            transitivity alone gets right; ``None`` for other tasks, and without test positives.
    """

    task: str
    protocol: str
    train_negatives: int = 0
    false_negatives_val: int = 0
    false_negatives_test: int = 0
    duplicates_val: int = 0
    duplicates_test: int = 0
    shared_nodes_val: int = 0
    shared_nodes_test: int = 0
    closure: float | None = None

    @property
    def findings(self) -> tuple[str, ...]:
        """What was found, one phrase each."""
        return tuple(self._phrases())

    def _phrases(self) -> Iterator[str]:
        wrong = self.false_negatives_val + self.false_negatives_test
        if wrong:
            share = wrong / self.train_negatives
            yield f"{wrong} of {self.train_negatives} training negatives ({share:.1%}) are validation or test positives"
        what = "nodes" if self.task == "node" else "positives"
        for part, count in (("validation", self.duplicates_val), ("test", self.duplicates_test)):
            if count:
                yield f"{count} {part} {what} are training {what} too"
        if self.task == "pair" and self.shared_nodes_val + self.shared_nodes_test:
            yield f"{self.shared_nodes_val} validation and {self.shared_nodes_test} test nodes occur in training pairs"
        if self.closure:
            yield f"transitive closure of the training positives holds {self.closure:.1%} of the test positives"

    def __str__(self) -> str:
        return f"{self.task}, {self.protocol}: no leak" + "".join(f"; {each}" for each in self.findings)


def check_leaks(
    split: Split | None = None,
    *,
    graph: Any = None,
    train: Any = None,
    val: Any = None,
    test: Any = None,
    task: str | None = None,
    strict: bool = False,
) -> LeakReport:
    """Refuse a split that shows what a model has to predict, and report what else should be known about it.

    A leak is, for links, a validation or test positive that is an edge of the graph in either direction, or a validation
    or test negative that is an edge (in either direction, if the graph is undirected). A split also leaks if it breaks what
    its protocol promises. No positive pair and no classified node may be in two parts; under ``"clean"`` and ``"time"`` no
    pair may, under ``"node-disjoint"`` no node, and under ``"graph-disjoint"`` only one part may have examples. For arrays,
    such overlaps are reported.

    Args:
        split: A split; or give what follows.
        graph: What walks and message passing see: a :class:`Graph` or an ``edge_index`` ``[2, m]``, which counts as
            undirected. Needed for links.
        train: :class:`Examples`; positive pairs ``[2, m]`` (such as ``edge_index``); pairs and labels as a tuple (such as
            ``edge_label_index`` and ``edge_label``); for nodes, their positions or a mask.
        val: Likewise.
        test: Likewise.
        task: ``"link"`` (the default for arrays), ``"pair"`` or ``"node"``.
        strict: Refuse everything that the report would mention, too.

    Raises:
        LeakError: If there is a leak.

    Example:
        >>> seen = Graph.from_edges([[0, 1], [1, 2]], num_nodes=4)
        >>> print(check_leaks(graph=seen, train=[[0, 1], [1, 2]], test=[[2], [3]]))
        link, own: no leak
        >>> check_leaks(graph=seen, test=[[2], [1]])
        Traceback (most recent call last):
        ...
        graphreach.tasks.leaks.LeakError: 1 of 1 test positives are edges of the graph, such as (2, 1)
    """
    if split is not None:
        if not isinstance(split, Split):
            raise InputError(f"split must be a Split, got {describe(split)}; name arrays: graph=, train=, val=, test=")
        if any(each is not None for each in (graph, train, val, test, task)):
            raise InputError("check_leaks takes a split or graph, train, val, test and task, got both")
        graph, task, protocol, parts = split.graph, split.task, split.protocol, split.parts()
    else:
        task, protocol = find_task("link" if task is None else task), "own"
        parts = {name: _as_examples(part, name, task) for name, part in zip(PARTS, (train, val, test), strict=True)}
    check_flag("strict", strict)
    n = _num_nodes(graph, parts)
    with stage("looking for leaks"):
        if task == "link":
            _refuse_visible(graph, parts, n)
        _refuse_broken_promises(task, protocol, parts, n)
        report = _report(task, protocol, parts, n)
    if strict and report.findings:
        raise LeakError(report.findings[0])
    return report


def _refuse_visible(graph: Any, parts: dict[str, Examples], n: int) -> None:
    """No pair of validation or test may be an edge."""
    if graph is None:
        raise InputError("graph must be given to check links: the edges that walks and message passing see")
    directed = isinstance(graph, Graph) and graph.directed
    edges = graph.edge_index if isinstance(graph, Graph) else check_pairs(graph, None, "graph")
    either, ordered = np.sort(_keys(edges, n)), np.sort(edges[0] * n + edges[1])
    for name in PARTS[1:]:
        part = parts[name]
        for kind, pairs in (("positives", part.positives), ("negatives", part.negatives)):
            one_way = directed and kind == "negatives"
            seen = contains(ordered, pairs[0] * n + pairs[1]) if one_way else contains(either, _keys(pairs, n))
            _refuse(pairs, seen, f"{LONG[name]} {kind} are edges of the graph")


def _refuse_broken_promises(task: str, protocol: str, parts: dict[str, Examples], n: int) -> None:
    """Each protocol promises more than the one before; a user's own has promised nothing."""
    for name, other_name in (("val", "train"), ("test", "train"), ("test", "val")):
        part, other = parts[name], parts[other_name]
        name, other_name = LONG[name], LONG[other_name]
        if protocol == "graph-disjoint" and len(part) and len(other):
            raise LeakError(f"{len(part)} {name} examples share a graph with {other_name} examples")
        if protocol == "node-disjoint" or (protocol in PROMISES and task == "node"):
            nodes = np.flatnonzero(_occurs(part, n))
            _refuse(nodes, _occurs(other, n)[nodes], f"{name} nodes are {other_name} nodes too")
        elif protocol in PROMISES:
            every = protocol in ("clean", "time")
            pairs, others = (part.index, other.index) if every else (part.positives, other.positives)
            what = "pairs" if every else "positives"
            known, keys = np.sort(_keys(others, n)), _keys(pairs, n)
            if _count_shared(known, keys):
                _refuse(pairs, contains(known, keys), f"{name} {what} are {other_name} {what} too")


def _refuse(items: NDArray[np.int64], wrong: NDArray[np.bool_], sentence: str) -> None:
    if wrong.any():
        first = items[..., np.argmax(wrong)]
        example = f"({first[0]}, {first[1]})" if first.ndim else f"{first}"
        raise LeakError(f"{np.count_nonzero(wrong)} of {len(wrong)} {sentence}, such as {example}")


def _report(task: str, protocol: str, parts: dict[str, Examples], n: int) -> LeakReport:
    train = parts["train"]
    counts: dict[str, Any] = {}
    if task != "link":
        for name in PARTS[1:]:
            counts[f"shared_nodes_{name}"] = int(np.count_nonzero(_occurs(parts[name], n) & _occurs(train, n)))
    if task == "node":
        counts |= {f"duplicates_{name}": counts[f"shared_nodes_{name}"] for name in PARTS[1:]}
        return LeakReport(task, protocol, **counts)
    counts["train_negatives"] = train.negatives.shape[1]
    positive, negative = np.sort(_keys(train.positives, n)), _keys(train.negatives, n)
    for name in PARTS[1:]:
        keys = _keys(parts[name].positives, n)
        counts[f"false_negatives_{name}"] = _count_shared(np.sort(keys), negative)
        counts[f"duplicates_{name}"] = _count_shared(positive, keys)
    wanted = parts["test"].positives
    if task == "pair" and wanted.shape[1]:
        counts["closure"] = float(same_component(train.positives, wanted, n).mean())
    return LeakReport(task, protocol, **counts)


def _keys(pairs: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """One number a pair, the same for both directions; a user's pairs may be self-loops."""
    keys: NDArray[np.int64] = np.minimum(pairs[0], pairs[1]) * n + np.maximum(pairs[0], pairs[1])
    return keys


def _count_shared(known: NDArray[np.int64], keys: NDArray[np.int64]) -> int:
    """How many keys are among the sorted ``known``; sorted first, as lookups in order are several times faster."""
    return int(np.count_nonzero(contains(known, np.sort(keys))))


def _occurs(part: Examples, n: int) -> NDArray[np.bool_]:
    """Which nodes are in an example."""
    occurs = np.zeros(n, np.bool_)
    occurs[part.index.ravel()] = True
    return occurs


def _num_nodes(graph: Any, parts: dict[str, Examples]) -> int:
    largest = max(int(part.index.max(initial=-1)) for part in parts.values())
    if isinstance(graph, Graph):
        if largest >= graph.num_nodes:
            raise InputError(f"examples must hold positions between 0 and {graph.num_nodes - 1}, got {largest}")
        return graph.num_nodes
    return 1 + (largest if graph is None else max(largest, int(check_pairs(graph, None, "graph").max(initial=-1))))


def _as_examples(part: Any, name: str, task: str) -> Examples:
    if isinstance(part, Examples):
        return part
    if part is None:
        shape = (0,) if task == "node" else (2, 0)
        return Examples(np.empty(shape, np.int64), np.empty(0, np.int64))
    # An edge_index may be a tuple, too, of two lists of nodes.
    labelled = isinstance(part, tuple) and len(part) == 2 and to_array(name, part[0], "biufUO").ndim == 2
    index, label = part if labelled else (part, None)
    if task == "node":
        nodes = to_array(name, index, "biufUO", "positions of nodes or a mask")
        nodes = np.flatnonzero(nodes) if nodes.dtype == np.bool_ else nodes
        if nodes.ndim != 1 or (nodes.size and (nodes.dtype.kind not in "iu" or nodes.min() < 0)):
            raise InputError(
                f"{name} must be positions of nodes or a mask, got shape {list(nodes.shape)} of {nodes.dtype}"
            )
        return Examples(nodes, np.zeros(len(nodes), np.int64))
    pairs = check_pairs(index, None, name)
    if label is None:
        return Examples(pairs, np.ones(pairs.shape[1], np.int64))
    return Examples(pairs, (to_array(f"labels of {name}", label) > 0).astype(np.int64))
