"""Options that several verbs share, and how their text is read."""

from typing import Annotated

import typer

import graphreach as gr
from graphreach.progress import stage
from graphreach.walks.walk_length import resolve_walk_length

NumAnchors = Annotated[
    str,
    typer.Option(
        "--num-anchors", "-k", metavar="K|SHARE|log2", help="A number, a share such as 0.1, or log2: floor(log2 n)^2."
    ),
]
Strategy = Annotated[str, typer.Option("--strategy", metavar="NAME", help="greedy, random, degree or pagerank.")]
NumWalks = Annotated[int, typer.Option("--num-walks", min=1, metavar="N", help="Walks from each node, n_w.")]
WalkLength = Annotated[str, typer.Option("--walk-length", metavar="N|diameter", help="Jumps of a walk, l_w.")]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=2**63 - 1, metavar="N", help="Random seed for walks and for breaking ties.")
]


def number_or_name(text: str) -> int | float | str:
    """What the text of an option means: a whole number, a share, or a name that the library checks.

    Example:
        >>> number_or_name("64"), number_or_name("0.1"), number_or_name("log2")
        (64, 0.1, 'log2')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def resolve_length(graph: gr.Graph, text: str) -> int:
    """The jumps that ``--walk-length`` means on ``graph``; searched for once, as that may take seconds.

    Example:
        >>> resolve_length(gr.Graph.from_edges([[0, 1], [1, 2]]), "diameter")
        2
    """
    with stage("searching for the diameter"):
        return resolve_walk_length(graph, _whole_number(text))


def _whole_number(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text
