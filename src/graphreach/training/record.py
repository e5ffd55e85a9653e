"""The one JSON that a run leaves."""

import importlib.metadata
import json
import platform
import sys
from pathlib import Path
from typing import Any

from graphreach._version import __version__
from graphreach.errors import InputError
from graphreach.io.files import replacing

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
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"folder must hold {path.name} of a run, got none in {path.parent}") from None
    except (ValueError, RecursionError):  # also text that is not UTF-8
        raise InputError(f"{path} is not a whole JSON file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def read_dict(path: Path, kinds: dict[str, type | tuple[type, ...]] | None = None) -> dict[str, Any]:
    """Read a file that holds a JSON object with some keys, each of a kind; numbers are finite.

    Args:
        path: Of a file.
        kinds: The keys that must be there, and the kind of each.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "record.json")
        ...     write_json(path, {"epochs": 3})
        ...     read_dict(path, {"epochs": int})
        {'epochs': 3}
    """
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{path} must hold a JSON object with keys and values, got {_kind(found)}")
    for key, kind in (kinds or {}).items():
        if key not in found:
            raise InputError(f"{path} must have a part {key!r}, got none")
        if not isinstance(found[key], kind) or (isinstance(found[key], bool) and kind is int):
            wanted = " or ".join(_KINDS[each] for each in (kind if isinstance(kind, tuple) else (kind,)))
            raise InputError(f"{path} must have {wanted} as {key!r}, got {_kind(found[key])}")
    return found


_KINDS: dict[type, str] = {
    dict: "an object", list: "a list", str: "a text", int: "a whole number", float: "a number", type(None): "null",
    bool: "true or false",
}  # fmt: skip


def _kind(value: Any) -> str:
    return _KINDS[type(value)]


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
