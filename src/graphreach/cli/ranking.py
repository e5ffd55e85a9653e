"""Links that are ranked among the candidates of a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphreach as gr
from graphreach.cli.group import say
from graphreach.graph.ids import plain_ids
from graphreach.io.candidate_tables import ARRAYS, Ranked, read_candidate_array, read_candidates
from graphreach.pairs.direct import edge_weights


def read_ranked(path: Path, links: Path | None, graph: gr.Graph) -> Ranked:
    """The links and candidates of a table, or those of an array with its table of links."""
    array = path.suffix.lower() in ARRAYS
    if array and links is None:
        raise gr.InputError(f"--pairs must be given with --candidates {path.name}, the table of its links, got none")
    if not array and links is not None:
        raise gr.InputError(
            f"--pairs must go with --candidates of a .npz file, as {path.name} holds the links, got both"
        )
    ranked = read_candidates(path, graph, say) if links is None else read_candidate_array(path, links, graph, say)
    same = np.flatnonzero(ranked.pairs[0, ranked.links] == ranked.pairs[1, ranked.links])
    if len(same):
        node = plain_ids(graph.ids[ranked.pairs[0, ranked.links[same[:1]]]])[0]
        raise gr.InputError(
            f"{'--pairs' if array else '--candidates'} must hold links of two different nodes, got {node!r} twice"
        )
    return ranked


def say_known(graph: gr.Graph, ranked: Ranked) -> None:
    """Warn if links are edges of the graph: each would see the other links while it is scored."""
    listed = ranked.pairs[:, ranked.links]
    known = int(np.count_nonzero(edge_weights(graph, listed) > 0))
    if known:
        say(
            f"{known} of {listed.shape[1]} links are edges of the graph, which helps to find the others; "
            "--graph gives the graph without them"
        )


def score_ranked(ranked: Ranked, score: Callable[[NDArray[np.int64]], Any]) -> NDArray[np.float64]:
    """Scores of all pairs, each scored once; a node is never a candidate of itself, so such pairs come last."""
    different = ranked.pairs[0] != ranked.pairs[1]
    found = np.full(ranked.pairs.shape[1], -np.inf)
    found[different] = score(ranked.pairs[:, different])
    return found
