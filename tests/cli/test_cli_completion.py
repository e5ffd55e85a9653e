"""Completion by the shell, asked for as the shell asks."""

import os
import subprocess
import sys
from typing import get_args

import pytest

import graphreach as gr
from graphreach.anchors.strategies import STRATEGIES
from graphreach.attacks.assess import KINDS
from graphreach.cli.app import VERBS, app
from graphreach.cli.completion import CHOICES, DATASETS, complete_experiment
from graphreach.cli.reach import LAYOUTS, METHODS, SIMILARITIES
from graphreach.doctor.caches import CACHES
from graphreach.nearest import METRICS
from graphreach.training.settings import OPTIONS, Settings
from graphreach.vectors.parameters import ATTRIBUTES
from graphreach.vectors.parameters import METHODS as EMBEDDINGS
from graphreach.walks.engine import find_engine


@pytest.fixture
def offered(monkeypatch, capfd, tmp_path):
    """What bash is offered for the last word of a command line."""
    monkeypatch.chdir(tmp_path)

    def complete(line):
        words = line.split(" ")
        monkeypatch.setenv("_GRAPHREACH_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "\n".join(words) if words[-1] else "\n".join(words[:-1]))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        with pytest.raises(SystemExit) as end:
            app([], prog_name="graphreach")
        assert end.value.code in (0, None)
        return capfd.readouterr().out.split()

    return complete


def test_verbs_and_options_are_offered(offered):
    assert offered("graphreach ") == list(VERBS)
    assert offered("graphreach re") == ["reach", "recommend", "report", "reproduce"]
    assert offered("graphreach --v") == ["--version"]
    assert {"--num-anchors", "--strategy", "--engine"} <= set(offered("graphreach anchors --"))
    assert offered("graphreach datasets f") == ["fetch"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("anchors g.csv --strategy ", ["greedy", "random", "degree", "pagerank"]),
        ("train g.csv --model gra", ["graphreach"]),
        ("train g.csv -m gcn+gra", ["gcn+graphreach"]),
        ("compare g.csv --models gcn,rea", ["gcn,reach", "gcn,reachability"]),
        ("reach g.csv --method ", ["walks", "exact", "auto"]),
        ("embed g.csv --method ", ["reach", "position", "paper"]),
        ("doctor --clear k", ["kernels"]),
        ("datasets fetch face", ["facebook"]),
        ("reproduce figure-3c", ["figure-3c"]),
        ("recommend comm", ["communities"]),
        ("train g.csv --output ", []),
        ("info road", []),
    ],
)
def test_values_are_offered(offered, line, expected):
    assert offered(f"graphreach {line}") == expected


def test_files_are_offered_beside_data_sets(offered, tmp_path):
    (tmp_path / "commuters.csv").write_text("")
    (tmp_path / "comments").mkdir()
    assert offered("graphreach info comm") == ["communities", "comments/", "commuters.csv"]
    assert offered("graphreach info commu") == ["communities", "commuters.csv"]
    assert offered("graphreach info commut") == []  # the shell has the files


def literals(name):
    """The values that a setting may have."""
    return [each for each in get_args(Settings.model_fields[name].annotation) if isinstance(each, str)]


def test_choices_are_those_that_are_allowed():
    allowed = {
        "attributes": ATTRIBUTES, "clear": CACHES, "device": literals("device"), "kind": KINDS, "layout": LAYOUTS,
        "method": METHODS, "embed method": EMBEDDINGS, "metric": METRICS, "model": OPTIONS, "models": OPTIONS,
        "negatives": literals("negatives"), "preset": literals("preset"), "protocol": literals("protocol"),
        "similarity": SIMILARITIES, "strategy": ["greedy", *STRATEGIES], "task": literals("task"),
    }  # fmt: skip
    for name, values in allowed.items():
        assert set(CHOICES[name]) == set(values), name
    assert list(DATASETS) == gr.datasets.names()
    assert complete_experiment("") == [*sorted(gr.experiments.ORDER), "all", "list"]


def test_reading_options_are_those_that_are_allowed(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("a,b\n1,2\n2,1\n")
    for name in ("format", "ids", "reduce"):
        with pytest.raises(gr.InputError) as error:
            gr.read_graph(path, **{name: "odd"})
        for each in CHOICES[name]:
            assert each in str(error.value)
    with pytest.raises(gr.InputError) as error:
        find_engine("odd")
    assert all(each in str(error.value) for each in CHOICES["engine"])


NEEDS = """
import os, sys
from graphreach.cli import main
try:
    main()
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("line", ["graphreach ", "graphreach info co", "graphreach doctor --clear "])
def test_completion_imports_nothing_heavy(line):
    words = line.split(" ")
    asked = {"_GRAPHREACH_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([sys.executable, "-c", NEEDS], capture_output=True, text=True, env={**os.environ, **asked})
    assert done.stdout
    assert not {"torch", "sklearn", "pandas", "polars", "matplotlib"} & set(done.stderr.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_for_each_shell(shell, monkeypatch, capfd):
    monkeypatch.setenv("_GRAPHREACH_COMPLETE", f"source_{shell}")
    with pytest.raises(SystemExit):
        app([], prog_name="graphreach")
    assert "_GRAPHREACH_COMPLETE=complete_" in capfd.readouterr().out
