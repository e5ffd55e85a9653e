"""What a worker of a training does; Ray Train calls it on every one of them."""

import socket
import tempfile
from pathlib import Path
from typing import Any

import numba
import ray
import torch
import torch.distributed as dist
from ray import train

from graphreach.cluster.machines import MARK, STORAGE
from graphreach.cluster.team import ProcessTeam
from graphreach.cluster.tensors import unpack
from graphreach.errors import InputError
from graphreach.training.trainer import CHECKPOINT, DivergedError, Trainer


def train_in_worker(config: dict[str, Any]) -> dict[str, Any]:
    """Train with the others; returns the last checkpoint's bytes, or what is wrong with the input.

    Wrong input is no failure to Ray, which would try again.
    """
    context = train.get_context()
    team = ProcessTeam(context.get_world_rank(), context.get_world_size())
    torch.set_num_threads(config["cores"])
    numba.set_num_threads(min(config["cores"], numba.config.NUMBA_NUM_THREADS))
    with tempfile.TemporaryDirectory() as own:
        try:
            trainer = _trainer(config, team, Path(own))
            trainer.run()
            return _found(trainer.path.read_bytes() if team.leads and trainer.path is not None else None)
        except InputError as error:
            return _found(None, str(error), isinstance(error, DivergedError))


def _found(checkpoint: bytes | None, error: str | None = None, diverged: bool = False) -> dict[str, Any]:
    return {"checkpoint": checkpoint, "error": error, "diverged": diverged}


def _trainer(config: dict[str, Any], team: ProcessTeam, own: Path) -> Trainer:
    """A trainer that begins where the shared checkpoint is, as the leader sees it: the others may see it late."""
    folder = own
    if config["shared"] is not None:
        shared, token = config["shared"]
        _check_shared(shared, token, team)
        folder = shared if team.leads else own
    begin = team.broadcast(lambda: (folder / CHECKPOINT).read_bytes() if (folder / CHECKPOINT).exists() else None)
    if begin is not None and not team.leads:
        (own / CHECKPOINT).write_bytes(begin)
    batches = unpack(ray.get(config["batches"]))
    trainer = Trainer(config["model"], batches, config["settings"], folder, config["refresh"], team=team)
    trainer.seconds_between_checkpoints = config["seconds_between_checkpoints"]
    return trainer


def _check_shared(folder: Path, token: str, team: ProcessTeam) -> None:
    """Refuse a folder that is not the same one for all workers; the name is often there, on a disk of the node's own."""
    mark = folder / STORAGE / MARK
    sees = mark.is_file() and mark.read_text() == token
    blind: list[Any] = [None] * team.size
    dist.all_gather_object(blind, None if sees else socket.gethostname())
    names = sorted({each for each in blind if each is not None})
    if names:
        raise InputError(f"folder must be on storage that all nodes share, got {folder}, which {names[0]} does not see")
