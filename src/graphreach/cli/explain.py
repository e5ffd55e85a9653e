"""``graphreach explain``: which anchors carry a score, and where a node stands among them."""

import json
from typing import Annotated

import typer

import graphreach as gr
from graphreach.cli import run_options as options
from graphreach.cli.run_data import GraphNumber, GraphOption, NewAnchors, Run, load_run
from graphreach.progress import stage


def explain(
    run: Run,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option("--pair", metavar="A B", help="Ids of a pair: why it has its score.", show_default="none"),
    ] = None,
    node: Annotated[
        str | None,
        typer.Option(
            "--node", metavar="A", help="Id of a node: where it stands among the anchors.", show_default="none"
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Anchors to show.")] = 10,
    graph: GraphOption = None,
    graph_number: GraphNumber = None,
    new_anchors: NewAnchors = False,
    features: options.Features = None,
    json_: options.Json = False,
) -> None:
    """Explain a pair's score, the sum of what every anchor adds to it, or a node's position among the anchors.

    All edges of the graph are used, as in graphreach predict, so the scores are the same. Of a run on several
    graphs one is looked at. Of a run that adds scores of several methods, give the folder of the part, RUN/graphreach.
    """
    if (pair is None) == (node is None):
        raise gr.InputError("one of --pair and --node must be given")
    loaded = load_run(run, graph, features, graph_number, new_anchors, model=True)
    ends = [find_node(loaded.graph, text) for text in (pair or (str(node),))]
    if loaded.run.settings.task == "node" and pair is not None:
        raise gr.InputError("RUN must be of task link or pair to explain pairs, got one of task node")
    from graphreach.explain import Explainer

    with stage("embedding the graph"):
        explainer = Explainer(loaded.run, loaded.graph, loaded.x)
    found = explainer.node(ends[0], top) if pair is None else explainer.pair(ends[0], ends[1], top)
    typer.echo(json.dumps(found.to_dict(top)) if json_ else found.text(top))


def find_node(graph: gr.Graph, text: str) -> int:
    """The position of a node whose id was typed."""
    kind = graph.ids.dtype.kind
    if kind == "O":  # ids of several kinds, or of none that can be typed: what they read as
        known = {str(each): position for position, each in reversed(list(enumerate(graph.ids.tolist())))}
        if text in known:
            return int(known[text])
    try:
        wanted: str | float = text if kind in "UO" else int(text) if kind in "iu" else float(text)
    except ValueError:
        raise gr.InputError(
            f"ids must be ids of nodes (such as {', '.join(repr(each) for each in graph.ids[:3].tolist())}), got {text!r}"
        ) from None
    return int(graph.index_of(wanted))
