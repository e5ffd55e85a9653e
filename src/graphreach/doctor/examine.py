"""The state of an installation, as a dictionary and as text."""

import os
import platform
import sys
from dataclasses import asdict
from typing import Any

from graphreach._version import __version__
from graphreach.arguments import counted
from graphreach.doctor.caches import Cache, compiled, find_caches
from graphreach.doctor.packages import find_packages
from graphreach.errors import InputError
from graphreach.limits import VARIABLE, format_bytes, memory_limit
from graphreach.threads import COUNTS, WAITING, available_cpus

ENVIRONMENT = (*COUNTS, "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", *WAITING)
"""Variables that say how many threads there are, and how they wait."""

FIRST = "none compiled yet: the first run of a command takes about ten seconds longer"
NOWHERE = "no folder: set GRAPHREACH_DATA to one, or pip install 'graphreach[datasets]'"


def examine() -> dict[str, Any]:
    """Examine the installation: versions, threads, device, memory and caches. Takes some seconds and changes nothing.

    Returns:
        What ``graphreach doctor --json`` prints; ``problems`` are sentences, none if all is well.

    Example:
        >>> found = examine()
        >>> sorted(found)[:4]
        ['caches', 'device', 'graphreach', 'memory']
    """
    packages, torch = find_packages()
    caches, memory = find_caches(), _memory()
    found = {
        "graphreach": __version__,
        "python": {"version": platform.python_version(), "executable": sys.executable, "system": platform.platform()},
        "packages": [asdict(each) | {"text": each.describe()} for each in packages],
        "threads": _threads(torch),
        "device": {"cuda": torch.get("cuda", []), "mps": torch.get("mps", False)},
        "memory": memory,
        "caches": [_cache(each) for each in caches],
    }
    required = [each for each in packages if each.version is None and each.extra is None]
    problems = [f"{each.name} is {each.describe()}" for each in required]
    problems += [f"{each.name} {each.version} {each.problem}" for each in packages if each.problem]
    problems += [memory["problem"]] if memory["problem"] else []
    problems += [f"{each.name}: {each.problem}" for each in caches if each.problem]
    return found | {"problems": problems}


def _threads(torch: dict[str, Any]) -> dict[str, Any]:
    import numba

    return {
        "cpus": os.cpu_count(),
        "usable": available_cpus(),
        "numba": numba.get_num_threads(),
        "torch": torch.get("threads"),
        "environment": {name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
    }


def _memory() -> dict[str, Any]:
    try:
        limit, problem = memory_limit(), None
    except InputError as error:
        limit, problem = None, str(error)
    return {"limit": limit, "variable": os.environ.get(VARIABLE), "problem": problem}


def _cache(cache: Cache) -> dict[str, Any]:
    folders = [os.path.commonpath(cache.folders)] if cache.folders else []
    facts = {
        "name": cache.name,
        "folder": folders[0] if folders else None,
        "files": len(cache.files),
        "bytes": cache.size,
    }
    kernels = {"compiled": compiled(cache)} if cache.name == "kernels" else {}
    return facts | kernels | {"problem": cache.problem, "clear": cache.kept is None}


def as_text(found: dict[str, Any]) -> str:
    """What :func:`examine` found, for people.

    Example:
        >>> print(as_text(examine()).splitlines()[0].split(",")[0].split()[0])
        graphreach
    """
    python, threads, memory = found["python"], found["threads"], found["memory"]
    lines = [
        f"graphreach {found['graphreach']}, Python {python['version']} ({python['executable']}), {python['system']}"
    ]
    lines += ["", "packages", *_columns({each["name"]: each["text"] for each in found["packages"]})]
    used = [f"numba uses {threads['numba']}", *([f"torch {threads['torch']}"] if threads["torch"] else [])]
    set_ = [f"{name}={value}" for name, value in threads["environment"].items()]
    limit = "not known" if memory["limit"] is None else f"a result may take {format_bytes(memory['limit'])}"
    machine = {
        "threads": ", ".join([f"{threads['usable']} of {threads['cpus']} CPUs", *used]),
        "environment": ", ".join(set_) or "sets no numbers of threads",
        "device": _device_text(found["device"]),
        "memory": limit + (f", as {VARIABLE} says" if memory["variable"] else ""),
    }
    lines += ["", "machine", *_columns(machine)]
    lines += ["", "caches", *_columns({each["name"]: _cache_text(each) for each in found["caches"]})]
    problems = found["problems"] or ["none"]
    return "\n".join([*lines, "", "problems", *(f"  {each}" for each in problems)])


def _device_text(device: dict[str, Any]) -> str:
    if device["cuda"]:
        return f"CUDA: {', '.join(device['cuda'])}"
    return "CPU; torch has MPS, which graphreach does not use" if device["mps"] else "CPU"


def _cache_text(cache: dict[str, Any]) -> str:
    if cache["folder"] is None:
        return NOWHERE if cache["name"] == "datasets" else "nowhere"
    size = f"{counted(cache['files'], 'file')}, {format_bytes(cache['bytes'])}, in {cache['folder']}"
    if "compiled" in cache:
        ready = f"{cache['compiled']} compiled" if cache["compiled"] else FIRST
        size = f"{ready}; {size}"
    return size + (f" (graphreach doctor --clear {cache['name']})" if cache["files"] and cache["clear"] else "")


def _columns(rows: dict[str, str]) -> list[str]:
    width = max(map(len, rows), default=0)
    return [f"  {name:<{width}}  {text}" for name, text in rows.items()]
