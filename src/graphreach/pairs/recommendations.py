"""The best partners of nodes, as columns, and block by block so that all nodes of a large graph stream."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.pairs.candidates import PER_NODE, candidates, compares_positions
from graphreach.pairs.features import PairFeatures
from graphreach.progress import track

NODES = 1 << 10
"""Nodes whose candidates are scored at a time."""

DIGITS = 6
"""Significant digits of probabilities in files; where links are few, probabilities are small."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Recommendations:
    """Partners of nodes, one row for each: the rows of a node stand together, its best partner first.

    Attributes:
        node: Ids of the nodes that were asked about.
        partner: Ids of their partners; in a directed graph, targets of an edge from ``node``.
        probability: Probabilities of a link.
        rank: 1 for a node's best partner, 2 for the next.
        without: Ids of nodes that were asked about and have no candidates, so no rows: they have no edges, or an edge to
            every node that they reach and that they can be linked to.
        why: A phrase for each row that says what speaks for the link; None where none was asked for.

    Example:
        >>> import graphreach as gr
        >>> graph = gr.datasets.load("communities")[0].graph
        >>> found = gr.LinkPredictor().fit(graph).recommend([0, 1], top=3)
        >>> found
        Recommendations(6 rows of 2 nodes)
        >>> sorted(found.columns())
        ['node', 'partner', 'probability', 'rank']
    """

    node: NDArray[Any]
    partner: NDArray[Any]
    probability: Numbers
    rank: NDArray[np.int64]
    without: NDArray[Any]
    why: NDArray[Any] | None = None

    def columns(self) -> dict[str, NDArray[Any]]:
        """The rows as columns: ``node``, ``partner``, ``probability``, ``rank``, and ``why`` if it was asked for."""
        names = ("node", "partner", "probability", "rank", *(() if self.why is None else ("why",)))
        return {name: getattr(self, name) for name in names}

    def to_frame(self, kind: str = "polars") -> Any:
        """The rows as a data frame, with the columns of :meth:`columns`.

        Args:
            kind: ``"polars"`` or ``"pandas"``.

        Example:
            >>> import graphreach as gr
            >>> graph = gr.datasets.load("communities")[0].graph
            >>> gr.LinkPredictor.pretrained().recommend([0, 1], top=3, graph=graph).to_frame()["rank"].to_list()
            [1, 2, 3, 1, 2, 3]
        """
        from graphreach.graph.outgoing import make_frame

        return make_frame(self.columns(), kind)

    def __len__(self) -> int:
        return len(self.rank)

    def __repr__(self) -> str:
        count = len(set(self.node.tolist()))
        missing = f", {len(self.without)} without candidates" if len(self.without) else ""
        return f"{type(self).__name__}({len(self)} rows of {count} node{'' if count == 1 else 's'}{missing})"

    @classmethod
    def join(cls, graph: Graph, blocks: Iterable["Recommendations"]) -> "Recommendations":
        """Blocks of one graph, one below the other."""
        found = list(blocks)
        names = ("node", "partner", "probability", "rank", "without")
        joined = {name: np.concatenate([getattr(part, name) for part in (_nothing(graph), *found)]) for name in names}
        why = [part.why for part in found if part.why is not None]
        return cls(**joined, why=np.concatenate(why) if why else None)


def recommend(
    features: PairFeatures,
    logits: Callable[[NDArray[np.int64]], Numbers],
    chance: Callable[[Numbers], Numbers],
    nodes: NDArray[np.int64],
    top: int,
    per_node: int = PER_NODE,
) -> Iterator[Recommendations]:
    """Score the candidates of nodes and yield the best of each, some nodes at a time.

    Args:
        features: Describes pairs of a graph.
        logits: Scores pairs ``[2, m]``.
        chance: Turns scores into probabilities.
        nodes: Positions, each once.
        top: Maximum number of partners of a node.
        per_node: Maximum number of candidates of a node; raised to ``top`` if that is more.
    """
    nearest = compares_positions(features.graph, len(nodes))
    parts = [nodes[begin : begin + NODES] for begin in range(0, len(nodes), NODES)]
    for own in track(parts, len(parts), "recommending partners"):
        pairs = candidates(features, own, max(top, per_node), nearest)
        scores = logits(pairs)
        chosen, rank, without = _best(own, pairs, scores, top, features.graph.num_nodes)
        ids = features.graph.ids
        node, partner = ids[pairs[0, chosen]], ids[pairs[1, chosen]]
        yield Recommendations(node, partner, chance(scores[chosen]), rank, ids[without])


