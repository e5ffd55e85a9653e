"""The wheel as it is built here holds what it must; and what a check is to find is found."""

import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile

import pytest

from doc_blocks import ROOT
from tools import release_check
from tools.release_check import Case, archive_problems, build, lowest, metadata_problems, sdist_problems, wheel_problems

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist"))


def test_archives_are_as_they_should_be(archives):
    assert archive_problems(*archives) == []


def test_wheel_holds_the_committed_files(archives):
    """Against git, which the build does not ask."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "src"], capture_output=True, text=True)
    if shutil.which("git") is None or listed.returncode:
        pytest.skip("not a checkout")
    committed = {name.removeprefix("src/") for name in listed.stdout.split()}
    with zipfile.ZipFile(archives[0]) as wheel:
        names = set(wheel.namelist())
    here = {name for name in committed if (ROOT / "src" / name).exists()}
    assert here <= names
    assert "graphreach/pretrained/model.safetensors" in names & committed


def test_sdist_holds_the_tests(archives):
    with tarfile.open(archives[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"tests/test_package.py", "CHANGELOG.md", "src/graphreach/py.typed", "tools/release_check.py"} <= names


def test_what_does_not_belong_is_found():
    sources = release_check.source_files()
    info = ["graphreach-1.0.dist-info/METADATA"]
    assert wheel_problems([*sources, *info], sources) == []
    planted = "graphreach/walks/__pycache__/kernels.step-1.py311.nbi"
    assert wheel_problems([*sources, planted], sources) == [f"{planted} does not belong into the wheel"]
    assert not any(release_check.LEFTOVER.search(name) for name in sources)
    model = "graphreach/pretrained/model.safetensors"
    assert wheel_problems(sources - {model}, sources) == [f"{model} is missing"] * 2
    assert sdist_problems(["g-1/pyproject.toml", "g-1/Makefile", "g-1/site/index.html"]) == [
        "site/index.html does not belong into the sdist",
        "tests/conftest.py is missing in the sdist",
    ]


METADATA = """Metadata-Version: 2.4
Name: graphreach
Version: 0.2.0
Requires-Python: >=3.11
License-Expression: MIT
Project-URL: Paper, https://arxiv.org/abs/2008.09657
Description-Content-Type: text/markdown

# graphreach
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("Name: graphreach", "Name: graphreach", None),
        ("Version: 0.2.0", "Version: today", "'today' is invalid for 'version'"),
        ("text/markdown", "text/html", "Description-Content-Type must be text/markdown, got text/html"),
        (">=3.11", ">=3.9", "Requires-Python must be >=3.11, got >=3.9"),
        ("Project-URL: Paper, https://arxiv.org/abs/2008.09657\n", "", "the links are not those of pyproject.toml"),
        ("# graphreach\n", "", "the description is empty"),
    ],
)
def test_metadata_that_no_index_takes_is_found(old, new, problem):
    found = metadata_problems(METADATA.replace(old, new), {**PROJECT, "urls": {"Paper": "..."}})
    assert any(problem in each for each in found) if problem else found == []


def test_lowest_versions_are_those_of_pyproject():
    pins = lowest(PROJECT, [name for name in PROJECT["optional-dependencies"] if name != "all"])
    assert {"numpy", "torch", "ray[train]"} <= {pin.partition("==")[0] for pin in pins}
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f'"{pin.replace("==", ">=")}"' in text for pin in pins)
    with pytest.raises(ValueError, match="name>=version"):
        lowest({"dependencies": ["numpy~=1.26"]}, [])


def test_one_version_everywhere(archives):
    version = re.search(r'"(.*)"', (ROOT / "src" / "graphreach" / "_version.py").read_text().partition("=")[2])[1]
    assert archives[0].name.startswith(f"graphreach-{version}-")
    (released,) = re.findall(r"^date-released: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert f"## [{version}] - {released}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_all_extras_are_in_all():
    (line,) = PROJECT["optional-dependencies"]["all"]
    others = [name for name in PROJECT["optional-dependencies"] if name != "all"]
    assert sorted(re.search(r"\[(.*)\]", line)[1].split(",")) == sorted(others)


def test_requirements_of_a_case(tmp_path):
    wheel = tmp_path / "graphreach-1.whl"
    assert Case("python", "base", "newest").requirements(wheel) == [str(wheel)]
    newest = Case("python", "all", "newest").requirements(wheel)
    assert newest == [f"{wheel}[all]", release_check.pinned_torch(), "pytest"]
    pins = Case("python", "nn,plot", "lowest").requirements(wheel)
    assert pins[0] == f"{wheel}[nn,plot]"
    assert [pin for pin in pins if pin.startswith("torch==")] == [release_check.pinned_torch()]
    assert any(pin.startswith("matplotlib==") for pin in pins)
    assert not any(pin.startswith("networkx==") for pin in pins)


def test_lowest_versions_are_left_out_for_newer_pythons(monkeypatch):
    monkeypatch.setattr(release_check, "_ask", lambda python, code: "3.13")
    monkeypatch.setattr(release_check, "_cpu_build", lambda python: False)
    assert "not all of them for 3.13" in release_check.skipped(Case("python", "base", "lowest"))
    assert release_check.skipped(Case("python", "base", "newest")) is None
    assert "no CPU build of torch==" in release_check.skipped(Case("python", "all", "newest"))
    monkeypatch.setattr(release_check, "_cpu_build", lambda python: True)
    assert release_check.skipped(Case("python", "all", "newest")) is None
