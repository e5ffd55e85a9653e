"""The package as users install it: ``python -m tools.release_check``, or ``make release-check``.

The wheel and the sdist are built and what they hold is checked. Then the wheel is installed into empty environments,
without extras and with all of them, with the lowest versions that ``pyproject.toml`` allows and with the newest, and
:mod:`tools.release_tour` uses it there. Torch is the version of ``constraints.txt``, and only where a CPU build of it is
at hand: another one may bring gigabytes of CUDA.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGE = "src/graphreach"
TOUR = ROOT / "tools" / "release_tour.py"
PYTHONS = ("3.11", "3.12", "3.13")
EXTRAS = ("base", "all")
VERSIONS = ("lowest", "newest")

NEEDED = (
    "graphreach/py.typed",
    "graphreach/pretrained/model.safetensors",
    "graphreach/pretrained/config.json",
    "graphreach/datasets/files/*.csv",
    "graphreach/experiments/definitions/*.yaml",
    "graphreach/report/page/page.html",
    "graphreach/report/page/*.js",
    "graphreach/report/page/*.css",
)
"""Patterns of files beside the code that a wheel has to hold."""

LEFTOVER = re.compile(r"(^|/)(__pycache__|\.git|\.venv|\.runs|site)/|\.(nbi|nbc|pyc|partial)$")
"""What no archive may hold: caches, compiled kernels, environments."""


def build(folder: Path) -> tuple[Path, Path]:
    """Build sdist and wheel into ``folder`` with what is installed; returns the wheel and the sdist."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    _run(command, "the build", cwd=folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def source_files(folder: Path = ROOT / "src") -> set[str]:
    """The files of the package as they stand in the sources, without caches."""
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in files if name.startswith("graphreach/") and not LEFTOVER.search(name)}


def wheel_problems(names: Iterable[str], sources: set[str]) -> list[str]:
    """What is wrong with the files of a wheel, one sentence each.

    Example:
        >>> wheel_problems(["graphreach/__init__.py", "tests/test_a.py"], {"graphreach/__init__.py"})[:2]
        ['tests/test_a.py does not belong into the wheel', 'graphreach/py.typed is missing']
    """
    own = {name for name in names if not re.match(r"graphreach-[\w.]+\.dist-info/", name)}
    found = [f"{name} does not belong into the wheel" for name in sorted(own - sources)]
    found += [f"{name} is missing" for name in sorted(sources - own)]
    missing = [pattern for pattern in NEEDED if not any(Path(name).match(pattern) for name in own)]
    return found + [f"{pattern} is missing" for pattern in missing]


def sdist_problems(names: Iterable[str]) -> list[str]:
    """What is wrong with the files of an sdist: caches, or no tests and no way to run them.

    Example:
        >>> sdist_problems(["graphreach-1/pyproject.toml", "graphreach-1/Makefile", "graphreach-1/tests/conftest.py"])
        []
    """
    names = [name.partition("/")[2] for name in names]
    found = [f"{name} does not belong into the sdist" for name in names if LEFTOVER.search(name)]
    wanted = ("pyproject.toml", "Makefile", "tests/conftest.py")
    return found + [f"{name} is missing in the sdist" for name in wanted if name not in names]


def metadata_problems(text: str, project: dict[str, Any]) -> list[str]:
    """What is wrong with a wheel's METADATA: fields that no index would take, or that are not those of the project."""
    from packaging.metadata import Metadata

    headers = HeaderParser().parsestr(text)
    found = []
    try:
        Metadata.from_email(text, validate=True)
    except ExceptionGroup as errors:
        found += [str(each) for each in errors.exceptions]
    for name, wanted in (
        ("Name", project["name"]),
        ("Requires-Python", project["requires-python"]),
        ("License-Expression", project["license"]),
        ("Description-Content-Type", "text/markdown"),
    ):
        if headers[name] != wanted:
            found.append(f"{name} must be {wanted}, got {headers[name]}")
    if not str(headers.get_payload()).strip():
        found.append("the description is empty")
    if len(headers.get_all("Project-URL", [])) != len(project["urls"]):
        found.append("the links are not those of pyproject.toml")
    return found


def archive_problems(wheel: Path, sdist: Path) -> list[str]:
    """What is wrong with a wheel and an sdist, one sentence each."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
    with tarfile.open(sdist) as file:
        found = sdist_problems(file.getnames())
    return wheel_problems(names, source_files()) + found + metadata_problems(text, _project())


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def lowest(project: dict[str, Any], extras: Sequence[str]) -> list[str]:
    """The lowest version of each package that a project needs with some of its extras, as pins.

    Example:
        >>> lowest({"dependencies": ["numpy>=1.26"], "optional-dependencies": {"nn": ["torch>=2.4"]}}, ["nn"])
        ['numpy==1.26', 'torch==2.4']
    """
    pins = []
    for line in (
        *project["dependencies"],
        *(line for name in extras for line in project["optional-dependencies"][name]),
    ):
        if line.startswith(f"{project.get('name')}["):  # extras of its own, listed by another one
            continue
        if not re.fullmatch(r"[\w.-]+(\[[\w,]+\])?>=[\w.]+", line):
            raise ValueError(f"a requirement must be written name>=version, got {line}")
        pins.append(line.replace(">=", "=="))
    return pins


def pinned_torch() -> str:
    """The line of ``constraints.txt`` with torch."""
    return next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))


@dataclass(frozen=True)
class Case:
    """One environment: an interpreter, extras (``base`` for none) and which versions."""

    python: str
    extras: str
    versions: str

    def __str__(self) -> str:
        return f"Python {_number(self.python)}, {self.extras}, {self.versions} versions"

    def requirements(self, wheel: Path) -> list[str]:
        """What pip is to install; with all extras the README's blocks run, by what the tests run them by."""
        project = _project()
        with_extras = self.extras != "base"
        found = [f"{wheel}[{self.extras}]" if with_extras else str(wheel)]
        if self.versions == "lowest":
            every = [name for name in project["optional-dependencies"] if name != "all"]
            names = every if self.extras == "all" else self.extras.split(",") if with_extras else []
            found += [pin for pin in lowest(project, names) if not pin.startswith("torch==")]
        return found + ([pinned_torch()] if with_extras else []) + (["pytest"] if self.extras == "all" else [])


