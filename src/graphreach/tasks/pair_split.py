"""Pairwise node classification: do two nodes have the same label?"""

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.tasks.examples import Examples, SplitRequest, cut, empty_pairs, join_pairs, stream
from graphreach.tasks.pair_keys import Pairs, decode, draw_distinct, num_pairs, turn

Labels = NDArray[np.int64]


class LabelPairs:
    """All pairs of labelled nodes, those of one label and those of two, each numbered without a gap.

    Nodes are sorted by label. So a pair of one label is a class and two places in it, and a pair of two labels is a place
    and a place in a later class. Any of the many pairs follows from its number, and none has to be stored.
    """

    def __init__(self, nodes: NDArray[np.int64], label: Labels) -> None:
        order = np.argsort(label, kind="stable")
        _, self.begin, self.size = np.unique(label[order], return_index=True, return_counts=True)
        self.nodes, self.later = nodes[order], len(nodes) - self.begin - self.size
        self.same_until = np.cumsum(self.size * (self.size - 1) // 2)
        self.different_until = np.cumsum(self.size * self.later)
        self.num_same = int(self.same_until[-1]) if len(nodes) else 0
        self.num_different = num_pairs(len(nodes)) - self.num_same

    def same(self, ranks: NDArray[np.int64]) -> Pairs:
        """The pairs of one label with these numbers, ``[2, m]``."""
        which = np.searchsorted(self.same_until, ranks, side="right")
        inside = ranks - self.same_until[which] + self.size[which] * (self.size[which] - 1) // 2
        pairs: Pairs = self.nodes[self.begin[which] + decode(inside)]
        return pairs

    def different(self, ranks: NDArray[np.int64]) -> Pairs:
        """The pairs of two labels with these numbers, ``[2, m]``."""
        which = np.searchsorted(self.different_until, ranks, side="right")
        begin, size, later = self.begin[which], self.size[which], self.later[which]
        inside = ranks - self.different_until[which] + size * later
        pairs: Pairs = self.nodes[np.stack([begin + inside // later, begin + size + inside % later])]
        return pairs


def split_pairs(nodes: NDArray[np.int64], label: Labels, request: SplitRequest) -> list[Examples]:
    """All pairs of one label cut into parts, and as many negatives; see :func:`graphreach.tasks.split`.

    Training negatives are drawn among all pairs but the training positives, so some are positives of validation or test;
    with ``clean`` they, too, have two labels, and no pair is in two parts. Pairs that ``max_pairs`` leaves out are in no
    part, also not as a negative.
    """
    pairs = LabelPairs(nodes, label)
    _check_both(pairs)
    seed = request.seed
    size = min(pairs.num_same, request.max_pairs or pairs.num_same)
    ranks = draw_distinct(stream(seed, "subset"), pairs.num_same, size)
    positives = cut(ranks, request.fractions, "pairs of nodes with one label")
    wanted = np.array([len(each) for each in positives])
    if request.clean:
        negatives = _clean_negatives(pairs, wanted, seed)
    else:
        negatives = [_two_labels(pairs, count, seed, part) for part, count in enumerate(wanted)]
        negatives[0] = _published_negatives(pairs, len(positives[0]), np.concatenate(positives[1:]), seed)
    return [
        join_pairs(_turned(pairs.same(ranks), seed, part), _turned(negative, seed, part + 3))
        for part, (ranks, negative) in enumerate(zip(positives, negatives, strict=True))
    ]


def split_nodes_then_pairs(nodes: NDArray[np.int64], label: Labels, request: SplitRequest) -> list[Examples]:
    """Nodes cut into parts, then pairs within each part; a part without pairs of both kinds is empty."""
    order = stream(request.seed, "partition").permutation(len(nodes))
    out = []
    for part, chosen in enumerate(cut(order, request.fractions, "labelled nodes")):
        limit = None
        if request.max_pairs is not None:
            limit = max(1, int(request.max_pairs * request.fractions[part]))
        out.append(pairs_within(nodes[chosen], label[chosen], limit, request.seed, part))
    if not len(out[0]):
        raise InputError("y must give training nodes pairs of one label and pairs of two labels, got pairs of one kind")
    return out


def pairs_within(nodes: NDArray[np.int64], label: Labels, max_pairs: int | None, seed: int, part: int) -> Examples:
    """Pairs of one label among ``nodes`` and as many pairs of two, as far as there are; none if either kind lacks."""
    pairs = LabelPairs(nodes, label)
    if not pairs.num_same or not pairs.num_different:
        return empty_pairs()
    size = min(pairs.num_same, max_pairs or pairs.num_same)
    positives = pairs.same(draw_distinct(stream(seed, "subset", part), pairs.num_same, size))
    negatives = _two_labels(pairs, size, seed, part)
    return join_pairs(_turned(positives, seed, part), _turned(negatives, seed, part + 3))


def _two_labels(pairs: LabelPairs, count: int, seed: int, part: int) -> Pairs:
    count = min(int(count), pairs.num_different)
    return pairs.different(draw_distinct(stream(seed, "negatives", part), pairs.num_different, count))


def _published_negatives(pairs: LabelPairs, count: int, held_out: NDArray[np.int64], seed: int) -> Pairs:
    """Numbers from ``num_different`` on stand for the positives of validation and test."""
    population = pairs.num_different + len(held_out)
    ranks = draw_distinct(stream(seed, "negatives"), population, min(count, population))
    wrong = ranks >= pairs.num_different
    out = np.empty((2, len(ranks)), np.int64)
    out[:, ~wrong] = pairs.different(ranks[~wrong])
    out[:, wrong] = pairs.same(held_out[ranks[wrong] - pairs.num_different])
    return out


def _clean_negatives(pairs: LabelPairs, wanted: NDArray[np.int64], seed: int) -> list[Pairs]:
    """One draw for all parts, so that none shares a pair with another; with too few, each part gets its share."""
    size = min(int(wanted.sum()), pairs.num_different)
    ranks = draw_distinct(stream(seed, "negatives"), pairs.num_different, size)
    train, val, test = (wanted / wanted.sum()).tolist()
    return [pairs.different(each) for each in cut(ranks, (train, val, test), "pairs of nodes with two labels")]


def _turned(pairs: Pairs, seed: int, part: int) -> Pairs:
    return turn(stream(seed, "turn", part), pairs)


def _check_both(pairs: LabelPairs) -> None:
    if not pairs.num_same:
        raise InputError(f"y must give at least two nodes one label, got {len(pairs.nodes)} nodes of different labels")
    if not pairs.num_different:
        raise InputError(f"y must hold at least two labels, got one for all {len(pairs.nodes)} labelled nodes")
