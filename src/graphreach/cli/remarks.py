"""Remarks on stderr about pairs that are asked about."""

from typing import Any

import numpy as np

import graphreach as gr
from graphreach.cli.group import say
from graphreach.graph.ids import plain_ids


def say_one_kind(graph: gr.Graph, pairs: Any) -> None:
    """Say that some pairs ``[2, m]`` cannot be links, as the graph has two kinds of nodes and both of theirs are of one."""
    if graph.sides is None:
        return
    first, second = graph.sides[pairs]
    inside = np.flatnonzero((first == second) & (first >= 0))
    if not len(inside):
        return
    a, b = plain_ids(graph.ids[pairs[:, inside[0]]])
    count, total = len(inside), pairs.shape[1]
    are = "the pair is" if total == 1 else f"{count} of {total} pairs {'is' if count == 1 else 'are'}"
    say(
        f"{are} of two nodes of one kind, such as {a!r} and {b!r}, and all links of the graph are between its two kinds"
    )
