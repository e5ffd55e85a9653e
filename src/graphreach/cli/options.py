"""Options that several verbs share, and how their text is read."""

from typing import Annotated, Any

import typer

import graphreach as gr
from graphreach.progress import stage
from graphreach.walks.walk_length import resolve_walk_length


def option(names: str, text: str, metavar: str | None = None, default: Any = True, **others: Any) -> Any:
    """An option of a verb.

    Args:
        names: Its names, with blanks between.
        text: What it is for.
        metavar: What its value is called.
        default: What the help says that it is without being given; True shows the value.
        others: Further arguments of ``typer.Option``.
    """
    return typer.Option(*names.split(), help=text, metavar=metavar, show_default=default, **others)


ANCHORS = "A number, a share such as 0.1, or log2: floor(log2 n)^2."
NumAnchors = Annotated[str, option("--num-anchors -k", ANCHORS, "K|SHARE|log2")]
Strategy = Annotated[str, option("--strategy", "greedy, random, degree or pagerank.", "NAME")]
NumWalks = Annotated[int, option("--num-walks", "Walks from each node, n_w.", "N", min=1)]
WalkLength = Annotated[str, option("--walk-length", "Jumps of a walk, l_w.", "N|diameter")]
SEED = "Random seed for walks and for breaking ties."
Seed = Annotated[int, option("--seed", SEED, "N", min=0, max=2**63 - 1)]


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
