"""The demo: communities in a ring, their anchors, and one node's reachability."""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphreach as gr
from graphreach import plot

NUM_ANCHORS, NUM_WALKS, WALK_LENGTH = 12, 50, 3
"""One anchor a community, and short walks: long ones meet an anchor whichever nodes are chosen."""

STRATEGIES = ("greedy", "pagerank", "degree", "random")


class Report(NamedTuple):
    """What the demo found, and where its files are."""

    text: str
    picture: Path
    numbers: Path


def ring_of_communities(num_communities: int = 12, size: int = 24, seed: int = 0) -> gr.Graph:
    """Communities of different sizes, sparse inside, each tied to the next by two edges.

    Example:
        >>> graph = ring_of_communities(5, 10)
        >>> graph.num_nodes, gr.diameter(graph).lower > 5
        (50, True)
    """
    rng = np.random.default_rng(seed)
    sizes = rng.multinomial(num_communities * (size - size // 2), np.full(num_communities, 1 / num_communities))
    sizes += size // 2
    first = np.concatenate([[0], np.cumsum(sizes)])
    edges = []
    for community in range(num_communities):
        members = np.arange(first[community], first[community + 1])
        edges += list(zip(members[1:], _earlier(members, rng), strict=True))
        edges += list(rng.choice(members, (int(1.5 * len(members)), 2)))
        following = (community + 1) % num_communities
        others = np.arange(first[following], first[following + 1])
        edges += list(zip(rng.choice(members, 2), rng.choice(others, 2), strict=True))
    return gr.Graph.from_edges(np.array(edges).T, num_nodes=int(first[-1]))


def _earlier(members: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """One earlier member for each but the first, which makes a tree: the community hangs together."""
    choice = (rng.random(len(members) - 1) * np.arange(1, len(members))).astype(int)
    earlier: NDArray[np.int64] = members[choice]
    return earlier


def run_demo(folder: Path, seed: int = 0) -> Report:
    """Compare ways to choose anchors, and save ``anchors.png`` and the numbers behind it in ``folder``."""
    plot.require_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    graph = ring_of_communities(seed=seed)
    chosen = [
        gr.select_anchors(graph, NUM_ANCHORS, name, num_walks=NUM_WALKS, walk_length=WALK_LENGTH, seed=seed)
        for name in STRATEGIES
    ]
    node = int(chosen[0].anchors[0])
    pairs = np.stack([np.full(graph.num_nodes, node), np.arange(graph.num_nodes)], axis=1)
    reached = gr.pair_reachability(graph, pairs, walk_length="diameter")[:, 0]
    positions = plot.stress_layout(graph)
    picture, numbers = folder / "anchors.png", folder / "anchors.csv"
    _draw(picture, graph, chosen[0], node, reached, positions)
    _save_numbers(numbers, graph, chosen[0], reached, positions)
    return Report(_table(graph, chosen), picture, numbers)


def _draw(
    path: Path,
    graph: gr.Graph,
    anchors: gr.AnchorSet,
    node: int,
    reached: NDArray[np.float32],
    positions: NDArray[np.float64],
) -> None:
    figure, (left, right) = plot.new_figure(2)
    plot.plot_anchors(graph, anchors, positions=positions, ax=left)
    left.set_title(f"{len(anchors)} anchors, reached from {anchors.coverage:.1%} of {graph.num_nodes} nodes")
    plot.plot_reachability(graph, node, reached, positions=positions, ax=right)
    right.set_title("How reachable each node is from the circled one")
    for ax in (left, right):
        ax.legend(loc="center", frameon=False)
    figure.savefig(path, dpi=90)


def _save_numbers(
    path: Path,
    graph: gr.Graph,
    anchors: gr.AnchorSet,
    reached: NDArray[np.float32],
    positions: NDArray[np.float64],
) -> None:
    is_anchor = np.isin(np.arange(graph.num_nodes), anchors.anchors).astype(int)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["node", "x", "y", "anchor", "reachability"])
        for row in zip(graph.ids, *positions.T.round(4), is_anchor, reached, strict=True):
            writer.writerow(row)


def _table(graph: gr.Graph, chosen: list[gr.AnchorSet]) -> str:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    table.add_column(f"{NUM_ANCHORS} anchors chosen by")
    table.add_column("nodes covered", justify="right")
    for anchors in chosen:
        table.add_row(anchors.strategy, f"{anchors.coverage:.1%}")
    console = Console(width=72)
    with console.capture() as capture:
        console.print(table)
    # Only the greedy bounds the optimum; for the others the library knows no better than the trivial bound.
    return (
        f"{graph.num_nodes} nodes, {graph.num_edges} edges. A node is covered if one of its {NUM_WALKS} walks of "
        f"{WALK_LENGTH} jumps meets an anchor.\n{capture.get().rstrip()}\n"
        f"Upper bound for any {NUM_ANCHORS} anchors: {chosen[0].upper_bound:.1%}."
    )
