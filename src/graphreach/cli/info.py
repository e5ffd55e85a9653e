"""``graphreach info``: what a graph is like, and which parameters suit it."""

import json
from typing import Any

import numpy as np
import typer

import graphreach as gr
from graphreach.anchors.select_anchors import resolve_num_anchors
from graphreach.cli.data import GraphFile, with_graph
from graphreach.cli.options import Json
from graphreach.graph.reading import Reading
from graphreach.progress import stage
from graphreach.walks.defaults import NUM_WALKS
from graphreach.walks.touched import touched_shares
from graphreach.walks.walk_length import MAX_WALK_LENGTH

UPDATE_LENGTH = 10
"""Jumps of the walks whose update is estimated."""


@with_graph
def info(file: GraphFile, json_: Json = False) -> None:
    """Print size, components and diameter of a graph, the parameters that suit it, and what an update of an edge costs."""
    # Loops change neither components nor diameter, and what was dropped could not be counted.
    graph = file.read(self_loops=True)
    with stage("searching for the diameter"):
        facts = _describe(graph, file.self_loops)
    typer.echo(json.dumps(facts, indent=2) if json_ else _table(facts))


def _describe(graph: gr.Graph, keeps_self_loops: bool) -> dict[str, Any]:
    from scipy.sparse.csgraph import connected_components

    matrix = graph.to_scipy()
    loops = int(np.count_nonzero(matrix.diagonal()))
    number, label = connected_components(matrix, directed=graph.directed, connection="weak")
    sizes = np.bincount(label)
    hops = gr.diameter(graph)
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges - (0 if keeps_self_loops else loops),
        "directed": graph.directed,
        "reading": None if graph.reading is None else graph.reading.as_dict(),
        "weights": _weight_range(graph, keeps_self_loops),
        "self_loops": loops,
        "self_loops_kept": keeps_self_loops,
        "isolated": int(np.count_nonzero(sizes == 1)),
        "components": {"number": int(number), "largest": int(sizes.max())},
        "diameter": {"lower": hops.lower, "upper": hops.upper},
        "suggested": {
            "num_anchors": resolve_num_anchors("log2", graph.num_nodes),
            "walk_length": min(max(1, hops.lower), MAX_WALK_LENGTH),
            "num_walks": NUM_WALKS,
            "num_walks_by_theorem": gr.recommended_num_walks(graph.num_nodes),
        },
        "update": _update_cost(graph),
    }


def _update_cost(graph: gr.Graph) -> dict[str, Any]:
    """How many walks an edge that is added or removed concerns."""
    shares = touched_shares(graph, UPDATE_LENGTH)
    walks = NUM_WALKS * graph.num_nodes
    return {
        "num_walks": NUM_WALKS,
        "walk_length": UPDATE_LENGTH,
        "random_pair": {"share": shares.random_pairs, "walks": round(walks * shares.random_pairs)},
        "ends_of_edges": {"share": shares.at_edges, "walks": round(walks * shares.at_edges)},
    }


def _weight_range(graph: gr.Graph, keeps_self_loops: bool) -> dict[str, float] | None:
    if graph.weights is None:
        return None
    source, target = graph.edge_index
    weights = graph.weights if keeps_self_loops else graph.weights[source != target]
    return {"min": float(weights.min()), "max": float(weights.max())} if len(weights) else None


def _table(facts: dict[str, Any]) -> str:
    weights, hops, suggested = facts["weights"], facts["diameter"], facts["suggested"]
    lower, upper = hops["lower"], hops["upper"]
    loops = f"{facts['self_loops']:,}"
    if facts["self_loops"]:
        loops += ", kept" if facts["self_loops_kept"] else ", dropped (keep them by --self-loops)"
    cut = f", cut at {MAX_WALK_LENGTH}" if lower > MAX_WALK_LENGTH else ""
    rows = _reading_rows(facts["reading"]) | {
        "nodes": f"{facts['nodes']:,}",
        "edges": f"{facts['edges']:,}, {'directed' if facts['directed'] else 'undirected'}",
        "weights": f"{weights['min']:g} to {weights['max']:g}" if weights else "none",
        "self-loops": loops,
        "isolated nodes": f"{facts['isolated']:,}",
        "weak components" if facts["directed"] else "components": (
            f"{facts['components']['number']:,}, the largest of {facts['components']['largest']:,} nodes"
        ),
        "diameter": f"{lower:,} hops" if lower == upper else f"between {lower:,} and {upper:,} hops",
        "suggested k": f"{suggested['num_anchors']:,} anchors (floor(log2 n)^2)",
        "suggested l_w": f"{suggested['walk_length']} jumps (the diameter{cut})",
        "suggested n_w": (
            f"{suggested['num_walks']} walks per node (the paper's); {suggested['num_walks_by_theorem']:,} by its theorem"
        ),
        "one edge more": _update_text(facts["update"]),
    }
    width = max(map(len, rows))
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows.items())


def _update_text(cost: dict[str, Any]) -> str:
    shares = [100 * cost[name]["share"] for name in ("random_pair", "ends_of_edges")]
    random, ends = (f"{share:.0f}%" if share >= 10 else f"{share:.2g}%" for share in shares)
    return (
        f"concerns {random} of all walks if it joins random nodes, {ends} if it is where edges are ({cost['num_walks']}"
        f" walks of {cost['walk_length']} jumps from each node); about a third of them change"
    )


def _reading_rows(found: dict[str, Any] | None) -> dict[str, str]:
    if found is None:
        return {}
    reading = Reading(**found)
    rows = {"read as": reading.kind, "columns": reading.describe_columns()}
    return rows | {f"assumed {number}": text for number, text in enumerate(reading.assumed, 1)}
