"""Damaged and exchanged files of runs, models, estimators and caches."""

import contextlib
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import samples
from tests.fuzz.entry import Case, Check, Dice, Entry, short, write
from tests.fuzz.mutations import damage_safetensors, flip
from tests.fuzz.table_files import damage_by_suffix

ESTIMATORS = ("estimator", "embedding-reach", "embedding-position")
PAIRS = np.array([[0, 3, 5], [1, 9, 20]])


def entries() -> list[Entry]:
    """Runs opened, continued and reported on, models, estimators, caches."""
    return [
        Entry("run.open", _open, 8),
        Entry("run.weights", _weights, 5),
        Entry("run.resume", _resume, 4),
        Entry("run.finished", _finished, 3),
        Entry("run.other_data", _other_data, 2),
        Entry("run.command", _command, 4),
        Entry("run.estimator", _estimator, 3),
        Entry("run.vectors", _vectors, 3),
        Entry("run.cache", _cache, 4),
    ]


def damaged(folder: str, dice: Dice, chosen: list[str] | None = None) -> tuple[Path, str, bytes]:
    """A copy of a folder of samples with one file damaged, removed or exchanged."""
    path = samples.copy(folder)
    name = dice.pick(chosen or samples.names(folder))
    data = samples.read(f"{folder}/{name}")
    kind = dice.below(14)
    if kind == 0:
        (path / name).unlink()
        return path, f"{name} removed", b""
    if kind == 1:
        data = samples.read(f"{folder}/{dice.pick(samples.names(folder))}")
    elif kind == 2:
        (path / name).unlink()
        (path / name).mkdir()
        return path, f"{name} a folder", b""
    elif name.endswith(".safetensors"):
        data = damage_safetensors(data, dice)
    else:
        data = damage_by_suffix(name, data, dice)
    return path, name, write(str(path / name), data) and data


def _use(folder: Path) -> Any:
    """Embed and predict by a run."""
    from graphreach.training import TrainedRun

    run = TrainedRun(folder)
    z = run.embed(samples.graph())
    if run.settings.task == "node":
        return z, run.class_probabilities(z, np.arange(4))
    return z, run.score_pairs(z, PAIRS, samples.graph())


def _open(dice: Dice) -> Case:
    task = dice.pick(samples.RUNS)
    folder, name, data = damaged(task, dice)
    return Case(lambda: _use(folder), f"TrainedRun({task}) with {name} {short(data)}")


def _weights(dice: Dice) -> Case:
    """Flipped bytes in weights change the embedding, or nothing, but never silently."""
    task = dice.pick(samples.RUNS)
    chosen = dice.pick([name for name in samples.names(task) if "model.safetensors" in name])
    folder = samples.copy(task)
    data = flip(samples.read(f"{task}/{chosen}"), dice)
    write(str(folder / chosen), data)
    return Case(
        lambda: _use(folder), f"TrainedRun({task}) with bytes of {chosen} flipped", same_as(lambda: _known(task))
    )


@cache
def _known(task: str) -> Any:
    return _use(samples.folder() / task)


def same_as(known: Callable[[], Any]) -> Check:
    """Refuses other arrays than those of the undamaged files, unless a warning came with them."""

    def check(value: Any, said: list[str]) -> str | None:
        same = all(np.array_equal(one, other) for one, other in zip(value, known(), strict=True))
        return None if same or said else "damaged weights were loaded without a word and give another result"

    return check


def make_sample(task: str, change: str = "", x: Any = None) -> Any:
    """The data that a run was trained on, or with a change; with features ``x`` if it was trained with some."""
    import graphreach as gr

    graph = samples.graph()
    y = None if task == "link" else (np.arange(30) >= 15).astype(np.int64)
    y = None if y is None else 1 - y
    source, target = graph.edge_index
    edges = np.stack([source, target])[:, source < target]
    if change == "edge":
        edges = np.append(edges, [[0], [29]], axis=1)
    elif change == "fewer":
        edges = edges[:, :-1]
    elif change == "moved":
        edges[1, 0] = 17
    elif change == "labels" and y is not None:
        y = y.copy()
        y[3] = 1 - y[3]
    elif change == "features":
        x = np.ones((30, 2), np.float32) if x is None else -x
    ids = [each + 1 for each in graph.ids.tolist()] if change == "ids" else graph.ids
    return gr.datasets.Sample(gr.Graph.from_edges(edges, num_nodes=30, ids=ids), x, y)


def settings_of(name: str) -> Any:
    """The settings of a run among the samples."""
    from graphreach.training import Settings

    return Settings(**json.loads(samples.read(f"{name}/settings.json")))


def _run(task: str, folder: Path, change: str = "") -> Any:
    from graphreach import training

    return training.run(make_sample(task, change), settings_of(task), folder)


def _resume(dice: Dice) -> Case:
    task = dice.pick(samples.RUNS)
    files = [name for name in samples.names(task) if "checkpoint" in name or name in ("settings.json", "content.json")]
    folder, name, data = damaged(task, dice, files)
    (folder / "record.json").unlink()

    def check(value: Any, said: list[str]) -> str | None:
        known = json.loads(samples.read(f"{task}/record.json"))["metrics"]
        same = json.loads(json.dumps(value.record["metrics"])) == known
        return None if same or said else "a damaged checkpoint was continued without a word and gives other metrics"

    return Case(lambda: _run(task, folder), f"run({task}) continued with {name} {short(data)}", check)


