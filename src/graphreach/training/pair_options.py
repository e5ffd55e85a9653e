"""Options of learning pairs from reachability, checked once for the estimator and for the harness."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from graphreach.arguments import check_choice, check_whole, describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.pairs.recipe import NUM_ANCHORS, PairRecipe

LINKS = 50_000
"""Maximum number of links to learn from: more did not help, and one pass describes these."""

WIDEST = 4096
"""Maximum number of hidden units of a perceptron: the number of weights grows with its square."""

FEWEST_LINKS = 4
"""Minimum number of links to learn from."""

DRAWN, MOST_TIMES = 100_000, 5
"""Maximum number of negative pairs per link that are drawn with attributes; each training step takes some of them."""


def num_others(num_links: int, attributes: bool) -> int:
    """How many negative pairs are learned from: as many as links, or a few times as many with attributes.

    Example:
        >>> num_others(1000, attributes=False), num_others(1000, attributes=True), num_others(50_000, attributes=True)
        (1000, 5000, 100000)
    """
    return num_links * min(max(1, DRAWN // num_links), MOST_TIMES) if attributes else num_links


@dataclass(frozen=True)
class PairOptions:
    """How pairs are described and learned from.

    Attributes:
        steps: Largest number of jumps between the two nodes, or ``"auto"``.
        lengths: Jumps of the walks to anchors, or ``"auto"``.
        num_anchors: Number of anchors, at most the number of nodes, or ``"auto"``.
        method: ``"exact"``, ``"walks"`` or ``"auto"``.
        num_links: Maximum number of links, or of pairs of the relation, to learn from, and of other pairs.
        hidden_channels: Width of the perceptrons.
        num_members: Number of perceptrons.

    Example:
        >>> PairOptions(steps=1)
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: steps must be an integer from 2 to 64, got 1
    """

    steps: int | str = "auto"
    lengths: Sequence[int] | str = "auto"
    num_anchors: int | str = "auto"
    method: str = "auto"
    num_links: int = LINKS
    hidden_channels: int = 64
    num_members: int = 3

    def __post_init__(self) -> None:
        check_choice("method", self.method, ("auto", "exact", "walks"))
        if not isinstance(self.steps, str) or self.steps != "auto":
            check_whole("steps", self.steps, 2, 64)
        if not isinstance(self.lengths, str) or self.lengths != "auto":
            if not isinstance(self.lengths, tuple | list) or not self.lengths:
                raise InputError(f'lengths must be numbers of jumps or "auto", got {describe(self.lengths)}')
            for length in self.lengths:
                check_whole("lengths", length, 1, 1000)
        if not isinstance(self.num_anchors, str) or self.num_anchors != "auto":
            check_whole("num_anchors", self.num_anchors, 1)
        check_whole("num_links", self.num_links, FEWEST_LINKS)
        check_whole("hidden_channels", self.hidden_channels, 1, WIDEST)
        check_whole("num_members", self.num_members, 1, 100)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of all options."""
        return tuple(field.name for field in fields(cls))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, to be written."""
        own = {name: getattr(self, name) for name in self.names()}
        return own | {"lengths": self.lengths if isinstance(self.lengths, str) else list(self.lengths)}

    def recipe(self, graph: Graph, num_pairs: int, links: bool, num_nodes: int | None = None) -> PairRecipe:
        """The columns that suit a graph.

        Args:
            graph: The graph; if there are several, the one with the most pairs.
            num_pairs: How many pairs are learned from.
            links: Whether links are learned, or another relation, which may read the pair's own edge.
            num_nodes: The largest number of nodes of a graph, if there are several.
        """
        most = graph.num_nodes if num_nodes is None else num_nodes
        given: dict[str, Any] = {"own_edge": not links}
        if not isinstance(self.num_anchors, str):
            given["num_anchors"] = min(self.num_anchors, most)
        elif most > graph.num_nodes:
            given["num_anchors"] = min(NUM_ANCHORS, most)
        given |= {name: getattr(self, name) for name in ("steps", "lengths", "method") if getattr(self, name) != "auto"}
        return PairRecipe.for_graph(graph, num_pairs, **given)
