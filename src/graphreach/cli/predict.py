"""``graphreach predict`` and ``graphreach evaluate``: what a finished run says about pairs and nodes."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

import graphreach as gr
from graphreach.cli import options
from graphreach.cli.data import load_run
from graphreach.cli.group import say
from graphreach.cli.options import check_output, option
from graphreach.cli.output import calibration_text, metrics_text, summary
from graphreach.cli.remarks import say_one_kind
from graphreach.graph.ids import plain_ids
from graphreach.io.writers import write_table
from graphreach.progress import stage
from graphreach.tasks.link_split import find_sides, linked_keys
from graphreach.tasks.pair_keys import draw_pairs, encode, unique

LABELLED = "Table of pairs of ids with a column label, 0 or 1."

CANDIDATES = "Table of links and the candidates they are ranked among; or .npz with the candidates of --pairs."

UNKNOWN = 3
"""The exit code where some ids were not known and the others were written."""

RANDOM_PAIRS = 1000
"""Pairs without a link that scores are compared with."""


class _EmbeddedRun:
    """A run, and the embedding of the graph that it is asked about."""

    def __init__(self, *asked: Any) -> None:
        self.run, self.graph, x, self.classes = load_run(*asked)
        with stage("embedding the graph"):
            self.z = self.run.embed(self.graph, x)

    @property
    def several_labels(self) -> bool:
        """Whether the run predicts several labels per node."""
        return bool(getattr(self.run, "several_labels", False))

    @property
    def meaning(self) -> str:
        """What scores of pairs are, as a clause."""
        return str(self.run.meaning_of(self.z))

    def scores(self, pairs: Any) -> Any:
        """Scores of pairs of positions ``[2, m]``."""
        return self.run.score_pairs(self.z, pairs, self.graph)


def predict(
    run: options.Run,
    pairs: Annotated[Path | None, option("--pairs", "Table of pairs of ids.", "FILE", "none")] = None,
    nodes: Annotated[
        Path | None, option("--nodes", "Table or list of ids.", "FILE", "all nodes, for a run of classes")
    ] = None,
    strict: Annotated[
        bool, option("--strict", "Refuse a table with rows that would be left out.", default="off")
    ] = False,
    graph: options.OtherGraph = None,
    graph_number: options.GraphNumber = None,
    new_anchors: options.NewAnchors = False,
    features: options.Features = None,
    output: Annotated[Path | None, option("--output -o", "A .csv or .parquet file.", "FILE", "stdout")] = None,
    json_: options.Json = False,
) -> None:
    """Score pairs of nodes, or predict the classes of nodes.

    A higher score means a more likely pair. With model reach the score is a probability, and a message says which base rate
    it assumes; with other models it is not a probability. "rank" is the rank among the pairs of the table, where 1 is the
    highest. "percentile" is the share of 1000 random pairs without a link that score lower. All edges of the graph are
    used, including those that were held out for testing.

    If nodes have several labels, each node has one row per label with a probability of at least 0.5, or one row for the
    most likely label if there is none. The columns p_... hold the probabilities of all labels in each of its rows.

    Without --nodes, a run of classes answers for all nodes of the graph.

    Rows with unknown ids, and pairs of a node with itself, are left out and listed on stderr, and the exit code is 3.
    """
    if pairs is not None and nodes is not None:
        raise gr.InputError("one of --pairs and --nodes must be given, got both")
    if output is not None:
        check_output(output, [".csv", ".parquet"])
    _check_task(run, pairs, nodes)
    asked = _EmbeddedRun(run, graph, features, graph_number, new_anchors)
    table, left_out = _pair_table(asked, pairs, strict) if pairs is not None else _node_table(asked, nodes, strict)
    _write(table, output, json_)
    for sentence in left_out:
        say(sentence)
    if left_out:
        raise typer.Exit(UNKNOWN)


def _check_task(run: Path, pairs: Path | None, nodes: Path | None) -> None:
    """Ask for pairs where no classes were learned, before anything is read."""
    from graphreach.training.run_folder import RunFolder

    task = RunFolder(run).settings.task
    if task != "node" and pairs is None:
        hint = f"; graphreach recommend {run} lists the likeliest new links" if task == "link" else ""
        got = "none" if nodes is None else f"--nodes {nodes}"
        raise gr.InputError(f"--pairs must be given for a run of task {task}, got {got}{hint}")


def _pair_table(asked: _EmbeddedRun, path: Path, strict: bool) -> tuple[dict[str, Any], list[str]]:
    from graphreach.io.tables import read_pairs

    index, left_out = _known(asked, path, "--pairs", strict, read_pairs)
    index, same = _different(asked.graph, index, strict)
    left_out += same
    if asked.run.settings.task == "link":
        say_one_kind(asked.graph, index)
    source, target = (plain_ids(asked.graph.ids[side]) for side in index)
    scores = asked.scores(index)
    table = {"source": source, "target": target, "score": scores, "rank": _ranks(scores)}
    with stage("scoring random pairs"):
        others = random_non_links(asked.graph, RANDOM_PAIRS, asked.run.knows(asked.graph))
        below = np.searchsorted(np.sort(asked.scores(others)), scores) if others.size else scores
        table["percentile"] = below / others.shape[1] if others.size else [None] * len(scores)
    say(f"{asked.meaning}; rank 1 is the highest, percentile the share of random pairs without a link below")
    return table, left_out


def _different(graph: gr.Graph, index: NDArray[np.int64], strict: bool) -> tuple[NDArray[np.int64], list[str]]:
    """The pairs of two different nodes, and a sentence on the others, if there are any."""
    same = index[0] == index[1]
    if not same.any():
        return index, []
    ids = plain_ids(graph.ids[index[0, same]])
    if strict or same.all():
        raise gr.InputError(f"--pairs must hold pairs of two different nodes, got {ids[0]!r} twice")
    return index[:, ~same], [f"left out {len(ids)} pair{'s' * (len(ids) > 1)} of a node with itself: {_few(ids)}"]


def _known(
    asked: _EmbeddedRun, path: Path, option: str, strict: bool, read: Callable[..., Any]
) -> tuple[np.ndarray[Any, Any], list[str]]:
    """Positions of the rows whose ids the run can score, and a sentence on the ids that it cannot, if there are any."""
    index, _, unknown = read(path, asked.graph, say, strict=False)
    without = ~asked.run.knows(asked.graph)
    late = np.unique(index[without[index]])
    unknown = [*unknown, *plain_ids(asked.graph.ids[late])]
    index = index[..., ~np.atleast_2d(without[index]).any(0)]
    if unknown and (strict or not index.size):
        raise gr.InputError(f"{option} must hold ids of nodes that the run can score, got {_few(unknown)} that are not")
    return index, _left_out(unknown)


def _left_out(unknown: list[Any]) -> list[str]:
    many = "1 id that is" if len(unknown) == 1 else f"{len(unknown)} ids that are"
    return [f"left out the rows of {many} not known: {_few(unknown)}"] if unknown else []


def _few(ids: list[Any], most: int = 10) -> str:
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(repr(each) for each in ids[:most]) + more


def random_non_links(graph: gr.Graph, size: int, known: NDArray[np.bool_], seed: int = 0) -> NDArray[np.int64]:
    """Up to ``size`` different pairs ``[2, m]`` of known nodes without an edge in either direction.

    If the graph was read as one with two kinds of nodes, they are between the two.

    Example:
        >>> path = gr.Graph.from_edges([[0, 1], [1, 2]])
        >>> np.sort(random_non_links(path, 10, np.ones(3, bool)), axis=0).T.tolist()
        [[0, 2]]
    """
    nodes = np.flatnonzero(known)
    if len(nodes) < 2:
        return np.empty((2, 0), np.int64)
    sides = find_sides(graph, None)
    if sides is not None:
        own = replace(sides, side=np.where(known, sides.side, -1))
        return own.draw(np.random.default_rng(seed), size, linked_keys(graph))
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    edges = place[graph.edge_index]
    linked = unique(encode(edges[:, (edges >= 0).all(0) & (edges[0] != edges[1])]))
    found: Any = draw_pairs(np.random.default_rng(seed), len(nodes), size, linked)
    pairs: NDArray[np.int64] = nodes[found]
    return pairs


def _ranks(scores: Any) -> Any:
    """Places from the highest, from 1; equal scores share the best place of theirs."""
    import polars as pl

    return pl.Series(np.asarray(scores)).rank("min", descending=True).to_numpy().astype(np.int64)


def _node_table(asked: _EmbeddedRun, path: Path | None, strict: bool) -> tuple[dict[str, Any], list[str]]:
    from graphreach.io.tables import read_nodes

    if path is None:
        knows = asked.run.knows(asked.graph)
        index, unknown = np.flatnonzero(knows), plain_ids(asked.graph.ids[~knows])
        left_out = _left_out(unknown)
        say("no --nodes are given, so all nodes of the graph are predicted, also those whose labels are known")
    else:
        index, left_out = _known(asked, path, "--nodes", strict, read_nodes)
    chances = asked.run.class_probabilities(asked.z, index)
    names = asked.classes or list(range(chances.shape[1]))
    if asked.several_labels:
        from graphreach.tasks.label_sets import probable_labels

        row, best = np.nonzero(probable_labels(chances))
        say("a node has one row for each label with a probability of at least 0.5, or else one for the likeliest label")
    else:
        row, best = np.arange(len(index)), chances.argmax(1)
    table = {"node": plain_ids(asked.graph.ids[index[row]]), "class": [names[each] for each in best]}
    return table | {f"p_{name}": chances[row, column] for column, name in enumerate(names)}, left_out


def _write(table: dict[str, Any], output: Path | None, as_json: bool) -> None:
    import polars as pl

    frame = pl.DataFrame(table)
    if as_json:
        typer.echo(json.dumps(frame.to_dicts()))
    elif output is None:
        sys.stdout.write(frame.write_csv(float_precision=6))
    else:
        write_table(output, [frame], float_precision=6)
        say(f"{len(frame)} rows are in {output}")


def evaluate(
    run: options.Run,
    pairs: Annotated[Path | None, option("--pairs", LABELLED, "FILE", "the test examples of the run")] = None,
    candidates: Annotated[Path | None, option("--candidates", CANDIDATES, "FILE", "none")] = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    graph: options.OtherGraph = None,
    graph_number: options.GraphNumber = None,
    new_anchors: options.NewAnchors = False,
    features: options.Features = None,
    json_: options.Json = False,
) -> None:
    """Print the metrics of a run's test examples, or of your own pairs or nodes with known labels.

    For pairs, auc is the chance that a positive pair scores above a negative one, and ap is the average precision. For
    nodes, accuracy is the share of right classes. auc is then the mean over classes of the AUC of one class against the
    rest by the scores of the classes. hard_auc is the same by the predicted class alone, as in the paper's tables; 0.5
    is chance in both.

    Scores of pairs by model reach are probabilities. Their calibration error is the mean distance of a probability from the
    share of positives among the pairs that have about that probability, at the base rate that they assume.

    If nodes have several labels, micro_f1 and macro_f1 assume that the number of labels of each node is known. For
    micro_f1_unknown and macro_f1_unknown it is not known, and all labels with a probability of at least 0.5 count, at least
    one per node.

    With --candidates, links are ranked among your own candidates. mrr is the mean reciprocal rank of a link among its
    candidates, hits@K is the share of links in the first K places, and ties count half. A table has the columns source,
    target and label, 1 for links and 0 for candidates. The candidates of a link are those with its source. With a further
    column group, they are those of its group, which may have any nodes. A .npz file with an array pairs [links, candidates,
    2], in the layout of HeaRT, needs --pairs, the table of the links.
    """
    from graphreach.training.run_folder import RunFolder
    from graphreach.training.settings import FITTED

    if pairs is not None and labels is not None:
        raise gr.InputError("one of --pairs and --labels must be given, got both")
    if candidates is not None and labels is not None:
        raise gr.InputError("one of --candidates and --labels must be given, got both")
    if pairs is None and labels is None and candidates is None:
        given = {"label-column": label_column, "graph": graph, "graph-number": graph_number, "features": features}
        for name, value in given.items():
            if value is not None:
                raise gr.InputError(
                    f"--{name} must go with --candidates, --pairs or --labels, which say what is evaluated, got neither"
                )
        record = RunFolder(run).record
        typer.echo(json.dumps(_recorded(record)) if json_ else summary(record))
        return
    asked = _EmbeddedRun(run, graph, features, graph_number, new_anchors)
    task = asked.run.settings.task
    if candidates is not None:
        _rank(asked, candidates, pairs, json_)
        return
    if (pairs is None) != (task == "node"):
        raise gr.InputError(f"{'--labels' if task == 'node' else '--pairs'} must be given for a run of task {task}")
    from graphreach import tasks
    from graphreach.io.tables import read_pair_labels

    if pairs is not None:
        if asked.run.settings.method in FITTED:
            say(asked.meaning)
        examples = tasks.Examples(*read_pair_labels(pairs, asked.graph, say))
        scores = asked.scores(examples.index)
    else:
        examples = _node_examples(asked, labels, label_column)
        scores = asked.run.class_probabilities(asked.z, examples.index)
    found = tasks.metrics(task, scores, examples)
    positive = "" if task == "node" else f", {int(examples.label.sum())} of them positive"
    say(f"{asked.run.settings.method}, {task}: {len(examples)} {'nodes' if task == 'node' else 'pairs'}{positive}")
    held = {} if pairs is None else _calibration(asked, scores, examples)
    if json_:
        typer.echo(json.dumps(found | held))
        return
    typer.echo(metrics_text(found))
    if held:
        typer.echo(calibration_text(held["calibration_error"], held["prior"], task))


def _recorded(record: dict[str, Any]) -> dict[str, Any]:
    """Metrics of a run by part, and the base rate that its probabilities assume where they are calibrated."""
    held = record.get("calibration", {})
    found = {
        part: each | ({"calibration_error": held[part]} if part in held else {})
        for part, each in record["metrics"].items()
    }
    return found | {name: held[name] for name in ("prior",) if name in held}


def _calibration(asked: _EmbeddedRun, chances: NDArray[Any], examples: Any) -> dict[str, float]:
    """The calibration error of pairs at the base rate that is assumed, where scores are probabilities."""
    from graphreach.tasks.calibration import reliability
    from graphreach.training.reach_run import ReachRun

    if not isinstance(asked.run, ReachRun):
        return {}
    rate = asked.run.scorer.rate(asked.graph)
    held = reliability(chances, examples.label, rate)
    return {} if held is None else {"calibration_error": held.error, "prior": rate}


def _rank(asked: _EmbeddedRun, path: Path, links: Path | None, as_json: bool) -> None:
    """Print how links are ranked among the candidates of a file."""
    from graphreach.cli.ranking import read_ranked, say_known, score_ranked
    from graphreach.tasks.metrics import rank_among

    if asked.run.settings.task == "node":
        raise gr.InputError("--candidates must go with a run of links or pairs, got one of task node")
    ranked = read_ranked(path, links, asked.graph)
    say_known(asked.graph, ranked)
    scores = score_ranked(ranked, lambda pairs: asked.run.logits(asked.z, pairs, asked.graph))
    found = rank_among(scores[ranked.links], scores[ranked.candidates], ranked.of)
    sizes = np.bincount(ranked.of)
    many = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
    settings = asked.run.settings
    say(f"{settings.method}, {settings.task}: {len(ranked.links)} links, each among {many} candidates; ties count half")
    typer.echo(json.dumps(found) if as_json else metrics_text(found))


def _node_examples(asked: _EmbeddedRun, path: Any, column: str | None) -> Any:
    from graphreach import tasks
    from graphreach.io.tables import read_labels

    y, classes = read_labels(path, asked.graph, label=column, report=say)
    names = asked.classes or classes
    unknown = [name for name in classes if name not in names]
    if unknown:
        raise gr.InputError(f"--labels must hold classes that the run knows ({names[:5]}), got {unknown[:3]}")
    place = np.array([names.index(name) for name in classes])
    if not asked.several_labels:
        if y.ndim == 2:
            raise gr.InputError(
                "--labels must have one label per node, as those of the run had, got nodes with several"
            )
        index = np.flatnonzero(y >= 0)
        return tasks.Examples(index, place[y[index]])
    own = y if y.ndim == 2 else y[:, None] == np.arange(len(classes))
    index = np.flatnonzero(own.any(axis=1))
    label = np.zeros((len(index), len(names)), np.bool_)
    label[:, place] = own[index]
    return tasks.Examples(index, label)
