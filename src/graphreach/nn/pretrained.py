"""Models as folders: weights in safetensors, everything else in JSON, nothing pickled."""

import hashlib
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from graphreach._version import __version__
from graphreach.errors import InputError
from graphreach.io.files import replacing


def tensor_checksum(tensors: Mapping[str, Tensor]) -> str:
    """The sha256 of tensors with their names, kinds and shapes; the same in whatever order they are given."""
    digest = hashlib.sha256(b"graphreach tensors 1")
    for name in sorted(tensors):
        value = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name} {value.dtype} {list(value.shape)};".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def json_checksum(content: Any) -> str:
    """The sha256 of plain values, whatever the order of their keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


FORMAT = 1
WEIGHTS, CONFIG = "model.safetensors", "config.json"
PARTS = ("format", "version", "model", "config", "shapes", "metadata", "checksum")


class Pretrained:
    """Adds ``save_pretrained`` and ``from_pretrained`` to a module whose arguments are plain values."""

    config: dict[str, Any]

    def _keep_config(self, arguments: dict[str, Any]) -> None:
        names = [name for name in arguments if name not in ("self", "__class__")]
        self.config = {name: arguments[name] for name in names}

    def save_pretrained(self, folder: str | Path, **metadata: Any) -> None:
        """Write ``model.safetensors`` and ``config.json``, each by rename, with checksums of both in the latter.

        Args:
            folder: Is made if it is missing.
            metadata: Plain values to keep with the configuration: anchors and their ids, walk parameters.
        """
        from safetensors.torch import save

        if not isinstance(self, nn.Module):
            raise TypeError("Pretrained goes with torch.nn.Module")
        record = {
            "format": FORMAT,
            "version": __version__,
            "model": type(self).__name__,
            "config": self.config,
            "shapes": {name: list(value.shape) for name, value in self.state_dict().items()},
            "metadata": metadata,
        }
        state = {name: value.detach().cpu().contiguous() for name, value in self.state_dict().items()}
        try:
            text = json.dumps(sign(record, tensor_checksum(state)), indent=2)
        except TypeError as error:
            raise InputError(f"metadata and arguments must be plain values that JSON can hold: {error}") from None
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"folder must be a folder, or a name that nothing has yet, got {path}") from None
        for name, content in ((WEIGHTS, save(state)), (CONFIG, text.encode())):
            with replacing(path / name) as partial:
                partial.write_bytes(content)

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """Read what :meth:`save_pretrained` wrote, in evaluation mode; ``model.metadata`` holds the rest.

        Files that have changed since are refused, as their checksums differ. A model of an earlier version, which was saved
        without checksums, is read with a warning.
        """
        record = read_config(Path(folder), cls.__name__)
        try:
            model = cls(**record["config"])
        except (TypeError, ValueError, RuntimeError, LookupError, AttributeError, ArithmeticError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{CONFIG} in {folder} does not describe a {cls.__name__}: {reason}") from None
        _load_weights(model, Path(folder) / WEIGHTS, record.get("checksum"))
        model.metadata = record["metadata"]  # type: ignore[attr-defined]
        return model.eval()  # type: ignore[attr-defined,no-any-return]


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


def _load_weights(model: Any, path: Path, sums: dict[str, str] | None) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state = load_file(path)
    except FileNotFoundError:
        raise InputError(f"folder must hold {WEIGHTS}, got none in {path.parent}") from None
    except (SafetensorError, OSError, ValueError, KeyError, RuntimeError):
        raise InputError(f"{path} is not a whole safetensors file; save the model again") from None
    expected = model.state_dict()
    if state.keys() != expected.keys():
        odd = sorted(state.keys() ^ expected.keys())[:3]
        raise InputError(f"{path} does not hold the weights that {CONFIG} describes: {', '.join(odd)} differ")
    for name, value in state.items():
        if value.shape != expected[name].shape:
            raise InputError(f"{path} has {name} of shape {list(value.shape)}, expected {list(expected[name].shape)}")
    if sums is not None and tensor_checksum(state) != sums["weights"]:
        raise InputError(
            f"{path} does not hold the weights that were saved, as their checksum differs; save the model again"
        )
    precision = {value.dtype for value in state.values() if value.is_floating_point()}
    if len(precision) == 1:
        model.to(precision.pop())
    with torch.no_grad():
        model.load_state_dict(state)
