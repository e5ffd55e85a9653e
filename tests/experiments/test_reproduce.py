import csv
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from graphreach.cli.app import app
from graphreach.errors import InputError
from graphreach.experiments import (
    ORDER,
    chosen,
    load_experiment,
    reproduce,
    summarise,
    works,
    write_figures,
    write_tables,
)
from graphreach.experiments.definition import Figure
from graphreach.experiments.summary import verdict
from graphreach.experiments.tables import contents
from graphreach.experiments.work import Store, Work

reproduce_module = sys.modules["graphreach.experiments.reproduce"]  # the package has a function of that name


class Here:
    """A pool that does the work in this process."""

    def __init__(self, *args):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, function, *args):
        future = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr(reproduce_module, "ProcessPoolExecutor", Here)


@pytest.mark.parametrize("name", ["table-3a", "table-3b", "table-5b", "table-8a", "table-8b", "table-10b"])
def test_every_row_runs_on_generated_data(here, tmp_path, name):
    columns = ["communities"] if name.endswith("a") else ["grid", "communities-t"] if name == "table-3b" else ["grid"]
    status = reproduce([name], tmp_path, quick=True, columns=columns)
    assert not status.failed
    assert (
        status.done
        == status.total
        == {name: len({work.key for _, _, work in works(load_experiment(name), None, True, columns)})}
    )
    found = [each for each in summarise(load_experiment(name), tmp_path, quick=True) if each.cell.name in columns]
    assert found
    assert all(each.seeds == each.wanted == 1 and 0 <= each.mean <= 1 for each in found)


@pytest.mark.parametrize(("name", "columns"), [("table-4", ["cora-node-st"]), ("table-7", ["cora-link-inference"])])
def test_every_row_runs_on_cora(here, data_root, tmp_path, monkeypatch, name, columns):
    monkeypatch.setenv("GRAPHREACH_DATA", str(data_root))
    status = reproduce([name], tmp_path, quick=True, columns=columns)
    assert not status.failed
    assert status.done == status.total


@pytest.mark.parametrize("name", ["table-6", "attack-curve"])
def test_attacks_run(here, tmp_path, name):
    assert not reproduce([name], tmp_path, quick=True).failed
    found = summarise(load_experiment(name), tmp_path, quick=True)
    assert all(each.seeds == 1 for each in found)


@pytest.mark.parametrize("leak", [None, "authors-command"])
def test_pairs_and_the_leak_run(tmp_path, leak):
    settings = {"task": "pair", "features": False, "epochs": 2, "preset": "authors"}
    work = Work.make(data="communities", settings={**settings, **({} if leak is None else {"leak": leak})})
    line = work.do(tmp_path)
    assert line["metrics"]["test"]["auc"] > 0.5
    assert not any(tmp_path.iterdir())


def test_a_run_on_disk_is_not_repeated_and_tables_share_runs(here, tmp_path, monkeypatch):
    reproduce(["table-3b"], tmp_path, quick=True, columns=["grid"])
    before = (tmp_path / "table-3b.jsonl").read_bytes()

    def fail(*args):
        raise AssertionError

    monkeypatch.setattr(reproduce_module, "_do", fail)
    status = reproduce(["table-3b"], tmp_path, quick=True, columns=["grid"])
    assert not status.failed
    assert (tmp_path / "table-3b.jsonl").read_bytes() == before
    shared = reproduce(["table-5b"], tmp_path, quick=True, columns=["grid"])
    assert 0 < shared.done["table-5b"] < shared.total["table-5b"] == shared.done["table-5b"] + len(shared.failed)
    known = {line["key"] for line in Store(tmp_path, "table-3b").lines()}
    assert {line["key"] for line in Store(tmp_path, "table-5b").lines()} <= known


def test_a_run_that_fails_is_named_and_the_others_go_on(here, tmp_path, monkeypatch):
    real = reproduce_module._do

    def sometimes(work, scratch):
        if '"gin"' in work:
            raise InputError("no gin today")
        return real(work, scratch)

    monkeypatch.setattr(reproduce_module, "_do", sometimes)
    status = reproduce(["table-3b"], tmp_path, quick=True, columns=["grid"])
    assert list(status.failed.values()) == ["no gin today"]
    assert status.done["table-3b"] == status.total["table-3b"] - 1


