"""What holds for the package as a whole, looked at from fresh processes."""

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

import graphreach as gr

HEAVY = ("torch", "torch_geometric", "matplotlib", "polars", "pandas", "networkx", "pyarrow")


def run_python(code, **environment):
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("module", ["graphreach", "graphreach.cli"])
def test_import_pulls_in_nothing_heavy(module):
    loaded = run_python(f"import sys, {module}; print(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)


def test_walks_anchors_and_reachability_need_nothing_heavy():
    code = """
import sys
import graphreach as gr
g = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]])
gr.reachability(g, gr.select_anchors(g, 2))
print(*sys.modules)
"""
    assert not set(HEAVY) & set(run_python(code).split())


def test_links_are_trained_and_scored_without_scikit_learn():
    """Its import took longer than all else on a small graph."""
    code = """
import sys
import graphreach as gr
ring = gr.Graph.from_edges([[*range(40), *range(40)], [*range(1, 40), 0, *range(2, 40), 0, 1]])
settings = gr.training.Settings(method="reach", model={"num_anchors": 4, "steps": 2, "lengths": [2], "num_members": 1})
assert "ap" in gr.training.run(gr.datasets.Sample(ring), settings).test
print(*sys.modules)
"""
    assert not {"sklearn", "pandas", "scipy.stats", "scipy.optimize"} & set(run_python(code).split())


LOADED = "print(sum(name.partition('.')[0] == 'graphreach' for name in sys.modules))"
FIT = f"""
import sys
import graphreach as gr
ring = gr.Graph.from_edges([range(20), [*range(1, 20), 0]])
gr.GraphReachEmbedding(dim=8).fit(ring)
{LOADED}
"""
EMBED = f"""
import os, sys
from graphreach.cli import app
try:
    app(["embed", "communities", "-o", os.environ["OUTPUT"]])
except SystemExit:
    {LOADED}
"""


def test_few_modules_are_loaded_to_embed_a_graph(tmp_path):
    assert int(run_python(FIT)) <= 95
    assert int(run_python(EMBED, OUTPUT=str(tmp_path / "z.npy")).split()[-1]) <= 120


@pytest.mark.parametrize(
    "room", ["graphreach", "graphreach.explain", "graphreach.nn", "graphreach.tasks", "graphreach.training"]
)
def test_names_that_are_imported_lazily_are_those_that_types_are_checked_by(room):
    package = import_module(room)
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {
        (alias.name, node.module)
        for node in checked.body
        for alias in node.names
        if node.module != room  # rooms themselves
    }
    assert {(name, f"{room}.{home}") for name, home in package._homes.items()} == typed
    assert set(package._homes) <= set(package.__all__) <= set(dir(package))
    assert all(hasattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError, match=f"module '{room}' has no attribute 'nothing'"):
        package.nothing  # noqa: B018


USE_EVERYTHING = """
import json, sys
import graphreach as gr
from numba.core.dispatcher import Dispatcher

graph = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
gr.random_walks(graph, num_walks=2, walk_length=3)
anchors = gr.select_anchors(graph, 2)
for method in ("walks", "exact"):
    gr.reachability(graph, anchors, method=method)
gr.pair_reachability(graph, [[0], [1]])

modules = [module for name, module in sys.modules.items() if name.startswith("graphreach")]
kernels = [getattr(value, "compiled", value) for module in modules for value in vars(module).values()]
dispatchers = {id(kernel): kernel for kernel in kernels if isinstance(kernel, Dispatcher)}
stats = [dispatcher.stats for dispatcher in dispatchers.values()]
hits, misses = (sum(sum(getattr(each, name).values()) for each in stats) for name in ("cache_hits", "cache_misses"))
print(json.dumps({"hits": hits, "misses": misses}))
"""


@pytest.mark.slow
def test_second_process_does_not_compile():
    _, second = (json.loads(run_python(USE_EVERYTHING, NUMBA_NUM_THREADS="2")) for _ in range(2))
    assert second["misses"] == 0
    assert second["hits"] > 0


def test_version_is_that_of_the_installed_package():
    assert gr.__version__ == version("graphreach")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", gr.__version__)


def test_the_citation_and_the_changelog_name_the_version():
    root = Path(__file__).parent.parent
    assert f"\nversion: {gr.__version__}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    newest = (root / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1].partition("\n### ")[0]
    assert gr.__version__ in newest


def test_types_are_declared():
    assert files("graphreach").joinpath("py.typed").is_file()


def test_all_is_sorted_and_complete():
    assert gr.__all__ == sorted(gr.__all__)
    assert set(gr.__all__) <= set(dir(gr))
    assert all(hasattr(gr, name) for name in gr.__all__)


PUBLIC = [name for name in gr.__all__ if callable(getattr(gr, name))]
"""Functions and classes, those that load torch too."""


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_have_a_runnable_example(name):
    text = inspect.getdoc(getattr(gr, name))
    assert text
    assert "Example:" in text
    assert ">>>" in text
