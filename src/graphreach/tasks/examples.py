"""What a task hands to whoever learns it: examples with labels, how they are cut, and the graph that may be looked at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_pairs, describe, to_integers
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.tasks.pair_keys import Pairs

TASKS = ("link", "pair", "node")
ALIASES = {"lp": "link", "pnc": "pair", "nc": "node"}
PARTS = ("train", "val", "test")
HELD_OUT = {1: "val", 2: "test"}
"""The parts that are not trained on, by their numbers."""

PROTOCOLS = {
    "link": ("published", "clean", "graph-disjoint", "time", "given"),
    "pair": ("published", "clean", "node-disjoint", "graph-disjoint"),
    "node": ("published", "node-disjoint", "graph-disjoint"),
}

CLEAN = ("clean", "time", "given")
"""Protocols of links and pairs under which no pair is drawn for two parts."""

DEFAULT_PROTOCOLS = {"link": "clean", "pair": "node-disjoint", "node": "node-disjoint"}
"""How examples are cut unless a protocol is asked for: such that training examples do not answer the test."""


def find_task(name: str) -> str:
    """The name of a task, from its name or its abbreviation in the paper.

    ``"link"`` (``"lp"``) is link prediction, ``"pair"`` (``"pnc"``) pairwise node classification: do two nodes have one
    label, ``"node"`` (``"nc"``) node classification.

    Example:
        >>> find_task("PNC"), find_task("link")
        ('pair', 'link')
    """
    task = ALIASES.get(str(name).lower(), str(name).lower())
    if task not in TASKS:
        raise InputError(f"task must be link, pair or node (or lp, pnc, nc), got {name!r}")
    return task


class SampleLike(Protocol):
    """One graph with what is known of its nodes: features ``[n, f]`` and labels, or ``None``.

    Labels are integers ``[n]`` or, of nodes with several labels, booleans ``[n, classes]``.
    """

    @property
    def graph(self) -> Graph:
        """The whole graph."""

    @property
    def x(self) -> NDArray[np.float32] | None:
        """Features."""

    @property
    def y(self) -> NDArray[Any] | None:
        """Labels."""


def is_label_matrix(values: Any) -> bool:
    """Whether labels are those of nodes that may have several: booleans ``[m, classes]``.

    Integers are not, as a column of classes would look like labels that every node has or has not.
    """
    return isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype == np.bool_


def check_sample(sample: Any, name: str = "sample") -> SampleLike:
    """Return something with a graph, features and labels."""
    if not all(hasattr(sample, part) for part in ("graph", "x", "y")):
        hint = "; wrap it by Sample(graph)" if isinstance(sample, Graph) else ""
        raise InputError(f"{name} must have graph, x and y, got {describe(sample)}{hint}")
    check_graph(sample.graph, f"{name}.graph")
    checked: SampleLike = sample
    return checked


@dataclass(frozen=True, eq=False, repr=False)
class Examples:
    """Pairs or nodes with their labels.

    Attributes:
        index: Pairs ``[2, m]``, positives first, or nodes ``[m]``.
        label: 1 or 0 for pairs, the class for nodes, ``[m]``; for nodes with several labels booleans, ``[m, classes]``.
        candidates: For metrics of ranking, in the order of the positives: ``[positives, c]``, wrong targets of each
            positive's first node; or ``[positives, c, 2]``, wrong pairs, which may have neither node of the positive.

    Example:
        >>> Examples(np.array([[0, 1], [1, 2]]), np.array([1, 0]))
        Examples(2 pairs, 1 positive)
    """

    index: NDArray[np.int64]
    label: NDArray[Any]
    candidates: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", to_integers("index", self.index))
        several = self.index.ndim == 1 and is_label_matrix(self.label)
        object.__setattr__(self, "label", self.label if several else to_integers("label", self.label))
        if self.candidates is not None:
            object.__setattr__(self, "candidates", to_integers("candidates", self.candidates))
        if self.index.ndim not in (1, 2) or (self.index.ndim == 2 and self.index.shape[0] != 2):
            raise InputError(f"index must be pairs [2, m] or nodes [m], got shape {list(self.index.shape)}")
        if self.label.shape[: self.label.ndim - several] != (self.index.shape[-1],):
            raise InputError(f"label must have shape [{self.index.shape[-1]}], got {list(self.label.shape)}")
        positives = int(np.count_nonzero(self.label == 1))
        if self.candidates is None:
            return
        shape = self.candidates.shape
        if len(shape) not in (2, 3) or len(self.candidates) != positives or shape[2:] not in ((), (2,)):
            raise InputError(
                f"candidates must have one row for each of {positives} positives, [{positives}, c] targets or "
                f"[{positives}, c, 2] pairs, got shape {list(shape)}"
            )

    def __len__(self) -> int:
        return int(self.index.shape[-1])

    @property
    def several(self) -> bool:
        """Whether nodes have several labels."""
        return self.label.ndim == 2

    @property
    def positives(self) -> NDArray[np.int64]:
        """The pairs with label 1, ``[2, positives]``."""
        return self.index[..., self.label == 1]

    @property
    def candidate_pairs(self) -> NDArray[np.int64] | None:
        """The first node of every positive with each of its candidates, or the candidates that are pairs already,
        ``[2, positives * c]``.
        """
        if self.candidates is None:
            return None
        if self.candidates.ndim == 3:
            return self.candidates.reshape(-1, 2).T
        return np.stack([np.repeat(self.positives[0], self.candidates.shape[1]), self.candidates.ravel()])

    @property
    def negatives(self) -> NDArray[np.int64]:
        """The pairs with label 0, ``[2, negatives]``."""
        return self.index[..., self.label == 0]

    def __repr__(self) -> str:
        if self.index.ndim == 1:
            return f"Examples({len(self)} nodes)"
        count = int(np.count_nonzero(self.label == 1))
        ranked = "" if self.candidates is None else f", {self.candidates.shape[1]} candidates each"
        return f"Examples({len(self)} pairs, {count} positive{ranked})"


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """A task on one graph, ready for training and testing.

    It does not carry the nodes' labels, so nothing that is given a split can look at those of validation and test.

    Attributes:
        task: ``"link"``, ``"pair"`` or ``"node"``.
        graph: All that walks, distances and message passing may see.
        x: Features, ``[n, f]``.
        train: Examples to learn from.
        val: Examples to choose by.
        test: Examples to judge by.
        num_classes: For nodes, how many classes there are.
        protocol: How the parts were made.
        seed: What made them; :func:`split` with this seed makes them again.
        negatives: How the negatives were chosen.
        bipartite: Whether negatives are between the two sides of a bipartite graph only.
    """

    task: str
    graph: Graph
    x: NDArray[np.float32] | None
    train: Examples
    val: Examples
    test: Examples
    num_classes: int | None
    protocol: str
    seed: int
    negatives: str = "uniform"
    bipartite: bool = False

    def parts(self) -> dict[str, Examples]:
        """The three parts by their names."""
        return {"train": self.train, "val": self.val, "test": self.test}

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}={len(part)}" for name, part in self.parts().items())
        return f"Split(task={self.task}, protocol={self.protocol}, {self.graph}, {sizes}, seed={self.seed})"


@dataclass(frozen=True, eq=False)
class GivenPairs:
    """Given links of validation and test, and the pairs that they are ranked against; see
    :func:`graphreach.tasks.split_given`.

    Example:
        >>> GivenPairs(test_pairs=[[0], [1]]).test_pairs.shape
        (2, 1)
        >>> GivenPairs(test_pairs=[[0], [0]])
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: test_pairs must hold pairs of different nodes, got (0, 0)
    """

    test_pairs: Any
    val_pairs: Any = None
    test_negatives: Any = None
    val_negatives: Any = None
    test_candidates: Any = None
    val_candidates: Any = None

    def __post_init__(self) -> None:
        for name in ("test_pairs", "val_pairs", "test_negatives", "val_negatives"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _different(getattr(self, name), name))
        for part in HELD_OUT.values():
            pairs, candidates = getattr(self, f"{part}_pairs"), getattr(self, f"{part}_candidates")
            if pairs is not None and not pairs.shape[1]:
                raise InputError(f"{part}_pairs must hold at least one pair, got none")
            for other in ("negatives", "candidates"):
                if pairs is None and getattr(self, f"{part}_{other}") is not None:
                    raise InputError(f"{part}_{other} must go with {part}_pairs, got them without")
            if candidates is not None:
                object.__setattr__(self, f"{part}_candidates", to_integers(f"{part}_candidates", candidates))

    def pairs(self, part: int) -> Pairs | None:
        """The links of validation or test."""
        found: Pairs | None = getattr(self, f"{HELD_OUT[part]}_pairs")
        return found

    def negatives(self, part: int) -> Pairs | None:
        """Their negatives."""
        found: Pairs | None = getattr(self, f"{HELD_OUT[part]}_negatives")
        return found

    def candidates(self, part: int) -> NDArray[np.int64] | None:
        """The pairs that they are ranked against."""
        found: NDArray[np.int64] | None = getattr(self, f"{HELD_OUT[part]}_candidates")
        return found


def _different(pairs: Any, name: str) -> Pairs:
    checked = check_pairs(pairs, None, name)
    loops = np.flatnonzero(checked[0] == checked[1])
    if len(loops):
        node = int(checked[0, loops[0]])
        raise InputError(f"{name} must hold pairs of different nodes, got ({node}, {node})")
    return checked


def check_split(split: Any) -> Split:
    """Return a split."""
    if not isinstance(split, Split):
        raise InputError(f"split must be a Split, as graphreach.tasks.split returns, got {describe(split)}")
    return split


def empty_pairs() -> Examples:
    """No pairs.

    Example:
        >>> empty_pairs()
        Examples(0 pairs, 0 positive)
    """
    return Examples(np.empty((2, 0), np.int64), np.empty(0, np.int64))


def join_pairs(
    positives: NDArray[np.int64], negatives: NDArray[np.int64], candidates: NDArray[np.int64] | None = None
) -> Examples:
    """Examples of positive and negative pairs, both ``[2, m]``.

    Example:
        >>> join_pairs(np.array([[0], [1]]), np.array([[0, 2], [2, 1]])).label
        array([1, 0, 0])
    """
    positives, negatives = check_pairs(positives, None, "positives"), check_pairs(negatives, None, "negatives")
    label = np.zeros(positives.shape[1] + negatives.shape[1], np.int64)
    label[: positives.shape[1]] = 1
    return Examples(np.concatenate([positives, negatives], axis=1), label, candidates)


USES = {
    "partition": 0, "negatives": 1, "candidates": 2, "turn": 3, "graphs": 4, "subset": 5, "forest": 6,
    "clique": 100, "hubs": 101, "noise": 102, "group": 103,
}  # fmt: skip
"""What random numbers are for; each use has its own, so that asking for candidates changes no pair, and colluders of a
split's seed are not all training nodes."""