def skipped(case: Case) -> str | None:
    """Why a case is not tried, or None."""
    number = _number(case.python)
    if case.versions == "lowest" and number != PYTHONS[0]:
        return f"the lowest versions have packages for Python {PYTHONS[0]}, not all of them for {number}"
    if case.extras == "base" or _cpu_build(case.python):
        return None
    return f"no CPU build of {pinned_torch()} for Python {number} is at hand"


def _cpu_build(python: str) -> bool:
    """Whether pip would take a torch without CUDA; other systems than Linux have no other."""
    if not sys.platform.startswith("linux"):
        return True
    command = [
        python,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--no-deps",
        "--quiet",
        "--report",
        "-",
    ]
    found = subprocess.run([*command, pinned_torch()], capture_output=True, text=True)
    if found.returncode:
        return False
    report = json.loads(found.stdout[found.stdout.index("{") :])
    return "+cpu" in report["install"][0]["metadata"]["version"]


def _number(python: str) -> str:
    return _ask(python, "import sys; print('%d.%d' % sys.version_info[:2])")


def _ask(python: str, code: str) -> str:
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def try_case(case: Case, wheel: Path, folder: Path) -> list[str]:
    """Install the wheel into an empty environment in ``folder``, use it there, and return what was wrong."""
    environment = folder / "environment"
    _run([case.python, "-m", "venv", str(environment)], "the environment")
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    try:
        _run([str(python), "-m", "pip", "install", "--quiet", *case.requirements(wheel)], "pip install")
    except RuntimeError as error:
        return [str(error)]
    print("  " + ", ".join(_installed(python, [wheel.name, *case.requirements(wheel)[1:]])), flush=True)
    own = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GRAPHREACH", "NUMBA"))}
    own |= {"XDG_CACHE_HOME": str(folder / "cache")}
    (folder / "work").mkdir()
    command = [str(python), "-P", str(TOUR), case.extras, str(ROOT)]
    done = subprocess.run(command, cwd=folder / "work", env=own, capture_output=True, text=True)
    print(done.stdout.rstrip(), flush=True)
    return [] if done.returncode == 0 else [done.stderr.strip()[-4000:] or f"exit code {done.returncode}"]


def _installed(python: Path, names: Sequence[str]) -> list[str]:
    """The versions of what the package needs, as they are in an environment."""
    project = _project()
    wanted = {re.split(r"[>\[]", line)[0].lower().replace("_", "-") for line in project["dependencies"]}
    wanted |= {re.split(r"[=\[]", line)[0].lower().replace("_", "-") for line in names[1:]}
    listed = json.loads(_ask(str(python), "import json, importlib.metadata as m; " + LISTING))
    return [f"{name} {version}" for name, version in sorted(listed.items()) if name in wanted]


LISTING = "print(json.dumps({d.name.lower().replace('_', '-'): d.version for d in m.distributions()}))"


def _run(command: Sequence[str], what: str, **options: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{what} failed: {(done.stderr or done.stdout).strip()[-3000:]}")


def pythons() -> list[str]:
    """The interpreters of this machine that the package is for: on the path, or of pyenv."""
    found = []
    for number in PYTHONS:
        homes = sorted((Path.home() / ".pyenv" / "versions").glob(f"{number}.*/bin/python"))
        place = str(homes[-1]) if homes else shutil.which(f"python{number}")
        found += [place] if place else []
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, check and try; the exit code is 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description="Check the wheel in empty environments.")
    parser.add_argument("--python", action="append", help="interpreter, repeatable; default: those of this machine")
    parser.add_argument("--extras", nargs="+", default=EXTRAS, help="base for none, or extras such as nn,plot")
    parser.add_argument("--versions", nargs="+", default=VERSIONS, choices=VERSIONS)
    options = parser.parse_args(arguments)
    cases = [
        Case(python, extras, versions)
        for python in options.python or pythons()
        for extras in options.extras
        for versions in options.versions
    ]
    with tempfile.TemporaryDirectory(prefix="graphreach-release-") as name:
        wheel, sdist = build(Path(name))
        problems = archive_problems(wheel, sdist)
        print(f"{wheel.name}: {'as it should be' if not problems else '; '.join(problems)}", flush=True)
        for number, case in enumerate(cases):
            reason = skipped(case)
            print(f"{case}: {f'left out, as {reason}' if reason else 'installing'}", flush=True)
            if reason is None:
                (folder := Path(name) / str(number)).mkdir()
                found = try_case(case, wheel, folder)
                print(f"{case}: {'works' if not found else found[0]}", flush=True)
                problems += found
                shutil.rmtree(folder)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
