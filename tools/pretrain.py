"""Train the model of links that ships with the package, and judge it on graphs that it was not trained on.

``python -m tools.pretrain`` describes links of generated and public graphs. For each of SEAL's eight graphs it trains a
model without that graph (and without copies of it), and scores the official test pairs with nothing trained on that graph.
Then it trains the model in ``src/graphreach/pretrained`` on all graphs. Features are kept in ``.runs/pretrain``, so that an
interrupted run goes on; figures go to ``results/pretrained.json``.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray

import graphreach as gr
from benchmarks.links import SEAL, data_folder, seal_split
from benchmarks.rmat import rmat_edges
from graphreach import datasets
from graphreach.auc import auc
from graphreach.nn.pair_head import fit_pair_head
from graphreach.pairs import PairRecipe
from graphreach.tasks.pair_keys import draw_pairs, encode, unique
from graphreach.threads import one_torch_thread
from graphreach.training.pair_learning import BACKGROUND
from graphreach.training.pair_scorer import KnownGraph, PairExamples, PairScorer

RECIPE = PairRecipe(6, (4, 10, 30), method="auto")
"""What every graph is described by."""

LINKS, GENERATED_LINKS = 3000, 600
"""Links of each public graph at most, and as many other pairs; fewer of generated ones, which teach public graphs less."""

SPLITS = range(1, 11)
COPIES = {"PB": ("polblogs-rachith",), "polblogs-rachith": ("PB",)}
"""Graphs that are the same as a graph that is tested."""

HEURISTICS = ("common-neighbours", "adamic-adar", "katz", "pagerank", "reachability")
ROOT = Path(__file__).parent.parent
CACHE, RESULT, MODEL = (
    ROOT / ".runs" / "pretrain",
    ROOT / "results" / "pretrained.json",
    ROOT / "src" / "graphreach" / "pretrained",
)


def generated() -> dict[str, Callable[[], gr.Graph]]:
    """Graphs of many kinds that are made, not read."""

    def of(make: Callable[[], Any]) -> Callable[[], gr.Graph]:
        return lambda: gr.Graph.from_networkx(nx.convert_node_labels_to_integers(make()))

    return {
        "generated: communities": lambda: datasets.load("communities", seed=1)[0].graph,
        "generated: grid": lambda: datasets.load("grid")[0].graph,
        "generated: preferential attachment": of(lambda: nx.barabasi_albert_graph(2000, 4, seed=1)),
        "generated: preferential attachment with triangles": of(lambda: nx.powerlaw_cluster_graph(2000, 5, 0.6, seed=2)),
        "generated: small world": of(lambda: nx.watts_strogatz_graph(1500, 8, 0.15, seed=3)),
        "generated: random geometric": of(lambda: nx.random_geometric_graph(1500, 0.045, seed=4)),
        "generated: blocks": of(lambda: nx.stochastic_block_model(
            [150, 200, 250, 300], np.full((4, 4), 0.004) + np.diag([0.06, 0.05, 0.04, 0.03]), seed=5)),
        "generated: R-MAT": lambda: gr.Graph.from_edges(rmat_edges(12, 40_000), num_nodes=1 << 12),
        "generated: tree with shortcuts": of(lambda: _tree(2500, 400)),
        "generated: noisy grid": of(lambda: _shortcuts(nx.grid_2d_graph(45, 45), 150)),
    }  # fmt: skip


def _tree(nodes: int, extra: int) -> nx.Graph:
    rng = np.random.default_rng(6)
    graph = nx.Graph((node, int(rng.integers(max(0, node - 200), node))) for node in range(1, nodes))
    return _shortcuts(graph, extra)


def _shortcuts(graph: nx.Graph, count: int) -> nx.Graph:
    rng, nodes = np.random.default_rng(7), list(graph)
    for _ in range(count):
        graph.add_edge(*(nodes[int(each)] for each in rng.integers(0, len(nodes), 2)))
    return graph


def public() -> dict[str, Callable[[], gr.Graph]]:
    """Public graphs of the data mirror, without directions, weights and attributes."""
    found: dict[str, Callable[[], gr.Graph]] = {name: lambda name=name: _seal_graph(name) for name in SEAL}
    for name in ("jazz", "polblogs-rachith", "Caltech36", "Simmons81", "hep-th", "Haverford76"):
        found[name] = lambda name=name: gr.read_graph(data_folder("degree-bias") / f"{name}.edges.txt.gz")
    for name in (
        "ca-AstroPh.txt.gz",
        "email-Enron.txt.gz",
        "soc-Epinions1.txt.gz",
        "facebook_edges.csv.gz",
        "chicago_regional.csv.gz",
    ):
        found[name.partition(".")[0]] = lambda name=name: _undirected(gr.read_graph(data_folder("graphs") / name))
    for name in ("cora", "citeseer", "pubmed", "email-complete"):
        found[name] = lambda name=name: datasets.load(name)[0].graph
    for name in ("ppi-homo-sapiens", "wikipedia-pos", "blogcatalog"):
        found[name] = lambda name=name: _undirected(gr.read_graph(data_folder("multi-label") / f"{name}.edges.csv.gz"))
    return found


def _undirected(graph: gr.Graph) -> gr.Graph:
    return gr.Graph.from_edges(graph.edge_index, graph.num_nodes)


def _seal_graph(name: str) -> gr.Graph:
    train, test, truth = seal_split(name, 1)
    return gr.Graph.from_edges(np.concatenate([train.edge_index, test[:, truth == 1]], axis=1), train.num_nodes)


def described(name: str, make: Callable[[], gr.Graph]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Features and kinds of some links of a graph and of as many other pairs."""
    path = CACHE / f"{name.replace(': ', '-').replace(' ', '-')}.npz"
    if not path.exists():
        graph = make()
        rng = np.random.default_rng(len(graph.ids))
        edges = graph.edge_index
        edges = edges[:, edges[0] < edges[1]]
        most = GENERATED_LINKS if name.startswith("generated") else LINKS
        links = edges[:, rng.permutation(edges.shape[1])[:most]]
        others = draw_pairs(rng, graph.num_nodes, links.shape[1], unique(encode(edges)))
        y = np.repeat([1, 0], [links.shape[1], others.shape[1]])
        known = KnownGraph(graph, RECIPE, None, 0)
        x = known.describe_examples(PairExamples(graph, np.concatenate([links, others], axis=1), y))
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path.with_suffix(".partial.npz"), x=x, y=y)
        path.with_suffix(".partial.npz").rename(path)
    with np.load(path) as file:
        return file["x"], file["y"]


