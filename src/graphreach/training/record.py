"""The one JSON that a run leaves."""

import importlib.metadata
import json
import platform
import sys
from pathlib import Path
from typing import Any

from graphreach._version import __version__
from graphreach.errors import InputError
from graphreach.files import replacing

PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "torch", "torch_geometric")


def versions() -> dict[str, str]:
    """What the run depended on.

    Example:
        >>> sorted(versions())[0]
        'graphreach'
    """
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"graphreach": __version__, "python": platform.python_version(), **found}


def peak_memory() -> int:
    """The most bytes that this process has held so far.

    Example:
        >>> peak_memory() > 1_000_000
        True
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource  # not on every system

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


def write_json(path: Path, content: Any) -> None:
    """Write by rename, so that the file is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial:
        partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read it again, or say in one sentence what is wrong."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"folder must hold {path.name} of a run, got none in {path.parent}") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise InputError(f"{path} is not a whole JSON file") from None
