"""Where a run stands, as one file that is whole or not there."""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from graphreach.errors import InputError
from graphreach.io.files import replacing
from graphreach.nn.pretrained import json_checksum, tensor_checksum

CHECKPOINT = "checkpoint.safetensors"
Weights = dict[str, Tensor]


@dataclass
class Progress:
    """What is known after an epoch.

    Attributes:
        epoch: Epochs done.
        best_epoch: The epoch of the best validation, 0 before the first.
        best: Validation metrics at that epoch.
        losses: Training loss of every epoch.
        history: Validation metrics by epoch.
        seconds: Times by phase.
    """

    epoch: int = 0
    best_epoch: int = 0
    best: dict[str, float] = field(default_factory=dict)
    losses: list[float] = field(default_factory=list)
    history: list[dict[str, float]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


def save_checkpoint(
    path: Path, progress: Progress, model: nn.Module, best: Weights, optimizer: torch.optim.Optimizer
) -> None:
    """Write model, best weights, optimiser and progress, with a checksum of all; nothing is pickled."""
    from safetensors.torch import save

    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    tensors = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    known = asdict(progress)
    metadata = {"progress": json.dumps(known), "checksum": f"{tensor_checksum(tensors)} {json_checksum(known)}"}
    content = save(tensors, metadata)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial:
        partial.write_bytes(content)


def load_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[Progress, Weights]:
    """Put model and optimiser where the file says; returns the progress and the best weights."""
    progress, tensors = _read(path)
    groups = _by_prefix(tensors)
    own, best = groups.get("model", {}), groups.get("best", {})
    expected = {name: value.shape for name, value in model.state_dict().items()}
    for weights in (own, *([best] if best else [])):
        if {name: value.shape for name, value in weights.items()} != expected:
            raise InputError(f"{path} does not hold the weights of this run's model; delete it to begin again")
    model.load_state_dict(own)
    state: dict[int, dict[str, Any]] = {}
    for name, value in groups.get("optimizer", {}).items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return progress, best


def check_checkpoint(path: Path) -> None:
    """Refuse a checkpoint that is damaged."""
    _read(path)


def read_progress(path: Path) -> Progress | None:
    """The progress that a checkpoint holds, or None if there is no whole checkpoint."""
    try:
        return _read(path)[0]
    except InputError:
        return None


def _read(path: Path) -> tuple[Progress, Weights]:
    """All that a checkpoint holds, if it is what was written."""
    from safetensors import SafetensorError, safe_open

    damaged = InputError(f"{path} is not a whole checkpoint; delete it to begin again")
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            known = json.loads(metadata["progress"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            sums = f"{tensor_checksum(tensors)} {json_checksum(known)}"
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RuntimeError):
        raise damaged from None
    if metadata.get("checksum") != sums:
        raise damaged
    return Progress(**{each.name: known[each.name] for each in fields(Progress)}), tensors


def _by_prefix(tensors: Weights) -> dict[str, Weights]:
    groups: dict[str, Weights] = {}
    for name, value in tensors.items():
        prefix, _, rest = name.partition(".")
        groups.setdefault(prefix, {})[rest] = value
    return groups