def finished_files(name: str) -> list[str]:
    """Files of a run that are read when it is repeated."""
    return [each for each in samples.names(name) if "/" not in each and not each.endswith("safetensors")]


def _finished(dice: Dice) -> Case:
    task = dice.pick(samples.RUNS)
    folder, name, data = damaged(task, dice, finished_files(task))

    def call() -> Any:
        outcome = _run(task, folder)
        return outcome.test, outcome.pick_graph()

    return Case(call, f"run({task}) that is finished, with {name} {short(data)}")


def _other_data(dice: Dice) -> Case:
    task, finished = dice.pick(samples.RUNS), dice.chance(0.5)
    changes = ["edge", "fewer", "moved", "ids"] + (["labels"] if task != "link" else [])
    change = dice.pick(changes)
    folder = samples.copy(task)
    if not finished:
        (folder / "record.json").unlink()
    about = f"run({task}) with {change} changed, finished={finished}"
    return Case(lambda: _run(task, folder, change), about, refuse_other_data)


def refuse_other_data(value: Any, said: list[str]) -> str:
    """Whatever comes is wrong."""
    return "a run of other data was returned or continued"


def command(arguments: list[str]) -> tuple[int, str]:
    """The command line in this process: its exit code and what it said."""
    from graphreach.cli import app

    out, said = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            app(arguments, prog_name="graphreach")
        except SystemExit as error:
            code = error.code
    return int(code or 0), said.getvalue()


def check_command(value: tuple[int, str], said: list[str]) -> str | None:
    """Exit code 0, 2 or 3, and no traceback."""
    code, text = value
    if code not in (0, 2, 3):
        return f"exit code {code}: {text[-200:]}"
    if "Traceback" in text:
        return f"a traceback: {text[-300:]}"
    errors = [line for line in text.splitlines() if "error:" in line]
    return f"exit code 2 without a sentence: {text[-200:]}" if code == 2 and not errors else None


def _command(dice: Dice) -> Case:
    task = dice.pick(samples.RUNS)
    folder, name, data = damaged(task, dice)
    write("graph.csv", samples.read("graph.csv"))
    write("labels.csv", samples.read("labels.csv"))
    write("pairs.csv", samples.read("tables/pairs.csv"))
    write("nodes.csv", samples.read("tables/nodes.csv"))
    choices = [
        ["predict", str(folder), "--nodes", "nodes.csv"]
        if task == "node"
        else ["predict", str(folder), "--pairs", "pairs.csv"],
        ["evaluate", str(folder)],
        ["explain", str(folder), "--node", "1"],
        ["train", "graph.csv", "-o", str(folder), "--task", task, "-m", "graphreach", "--epochs", "2"],
    ]
    arguments = dice.pick(choices)
    return Case(lambda: command(arguments), f"{' '.join(arguments)} with {name} {short(data)}", check_command)


def _vectors(dice: Dice) -> Case:
    """What commands make of a damaged embedding."""
    kind = dice.pick(["csv", "parquet", "npy", "npz", "emb", "tsv"])
    folder = samples.copy(f"embeddings/{kind}", "embedding")
    name = dice.pick(samples.names(f"embeddings/{kind}"))
    data = damage_by_suffix(name, samples.read(f"embeddings/{kind}/{name}"), dice)
    write(f"embedding/{name}", data)
    write("labels.csv", samples.read("labels.csv"))
    choices = [
        ["nearest", "--all", "--top", "2", "--metric", dice.pick(["cosine", "dot"])],
        ["nearest", "--id", dice.pick(["0", "1", "7"]), "--json"],
        ["evaluate-embedding", "--labels", "labels.csv", "--repeats", "1", "--shares", "0.5"],
    ]
    verb, *rest = dice.pick(choices)
    arguments = [verb, str(folder / f"vectors.{kind}"), *rest]
    return Case(lambda: command(arguments), f"{' '.join(arguments)} with {name} {short(data)}", check_command)


def _estimator(dice: Dice) -> Case:
    import graphreach as gr

    kind = dice.pick(ESTIMATORS)
    folder, name, data = damaged(kind, dice)

    def call() -> Any:
        return _transformed(kind, gr.GraphReachEmbedding.load(folder))

    check = same_as(lambda: _known_estimator(kind)) if name == "model.safetensors" else None
    return Case(call, f"GraphReachEmbedding.load with {name} {short(data)}", check)


def _transformed(kind: str, estimator: Any) -> Any:
    return (estimator.transform(samples.graph(), x=samples.features() if kind == "embedding-reach" else None),)


@cache
def _known_estimator(kind: str) -> Any:
    import graphreach as gr

    return _transformed(kind, gr.GraphReachEmbedding.load(samples.folder() / kind))


def _cache(dice: Dice) -> Case:
    import graphreach as gr

    kind = dice.pick(["cache", "cache-csr"])
    layout: Any = {"layout": "csr"} if kind == "cache-csr" else {}
    folder, name, data = damaged(kind, dice)

    def call(cache: Path | None = folder) -> Any:
        found = gr.reachability(samples.graph(), [0, 5], num_walks=5, walk_length=3, cache=cache, **layout)
        dense = [each if layout == {} else each.toarray() for each in (found.to_anchors, found.from_anchors)]
        return tuple(np.asarray(each) for each in dense)

    def check(value: Any, said: list[str]) -> str | None:
        same = all(np.array_equal(one, other) for one, other in zip(value, call(None), strict=True))
        return None if same else "another result than without the cache"

    return Case(call, f"reachability with a cache of {name} {short(data)}", check)
