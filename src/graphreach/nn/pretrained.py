"""Models as folders: weights in safetensors, everything else in JSON, nothing pickled."""

import json
from pathlib import Path
from typing import Any, Self

import torch
from torch import nn

from graphreach._version import __version__
from graphreach.errors import InputError
from graphreach.files import replacing

FORMAT = 1
WEIGHTS, CONFIG = "model.safetensors", "config.json"


class Pretrained:
    """Adds ``save_pretrained`` and ``from_pretrained`` to a module whose arguments are plain values."""

    config: dict[str, Any]

    def _keep_config(self, arguments: dict[str, Any]) -> None:
        names = [name for name in arguments if name not in ("self", "__class__")]
        self.config = {name: arguments[name] for name in names}

    def save_pretrained(self, folder: str | Path, **metadata: Any) -> None:
        """Write ``model.safetensors`` and ``config.json``, each by rename.

        Args:
            folder: Is made if it is missing.
            metadata: Plain values to keep beside the configuration: anchors and their ids, walk parameters.
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
        try:
            text = json.dumps(record, indent=2)
        except TypeError as error:
            raise InputError(f"metadata and arguments must be plain values that JSON can hold: {error}") from None
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        state = {name: value.detach().cpu().contiguous() for name, value in self.state_dict().items()}
        for name, content in ((WEIGHTS, save(state)), (CONFIG, text.encode())):
            with replacing(path / name) as partial:
                partial.write_bytes(content)

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """Read what :meth:`save_pretrained` wrote, in evaluation mode; ``model.metadata`` holds the rest."""
        record = read_config(Path(folder), cls.__name__)
        try:
            model = cls(**record["config"])
        except TypeError as error:
            raise InputError(f"{CONFIG} in {folder} does not describe a {cls.__name__}: {error}") from None
        _load_weights(model, Path(folder) / WEIGHTS)
        model.metadata = record["metadata"]  # type: ignore[attr-defined]
        return model.eval()  # type: ignore[attr-defined,no-any-return]


def read_config(folder: Path, name: str) -> dict[str, Any]:
    """The configuration of a saved model, checked."""
    path = folder / CONFIG
    try:
        record: dict[str, Any] = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"folder must hold {CONFIG} and {WEIGHTS} of a saved model, got {folder}") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise InputError(f"{path} is not a whole JSON file; save the model again") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        found = record.get("format") if isinstance(record, dict) else None
        raise InputError(f"{path} has format {found}, and this version of graphreach reads format {FORMAT}")
    missing = [part for part in ("config", "metadata") if not isinstance(record.get(part), dict)]
    if missing:
        raise InputError(f"{path} must have a part {missing[0]!r}; save the model again")
    if record.get("model") != name:
        raise InputError(f"{path} describes a {record.get('model')}, not a {name}")
    return record


def _load_weights(model: Any, path: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state = load_file(path)
    except FileNotFoundError:
        raise InputError(f"folder must hold {WEIGHTS}, got none in {path.parent}") from None
    except (SafetensorError, OSError, ValueError):
        raise InputError(f"{path} is not a whole safetensors file; save the model again") from None
    expected = model.state_dict()
    if state.keys() != expected.keys():
        odd = sorted(state.keys() ^ expected.keys())[:3]
        raise InputError(f"{path} does not hold the weights that {CONFIG} describes: {', '.join(odd)} differ")
    for name, value in state.items():
        if value.shape != expected[name].shape:
            raise InputError(f"{path} has {name} of shape {list(value.shape)}, expected {list(expected[name].shape)}")
    precision = {value.dtype for value in state.values() if value.is_floating_point()}
    if len(precision) == 1:
        model.to(precision.pop())
    with torch.no_grad():
        model.load_state_dict(state)
