"""Where a node stands among the anchors."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from graphreach.arguments import check_whole
from graphreach.explain.likely_paths import Path
from graphreach.explain.pair_explanation import table
from graphreach.graph import Graph
from graphreach.graph.ids import plain_ids

FIGURES = (
    "is_anchor", "neighbours", "degree", "degree_rank", "component", "components", "meets_anchor", "reachable",
    "walk_length",
)  # fmt: skip


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
class NodeExplanation:
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

    graph: Graph
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
        """As JSON can hold it, with ids; of the anchors the first ``top``."""
        return {
            "node": plain_ids(self.graph.ids[[self.node]])[0],
            **{name: getattr(self, name) for name in FIGURES},
            "anchors": [self._anchor(each) for each in self.anchors[:top]],
        }

    def _anchor(self, each: NearAnchor) -> dict[str, Any]:
        path = each.path
        shown = None if path is None else {"nodes": plain_ids(self.graph.ids[list(path.nodes)]), "chance": path.chance}
        (name,) = plain_ids(self.graph.ids[[each.anchor]])
        return {"anchor": name, "to_anchor": each.to, "from_anchor": each.back, "path": shown}

    def text(self, top: int = 10) -> str:
        """A page to read."""
        check_whole("top", top, 0)
        return "\n".join([*self.sentences(), "", *self._table(top)])

    def sentences(self) -> list[str]:
        """The position in words."""
        (name,) = plain_ids(self.graph.ids[[self.node]])
        n, noun = self.graph.num_nodes, "neighbour" if self.neighbours == 1 else "neighbours"
        weight = f" of total weight {self.degree:g}" if self.graph.weighted else ""
        place = "is an anchor and has" if self.is_anchor else "has"
        whole = (
            "the graph is in one piece" if self.components == 1 else f"its component has {self.component} of {n} nodes"
        )
        return [
            f"{name} {place} {self.neighbours} {noun}{weight}, more than {self.degree_rank:.0%} of nodes; {whole}.",
            f"A walk of {self.walk_length} jumps from it meets an anchor with probability {self.meets_anchor:.3f}; "
            f"{self.reachable} of {len(self.anchors)} anchors are within reach.",
        ]

    def _table(self, top: int) -> list[str]:
        shown = [each for each in self.anchors[:top] if each.to > 0 or each.back > 0]
        if not shown:
            return ["No anchor can be reached, and none reaches it: the model knows the node by its features alone."]
        rows = [["anchor", "to it", "and back", "chance", "most travelled path"]]
        for each in shown:
            path = each.path
            steps = "" if path is None else " > ".join(map(str, plain_ids(self.graph.ids[list(path.nodes)])))
            (name,) = plain_ids(self.graph.ids[[each.anchor]])
            rows.append(
                [str(name), f"{each.to:.2e}", f"{each.back:.2e}", "" if path is None else f"{path.chance:.2e}", steps]
            )
        widest = max(len(row[-1]) for row in rows)
        return [line.rstrip() for line in table([[*row[:-1], row[-1].ljust(widest)] for row in rows])]

    def __repr__(self) -> str:
        return f"NodeExplanation({self.node}, {self.reachable} of {len(self.anchors)} anchors within reach)"
