"""Passive waiting and the number of threads, looked at from fresh processes."""

import json
import os
import re
import subprocess
import sys

import pytest

from graphreach import threads

VARIABLES = (*threads.WAITING, *threads.COUNTS)

SHOW = f"""
import json, os, sys
{{before}}
import graphreach as gr
import numba, torch
from graphreach.walks.random_walks import random_walks
random_walks(gr.Graph.from_edges([[0, 1], [1, 2]]), num_walks=2, walk_length=2)
print(json.dumps({{{{
    "environment": {{{{name: os.environ.get(name) for name in {VARIABLES!r}}}}},
    "torch": torch.get_num_threads(), "numba": numba.get_num_threads(),
}}}}))
"""


@pytest.fixture
def bare(monkeypatch):
    """The environment of a user who chose nothing."""
    for name in VARIABLES:
        monkeypatch.setenv(name, "")  # so that what a test sets is gone after it
        monkeypatch.delenv(name)


def run_process(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | environment
    )


def shown(before="", **environment):
    done = run_process(SHOW.format(before=before), **environment)
    return json.loads(done.stdout), done.stderr


@pytest.mark.usefixtures("bare")
class TestPrepare:
    def test_threads_wait_passively_by_default_and_every_openmp_was_told_before_it_was_loaded(self):
        found, printed = shown(OMP_DISPLAY_ENV="TRUE")
        assert found["environment"] == dict.fromkeys(VARIABLES) | {"OMP_WAIT_POLICY": "PASSIVE"}
        assert found["torch"] == found["numba"] == len(os.sched_getaffinity(0))
        policies = re.findall(r"OMP_WAIT_POLICY\s*=\s*'(\w+)'", printed)
        assert set(policies) <= {"PASSIVE"}, printed
        assert policies or "OPENMP DISPLAY" not in printed

    @pytest.mark.parametrize(
        "chosen", [{"OMP_WAIT_POLICY": "ACTIVE"}, {"GOMP_SPINCOUNT": "100"}, {"KMP_BLOCKTIME": "200"}]
    )
    def test_a_choice_of_the_user_stays(self, chosen, monkeypatch):
        monkeypatch.setattr(threads, "available_cpus", threads._affinity)
        for name, value in chosen.items():
            monkeypatch.setenv(name, value)
        threads.prepare()
        assert {name: os.environ[name] for name in VARIABLES if name in os.environ} == chosen

    def test_affinity_limits_the_threads(self):
        found, _ = shown("os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])")
        assert (found["torch"], found["numba"]) == (1, 1)


def test_affinity_and_quota_of_version_two(tmp_path, monkeypatch):
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    monkeypatch.setattr(threads, "QUOTAS", ((str(tmp_path / "cpu.max"), None),))
    monkeypatch.setattr(threads, "_affinity", lambda: 8)
    assert threads.available_cpus() == 2


def test_quota_of_version_one(tmp_path, monkeypatch):
    quota, period = tmp_path / "cpu.cfs_quota_us", tmp_path / "cpu.cfs_period_us"
    quota.write_text("300000\n"), period.write_text("100000\n")
    monkeypatch.setattr(threads, "QUOTAS", ((str(quota), str(period)),))
    monkeypatch.setattr(threads, "_affinity", lambda: 8)
    assert threads.available_cpus() == 3


@pytest.mark.parametrize("text", ["max 100000", "-1", "", "10 0"])
def test_no_quota(tmp_path, monkeypatch, text):
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(threads, "QUOTAS", ((str(tmp_path / "cpu.max"), None), (str(tmp_path / "none"), None)))
    monkeypatch.setattr(threads, "_affinity", lambda: 8)
    assert threads.available_cpus() == 8


class _Runtime:
    """Stands for torch or numba, imported before graphreach."""

    def __init__(self, count):
        self.count = count

    def get_num_threads(self):
        return self.count

    def set_num_threads(self, count):
        self.count = count


@pytest.fixture
def quota_of_two(bare, monkeypatch):
    monkeypatch.setattr(threads, "_affinity", lambda: 8)
    monkeypatch.setattr(threads, "available_cpus", lambda: 2)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    return monkeypatch


def test_a_quota_sets_the_variables(quota_of_two):
    threads.prepare()
    assert {name: os.environ[name] for name in threads.COUNTS} == dict.fromkeys(threads.COUNTS, "2")


def test_a_quota_lowers_what_was_imported_before(quota_of_two):
    torch, numba = _Runtime(8), _Runtime(8)
    quota_of_two.setitem(sys.modules, "torch", torch)
    quota_of_two.setitem(sys.modules, "numba", numba)
    threads.prepare()
    assert (torch.count, numba.count) == (2, 2)


def test_a_number_that_the_user_set_stays(quota_of_two):
    torch, numba = _Runtime(3), _Runtime(8)
    quota_of_two.setitem(sys.modules, "torch", torch)
    quota_of_two.setitem(sys.modules, "numba", numba)
    quota_of_two.setenv("NUMBA_NUM_THREADS", "8")
    threads.prepare()
    assert (torch.count, numba.count) == (3, 8)
    assert os.environ["NUMBA_NUM_THREADS"] == "8"


def test_nothing_is_set_without_a_quota(bare, monkeypatch):
    monkeypatch.setattr(threads, "available_cpus", lambda: 8)
    monkeypatch.setattr(threads, "_affinity", lambda: 8)
    threads.prepare()
    assert not set(threads.COUNTS) & set(os.environ)
