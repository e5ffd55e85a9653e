"""``graphreach recommend``: which links nodes are likely to get."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import graphreach as gr
from graphreach.cli import options
from graphreach.cli.completion import complete_graph
from graphreach.cli.data import GRAPH, GraphFile, find_node, load_run, with_graph
from graphreach.cli.group import say
from graphreach.cli.options import check_output, option
from graphreach.cli.output import show_rows
from graphreach.pairs.candidates import compares_positions
from graphreach.pairs.recommendations import recommendation_frame
from graphreach.progress import stage

SETTINGS, MODEL = "settings.json", "model"
"""What a run's folder has, and where its model is."""

SUFFIXES = (".csv", ".parquet", ".json")

RUN_OR_GRAPH = Annotated[
    Path,
    typer.Argument(
        metavar="RUN|GRAPH",
        help=f"Folder of a run of reach, or that LinkPredictor.save wrote; or a graph: {GRAPH}",
        show_default=False,
        autocompletion=complete_graph,
    ),
]
NODE = "Id of a node to recommend partners for; repeatable."
TOP = "Number of links; with --node or --all the number of partners for each node."
WHY = "Whether to say what speaks for each link."
FIT = (
    "Learn from the graph instead of using the model that ships with the package; always done for directed graphs. A small"
    " graph may start from that model, as in train it does not."
)
EXHAUSTED = "nodes without an edge have no candidates, and the others are linked to every node that they reach"
DIRECTED = "learned from the graph itself, as the model that ships with the package is one of undirected graphs"
OTHER = "The graph to recommend links of, with a folder as RUN."


@partial(with_graph, argument=RUN_OR_GRAPH)
def recommend(
    file: GraphFile,
    node: Annotated[list[str] | None, option("--node", NODE, "ID", "the best links of the whole graph")] = None,
    all_: Annotated[bool, option("--all", "Recommend partners for every node.", default="off")] = False,
    top: Annotated[int, option("--top", TOP, "N", min=1)] = 10,
    why: Annotated[bool | None, option("--why/--no-why", WHY, default="on, off with --all")] = None,
    other: Annotated[Path | None, option("--graph", OTHER, "FILE", "none")] = None,
    features: options.Features = None,
    output: Annotated[Path | None, option("--output -o", "A .csv, .parquet or .json file.", "FILE", "stdout")] = None,
    fit: Annotated[bool, option("--fit", FIT, default="off")] = False,
    seed: Annotated[int, option("--seed", options.SEED, "N", min=0, max=2**32 - 1)] = 0,
    json_: options.Json = False,
) -> None:
    """Recommend links that the graph does not have yet: the best of the whole graph, or the best partners of nodes.

    Links are scored by a model that ships with the package, by one that is learned from the graph (--fit), or by that of a
    run. Each row is a node, a partner, the probability of a link between them, its rank (with --node or --all among those
    of the node), and what speaks for it. In a directed graph the link goes from the node to the partner. Probabilities
    assume that links are as frequent as among all pairs of the graph. In a graph with two kinds of nodes (--bipartite),
    partners are of the other kind. A node without edges has no rows.
    """
    if node and all_:
        raise gr.InputError("at most one of --node and --all must be given, got both")
    if output is not None:
        check_output(output, SUFFIXES)
    graph, x = _read_data(file, other, features)
    wanted = [graph.ids[find_node(graph, text)] for text in node] if node else None
    links = _predictor(file.graph, graph, x, seed, fit)
    positive = "are links" if links.links_ else "are of one class"
    say(f"probabilities assume that {100 * links.rate(graph):.3g}% of all pairs asked about {positive}")
    if not compares_positions(graph, graph.num_nodes if wanted is None else len(wanted)):
        say("candidates are those that walks reach; positions are not compared for so many nodes")
    reasons = not all_ if why is None else why
    if node or all_:
        rows = _Rows(links.recommend_blocks(wanted, top, graph, x, reasons))
    else:
        rows = _Rows(iter([links.new_links(top, graph, x, reasons)]))
    show_rows(rows, output, json_)
    if not rows.count:
        each = "the graph has no edges" if not graph.num_edges else EXHAUSTED
        say(f"there is no link to recommend: {each}")
    elif rows.without and (node or all_):
        say(f"{rows.without} node{'' if rows.without == 1 else 's'} without candidates, such as those without edges")
    if output is not None:
        say(f"{rows.count} rows are in {output}")


def _read_data(file: GraphFile, other: Path | None, features: Path | None) -> tuple[gr.Graph, Any]:
    """The graph and the features of its nodes, if there are any that are read."""
    folder = file.graph.is_dir()
    if not folder and other is not None:
        raise gr.InputError(f"--graph must go with the folder of a run, got it with the graph {file.graph}")
    if not folder:
        return _with_features(file.read(), features)
    from graphreach.training.loaded_run import used_features
    from graphreach.training.run_folder import RunFolder
    from graphreach.updates.graph_folder import holds_graph, read_folder_graph

    if other is None and (file.graph / SETTINGS).exists():
        loaded = load_run(file.graph, None, features, None)
        return loaded.graph, used_features(loaded.run.settings, loaded.x)
    if other is None and holds_graph(file.graph):
        return _with_features(read_folder_graph(file.graph), features)
    if other is None:
        raise gr.InputError(f"--graph must be given with a folder, which holds no graph, got none with {file.graph}")
    graph, x = _with_features(replace(file, graph=other).read(), features)
    if (file.graph / SETTINGS).exists():
        x = used_features(RunFolder(file.graph).settings, x)
    return graph, x


def _with_features(graph: gr.Graph, features: Path | None) -> tuple[gr.Graph, Any]:
    if features is None:
        return graph, None
    from graphreach.io.tables import read_features

    return graph, read_features(features, graph, report=say)


def _predictor(source: Path, graph: gr.Graph, x: Any, seed: int, fit: bool) -> gr.LinkPredictor:
    """The one in a folder; else the pretrained one, or one that is learned from the graph."""
    if source.is_dir():
        if (source / SETTINGS).exists():
            _check_learned_links(source)
        links = gr.LinkPredictor.load(source / MODEL if (source / SETTINGS).exists() else source)
        _check_features(links, x)
        return links
    if not fit and not graph.directed:
        if x is not None:
            raise gr.InputError("--features must go with --fit, as the model that ships with the package reads none")
        say("scored by the model that ships with the package; --fit learns from the graph itself")
        return gr.LinkPredictor.pretrained()
    if not fit:
        say(DIRECTED)
    with stage("learning links"):
        links = gr.LinkPredictor(random_state=seed).fit(graph, x)
    say(f"AUC of links that were left out {links.auc_:.4f}")
    return links


def _check_learned_links(run: Path) -> None:
    from graphreach.training.run_folder import RunFolder

    if RunFolder(run).settings.task == "node":
        raise gr.InputError(
            f"RUN must have learned links, got {run}, which learned classes; graphreach recommend needs only a graph"
        )


def _check_features(links: gr.LinkPredictor, x: Any) -> None:
    """Refuse a graph without the features that a model reads, and features that it does not read."""
    width = links._scorer.node_channels
    if width is not None and x is None:
        raise gr.InputError(f"--features must be given, {width} columns, as the model was trained with them, got none")
    if width is None and x is not None:
        raise gr.InputError("--features must go with a model that reads them, got one that was trained without")


class _Rows:
    """Recommendations as frames, and how many there were."""

    def __init__(self, blocks: Iterator[Any]) -> None:
        self._blocks = blocks
        self.count, self.without = 0, 0

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            self.count, self.without = self.count + len(block), self.without + len(block.without)
            yield recommendation_frame(block)
