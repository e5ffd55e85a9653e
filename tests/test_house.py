"""The house as the design has it: who imports whom, and where a cluster's arguments stand."""

import ast
import inspect
import re

import pytest

import graphreach as gr
from doc_blocks import ROOT
from graphreach.walks import defaults
from tools.flow import ORDER, ROOMS
from tools.names import rooms

PACKAGE = ROOT / "src" / "graphreach"
SOURCES = {path.relative_to(PACKAGE): ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
TOP = ("__init__", "__main__", "by_name")
"""The package itself, and the table by which rooms find what stands in later ones."""

NAME = re.compile(r"graphreach\.\w+(\.\w+)*(:[\w.]+)?")

OF_A_CLUSTER = {"address", "partitions", "workers", "cluster"}
PUBLIC = {("cluster/ray_engine.py", "__init__"), ("cluster/connection.py", "connected")}


def part_of(path):
    """The room or module at the top that a file belongs to."""
    return path.parts[0].removesuffix(".py")


def imported(tree):
    """Parts of the package that a source imports anywhere: at its top, in functions, for types only, or by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "graphreach":
            names = [f"graphreach.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." if node.level else str(node.module)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
            names = [node.value.partition(":")[0]]
        else:
            continue
        for name in names:
            assert name != ".", "imports are absolute"
            if name.partition(".")[0] == "graphreach":
                yield [*name.split("."), "graphreach"][1]


def test_the_list_of_rooms_is_complete():
    assert sorted(ORDER) == sorted({part_of(path) for path in SOURCES} - {*TOP[:2]})
    assert [name for name, _ in ROOMS] == [name for name in ORDER if name in dict(ROOMS)]
    assert {"nn", "tasks", "training"} <= set(rooms())


@pytest.mark.parametrize(
    "source",
    [
        "from graphreach.cluster import Ray",
        "from graphreach import cluster",
        "def late():\n    from graphreach.cluster.ray_engine import Ray",
        "if TYPE_CHECKING:\n    import graphreach.cluster.machines",
        "importlib.import_module('graphreach.cluster')",
        "find('graphreach.cluster:Ray')",
    ],
)
def test_imports_are_seen_wherever_they_stand(source):
    assert list(imported(ast.parse(source))) == ["cluster"]


def test_parts_import_only_from_parts_before_them():
    number = {name: place for place, name in enumerate(ORDER)}
    for path, tree in SOURCES.items():
        own = part_of(path)
        if own in TOP:
            continue
        allowed = {name for name in number if number[name] <= number[own]} | ({"graphreach"} if own == "cli" else set())
        assert set(imported(tree)) <= allowed, f"{path} imports {set(imported(tree)) - allowed}"


def parameters(tree):
    """Names of all functions' parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            yield from ((getattr(node, "name", "lambda"), each.arg) for each in every if each is not None)


def test_arguments_of_a_cluster_stand_in_its_engine_and_on_the_command_line_alone():
    found = {
        (path.as_posix(), function)
        for path, tree in SOURCES.items()
        if part_of(path) != "cli"
        for function, name in parameters(tree)
        if name in OF_A_CLUSTER
    }
    assert found == PUBLIC


def test_public_functions_take_an_engine_and_the_defaults_of_one_place():
    expected = {
        gr.random_walks: {"num_walks": defaults.NUM_WALKS, "walk_length": defaults.STORED_WALK_LENGTH},
        gr.select_anchors: {"num_walks": defaults.NUM_WALKS, "walk_length": defaults.WALK_LENGTH},
        gr.reachability: {"num_walks": defaults.NUM_WALKS, "walk_length": defaults.WALK_LENGTH},
    }
    for function, values in expected.items():
        found = {name: each.default for name, each in inspect.signature(function).parameters.items()}
        assert found["engine"] == "local"
        assert values.items() <= found.items()


def test_defaults_of_walks_are_written_once():
    names = {"num_walks", "walk_length", "num_anchors", "strategy"}
    for path, tree in SOURCES.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or node.name == "random_walk_encodings":  # which needs many walks
                continue
            both = zip(node.args.args[::-1], node.args.defaults[::-1], strict=False)
            for argument, default in [*both, *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]:
                written = isinstance(default, ast.Constant) and default.value not in (None, "auto")
                assert not (argument.arg in names and written), f"{path}, {node.name}({argument.arg}=...)"