def test_processes_side_by_side_give_the_same_lines(here, tmp_path, monkeypatch):
    columns = ["grid"]
    reproduce(["table-8b"], tmp_path / "here", quick=True, columns=columns)
    monkeypatch.undo()
    reproduce(["table-8b"], tmp_path / "apart", quick=True, columns=columns, jobs=2)
    one, two = (
        [(line["key"], line["metrics"]) for line in Store(tmp_path / name, "table-8b").lines()]
        for name in ("here", "apart")
    )
    assert one == two


def worker(folder):
    """Note which process this is, and work for a long time."""
    (folder / "pid").write_text(str(os.getpid()))
    time.sleep(600)


def ask(folder):
    """What a call of ``reproduce`` does: a pool of processes."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), reproduce_module._start, (1,)) as pool:
        pool.submit(worker, folder).result()


def runs(pid):
    """Whether a process is there and not just waiting to be forgotten."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_runs_end_when_whoever_asked_for_them_is_killed(tmp_path):
    asker = multiprocessing.get_context("spawn").Process(target=ask, args=(tmp_path,))
    asker.start()
    note, deadline = tmp_path / "pid", time.monotonic() + 120
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    pid = int(note.read_text())
    assert runs(pid)
    asker.kill()
    asker.join()
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not runs(pid)


def test_the_order_is_table_by_table_and_seed_by_seed():
    assert [each.name for each in chosen(["table-9a", "table-3b", "table-3a"])] == ["table-3a", "table-3b", "table-9a"]
    seeds = [seed for _, seed, _ in works(load_experiment("table-3a"))]
    assert seeds == sorted(seeds)
    assert [seed for _, seed, _ in works(load_experiment("table-3a"), [4])] == [4] * (
        len(list(load_experiment("table-3a").cells()))
    )


def test_a_row_may_have_more_seeds_than_its_column():
    found = [(cell.key, seed) for cell, seed, work in works(load_experiment("table-3a"), columns=["protein"])
             if cell.group.name == "Node-disjoint split, structure only"]  # fmt: skip
    assert [seed for key, seed in found if key == "reach"] == list(range(10))
    assert [seed for key, seed in found if key == "best"] == list(range(3))


def test_a_changed_preset_is_other_work(monkeypatch):
    from graphreach.nn import presets

    works_ = [Work.make(data="grid", settings={"method": method}) for method in ("graphreach", "gcn+graphreach", "gcn")]
    before = [work.key for work in works_]
    changed = presets.PRESETS["best"]._replace(scale="counts")
    monkeypatch.setitem(presets.PRESETS, "best", changed)
    assert [work.key == key for work, key in zip(works_, before, strict=True)] == [False, False, True]


@pytest.mark.parametrize(
    ("mean", "figure", "words"),
    [
        (0.9404, Figure(0.949, 0.009), "reproduced"),
        (0.9394, Figure(0.949, 0.009), "short by 0.010"),
        (0.958, Figure(0.949, 0.009), "reproduced"),
        (0.9586, Figure(0.949, 0.009), "better"),
        (1.0, Figure(1.0, 0.0), "reproduced"),
        (0.855, Figure(0.86), "reproduced"),
        (0.8544, Figure(0.86), "short by 0.006"),
    ],
)
def test_verdicts(mean, figure, words):
    assert verdict(mean, figure) == words


def test_tables_show_ours_beside_the_papers(here, tmp_path):
    experiment = load_experiment("table-3b")
    store = Store(tmp_path, "table-3b")
    for cell, seed, work in works(experiment):
        if cell.name == "grid" and cell.key in ("gcn", "best") and seed < 2:
            auc = {"gcn": 0.45, "best": 0.96}[cell.key] + 0.02 * seed
            store.add([{"key": work.key, "work": work.describe(), "metrics": {"test": {"auc": auc}}, "best_epoch": 10}])
    found = summarise(experiment, tmp_path)
    texts = {path.suffix: path.read_text() for path in write_tables(experiment, found, tmp_path)}
    assert "0.460 ± 0.014 (2 of 10 seeds)<br><sub>paper 0.456, reproduced</sub>" in texts[".md"]
    assert "0.970 ± 0.014 (2 of 10 seeds)<br><sub>paper 0.956, reproduced</sub>" in texts[".md"]
    assert "Table 3b,Published split,GCN,Grid,0.4600,0.0141,2,0.456,0.037,reproduced" in texts[".csv"]
    assert r"$0.460 \pm 0.014$ (0.456)" in texts[".tex"]


