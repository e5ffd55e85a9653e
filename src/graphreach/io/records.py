"""What a run writes about itself: JSON files, versions and memory."""

import importlib.metadata
import json
import platform
import sys
from pathlib import Path
from typing import Any

from graphreach._version import __version__
from graphreach.io.files import replacing

PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "torch", "torch_geometric")


def versions() -> dict[str, str]:
    """What the run depended on."""
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"graphreach": __version__, "python": platform.python_version(), **found}


def peak_memory() -> int:
    """The most bytes that this process has held so far."""
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
