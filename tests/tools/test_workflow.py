"""The workflow file runs what a developer runs."""

import re
import tomllib

import yaml

from doc_blocks import ROOT
from tools.release_check import PYTHONS

WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
STEPS = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def commands(job):
    return [step["run"] for step in WORKFLOW["jobs"][job]["steps"] if "run" in step]


def test_commands_are_targets_of_the_makefile():
    assert commands("test") == ["make test", "make check"]
    assert commands("release") == ["make release-check"]
    for step in STEPS:
        if "run" in step:
            assert step["run"].removeprefix("make ") in TARGETS


def test_actions_are_pinned_to_major_versions():
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", each) for each in used)


def test_pythons_are_those_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["python"] == named == list(PYTHONS)
    setups = [step["with"]["python-version"] for step in WORKFLOW["jobs"]["release"]["steps"] if "with" in step]
    assert sorted(setups[0].split()) == named
    assert project["requires-python"] == f">={named[0]}"


def test_release_check_runs_on_demand():
    triggers = WORKFLOW[True]  # YAML reads the word "on" as a boolean
    assert {"push", "pull_request", "workflow_dispatch"} == set(triggers)
    assert "workflow_dispatch" in WORKFLOW["jobs"]["release"]["if"]