def test_a_row_that_has_not_run_is_left_out_of_tables(tmp_path):
    experiment = load_experiment("table-3b")
    for cell, _, work in works(experiment):
        if cell.name == "grid" and cell.key == "gcn":
            line = {"key": work.key, "work": work.describe(), "metrics": {"test": {"auc": 0.45}}}
            Store(tmp_path, "table-3b").add([line])
    text = contents(experiment, summarise(experiment, tmp_path))
    assert "| GCN | … | … | 0.450 ± 0.000" in text[".md"]
    assert "Grid: 10 seeds" in text[".md"]
    for suffix, row in ((".md", "\n| reach |"), (".csv", ",reach,"), (".tex", "\nreach &")):
        assert row not in text[suffix]


def test_tables_keep_the_columns_and_seeds_that_a_call_does_not_ask_for(tmp_path):
    experiment = load_experiment("table-3b")
    for cell, _, work in works(experiment, [0, 12]):
        if cell.key == "gcn" and cell.name in ("grid", "ppi"):
            line = {
                "key": work.key,
                "work": work.describe(),
                "metrics": {"test": {"auc": 0.5 if cell.name == "ppi" else 0.4}},
            }
            Store(tmp_path, "table-3b").add([line])
    arguments = ["reproduce", "table-3b", "--no-run", "--columns", "grid", "--output", str(tmp_path)]
    shown = CliRunner().invoke(app, arguments).stdout
    assert "0.400" in shown
    assert "0.500" not in shown
    table = (tmp_path / "tables" / "table-3b.md").read_text()
    assert "0.400 ± 0.000 (2 of 10 seeds)" in table
    assert "0.500 ± 0.000 (2 of 3 seeds)" in table


def test_figures_have_their_numbers_beside_them(here, tmp_path):
    reproduce(["figure-3d", "attack-curve"], tmp_path, quick=True)
    paths = write_figures(["figure-3d", "attack-curve"], tmp_path, tmp_path / "figures", quick=True)
    assert sorted(path.name for path in paths) == [
        "attack-curve.csv", "attack-curve.png", "attack-curve.svg", "figure-3cd.csv", "figure-3cd.png", "figure-3cd.svg",
    ]  # fmt: skip
    assert len((tmp_path / "figures" / "figure-3cd.csv").read_text().splitlines()) == 1 + 12


def test_sweeps_are_drawn_beside_the_papers_figures_with_labels_in_the_walks_apart(tmp_path):
    experiment = load_experiment("table-9a")
    lines = []
    for cell, _, work in works(experiment):
        if cell.name == "email-complete":
            auc = 0.94 if cell.leaks else 0.7
            lines.append({"key": work.key, "work": work.describe(), "metrics": {"test": {"auc": auc}}})
    Store(tmp_path, "table-9a").add(lines)
    write_figures(["table-9a"], tmp_path, tmp_path)
    with (tmp_path / "figure-3ab.csv").open() as file:
        found = {(row["panel"], row["series"], row["x"]): float(row["mean"]) for row in csv.DictReader(file)}
    assert {panel for panel, _, _ in found} == {"(a) Email-Complete, pairs"}
    assert found["(a) Email-Complete, pairs", "no labels in the walks", "20"] == 0.7
    assert found["(a) Email-Complete, pairs", "authors' command (leaks)", "20"] == 0.94
    assert found["(a) Email-Complete, pairs", "paper", "20"] == 0.934
    assert len(found) == 3 * 6


def test_the_command_runs_prints_and_writes(here, tmp_path):
    arguments = ["reproduce", "table-8b", "--quick", "--columns", "grid", "--output", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "GraphReach-OA" in result.stdout
    assert "paper 0.956" in result.stdout
    assert (tmp_path / "quick" / "tables" / "table-8b.md").exists()
    again = CliRunner().invoke(app, [*arguments, "--json"])
    cells = json.loads(again.stdout)
    assert {cell["column"] for cell in cells} == {"grid"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["table-33"], "did you mean"),
        (["table-3a", "--seeds", "x"], "seeds must be numbers"),
        (["table-3a", "--seeds", "9-0"], "from the lesser to the greater"),
        (["table-3a", "--columns", ""], "columns must be among communities"),
        (["table-3a", "--output", __file__], "which is a file"),
        (["table-3a", "--columns", "grid"], "columns must be among communities"),
    ],
)
def test_wrong_arguments_get_one_sentence(arguments, sentence):
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_the_list_names_every_experiment():
    result = CliRunner().invoke(app, ["reproduce", "list"])
    assert len(result.stdout.splitlines()) == len(ORDER)
