"""The packages that graphreach uses: which are there, in which version, and whether they can be imported."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

PURPOSES = {
    "datasets": "downloads of data sets",
    "nearest": "nearest nodes of all nodes of large graphs",
    "networkx": "networkx graphs, GraphML, GML and GEXF files",
    "nn": "models and training",
    "pandas": "pandas frames",
    "plot": "pictures",
    "ray": "clusters",
}
"""What each extra is for."""

MODULES = {"pyyaml": "yaml", "scikit-learn": "sklearn"}
"""Modules that are not named as their package."""

REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?\s*(?:>=([\w.]+))?[^;]*(?:;.*extra == ['\"](.+?)['\"])?.*")
SECONDS = 600
"""How long all imports may take before the one that goes on counts as broken."""

MARK = "graphreach-doctor "
PROGRAM = f"""
import importlib, json, sys
for name in sys.argv[1:]:
    problem, facts = None, {{}}
    try:
        module = importlib.import_module(name)
        if name == "torch":
            has_cuda = module.cuda.is_available()
            cuda = [module.cuda.get_device_name(i) for i in range(module.cuda.device_count())] if has_cuda else []
            facts = dict(threads=module.get_num_threads(), cuda=cuda, mps=module.backends.mps.is_available())
    except BaseException as error:
        problem = f"{{type(error).__name__}}: {{error}}"
    print("{MARK}" + json.dumps([name, problem, facts]), flush=True)
"""
"""What tries the modules that are its arguments."""


@dataclass(frozen=True)
class Package:
    """A package that graphreach requires, or that one of its extras does.

    Attributes:
        name: As pip knows it.
        lowest: The lowest version that is allowed.
        extra: The extra that installs it; None if it is always required.
        version: The version that is installed; None if it is not.
        problem: What is wrong with it, or None.

    Example:
        >>> Package("torch", "2.4", "nn").describe()
        "not installed: pip install 'graphreach[nn]' (models and training)"
    """

    name: str
    lowest: str
    extra: str | None = None
    version: str | None = None
    problem: str | None = None

    def describe(self) -> str:
        """The version, and what is wrong or missing."""
        purpose = f" ({PURPOSES[self.extra]})" if self.extra in PURPOSES else ""
        if self.version is None:
            which = "graphreach" if self.extra is None else f"'graphreach[{self.extra}]'"
            return f"not installed: pip install {which}{purpose}"
        return self.version + (purpose if self.problem is None else f", {self.problem}")


def find_packages() -> tuple[list[Package], dict[str, Any]]:
    """The packages of this installation, imported in a process of its own, where a broken one does no harm.

    Returns:
        The packages, and what torch says of its threads and devices, nothing if it is not there.

    Example:
        >>> packages, torch = find_packages()
        >>> {"numpy", "torch"} <= {package.name for package in packages}, sorted(torch)
        (True, ['cuda', 'mps', 'threads'])
    """
    try:
        lines = requires("graphreach") or []
    except PackageNotFoundError:  # run from its sources
        lines = []
    packages = [_installed(each) for each in required(lines)]
    problems, torch = try_imports([_module(each) for each in packages if each.version is not None])
    return [_judged(each, problems.get(_module(each))) for each in packages], torch


def required(lines: list[str]) -> list[Package]:
    """Packages of the lines ``Requires-Dist`` of a distribution, those that are always required first.

    Example:
        >>> required(["torch>=2.4; extra == 'all'", "torch>=2.4; extra == 'nn'", "numpy>=1.26"])[0]
        Package(name='numpy', lowest='1.26', extra=None, version=None, problem=None)
    """
    found: dict[str, Package] = {}
    for line in lines:
        name, lowest, extra = REQUIREMENT.fullmatch(line).groups()  # type: ignore[union-attr]
        if extra != "all" and name.lower() != "graphreach":
            found.setdefault(name, Package(name, lowest or "0", extra))
    return sorted(found.values(), key=lambda each: (each.extra or "", each.name.lower()))


def try_imports(modules: Sequence[str]) -> tuple[dict[str, str | None], dict[str, Any]]:
    """Import modules one after the other; one that ends the process is left out of the next.

    Returns:
        For each module why it cannot be imported, or None; and what torch says of itself, if it is among them.

    Example:
        >>> try_imports(["json", "no_such_module"])[0]
        {'json': None, 'no_such_module': "ModuleNotFoundError: No module named 'no_such_module'"}
    """
    problems: dict[str, str | None] = {}
    torch: dict[str, Any] = {}
    while left := [name for name in modules if name not in problems]:
        text, end = _run(left)
        for line in text.splitlines():
            if line.startswith(MARK):
                name, problems[name], facts = json.loads(line.removeprefix(MARK))
                torch |= facts
        if left[-1] not in problems:
            problems[next(name for name in left if name not in problems)] = end
    return problems, torch


def _run(modules: Sequence[str]) -> tuple[str, str]:
    """What :data:`PROGRAM` prints for some modules, and how it ended."""
    command = [sys.executable, "-P", "-c", PROGRAM, *modules]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode(errors="replace"), f"its import took more than {SECONDS} s"
    except OSError as error:
        return "", f"Python cannot be started: {error.strerror or error}"
    return done.stdout, f"its import ended the process with exit code {done.returncode}"


def _installed(package: Package) -> Package:
    try:
        return replace(package, version=version(package.name))
    except PackageNotFoundError:
        return package


def _module(package: Package) -> str:
    name = package.name.lower()
    return MODULES.get(name, name.replace("-", "_"))


def _judged(package: Package, problem: str | None) -> Package:
    """A package with what its import said, or with what its version says."""
    if problem is not None:
        return replace(package, problem=f"cannot be imported: {' '.join(problem.split())[:300]}")
    if package.version is not None and _numbers(package.version) < _numbers(package.lowest):
        return replace(package, problem=f"older than {package.lowest}, which is needed")
    return package


def _numbers(text: str) -> tuple[int, ...]:
    """A version's numbers, without zeros at its end."""
    numbers = [int(each) for each in re.findall(r"\d+", text.partition("+")[0])[:3]]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
