"""Validation and test sets that somebody else drew."""

import numpy as np

from graphreach.arguments import check_pairs
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks.examples import HELD_OUT, Examples, GivenPairs, SplitRequest, empty_pairs, join_pairs
from graphreach.tasks.leaks import LONG, LeakError, check_leaks
from graphreach.tasks.link_split import (
    TEST,
    TRAIN,
    VAL,
    Links,
    deal,
    draw_negatives,
    find_sides,
    keep_edges,
    linked_keys,
    positives_of,
)
from graphreach.tasks.pair_keys import Pairs, contains, encode, unique


def split_given_links(graph: Graph, given: GivenPairs, request: SplitRequest) -> tuple[Graph, list[Examples]]:
    """The graph without the given links, and the pairs of each part; see :func:`split_given`."""
    links = _links(graph, given, request)
    visible = keep_edges(graph, links.taken(TRAIN))
    positives: dict[int, Pairs] = {}
    for part in (TRAIN, VAL, TEST):
        own = None if part == TRAIN else given.pairs(part)
        if own is not None or (links.part == part).any():
            positives[part] = positives_of(links, part, request.seed) if own is None else own
    known = {part: own for part in HELD_OUT if (own := given.negatives(part)) is not None}
    _refuse_links(known, given, graph.directed)
    negatives = draw_negatives(links, visible, positives, request, known)
    parts = [empty_pairs() for _ in range(3)]
    for part, own in positives.items():
        parts[part] = join_pairs(own, negatives[part], None if part == TRAIN else given.candidates(part))
    for part, name in HELD_OUT.items():
        _check_candidates(parts[part], visible, name)
    return visible, parts


def _links(graph: Graph, given: GivenPairs, request: SplitRequest) -> Links:
    """The links of the graph and those given, each with its part."""
    own, n = linked_keys(graph), graph.num_nodes
    for name in ("test_pairs", "val_pairs", "test_negatives", "val_negatives"):
        if getattr(given, name) is not None:
            check_pairs(getattr(given, name), n, name)
    held = {part: unique(encode(pairs)) for part in HELD_OUT if (pairs := given.pairs(part)) is not None}
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
    links = np.concatenate([pairs for part in HELD_OUT if (pairs := given.pairs(part)) is not None], axis=1)
    for part, pairs in negatives.items():
        n = 1 + int(max(links.max(initial=0), pairs.max(initial=0)))
        if directed:
            wrong = np.isin(pairs[0] * n + pairs[1], links[0] * n + links[1])
        else:
            wrong = contains(unique(encode(links)), encode(pairs))
        if wrong.any():
            u, v = pairs[:, np.argmax(wrong)].tolist()
            raise LeakError(
                f"{np.count_nonzero(wrong)} of {len(wrong)} {LONG[HELD_OUT[part]]} negatives are validation or test "
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
