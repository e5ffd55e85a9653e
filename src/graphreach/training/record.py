"""The JSON files that a run leaves: written whole, and checked when they are read."""

import importlib.metadata
import json
import platform
import sys
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from graphreach._version import __version__
from graphreach.errors import InputError
from graphreach.io.files import replacing
from graphreach.training.options import UNSET, first_problem

PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "torch", "torch_geometric")


class File(BaseModel):
    """What a JSON file must hold; it may hold more."""

    model_config = ConfigDict(extra="allow", strict=True, protected_namespaces=())


def _file(**kinds: Any) -> Any:
    """What a file or a part of one must have, by name; ``(kind, UNSET)`` may be missing."""
    own: Any = {name: kind if isinstance(kind, tuple) else (kind, ...) for name, kind in kinds.items()}
    return create_model("File", __base__=File, **own)


_SIZES, _HASH = _file(graphs=int, nodes=int, edges=int), str | None

RECORD_FILE = _file(
    settings=_file(method=str, task=str), data=_SIZES, seconds=dict[str, float], test_examples=int,
    metrics=_file(val=dict[str, float], test=dict[str, float]), best_epoch=(int, UNSET), epochs=(int, UNSET),
    leaks=(list[str], UNSET), cluster=(_file(workers=int, cores=int, nodes=int), UNSET),
)  # fmt: skip
"""``record.json``, which a run has when it has ended."""

CONTENT_FILE = _file(
    format=Literal[1], hashes=_file(graph=_HASH, features=_HASH, labels=_HASH, split=_HASH),
    sizes=_file(graph=_SIZES, features=_file(columns=int), labels=_file(classes=int), split=dict[str, int]),
)  # fmt: skip
"""``content.json``: what a run was trained on."""

SOURCE_FILE = _file(
    graph=str, options=dict[str, Any], features=str | None, classes=list[Any],
    labels=(_file(path=str, column=str | None) | None, None),
)  # fmt: skip
"""``source.json``: how the command line read the data of a run."""

CLASSES_FILE = _file(classes=(list[Any], UNSET))


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


def read_json(path: Path, kind: type[File] = File) -> dict[str, Any]:
    """The JSON object of a file, or one sentence that says what is wrong with it.

    Args:
        path: The file.
        kind: What it must hold.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "source.json")
        ...     write_json(path, {"epochs": 3})
        ...     read_json(path)
        {'epochs': 3}
    """
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
        kind.model_validate(found)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"folder must hold {path.name} of a run, got none in {path.parent}") from None
    except ValidationError as error:
        raise InputError(f"{path} must be what training wrote; {first_problem(error, depth=3)}") from None
    except (ValueError, RecursionError):  # also text that is not UTF-8
        raise InputError(f"{path} is not a whole JSON file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
