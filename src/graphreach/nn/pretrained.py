"""Modules that are saved as folders, as :mod:`graphreach.io.model_folder` describes them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from graphreach.errors import InputError
from graphreach.io.model_folder import (
    CONFIG,
    check_sum,
    check_tensors,
    parts_checksum,
    read_config,
    read_tensors,
    write_model,
)


def tensor_checksum(tensors: Mapping[str, Tensor]) -> str:
    """The sha256 of tensors with their names, kinds and shapes; the same in whatever order they are given."""
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    return parts_checksum(
        (name, str(value.dtype), list(value.shape), value.reshape(-1).view(torch.uint8).numpy().data)
        for name, value in plain.items()
    )


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
        state = {name: value.detach().cpu().contiguous() for name, value in self.state_dict().items()}
        shapes = {name: list(value.shape) for name, value in state.items()}
        record = {"model": type(self).__name__, "config": self.config, "metadata": metadata}
        write_model(folder, record, shapes, save(state), tensor_checksum(state))

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
        _load_weights(model, Path(folder), record.get("checksum"))
        model.metadata = record["metadata"]  # type: ignore[attr-defined]
        return model.eval()  # type: ignore[attr-defined,no-any-return]


def _load_weights(model: Any, folder: Path, sums: dict[str, str] | None) -> None:
    from safetensors.torch import load_file

    state, expected = read_tensors(folder, load_file), model.state_dict()
    shapes = ({name: tuple(value.shape) for name, value in each.items()} for each in (state, expected))
    check_tensors(folder, *shapes)
    if sums is not None:
        check_sum(folder, tensor_checksum(state), sums)
    precision = {value.dtype for value in state.values() if value.is_floating_point()}
    if len(precision) == 1:
        model.to(precision.pop())
    with torch.no_grad():
        model.load_state_dict(state)
