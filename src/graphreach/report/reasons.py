"""Why a pair is listed, in one line."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.explain import PairExplanation
from graphreach.explain.links import PlacedPair
from graphreach.graph import Graph
from graphreach.graph.ids import plain_ids
from graphreach.pairs.direct import edge_weights

NAMED, LONGEST = 3, 24
"""Nodes that a reason names, and the characters of an id that it shows."""


def between(graph: Graph, a: int, b: int) -> NDArray[np.int64]:
    """Nodes that an edge leads to from the first node and from there one to the second, those with fewest edges first.

    Example:
        >>> between(Graph.from_edges([[0, 1, 0, 3], [1, 2, 3, 2]]), 0, 2).tolist()
        [1, 3]
    """
    into = graph.transpose() if graph.directed else graph
    first, second = (links.indices[links.indptr[u] : links.indptr[u + 1]] for links, u in ((graph, a), (into, b)))
    both = np.setdiff1d(np.intersect1d(first, second).astype(np.int64), [a, b])
    degree = np.diff(graph.indptr.astype(np.int64))
    return both[np.argsort(degree[both], kind="stable")]


def why_near(graph: Graph, a: int, b: int, paths: Sequence[Any] = ()) -> str:
    """What lies between two nodes: an edge, neighbours in common, else the likeliest path.

    Args:
        graph: The graph.
        a: The first node.
        b: The second node.
        paths: Paths between them, the likeliest first.
    """
    linked = edge_weights(graph, np.array([[a], [b]]))[0] > 0  # pairs of one class may be
    near = _between_in_words(graph, between(graph, a, b), () if linked else paths)
    return f"linked, with {near}" if linked else near


def _between_in_words(graph: Graph, both: NDArray[np.int64], paths: Sequence[Any]) -> str:
    if len(both):
        noun = "between them" if graph.directed else "in common"
        count = f"{len(both):,} {'neighbour' if len(both) == 1 else 'neighbours'} {noun}"
        more = f" and {len(both) - NAMED:,} more" if len(both) > NAMED else ""
        return f"{count}: {', '.join(_names(graph, both[:NAMED]))}{more}"
    steps = [path.nodes for path in paths if len(path.nodes) > 2]
    if steps:
        return f"no neighbour in common, but a path by {' > '.join(_names(graph, np.array(steps[0][1:-1])))}"
    return "no neighbour in common"


def why_linked(graph: Graph, item: PlacedPair) -> str:
    """Why a run of method ``reach`` lists a pair: what lies between both nodes, and the group that adds most."""
    found = item.explanation
    parts = [why_near(graph, *item.nodes, item.paths)]
    best = max(found.groups, key=lambda name: found.groups[name])
    words = {
        "direct": item.words["direct"],
        "position": f"both are near to anchor {_short(found.anchors[0].anchor)}" if found.anchors else "",
        "degree": f"their degrees are {item.words['degree']}",
        "attributes": item.words["attributes"],
    }
    if words.get(best) and found.groups[best] > 0:
        parts.append(words[best])
    return "; ".join(parts)


def why_scored(graph: Graph, item: PairExplanation) -> str:
    """Why a run of method ``graphreach`` lists a pair: what lies between both nodes, and the part that adds most."""
    parts = [why_near(graph, *item.pair)]
    anchors = [(f"anchor {_names(graph, np.array([each.anchor]))[0]}", each.contribution) for each in item.anchors]
    others = [(each.name, each.contribution) for each in item.terms if each.name != "bias"]
    name, adds = max(anchors + others, key=lambda each: each[1], default=("", 0.0))
    if adds > 0:
        parts.append(f"{name} adds most to the score, {adds:+.2f}")
    return "; ".join(parts)


def _names(graph: Graph, nodes: NDArray[np.int64]) -> list[str]:
    return [_short(each) for each in plain_ids(graph.ids[nodes])]


def _short(name: Any) -> str:
    text = str(name)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
