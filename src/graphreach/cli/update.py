"""``graphreach update``: a run on the graph as it is now."""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import graphreach as gr
from graphreach.arguments import counted
from graphreach.cli import options
from graphreach.cli.changing import GRAPH_THEN, Changing, load_changing, read_changes
from graphreach.cli.group import say
from graphreach.cli.options import check_new_folder, check_output, option
from graphreach.progress import stage

RUN = "Folder of a run of reach, or that a LinkPredictor or GraphReachEmbedding was saved in."
AnyRun = Annotated[Path, typer.Argument(metavar="RUN", help=RUN, show_default=False)]
ADD = "Edges to add, a file with the columns that the run's own graph has."
REMOVE = "Edges to remove, which must be there."
REWEIGHT = "Edges that are there, with their new weights."
OUTPUT = "Folder of the run on the changed graph."
CHANGED = "Where to list the ids of the nodes whose answers changed (.csv .parquet)."


def update(
    run: AnyRun,
    output: Annotated[Path, option("--output -o", OUTPUT, "DIR", False)],
    add: Annotated[Path | None, option("--add", ADD, "FILE", "none")] = None,
    remove: Annotated[Path | None, option("--remove", REMOVE, "FILE", "none")] = None,
    reweight: Annotated[Path | None, option("--reweight", REWEIGHT, "FILE", "none")] = None,
    graph: Annotated[Path | None, option("--graph", GRAPH_THEN, "FILE", "that of the run")] = None,
    features: options.Features = None,
    changed: Annotated[Path | None, option("--changed", CHANGED, "FILE", "not listed")] = None,
    json_: options.Json = False,
) -> None:
    """Change the graph of a run: add, remove and re-weight edges, and write a run that answers for the changed graph.

    Nothing is learned again: the model and the anchors stay. The new folder holds the changed graph, so graphreach
    predict, recommend and explain answer for it without a file of all its edges. The new folder of an embedding holds the
    vectors for graphreach nearest: known nodes keep theirs and new ones are placed. RUN itself stays as it is.
    """
    _check_outputs(output, changed)
    if add is None and remove is None and reweight is None:
        raise gr.InputError("one of --add, --remove and --reweight must be given, got none")
    found = load_changing(run, graph)
    before = found.graph
    changes = read_changes(found, add, remove, reweight)
    with stage("updating the graph"):
        after = before.updated(**changes.arguments(), self_loops=found.self_loops)
        counts = changes.counts(before, after)
    x = _features(found, features, after)
    with stage("computing what changed"):
        model = found.run.estimator
        model.update(graph=before, x=None if x is None else x[: before.num_nodes])
        model.update(graph=after, x=x)
    counts |= {"nodes": after.num_nodes, "edges": after.num_edges, "changed_nodes": len(model.changed_)}
    from graphreach.updates.runs import save_updated

    with stage("writing the run"):
        save_updated(found.run, output, after, counts)
    if changed is not None:
        _write_ids(changed, model.changed_)
    lost = _lost_anchors(before, after, model)
    typer.echo(json.dumps(counts | {"anchors_without_edges": lost}) if json_ else _text(counts))
    if lost:
        more = f" (and {len(lost) - 1} more anchors)" if len(lost) > 1 else ""
        say(f"warning: the anchor {lost[0]!r}{more} has lost all its edges, so that no walk reaches it any more")
    say(f"the run on the changed graph is in {output}")


def _check_outputs(output: Path, changed: Path | None) -> None:
    check_new_folder(output)
    if changed is not None:
        check_output(changed, (".csv", ".parquet"), "--changed")


def _features(found: Changing, path: Path | None, graph: gr.Graph) -> Any:
    """Features of all nodes of the changed graph, if the model reads some."""
    from graphreach.io.tables import read_features
    from graphreach.updates.models import reads_features

    if not reads_features(found.run.estimator):
        if path is not None:
            raise gr.InputError("--features must go with a model that reads them, got one that was trained without")
        return None
    if path is None:
        raise gr.InputError("--features must be given, for all nodes of the changed graph, as the model reads them")
    return read_features(path, graph, report=say)


def _lost_anchors(before: gr.Graph, after: gr.Graph, model: Any) -> list[Any]:
    """Ids of the anchors that have no edge any more."""
    from graphreach.graph.ids import plain_ids
    from graphreach.graph.matching import match_ids

    at = match_ids(model.anchors_.tolist(), after.ids)
    at = at[(at >= 0) & (at < before.num_nodes)]
    degree = [graph.degree + (graph.transpose().degree if graph.directed else 0) for graph in (before, after)]
    return plain_ids(after.ids[at[(degree[0][at] > 0) & (degree[1][at] == 0)]])


def _write_ids(path: Path, ids: np.ndarray[Any, Any]) -> None:
    import polars as pl

    from graphreach.io.writers import id_column, write_table

    write_table(path, [pl.DataFrame([id_column(ids)])])
    say(f"{len(ids)} ids are in {path}")


def _text(counts: dict[str, int]) -> str:
    there = f" ({counts['there_already']} there already)" if counts["there_already"] else ""
    weights = f", {counts['reweighted']} re-weighted" if counts["reweighted"] else ""
    return (
        f"{counted(counts['added'], 'edge')} added{there}, {counts['removed']} removed{weights};"
        f" {counted(counts['new_nodes'], 'new node')}\n"
        f"now {counted(counts['nodes'], 'node')} and {counted(counts['edges'], 'edge')};"
        f" answers of {counted(counts['changed_nodes'], 'node')} changed"
    )
