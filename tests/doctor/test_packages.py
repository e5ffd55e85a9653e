"""Packages are found in the metadata, and imported where a broken one does no harm."""

import os
import sys
from importlib.metadata import version

import pytest

from graphreach.doctor import packages
from graphreach.doctor.packages import Package, find_packages, required, try_imports

LINES = [
    "numpy>=1.26",
    "typer",
    "torch>=2.4; extra == 'all'",
    "torch-geometric>=2.6 ; extra == 'nn'",
    'torch>=2.4; extra == "nn"',
    "ray[train]>=2.40; extra == 'ray'",
    "graphreach[nn]; extra == 'all'",
]


def test_requirements_are_read_in_all_spellings():
    assert [(each.name, each.lowest, each.extra) for each in required(LINES)] == [
        ("numpy", "1.26", None),
        ("typer", "0", None),
        ("torch", "2.4", "nn"),
        ("torch-geometric", "2.6", "nn"),
        ("ray", "2.40", "ray"),
    ]


def test_each_extra_has_a_purpose():
    found, _ = find_packages()
    assert {each.extra for each in found} - {None} == set(packages.PURPOSES)
    assert {each.name: each.version for each in found}["numpy"] == version("numpy")
    assert [each.problem for each in found if each.problem] == []


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """A folder of modules that can be imported."""
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *([before] if before else [])]))
    return tmp_path


def test_a_broken_package_is_named_and_the_others_are_tried(modules):
    (modules / "raises.py").write_text("raise OSError('libthing.so.1:\\n cannot open shared object file')")
    (modules / "dies.py").write_text("import os; os._exit(7)")
    (modules / "leaves.py").write_text("import sys; sys.exit(0)")
    (modules / "talks.py").write_text("print('hello')")
    problems, torch = try_imports(["raises", "dies", "leaves", "talks"])
    assert problems["raises"] == "OSError: libthing.so.1:\n cannot open shared object file"
    assert problems["dies"] == "its import ended the process with exit code 7"
    assert problems["leaves"] == "SystemExit: 0"
    assert problems["talks"] is None
    assert torch == {}


def test_an_import_without_end_is_ended(modules, monkeypatch):
    monkeypatch.setattr(packages, "SECONDS", 1)
    (modules / "waits.py").write_text("import time; time.sleep(600)")
    assert try_imports(["json", "waits"])[0] == {"json": None, "waits": "its import took more than 1 s"}


def test_python_that_cannot_be_started(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert try_imports(["json"])[0] == {"json": "Python cannot be started: No such file or directory"}


def test_old_and_broken_packages_are_described(monkeypatch):
    monkeypatch.setattr(packages, "requires", lambda name: ["numpy>=99", "scipy>=1.0", "nothing>=1; extra == 'nn'"])
    monkeypatch.setattr(packages, "try_imports", lambda names: ({"numpy": None, "scipy": "OSError: a\nb"}, {}))
    nothing, numpy, scipy = sorted(find_packages()[0], key=lambda each: each.name)
    assert nothing.describe() == "not installed: pip install 'graphreach[nn]' (models and training)"
    assert numpy.describe() == f"{version('numpy')}, older than 99, which is needed"
    assert scipy.describe() == f"{version('scipy')}, cannot be imported: OSError: a b"


@pytest.mark.parametrize(
    ("here", "lowest", "is_old"),
    [("1.26.0", "1.26", False), ("2.13.0+cpu", "2.4", False), ("1.9", "1.10", True), ("2.0", "2", False)],
)
def test_versions_are_compared_by_their_numbers(here, lowest, is_old):
    judged = packages._judged(Package("x", lowest, version=here), None)
    assert (judged.problem is not None) == is_old


def test_sources_that_are_not_installed_have_no_packages_to_examine(monkeypatch):
    def missing(name):
        raise packages.PackageNotFoundError(name)

    monkeypatch.setattr(packages, "requires", missing)
    assert find_packages() == ([], {})
