"""Models as folders: weights in safetensors, everything else in JSON with checksums of both, nothing pickled."""

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach._version import __version__
from graphreach.errors import InputError
from graphreach.io.files import replacing

MODEL = "model"
"""The folder of a run that its model is in."""

FORMAT = 1
WEIGHTS, CONFIG = "model.safetensors", "config.json"
PARTS = ("format", "version", "model", "config", "shapes", "metadata", "checksum")

Arrays = Mapping[str, NDArray[Any]]


def parts_checksum(parts: Iterable[tuple[str, str, list[int], Any]]) -> str:
    """The sha256 of tensors by their names, kinds in torch's words, shapes and bytes; in whatever order they are given."""
    digest = hashlib.sha256(b"graphreach tensors 1")
    for name, kind, shape, content in sorted(parts, key=lambda part: part[0]):
        digest.update(f"{name} {kind} {shape};".encode())
        digest.update(content)
    return digest.hexdigest()


def array_checksum(arrays: Arrays) -> str:
    """:func:`parts_checksum` of arrays: that of torch tensors with the same content."""
    return parts_checksum(
        (
            name,
            f"torch.{value.dtype.name}",
            list(value.shape),
            np.ascontiguousarray(value).reshape(-1).view(np.uint8).data,
        )
        for name, value in arrays.items()
    )


def json_checksum(content: Any) -> str:
    """The sha256 of plain values, whatever the order of their keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def write_model(
    folder: str | Path, record: dict[str, Any], shapes: dict[str, list[int]], weights: bytes, checksum: str
) -> None:
    """Write ``model.safetensors`` and ``config.json``, each by rename, with checksums of both in the latter.

    Args:
        folder: Is made if it is missing.
        record: The parts ``model``, ``config`` and ``metadata``, plain values.
        shapes: Shapes of the tensors.
        weights: The tensors in safetensors' format.
        checksum: Their :func:`parts_checksum`.
    """
    whole = {
        "format": FORMAT, "version": __version__, "model": record["model"], "config": record["config"],
        "shapes": shapes, "metadata": record["metadata"],
    }  # fmt: skip
    try:
        text = json.dumps(sign(whole, checksum), indent=2)
    except TypeError as error:
        raise InputError(f"metadata and arguments must be plain values that JSON can hold: {error}") from None
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"folder must be a folder, or a name that nothing has yet, got {path}") from None
    for name, content in ((WEIGHTS, weights), (CONFIG, text.encode())):
        with replacing(path / name) as partial:
            partial.write_bytes(content)


def write_arrays(folder: str | Path, record: dict[str, Any], arrays: Arrays) -> None:
    """:func:`write_model` with arrays as tensors."""
    from safetensors.numpy import save

    plain = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    shapes = {name: list(value.shape) for name, value in arrays.items()}
    write_model(folder, record, shapes, save(plain), array_checksum(plain))


def read_arrays(folder: Path, shapes: Mapping[str, tuple[int, ...]], sums: dict[str, str] | None) -> dict[str, Any]:
    """The tensors of a saved model as arrays, checked against the shapes and the checksum that they should have."""
    from safetensors.numpy import load_file

    found: dict[str, Any] = read_tensors(folder, load_file)
    check_tensors(folder, {name: tuple(value.shape) for name, value in found.items()}, shapes)
    if sums is not None:
        check_sum(folder, array_checksum(found), sums)
    return found


def read_tensors(folder: Path, load: Any) -> Any:
    """What one of safetensors' readers finds in a model's folder."""
    from safetensors import SafetensorError

    path = folder / WEIGHTS
    try:
        return load(path)
    except FileNotFoundError:
        raise InputError(f"folder must hold {WEIGHTS}, got none in {folder}") from None
    except (SafetensorError, OSError, ValueError, KeyError, RuntimeError, AttributeError, TypeError):
        raise InputError(f"{path} is not a whole safetensors file; save the model again") from None


def check_tensors(folder: Path, found: Mapping[str, tuple[int, ...]], expected: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse tensors of other names or shapes than a model has."""
    path = folder / WEIGHTS
    if found.keys() != expected.keys():
        odd = sorted(found.keys() ^ expected.keys())[:3]
        raise InputError(f"{path} does not hold the weights that {CONFIG} describes: {', '.join(odd)} differ")
    for name, shape in found.items():
        if shape != expected[name]:
            raise InputError(f"{path} has {name} of shape {list(shape)}, expected {list(expected[name])}")


def check_sum(folder: Path, found: str, sums: dict[str, str]) -> None:
    """Refuse tensors that have another checksum than was kept."""
    if found != sums["weights"]:
        raise InputError(
            f"{folder / WEIGHTS} does not hold the weights that were saved, as their checksum differs; save the model again"
        )


def saved_model(folder: Path) -> str | None:
    """The name of the class whose model a folder holds, or None if the folder does not say; nothing else is checked."""
    try:
        record = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return str(record.get("model")) if isinstance(record, dict) else None


def sign(record: dict[str, Any], weights: str | None = None) -> dict[str, Any]:
    """What ``config.json`` holds, with checksums of the weights and of itself.

    Args:
        record: The content of ``config.json``.
        weights: The checksum of the weights; by default the one that the record has.
    """
    unsigned = {name: value for name, value in record.items() if name != "checksum"}
    if weights is None:
        weights = record["checksum"]["weights"]
    return {**unsigned, "checksum": {"weights": weights, "config": json_checksum(unsigned)}}


def read_config(folder: Path, name: str) -> dict[str, Any]:
    """The configuration of a saved model, checked."""
    path = folder / CONFIG
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"folder must hold {CONFIG} and {WEIGHTS} of a saved model, got {folder}") from None
    except (ValueError, RecursionError):  # also text that is not UTF-8
        raise InputError(f"{path} is not a whole JSON file; save the model again") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        found = record.get("format") if isinstance(record, dict) else None
        raise InputError(f"{path} has format {found}, and this version of graphreach reads format {FORMAT}")
    missing = [part for part in ("config", "metadata") if not isinstance(record.get(part), dict)]
    if missing:
        raise InputError(f"{path} must have a part {missing[0]!r}; save the model again")
    if record.get("model") != name:
        raise InputError(f"{path} describes a {record.get('model')}, not a {name}")
    _check_config(record, path)
    return record


def _check_config(record: dict[str, Any], path: Path) -> None:
    unknown = [part for part in record if part not in PARTS]
    if unknown:
        raise InputError(f"{path} must not have a part {unknown[0]!r}; save the model again")
    if "checksum" not in record:
        warnings.warn(
            f"the model in {path.parent} was saved by a version that kept no checksums, so that nothing says whether its"
            " weights are what they were; save it again",
            stacklevel=5,
        )
        return
    sums = record["checksum"]
    if not isinstance(sums, dict) or not all(isinstance(sums.get(part), str) for part in ("weights", "config")):
        raise InputError(f"{path} must have the checksums of weights and config; save the model again")
    if sign(record)["checksum"] != sums:
        raise InputError(f"{path} is not what was saved, as its checksum differs; save the model again")