class SplitRequest(NamedTuple):
    """What :func:`graphreach.tasks.split` was asked for, checked."""

    task: str
    protocol: str
    seed: int
    negatives: str
    fractions: tuple[float, float, float]
    candidates: int
    max_pairs: int | None
    num_classes: int | None
    keep_connected: bool = False
    bipartite: bool | None = None

    @property
    def clean(self) -> bool:
        """Whether no pair may be in two parts."""
        return self.protocol in CLEAN


def stream(seed: int, use: str, part: int = 0) -> np.random.Generator:
    """The random numbers of one use."""
    return np.random.default_rng([seed, USES[use], part])


def check_fractions(fractions: Sequence[float]) -> tuple[float, float, float]:
    """Three shares that sum to one, the first positive."""
    try:
        train, val, test = (float(each) for each in fractions)
    except (TypeError, ValueError):
        train = val = test = float("nan")
    if not (train > 0 and val >= 0 and test >= 0 and abs(train + val + test - 1) < 1e-6):
        raise InputError(
            f"fractions must be three shares of training (above 0), validation and test that sum to 1, got {fractions!r}"
        )
    return train, val, test


def part_sizes(count: int, fractions: tuple[float, float, float], name: str) -> tuple[int, int, int]:
    """How many of ``count`` things go to each part: rounded down at the two cuts, but no part with a share goes empty."""
    wanted = sum(fraction > 0 for fraction in fractions)
    if count < wanted:
        raise InputError(f"the graph must have at least {wanted} {name} to split, got {count}")
    # 0.1 + 0.7 is a little below 0.8, which must not cost an example.
    first = int(np.floor(count * fractions[0] + 1e-6))
    second = int(np.floor(count * (fractions[0] + fractions[1]) + 1e-6))
    if fractions[2] == 0:
        second = count
    if fractions[1] == 0:
        first = second
    sizes = [first, second - first, count - second]
    for part, fraction in enumerate(fractions):
        if fraction > 0 and sizes[part] == 0:
            sizes[part] = 1
            sizes[int(np.argmax(sizes))] -= 1
    return sizes[0], sizes[1], sizes[2]


def cut(
    items: NDArray[np.int64], fractions: tuple[float, float, float], name: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The three parts of items that are in random order."""
    first, second, _ = part_sizes(len(items), fractions, name)
    return items[:first], items[first : first + second], items[first + second :]
