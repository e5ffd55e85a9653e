"""Validation and test as somebody else drew them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_pairs, to_integers
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks.examples import Examples, SampleLike, Split, SplitRequest, check_sample, empty_pairs, join_pairs
from graphreach.tasks.leaks import LONG, LeakError, check_leaks
from graphreach.tasks.link_split import (
    TEST,
    TRAIN,
    VAL,
    Links,
    deal,
    draw_negatives,
    keep_edges,
    linked_keys,
    positives_of,
)
from graphreach.tasks.pair_keys import Pairs, contains, encode, unique
from graphreach.tasks.sides import find_sides

NAMES = {VAL: "val", TEST: "test"}


@dataclass(frozen=True, eq=False)
class GivenPairs:
    """Links of validation and test that are given, with what they are to be told from; see :func:`split_given`.

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
        for part in NAMES.values():
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
        found: Pairs | None = getattr(self, f"{NAMES[part]}_pairs")
        return found

    def negatives(self, part: int) -> Pairs | None:
        """Their negatives."""
        found: Pairs | None = getattr(self, f"{NAMES[part]}_negatives")
        return found

    def candidates(self, part: int) -> NDArray[np.int64] | None:
        """What they are to be ranked against."""
        found: NDArray[np.int64] | None = getattr(self, f"{NAMES[part]}_candidates")
        return found


def _different(pairs: Any, name: str) -> Pairs:
    checked = check_pairs(pairs, None, name)
    loops = np.flatnonzero(checked[0] == checked[1])
    if len(loops):
        node = int(checked[0, loops[0]])
        raise InputError(f"{name} must hold pairs of different nodes, got ({node}, {node})")
    return checked


def split_given(
    sample: SampleLike | Graph,
    test_pairs: ArrayLike,
    val_pairs: ArrayLike | None = None,
    *,
    test_negatives: ArrayLike | None = None,
    val_negatives: ArrayLike | None = None,
    test_candidates: ArrayLike | None = None,
    val_candidates: ArrayLike | None = None,
    seed: int = 0,
    negatives: str = "uniform",
    fractions: Sequence[float] = (0.8, 0.1, 0.1),
    keep_connected: bool = False,
    bipartite: bool | None = None,
) -> Split:
    """Split links where those of the test are given, as published benchmarks and a user's own evaluation have them.

    Validation and test have exactly the given pairs, in their order. Their links are taken out of the graph, in both
    directions, if they are in it; what is left is seen and trained on. What is not given is drawn as :func:`split` draws it
    under ``"clean"``.

    Args:
        sample: A graph, or anything with ``graph``, ``x`` and ``y``. It may hold the links of validation and test or not.
        test_pairs: Links to be judged by, positions ``[2, m]``.
        val_pairs: Links to choose a model by; by default drawn from the links that are left.
        test_negatives: Pairs that are no links, ``[2, any]``; by default drawn, one for each link.
        val_negatives: Likewise.
        test_candidates: What each link is ranked against: ``[m, c]``, other targets of its first node, or ``[m, c, 2]``,
            other pairs, as HeaRT's 500 hard negatives of each link are. A candidate may be a link of the test.
        val_candidates: Likewise.
        seed: Random seed for what is drawn.
        negatives: How negatives are drawn that are not given; see :func:`split`.
        fractions: Without ``val_pairs`` the first two are the shares of training and validation in the links left.
        keep_connected: Whether links of validation that are drawn leave a spanning forest; see :func:`split`.
        bipartite: See :func:`split`.

    Raises:
        LeakError: If a link is in validation and test, if a negative is a link, or a candidate an edge of the graph.

    Example:
        >>> ring = Graph.from_edges([range(20), [*range(1, 20), 0]])
        >>> parts = split_given(ring, [[0, 7], [1, 6]], test_candidates=[[[0, 5], [1, 9]], [[7, 3], [6, 12]]])
        >>> parts.graph.num_edges, parts.test
        (16, Examples(4 pairs, 2 positive, 2 candidates each))
        >>> split_given(ring, [[0], [1]], test_negatives=[[3], [4]])
        Traceback (most recent call last):
        ...
        graphreach.tasks.leaks.LeakError: 1 of 1 test negatives are edges of the graph, such as (3, 4)
    """
    from graphreach.tasks.dataset import Sample
    from graphreach.tasks.split import split

    given = GivenPairs(test_pairs, val_pairs, test_negatives, val_negatives, test_candidates, val_candidates)
    own = Sample(sample) if isinstance(sample, Graph) else check_sample(sample)
    return split(
        Sample(own.graph, own.x, own.y, given), "link", "given", seed=seed, negatives=negatives, fractions=fractions,
        keep_connected=keep_connected, bipartite=bipartite,
    )  # fmt: skip