def train(names: list[str], graphs: dict[str, Callable[[], gr.Graph]]) -> PairScorer:
    """A scorer of links trained on some graphs, each of whose links count as much as others'."""
    parts = [described(name, graphs[name]) for name in names]
    x, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    with one_torch_thread():
        head, unseen, rows = fit_pair_head(torch.from_numpy(x), torch.from_numpy(y).float(), 0)
    background = x[np.sort(np.random.default_rng(1).permutation(len(x))[:BACKGROUND])]
    found = auc(unseen.numpy(), y[rows.numpy()] == 1)
    return PairScorer(head.network(), RECIPE, None, 0.5, True, found, background, 0, needs_edges=True)


def without(name: str) -> Path:
    """The folder of a model trained without a graph and without copies of it."""
    folder = CACHE / f"without-{name}"
    if not (folder / "model.safetensors").exists():
        graphs = generated() | public()
        same = {name, *COPIES.get(name, ())}
        scorer = train([each for each in graphs if each not in same], graphs)
        scorer.save(folder, estimator={"prior": "density"})
    return folder


def judge(name: str) -> dict[str, Any]:
    """AUC on the official splits of a graph by a model that has not seen it, beside heuristics."""
    scorer, _ = PairScorer.load(without(name))
    found: dict[str, list[float]] = {"pretrained": []}
    for split in SPLITS:
        graph, test, truth = seal_split(name, split)
        found["pretrained"].append(auc(scorer.score(scorer.on(graph), test), truth == 1))
        for heuristic in HEURISTICS:
            score = gr.tasks.score(heuristic, graph, test)
            found.setdefault(heuristic, []).append(auc(score, truth == 1))
    means = {method: float(np.mean(values)) for method, values in found.items()}
    print(name, {method: round(value, 4) for method, value in means.items()}, flush=True)
    return {"graph": name, "splits": len(list(SPLITS)), **means}


def main() -> None:
    """Judge, then train on everything and write the model."""
    graphs = generated() | public()
    rows = [judge(name) for name in SEAL]
    scorer = train(list(graphs), graphs)
    counts = {name: int(described(name, make)[1].sum()) for name, make in graphs.items()}
    scorer.save(MODEL, estimator={"prior": "density"})
    RESULT.write_text(
        json.dumps({"command": "python -m tools.pretrain", "links": counts, "leave_one_graph_out": rows}, indent=1)
        + "\n"
    )


if __name__ == "__main__":
    main()
