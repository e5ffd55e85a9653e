"""Caches are found where they are filled, and emptied of what is the package's own."""

import os
import sys
from pathlib import Path

import pytest

import graphreach as gr
from graphreach.datasets.registry import ENTRIES
from graphreach.doctor import caches, clear, find_caches
from graphreach.jit import fill

TAG = f"py{sys.version_info.major}{sys.version_info.minor}"


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A package with one room that has kernels and one that has none."""
    for name, text in (("walks", "from graphreach.jit import kernel"), ("io", "import os")):
        (tmp_path / "package" / name / "__pycache__").mkdir(parents=True)
        (tmp_path / "package" / name / "__init__.py").write_text(text)
    monkeypatch.setattr(caches, "PACKAGE", tmp_path / "package")
    return tmp_path / "package"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user without caches."""
    for name in ("GRAPHREACH_DATA", "GRAPHREACH_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "graphreach"


def names(paths):
    return [path.name for path in paths]


def test_kernels_are_where_numba_keeps_them():
    (kernels, *_) = find_caches()
    assert Path(fill.stats.cache_path) in kernels.folders
    assert kernels.problem is None
    fill(__import__("numpy").zeros(3), 1.0)  # compiled now, if it was not
    (kernels, *_) = find_caches()
    assert any(name.startswith("jit.fill-") for name in names(kernels.files))
    assert caches.compiled(kernels) > 0
    assert kernels.size == sum(path.stat().st_size for path in kernels.files)


def test_kernels_are_removed_and_nothing_beside_them(sources):
    folder = sources / "walks" / "__pycache__"
    for name in (f"kernels.step-1.{TAG}.nbi", f"kernels.step-1.{TAG}.1.nbc", "old.py27.nbi", "kernels.cpython.pyc"):
        (folder / name).write_bytes(b"1234")
    (sources / "io" / "__pycache__" / "other.nbi").write_bytes(b"1")
    (folder / "link.nbi").symlink_to(sources / "io" / "__init__.py")
    found = caches.CACHES["kernels"]()
    assert found.folders == (folder,)
    assert caches.compiled(found) == 1
    assert (len(found.files), found.size) == (3, 12)
    removed = clear("kernels")
    assert removed.files == found.files
    assert sorted(names(folder.iterdir())) == ["kernels.cpython.pyc", "link.nbi"]
    assert (sources / "io" / "__pycache__" / "other.nbi").exists()
    assert clear("kernels").files == ()


def test_kernels_that_can_be_kept_nowhere(sources, monkeypatch):
    monkeypatch.setattr("numba.core.caching.FunctionCache", refuse)
    found = caches.CACHES["kernels"]()
    assert (found.folders, found.files) == ((), ())
    assert "set NUMBA_CACHE_DIR" in found.problem


def refuse(function):
    raise RuntimeError("no locator available")


def test_reachability_is_where_it_is_kept(home):
    graph = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]])
    gr.reachability(graph, [0, 2], method="walks", num_walks=2, walk_length=2, cache=True)
    (home / "reachability" / "notes.npz").write_text("mine")
    found = caches.CACHES["reachability"]()
    assert found.folders == (home / "reachability",)
    assert len(found.files) == 1
    clear("reachability")
    assert names((home / "reachability").iterdir()) == ["notes.npz"]


def test_where_there_is_no_home_it_is_said(monkeypatch):
    monkeypatch.delenv("GRAPHREACH_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError))
    assert "set GRAPHREACH_CACHE" in caches.CACHES["reachability"]().problem


def test_data_sets_are_removed_by_their_names(home, tmp_path):
    first, second, *_ = dict.fromkeys(file.path for entry in ENTRIES for file in entry.files)
    outside = tmp_path / "outside"
    outside.mkdir()
    for path in (home / first, home / "mine" / "edges.csv"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("12345")
    (home / second).parent.mkdir(parents=True, exist_ok=True)
    (outside / "kept.txt").write_text("kept")
    (home / second).symlink_to(outside / "kept.txt")
    found = caches.CACHES["datasets"]()
    assert (found.files, found.size) == ((home / first,), 5)
    clear("datasets")
    assert not (home / first).exists()
    assert (home / "mine" / "edges.csv").exists()
    assert (outside / "kept.txt").exists()


def test_a_linked_folder_of_a_data_set_is_left_alone(home, tmp_path):
    path = next(file.path for entry in ENTRIES for file in entry.files)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / Path(path).name).write_text("mine")
    home.mkdir(parents=True)
    (home / Path(path).parent).symlink_to(elsewhere)
    assert clear("datasets").files == ()
    assert (elsewhere / Path(path).name).exists()


def test_a_folder_that_the_user_named_is_not_emptied(home, tmp_path, monkeypatch):
    path = next(file.path for entry in ENTRIES for file in entry.files)
    (tmp_path / "data" / path).parent.mkdir(parents=True)
    (tmp_path / "data" / path).write_text("mine")
    monkeypatch.setenv("GRAPHREACH_DATA", str(tmp_path / "data"))
    assert len(caches.CACHES["datasets"]().files) == 1
    with pytest.raises(gr.InputError, match="datasets must be removed by hand, as GRAPHREACH_DATA names"):
        clear("datasets")
    assert (tmp_path / "data" / path).exists()


def test_a_folder_that_cannot_be_written_to_is_a_problem(home, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRAPHREACH_CACHE", str(tmp_path / "file"))  # not even root writes into a file
    assert f"{tmp_path / 'file'} cannot be written to" in caches.CACHES["reachability"]().problem
    assert not os.path.lexists(tmp_path / "file" / "reachability")
