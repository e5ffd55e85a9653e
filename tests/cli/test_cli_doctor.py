"""``graphreach doctor``."""

import json

import pytest

from graphreach.doctor import caches

TAGGED = "a" * 64


def test_doctor_says_how_things_are(run):
    result = run("doctor")
    assert result.exit_code == 0
    for part in ("graphreach ", "packages\n  numba", "machine\n  threads", "caches\n  kernels", "problems\n"):
        assert part in result.stdout


def test_doctor_as_json(run, monkeypatch):
    monkeypatch.setattr("graphreach.doctor.packages.try_imports", lambda modules: ({}, {}))
    result = run("doctor", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert {"graphreach", "python", "packages", "threads", "device", "memory", "caches", "problems"} == set(found)


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_CACHE", str(tmp_path))
    (tmp_path / "reachability").mkdir()
    path = tmp_path / "reachability" / f"{TAGGED}.npz"
    path.write_bytes(bytes(3_000_000))
    return path


def test_clear_removes_a_cache_and_says_how_much(run, results):
    result = run("doctor", "--clear", "reachability")
    assert result.stdout == "removed 1 file of reachability, 3 MB\n"
    assert not results.exists()
    assert json.loads(run("doctor", "--clear", "reachability", "--json").stdout) == [
        {"name": "reachability", "files": 0, "bytes": 0}
    ]


def test_clear_checks_all_names_before_it_removes_anything(run, results):
    result = run("doctor", "--clear", "reachability", "--clear", "model")
    assert result.exit_code == 2
    assert "--clear must be one of kernels, reachability, datasets, got 'model'" in result.stderr
    assert results.exists()


def test_data_of_the_users_own_are_not_removed(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_DATA", str(tmp_path))
    result = run("doctor", "--clear", "datasets")
    assert result.exit_code == 2
    assert "datasets must be removed by hand" in result.stderr
    assert caches.CACHES["datasets"]().kept is not None
