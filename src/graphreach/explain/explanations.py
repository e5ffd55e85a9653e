"""Why a pair has its score, and where a node stands among the anchors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphreach.arguments import check_whole
from graphreach.explain.likely_paths import Path
from graphreach.graph import Graph
from graphreach.graph.ids import plain_ids

WIDEST_ID = 24
"""Characters of an id in a table; longer ones are cut."""

FIGURES = (
    "is_anchor", "neighbours", "degree", "degree_rank", "component", "components", "meets_anchor", "reachable",
    "walk_length",
)  # fmt: skip
"""Attributes of a node's explanation that are plain numbers."""


class Term(NamedTuple):
    """A part of a score that no anchor carries."""

    name: str
    contribution: float


class AnchorTerm(NamedTuple):
    """What one anchor adds to a score.

    Attributes:
        anchor: Position.
        contribution: The product of both ends' coordinates, times the decoder's scale.
        to: s(v, a) of both ends: how reachable the anchor is from them.
        back: s(a, v) of both ends: how reachable they are from the anchor.
        paths: The likeliest path from each end to the anchor, or None; for the first anchors only.
    """

    anchor: int
    contribution: float
    to: tuple[float, float]
    back: tuple[float, float]
    paths: tuple[Path | None, Path | None] = (None, None)


class NearAnchor(NamedTuple):
    """An anchor as a node sees it.

    Attributes:
        anchor: Position.
        to: s(v, a): how reachable it is from the node.
        back: s(a, v): how reachable the node is from it.
        path: The likeliest path to it, or None; for the first anchors only.
    """

    anchor: int
    to: float
    back: float
    path: Path | None = None


@dataclass(frozen=True, eq=False, repr=False)
class _Explanation:
    graph: Graph

    def _ids(self, *nodes: int) -> list[Any]:
        return plain_ids(self.graph.ids[list(nodes)])

    def _names(self, *nodes: int) -> list[str]:
        texts = [str(each) for each in self._ids(*nodes)]
        return [text if len(text) <= WIDEST_ID else text[: WIDEST_ID - 3] + "..." for text in texts]

    def _path(self, path: Path | None) -> dict[str, Any] | None:
        return None if path is None else {"nodes": self._ids(*path.nodes), "chance": path.chance}


@dataclass(frozen=True, eq=False, repr=False)
class PairExplanation(_Explanation):
    """A pair's score as a sum.

    Attributes:
        graph: The graph.
        pair: Positions of both ends.
        task: ``"link"`` or ``"pair"``.
        linked: Whether the graph has an edge between them.
        score: The logit: the sum of all contributions.
        probability: Its sigmoid, which graphreach predict calls the score.
        anchors: All anchors, the greatest contribution (in absolute value) first.
        terms: What is not of anchors: the neighbourhood branch, the pair's own reachability, the bias.
        walk_length: Jumps within which reachability is counted.
        calibrated: Whether ``probability`` is one for some base rate; that of method ``graphreach`` is not.
    """

    pair: tuple[int, int]
    task: str
    linked: bool
    score: float
    probability: float
    anchors: tuple[AnchorTerm, ...]
    terms: tuple[Term, ...]
    walk_length: int
    calibrated: bool = False

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """The explanation with ids, ready for JSON: the first ``top`` anchors, and the sum of the others."""
        return {
            "pair": self._ids(*self.pair),
            **{name: getattr(self, name) for name in ("task", "linked", "score", "probability", "walk_length")},
            "terms": {term.name: term.contribution for term in self.terms},
            "anchors": [
                {
                    "anchor": self._ids(each.anchor)[0],
                    "contribution": each.contribution,
                    "to_anchor": list(each.to),
                    "from_anchor": list(each.back),
                    "paths": [self._path(path) for path in each.paths],
                }
                for each in self.anchors[:top]
            ],
            "other_anchors": {"count": len(self.anchors[top or len(self.anchors) :]), "contribution": self.rest(top)},
        }

    def rest(self, top: int | None) -> float:
        """What the anchors after the first ``top`` add together."""
        return 0.0 if top is None else sum(each.contribution for each in self.anchors[top:])

    def text(self, top: int = 10) -> str:
        """A page to read: the sum, a table of anchors, and paths."""
        check_whole("top", top, 0)
        names = [str(each) for each in self._ids(*self.pair)]
        what = "a link" if self.task == "link" else "one class"
        known = ", and the graph has this link" if self.linked and self.task == "link" else ""
        return "\n".join([
            f"{names[0]} - {names[1]}: {what} with score {self.probability:.4f}, no probability "
            f"(logit {self.score:+.4f}){known}",
            "",
            "the logit is the sum of",
            *self._sum(top),
            "",
            f"anchors, and reachability in {self.walk_length} jumps",
            *self._table(top),
            *self._paths(top),
        ])  # fmt: skip

    def _sum(self, top: int) -> list[str]:
        shown = sum(each.contribution for each in self.anchors[:top])
        rows = [(f"{min(top, len(self.anchors))} anchors below", shown)]
        if len(self.anchors) > top:
            rows.append((f"{len(self.anchors) - top} other anchors", self.rest(top)))
        return [f"  {value:+9.4f}  {name}" for name, value in (*rows, *self.terms)]

    def _table(self, top: int) -> list[str]:
        a, b = self._names(*self.pair)
        rows = [["anchor", "adds", f"{a} to it", "and back", f"{b} to it", "and back"]]
        for each in self.anchors[:top]:
            shares = (each.to[0], each.back[0], each.to[1], each.back[1])
            rows.append([*self._names(each.anchor), f"{each.contribution:+.4f}", *(f"{share:.2e}" for share in shares)])
        return _align(rows)

    def _paths(self, top: int) -> list[str]:
        found = [path for each in self.anchors[:top] for path in each.paths if path is not None and len(path.nodes) > 1]
        if not found:
            return []
        rows = [f"  {path.chance:.2e}  " + " > ".join(self._names(*path.nodes)) for path in found]
        return ["", "most travelled paths to them, and the chance of a walk to follow each", *dict.fromkeys(rows)]

    def __repr__(self) -> str:
        return f"PairExplanation({self.pair[0]}, {self.pair[1]}, score={self.score:.4f}, {len(self.anchors)} anchors)"


