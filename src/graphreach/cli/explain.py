"""``graphreach explain`` and ``graphreach report``: why a score is what it is, and a run as one page."""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import graphreach as gr
from graphreach.cli import options
from graphreach.cli.data import find_node, load_run, read_run_data
from graphreach.cli.group import say
from graphreach.cli.options import check_output, option
from graphreach.cli.remarks import say_one_kind
from graphreach.progress import stage

PAIR = "Ids of the pair whose score to explain."
MOST = 10
"""Anchors to show of a node, and of a pair whose score is a sum over anchors."""

TOP = "3 for a pair of model reach, else 10"
NODE = "Id of the node whose position to explain."


def explain(
    run: options.Run,
    pair: Annotated[tuple[str, str] | None, option("--pair", PAIR, "A B", "none")] = None,
    node: Annotated[str | None, option("--node", NODE, "A", "none")] = None,
    top: Annotated[int | None, option("--top", "Number of anchors to show.", "N", TOP, min=1)] = None,
    graph: options.OtherGraph = None,
    graph_number: options.GraphNumber = None,
    new_anchors: options.NewAnchors = False,
    features: options.Features = None,
    json_: options.Json = False,
) -> None:
    """Explain a pair's score as a sum, or a node's position among the anchors.

    For model graphreach the score is a sum over anchors. For model reach it is the sum of what each group of features adds
    to the mean of training pairs.

    All edges of the graph are used, as in graphreach predict, so the scores are the same. If the run has several graphs,
    one of them is used. For a run that adds the scores of several methods, give the folder of one method, such as
    RUN/graphreach.
    """
    if (pair is None) == (node is None):
        raise gr.InputError("one of --pair and --node must be given")
    loaded = load_run(run, graph, features, graph_number, new_anchors, model=True)
    asked = "--node" if pair is None else "--pair"
    ends = [find_node(loaded.graph, text, asked) for text in (pair or (str(node),))]
    if loaded.run.settings.task == "node" and pair is not None:
        raise gr.InputError("RUN must be of task link or pair to explain pairs, got one of task node")
    if pair is not None and loaded.run.settings.task == "link":
        say_one_kind(loaded.graph, np.array(ends)[:, None])
    from graphreach.explain import Explainer
    from graphreach.explain.links import SHOWN
    from graphreach.explain.reach_explainer import ReachExplainer, explain_reach_pair
    from graphreach.training.settings import FITTED

    method = loaded.run.settings.method
    if pair is not None and method in FITTED:
        with stage("explaining the pair"):
            told = explain_reach_pair(loaded.run, loaded.graph, (ends[0], ends[1]), loaded.x, top or SHOWN)
        typer.echo(json.dumps(told.to_dict()) if json_ else str(told))
        return
    with stage("embedding the graph"):
        if method in FITTED:
            explainer: Explainer = ReachExplainer(loaded.run, loaded.graph, loaded.x)
        else:
            explainer = Explainer(loaded.run, loaded.graph, loaded.x)
    most = top or MOST
    found = explainer.node(ends[0], most) if pair is None else explainer.pair(ends[0], ends[1], most)
    typer.echo(json.dumps(found.to_dict(most)) if json_ else found.text(most))


def report(
    run: options.Run,
    output: Annotated[Path, option("--output -o", "The page, .html.", "FILE", False)],
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    graph_number: options.GraphNumber = None,
) -> None:
    """Write a run as one HTML page: graph, anchors, embeddings, figures, and explained pairs or nodes; works offline.

    A run remembers where its labels are; --labels names the file if it has moved. For links, labels only colour the nodes.
    If the run has several graphs, one is shown. For a run that adds the scores of several methods, give the folder of one
    method, such as RUN/graphreach.
    """
    check_output(output, [".html"])
    from graphreach.report import write_report
    from graphreach.report.write_report import load_explained
    from graphreach.training.run_folder import RunFolder

    trained = load_explained(run)
    own = read_run_data(run, trained.settings, labels, label_column)
    number = RunFolder(run).outcome().pick_graph(graph_number, "--graph-number")
    with stage("writing the report"):
        write_report(run, output, own.data, number=number, split=own.splits[number - 1], classes=own.classes)
    say(f"the report is {output} ({output.stat().st_size / 1e6:.1f} MB)")
