"""Damaged files of runs of method ``reach``: links, pairs and classes of nodes, each without features and with some."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import samples
from tests.fuzz.entry import Case, Dice, Entry, short, write
from tests.fuzz.run_files import (
    PAIRS,
    check_command,
    command,
    damaged,
    finished_files,
    make_sample,
    refuse_other_data,
    same_as,
    settings_of,
)

KINDS = tuple(samples.FITTED)


def entries() -> list[Entry]:
    """Runs loaded, asked by commands and repeated, and the estimators that read them."""
    return [
        Entry("run.reach", _load, 6),
        Entry("run.reach.estimator", _estimator, 3),
        Entry("run.reach.command", _command, 4),
        Entry("run.reach.finished", _finished, 2),
        Entry("run.reach.other_data", _other_data, 2),
    ]


def _features(kind: str) -> Any:
    return samples.features() if kind.endswith("-features") else None


def _task(kind: str) -> str:
    return {"reach": "link", "pairs": "pair", "classes": "node"}[kind.removesuffix("-features")]


def _use(kind: str, folder: Path) -> Any:
    """Predict by a run."""
    from graphreach.training import load_run

    run = load_run(folder)
    known = run.embed(samples.graph(), _features(kind))
    if run.settings.task == "node":
        return (run.class_probabilities(known, np.arange(9)),)
    return (run.score_pairs(known, PAIRS, samples.graph()),)


def _load(dice: Dice) -> Case:
    """A run with a damaged file; weights and metadata that have changed are refused."""
    kind = dice.pick(KINDS)
    folder, name, data = damaged(kind, dice)
    check = same_as(lambda: _known(kind)) if "model/" in name else None
    return Case(lambda: _use(kind, folder), f"load_run({kind}) with {name} {short(data)}", check)


@cache
def _known(kind: str) -> Any:
    return _use(kind, samples.folder() / kind)


def _estimate(kind: str, folder: Path) -> Any:
    """Predict by the estimator that reads the model of a run."""
    import graphreach as gr

    graph, x = samples.graph(), _features(kind)
    if _task(kind) == "node":
        return (gr.ReachClassifier.load(folder / "model").predict_proba(graph=graph, x=x),)
    return (gr.LinkPredictor.load(folder / "model").predict_proba(graph.ids[PAIRS.T], graph, x),)


def _estimator(dice: Dice) -> Case:
    kind = dice.pick(KINDS)
    folder, name, data = damaged(kind, dice, [each for each in samples.names(kind) if each.startswith("model")])
    about = f"the estimator of {kind} loaded with {name} {short(data)}"
    return Case(lambda: _estimate(kind, folder), about, same_as(lambda: _known_estimate(kind)))


@cache
def _known_estimate(kind: str) -> Any:
    return _estimate(kind, samples.folder() / kind)


def _command(dice: Dice) -> Case:
    kind = dice.pick(KINDS)
    folder, name, data = damaged(kind, dice)
    for each in ("graph.csv", "labels.csv", "features.csv", "tables/pairs.csv", "tables/nodes.csv"):
        write(Path(each).name, samples.read(each))
    asked = ["--nodes", "nodes.csv"] if _task(kind) == "node" else ["--pairs", "pairs.csv"]
    explained = ["--node", "1"] if _task(kind) == "node" else ["--pair", "1", "10"]
    choices = [
        ["predict", str(folder), *asked],
        ["evaluate", str(folder)],
        ["explain", str(folder), *explained],
        ["recommend", str(folder), "--node", "1", "--top", "2"],
        ["recommend", str(folder), "--top", "2"],
        ["report", str(folder), "-o", "page.html"],
        ["train", "graph.csv", "-o", str(folder), *samples.FITTED[kind]],
    ]
    arguments = dice.pick(choices)
    return Case(lambda: command(arguments), f"{' '.join(arguments)} with {name} {short(data)}", check_command)


def _run(kind: str, folder: Path, change: str = "") -> Any:
    from graphreach import training

    return training.run(make_sample(_task(kind), change, _features(kind)), settings_of(kind), folder)


def _finished(dice: Dice) -> Case:
    kind = dice.pick(KINDS)
    folder, name, data = damaged(kind, dice, finished_files(kind))

    def call() -> Any:
        outcome = _run(kind, folder)
        return outcome.test, outcome.pick_graph()

    return Case(call, f"run({kind}) that is finished, with {name} {short(data)}")


def _other_data(dice: Dice) -> Case:
    kind, finished = dice.pick(KINDS), dice.chance(0.5)
    changes = ["edge", "fewer", "moved", "ids"]
    changes += [] if _task(kind) == "link" else ["labels"]
    change = dice.pick([*changes, "features"] if _features(kind) is not None else changes)
    folder = samples.copy(kind)
    if not finished:
        (folder / "record.json").unlink()
    about = f"run({kind}) with {change} changed, finished={finished}"
    return Case(lambda: _run(kind, folder, change), about, refuse_other_data)
