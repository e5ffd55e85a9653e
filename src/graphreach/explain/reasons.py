"""Why pairs score high, in one phrase each: what :mod:`graphreach.explain.links` knows, without the sums."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphreach.explain.likely_paths import separate_paths
from graphreach.explain.links import first_lift, link_shares, near_anchors, times_text
from graphreach.graph import Graph
from graphreach.graph.ids import plain_ids
from graphreach.pairs.direct import edge_weights
from graphreach.pairs.features import PairFacts
from graphreach.progress import track
from graphreach.threads import one_blas_thread
from graphreach.training.pair_scorer import KnownGraph, PairScorer

NAMED = 3
"""Maximum number of nodes that a phrase names."""

PAIRS = 1 << 10
"""Pairs whose phrases are found at a time."""


def link_reasons(known: KnownGraph, scorer: PairScorer, pairs: NDArray[np.int64]) -> NDArray[np.str_]:
    """What speaks most for each of the pairs, as a phrase.

    If both nodes have neighbours in common, these are named, unless attributes add most to the score. Otherwise the
    phrase is about the group of features that adds most, among those that say something. This may be the most likely path,
    and how much more often than by chance walks take such ways; the anchors near both nodes; attributes; or degrees.

    Args:
        known: What describes pairs of the graph.
        scorer: What scores them.
        pairs: Positions of different nodes, ``[2, m]``; links of the graph are left out of it as they are for the score.

    Example:
        >>> import graphreach as gr
        >>> graph = gr.Graph.from_edge_list([("ann", "bob"), ("bob", "cid"), ("ann", "dan"), ("dan", "cid")])
        >>> from graphreach.link_predictor import PRETRAINED
        >>> scorer, _ = PairScorer.load(PRETRAINED)
        >>> link_reasons(scorer.on(graph), scorer, graph.index_of(["ann", "cid"])[:, None]).tolist()
        ['2 neighbours in common: bob, dan']
    """
    found: list[str] = []
    parts = [pairs[:, begin : begin + PAIRS] for begin in range(0, pairs.shape[1], PAIRS)]
    for part in track(parts, len(parts), "finding reasons"):
        rows, facts = known.facts(part)
        with one_blas_thread():
            found += [
                next(_phrases(known, scorer, pair, row, facts.of(place)))
                for place, (pair, row) in enumerate(zip(part.T, rows, strict=True))
            ]
    return np.array(found, np.str_)


def _phrases(
    known: KnownGraph, scorer: PairScorer, pair: NDArray[np.int64], row: NDArray[np.float32], facts: PairFacts
) -> Iterator[str]:
    """All phrases that are true of a pair, the best one first."""
    columns, middle = dict(zip(scorer.names, row.tolist(), strict=True)), _between(known.graph, pair)
    linked = "a link already; " if edge_weights(known.graph, pair[:, None])[0] > 0 else ""
    if len(middle) and known.attributes is None:
        yield linked + _common(known.graph, middle)
    groups = link_shares(scorer, row).groups
    phrases = {"direct": _walks, "position": _position, "attributes": _alike, "degree": _degrees}
    for name in sorted(phrases, key=lambda each: -groups.get(each, 0.0)):
        if name != "attributes" and len(middle):
            yield linked + _common(known.graph, middle)
        phrase = phrases[name](known, pair, columns, facts)
        if phrase:
            yield linked + phrase


def _between(graph: Graph, pair: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes that are one edge away from both, along the edges if they have directions; of least degree first."""
    back = graph.transpose() if graph.directed else graph
    first, second = pair.tolist()
    out = graph.indices[graph.indptr[first] : graph.indptr[first + 1]]
    found = np.setdiff1d(np.intersect1d(out, back.indices[back.indptr[second] : back.indptr[second + 1]]), pair)
    return found[np.argsort(graph.degree[found], kind="stable")].astype(np.int64)


def _common(graph: Graph, nodes: NDArray[np.int64]) -> str:
    named, more = _listed(graph, nodes[:NAMED]), len(nodes) - NAMED
    if graph.directed:
        many = "1 path of 2 edges leads" if len(nodes) == 1 else f"{len(nodes)} paths of 2 edges lead"
        text = f"{many} there: by {named}"
    else:
        text = f"{len(nodes)} neighbour{'' if len(nodes) == 1 else 's'} in common: {named}"
    return text + (f" and {more} more" if more > 0 else "")


def _walks(known: KnownGraph, pair: NDArray[np.int64], columns: dict[str, float], facts: PairFacts) -> str:
    found = first_lift(known.features.recipe, columns)
    if found is None:
        return ""
    only = "only " if found[1] < 1 else ""
    text = f"walks lead there {only}{times_text(found[1])} times as often as by chance"
    paths = separate_paths(known.graph, int(pair[0]), int(pair[1]), known.features.recipe.steps, 1)
    return text + "".join(f", most often by {_listed(known.graph, np.array(path.nodes), ' > ')}" for path in paths)


def _position(known: KnownGraph, pair: NDArray[np.int64], columns: dict[str, float], facts: PairFacts) -> str:
    places, _ = near_anchors(known.features, facts, NAMED)
    if not places:
        return ""
    names = _listed(known.graph, np.array(places))
    if known.graph.directed:
        return f"walks lead there by the anchors {names}"
    return f"both are near the anchor{'' if len(places) == 1 else 's'} {names}"


def _degrees(known: KnownGraph, pair: NDArray[np.int64], columns: dict[str, float], facts: PairFacts) -> str:
    first, second = facts.degree
    return f"degrees of {first:g} and {second:g}, {facts.mean_degree:.3g} on average"


def _alike(known: KnownGraph, pair: NDArray[np.int64], columns: dict[str, float], facts: PairFacts) -> str:
    cosines = [value for name, value in columns.items() if name.startswith("attributes.cosine_")]
    return f"features are alike, with a cosine of {cosines[0]:.2f}" if cosines and cosines[0] > 0 else ""


def _listed(graph: Graph, nodes: NDArray[np.int64], between: str = ", ") -> str:
    return between.join(map(str, plain_ids(graph.ids[nodes])))