def best_new_links(
    features: PairFeatures,
    logits: Callable[[NDArray[np.int64]], Numbers],
    chance: Callable[[Numbers], Numbers],
    top: int,
    per_node: int = PER_NODE,
) -> Recommendations:
    """The best of the candidates of all nodes together, each pair once unless the graph is directed.

    Nodes are read in blocks, of which only the best pairs are kept. Of pairs with equal scores the one whose nodes come
    first in the graph is better, so the result does not depend on the blocks. In a graph with two kinds of nodes, ``node``
    is the one that is a source.

    Args:
        features: Describes pairs of a graph.
        logits: Scores pairs ``[2, m]``.
        chance: Turns scores into probabilities.
        top: Maximum number of pairs.
        per_node: Maximum number of candidates of a node.
    """
    graph, n = features.graph, features.graph.num_nodes
    nearest = compares_positions(graph, n)
    keys, scores, without = np.empty(0, np.int64), np.empty(0), []
    for begin in track(range(0, n, NODES), -(-n // NODES), "looking for new links"):
        own = np.arange(begin, min(n, begin + NODES))
        pairs = candidates(features, own, per_node, nearest)
        without.append(np.setdiff1d(own, pairs[0]))
        if not graph.directed:
            pairs.sort(axis=0)
        new = np.setdiff1d(pairs[0] * n + pairs[1], keys)
        scores = np.concatenate([scores, logits(np.stack(np.divmod(new, n)))])
        keys = np.concatenate([keys, new])
        keep = np.lexsort((keys, -scores))[:top]
        keys, scores = keys[keep], scores[keep]
    pairs, missing = np.stack(np.divmod(keys, max(1, n))), np.concatenate([np.empty(0, np.int64), *without])
    if graph.sides is not None and not graph.directed and not features.recipe.own_edge:
        turned = graph.sides[pairs[0]] > graph.sides[pairs[1]]
        pairs[:, turned] = pairs[::-1, turned]
    return Recommendations(
        graph.ids[pairs[0]], graph.ids[pairs[1]], chance(scores), np.arange(1, len(keys) + 1), graph.ids[missing]
    )


def _best(
    nodes: NDArray[np.int64], pairs: NDArray[np.int64], scores: Numbers, top: int, num_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Which pairs are the best of each node, their ranks, and the nodes that have none.

    Among pairs with equal scores the one whose partner comes first in the graph is better.
    """
    place = np.full(num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    order = np.lexsort((pairs[1], -scores, place[pairs[0]]))
    sizes = np.bincount(place[pairs[0]], minlength=len(nodes))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    return order[rank <= top], rank[rank <= top], nodes[sizes == 0]


def _nothing(graph: Graph) -> Recommendations:
    return Recommendations(graph.ids[:0], graph.ids[:0], np.empty(0), np.empty(0, np.int64), graph.ids[:0])


def recommendation_frame(found: Recommendations) -> Any:
    """Recommendations as a frame for files."""
    import polars as pl

    from graphreach.io.writers import ids_for_files

    columns = found.columns()
    ids = {name: pl.Series(ids_for_files(columns[name])) for name in ("node", "partner")}
    chance = pl.Series(columns["probability"]).round_sig_figs(DIGITS)
    return pl.DataFrame(columns | ids | {"probability": chance})