@dataclass(frozen=True, eq=False, repr=False)
class NodeExplanation(_Explanation):
    """A node's position in numbers.

    Attributes:
        graph: The graph.
        node: Position.
        is_anchor: Whether it is an anchor itself.
        neighbours: Nodes that it has an edge to.
        degree: Weight of these edges.
        degree_rank: Share of nodes whose degree is lower.
        component: Nodes of its component, whatever the direction of edges.
        components: Components of the graph.
        meets_anchor: Chance of a walk of ``walk_length`` jumps to meet an anchor (other than the node itself).
        reachable: Anchors that reachability from the node is above zero to.
        anchors: All anchors, the most reachable first.
        walk_length: Jumps within which reachability is counted.
    """

    node: int
    is_anchor: bool
    neighbours: int
    degree: float
    degree_rank: float
    component: int
    components: int
    meets_anchor: float
    reachable: int
    anchors: tuple[NearAnchor, ...]
    walk_length: int

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """The explanation with ids, ready for JSON, with the first ``top`` anchors."""
        return {
            "node": self._ids(self.node)[0],
            **{name: getattr(self, name) for name in FIGURES},
            "anchors": [
                {
                    "anchor": self._ids(each.anchor)[0],
                    "to_anchor": each.to,
                    "from_anchor": each.back,
                    "path": self._path(each.path),
                }
                for each in self.anchors[:top]
            ],
        }

    def text(self, top: int = 10) -> str:
        """A page to read."""
        check_whole("top", top, 0)
        return "\n".join([*self.sentences(), "", *self._table(top)])

    def sentences(self) -> list[str]:
        """The position in words."""
        (name,) = self._ids(self.node)
        n, noun = self.graph.num_nodes, "neighbour" if self.neighbours == 1 else "neighbours"
        weight = f" of total weight {self.degree:g}" if self.graph.weighted else ""
        place = "is an anchor and has" if self.is_anchor else "has"
        component = f"its component has {self.component} of {n} nodes"
        whole = "the graph is in one piece" if self.components == 1 else component
        return [
            f"{name} {place} {self.neighbours} {noun}{weight}, more than {self.degree_rank:.0%} of nodes; {whole}.",
            f"A walk of {self.walk_length} jumps from it meets an anchor with probability {self.meets_anchor:.3f}; "
            f"{self.reachable} of {len(self.anchors)} anchors are within reach.",
        ]

    def _table(self, top: int) -> list[str]:
        rows = [["anchor", "to it", "and back", "chance", "most travelled path"]]
        for each in self.anchors[:top]:
            if each.to > 0 or each.back > 0:
                path = each.path
                chance = "" if path is None else f"{path.chance:.2e}"
                steps = "" if path is None else " > ".join(map(str, self._ids(*path.nodes)))
                rows.append([str(self._ids(each.anchor)[0]), f"{each.to:.2e}", f"{each.back:.2e}", chance, steps])
        if len(rows) == 1:
            return ["No anchor can be reached, and none reaches it: the model knows the node by its features alone."]
        widest = max(len(row[-1]) for row in rows)
        return [line.rstrip() for line in _align([[*row[:-1], row[-1].ljust(widest)] for row in rows])]

    def __repr__(self) -> str:
        return f"NodeExplanation({self.node}, {self.reachable} of {len(self.anchors)} anchors within reach)"


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width; the first flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = "<" + ">" * len(widths)
    return [
        "  " + "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=False))
        for row in rows
    ]
