"""What is found is the truth of this process, and reads well where something is missing."""

import platform
import sys
from dataclasses import replace
from pathlib import Path

import numba
import pytest

import graphreach as gr
from graphreach.doctor import as_text, caches, examine
from graphreach.doctor import examine as module_function
from graphreach.doctor.packages import Package

HERE = [Package("numpy", "1.26", None, "2.0"), Package("torch", "2.4", "nn")]
MODULE = sys.modules[module_function.__module__]


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(MODULE, "find_packages", lambda: (HERE, {}))


def test_facts_are_those_of_this_process(without_torch, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", "4000000000")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = examine()
    assert (found["graphreach"], found["python"]["version"]) == (gr.__version__, platform.python_version())
    assert found["threads"]["numba"] == numba.get_num_threads()
    assert found["threads"]["torch"] is None
    assert found["threads"]["environment"]["OMP_NUM_THREADS"] == "3"
    assert found["memory"]["limit"] == 4 * 10**9
    assert [each["name"] for each in found["caches"]] == ["kernels", "reachability", "datasets"]
    text = as_text(found)
    assert "torch  not installed: pip install 'graphreach[nn]' (models and training)" in text
    assert "a result may take 4 GB, as GRAPHREACH_MEMORY_LIMIT says" in text
    assert text.endswith("problems\n  none")


def test_torch_says_its_threads_and_devices(monkeypatch):
    here = [HERE[0], Package("torch", "2.4", "nn", "2.13.0")]
    for facts, expected in (
        ({"threads": 4, "cuda": [], "mps": False}, "CPU"),
        ({"threads": 4, "cuda": ["Some GPU"], "mps": False}, "CUDA: Some GPU"),
        ({"threads": 4, "cuda": [], "mps": True}, "CPU; torch has MPS, which graphreach does not use"),
    ):
        monkeypatch.setattr(MODULE, "find_packages", lambda facts=facts: (here, facts))
        text = as_text(examine())
        assert f"device       {expected}\n" in text
        assert "torch 4" in text


def test_problems_are_collected(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", "much")
    monkeypatch.setenv("GRAPHREACH_CACHE", str(tmp_path / "file"))
    broken = Package("torch", "2.4", "nn", "2.13.0", "cannot be imported: OSError: no such library")
    monkeypatch.setattr(MODULE, "find_packages", lambda: ([Package("polars", "1.20"), broken], {}))
    problems = examine()["problems"]
    assert problems[0] == "polars is not installed: pip install graphreach"
    assert problems[1] == "torch 2.13.0 cannot be imported: OSError: no such library"
    assert problems[2] == "GRAPHREACH_MEMORY_LIMIT must be a number of bytes, got 'much'"
    assert problems[3].startswith("reachability: ")


def test_it_is_said_when_no_kernels_are_compiled(without_torch, monkeypatch):
    none = caches.Cache("kernels", (), (), 0)
    monkeypatch.setattr(MODULE, "find_caches", lambda: [replace(none, folders=(Path("here"),))])
    assert "kernels  none compiled yet: the first run of a command takes about ten seconds longer" in as_text(examine())


def test_without_pooch_there_is_no_folder_and_no_problem(without_torch, monkeypatch):
    monkeypatch.delenv("GRAPHREACH_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    found = examine()
    assert found["problems"] == []
    assert "no folder: set GRAPHREACH_DATA to one" in as_text(found)