def split_given_links(graph: Graph, given: GivenPairs, request: SplitRequest) -> tuple[Graph, list[Examples]]:
    """The graph without the given links, and the pairs of each part; see :func:`split_given`."""
    links = _links(graph, given, request)
    visible = keep_edges(graph, links.taken(TRAIN))
    positives: dict[int, Pairs] = {}
    for part in (TRAIN, VAL, TEST):
        own = None if part == TRAIN else given.pairs(part)
        if own is not None or (links.part == part).any():
            positives[part] = positives_of(links, part, request.seed) if own is None else own
    known = {part: own for part in NAMES if (own := given.negatives(part)) is not None}
    _refuse_links(known, given, graph.directed)
    negatives = draw_negatives(links, visible, positives, request, known)
    parts = [empty_pairs() for _ in range(3)]
    for part, own in positives.items():
        parts[part] = join_pairs(own, negatives[part], None if part == TRAIN else given.candidates(part))
    for part, name in NAMES.items():
        _check_candidates(parts[part], visible, name)
    return visible, parts


def _links(graph: Graph, given: GivenPairs, request: SplitRequest) -> Links:
    """The links of the graph and those given, each with its part."""
    own, n = linked_keys(graph), graph.num_nodes
    for name in ("test_pairs", "val_pairs", "test_negatives", "val_negatives"):
        if getattr(given, name) is not None:
            check_pairs(getattr(given, name), n, name)
    held = {part: unique(encode(pairs)) for part in NAMES if (pairs := given.pairs(part)) is not None}
    keys = unique(np.concatenate([own, *held.values()]))
    part = np.zeros(len(keys), np.int8)
    for number, hidden in held.items():
        part[contains(hidden, keys)] = number
    left = part == TRAIN
    if not left.any():
        raise InputError(f"test_pairs and val_pairs must leave links to train on, got all {len(own)} of the graph")
    train, val, _ = request.fractions
    if given.val_pairs is None:
        part[left] = deal(keys[left], n, (train / (train + val), val / (train + val), 0.0), (TRAIN, VAL, TEST), request)
    return Links(graph, keys, part, find_sides(graph, request.bipartite))


def _refuse_links(negatives: dict[int, Pairs], given: GivenPairs, directed: bool) -> None:
    """Refuse negatives that are links of validation or test; those that are edges are refused with other leaks."""
    links = np.concatenate([pairs for part in NAMES if (pairs := given.pairs(part)) is not None], axis=1)
    for part, pairs in negatives.items():
        n = 1 + int(max(links.max(initial=0), pairs.max(initial=0)))
        if directed:
            wrong = np.isin(pairs[0] * n + pairs[1], links[0] * n + links[1])
        else:
            wrong = contains(unique(encode(links)), encode(pairs))
        if wrong.any():
            u, v = pairs[:, np.argmax(wrong)].tolist()
            raise LeakError(
                f"{np.count_nonzero(wrong)} of {len(wrong)} {LONG[NAMES[part]]} negatives are validation or test "
                f"positives, such as ({u}, {v})"
            )


def _check_candidates(examples: Examples, visible: Graph, name: str) -> None:
    """Refuse candidates that are no nodes, or that are edges of the graph."""
    pairs = examples.candidate_pairs
    if pairs is None:
        return
    pairs = check_pairs(pairs, visible.num_nodes, f"{name}_candidates")
    candidates = Examples(pairs, np.zeros(pairs.shape[1], np.int64))
    try:
        check_leaks(graph=visible, test=candidates)
    except LeakError as error:
        raise LeakError(str(error).replace("test negatives", f"{LONG[name]} candidates")) from None
