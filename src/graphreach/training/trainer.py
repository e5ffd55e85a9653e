"""The one training loop, for all tasks and models, and the checkpoints it goes on from."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from graphreach.errors import InputError
from graphreach.io.files import replacing
from graphreach.io.model_folder import json_checksum
from graphreach.limits import reused_memory
from graphreach.nn.device import find_device
from graphreach.nn.pretrained import tensor_checksum
from graphreach.progress import Clock, live
from graphreach.threads import one_torch_thread
from graphreach.training.inputs import Batch, Inputs, Part, draw, steps
from graphreach.training.model import TaskModel, evaluate
from graphreach.training.settings import Settings

Found = TypeVar("Found")
SECONDS_BETWEEN_CHECKPOINTS = 5.0
PAIRS_OF_LARGE_GRAPHS = 8192
Refresh = Callable[[list[Batch], int], list[Batch]]

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
    progress, tensors = read_checkpoint(path)
    own, best, states = (
        {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
        for prefix in ("model.", "best.", "optimizer.")
    )
    expected = {name: value.shape for name, value in model.state_dict().items()}
    for weights in (own, *([best] if best else [])):
        if {name: value.shape for name, value in weights.items()} != expected:
            raise InputError(f"{path} does not hold the weights of this run's model; delete it to begin again")
    model.load_state_dict(own)
    state: dict[int, dict[str, Any]] = {}
    for name, value in states.items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return progress, best


def read_progress(path: Path) -> Progress | None:
    """The progress that a checkpoint holds, or None if there is no whole checkpoint."""
    try:
        return read_checkpoint(path)[0]
    except InputError:
        return None


def read_checkpoint(path: Path) -> tuple[Progress, Weights]:
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


class Team:
    """One process, which does all of it; several are :class:`graphreach.cluster.team.ProcessTeam`."""

    leads = True
    """Whether this process is the one that validates and writes."""

    def loss(self, model: TaskModel, inputs: Inputs, part: Part) -> Tensor:
        """The loss of this process's share of a step; the shares add up to the loss of the step."""
        if not inputs.in_pieces:
            return model.loss(inputs.embed(model.encoder), part)
        nodes, index = torch.unique(part.index, return_inverse=True)
        return model.loss(inputs.embed_rows(model.encoder, nodes), replace(part, index=index))

    def add_up(self, model: TaskModel, loss: Tensor) -> float:
        """Make the model's gradients those of the whole step, and return the loss of the whole step."""
        return float(loss.detach())

    def broadcast(self, find: Callable[[], Found]) -> Found:
        """What the process that leads finds, known to all."""
        return find()


class DivergedError(InputError):
    """The loss is not a number any more.

    Example:
        >>> raise DivergedError("the loss is not finite in epoch 3")
        Traceback (most recent call last):
        ...
        graphreach.training.trainer.DivergedError: the loss is not finite in epoch 3
    """


class Trainer:
    """Trains a model by Adam and keeps the weights of the best validation (App. E).

    Training is on the device of the settings; model and batches are on the CPU before and after. Processes that share the
    steps train on CPUs. All that is random in an epoch follows from the seed and the epoch's number alone. A run that was
    killed goes on from its last checkpoint, and ends as if it had not been.

    Args:
        model: What is trained.
        batches: Graphs and examples.
        settings: Epochs, learning rates and the like.
        folder: For checkpoints; None keeps none.
        refresh: Gives the batches of an epoch, if something is drawn again in each.
        writer: A TensorBoard ``SummaryWriter``, or None.
        team: The processes that share the steps; None is this one alone.
    """

    def __init__(
        self,
        model: TaskModel,
        batches: list[Batch],
        settings: Settings,
        folder: Path | None = None,
        refresh: Refresh | None = None,
        writer: Any = None,
        team: Team | None = None,
    ) -> None:
        self.model, self.batches, self.settings = model, batches, settings
        self.device = find_device(settings.device if team is None else "cpu")
        self.path = None if folder is None else folder / CHECKPOINT
        self.refresh, self.writer, self.team = refresh, writer, team or Team()
        self.validates = any(len(split.val.label) for batch in batches for split in batch.splits)
        self.optimizer = torch.optim.Adam(
            model.parameters(), settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )
        self.progress, self.best = Progress(), dict[str, Tensor]()
        self.clock = Clock()
        self.seconds_between_checkpoints = SECONDS_BETWEEN_CHECKPOINTS
        self._saved = time.monotonic()

    @one_torch_thread()
    @reused_memory()
    def run(self) -> Progress:
        """Train to the end, from the checkpoint if there is one; the model has the best weights afterwards.

        On Ctrl-C the last checkpoint stays, the model gets the best weights so far, and ``KeyboardInterrupt`` goes on.
        """
        if self.path is not None and self.path.exists():
            self.load(self.path)
        else:
            self.check_examples()
        batches = self.batches
        self.model.to(self.device)
        self.batches = [batch.to(self.device) for batch in batches]
        try:
            with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
                self._loop()
        finally:
            self.batches = batches
            self.use_best()
        return self.progress

    def load(self, path: Path) -> None:
        """Go to where a checkpoint was written."""
        self.progress, self.best = load_checkpoint(path, self.model, self.optimizer)
        self.clock = Clock(self.progress.seconds)

    def check_examples(self) -> None:
        """Refuse to train on nothing."""
        if not any(len(batch.train) for batch in self.batches):
            raise InputError("splits must hold training examples, got none")

    def use_best(self) -> None:
        """Give the model the weights of the best validation, if there was one, and make it ready to predict."""
        if self.best:
            self.model.load_state_dict(self.best)
        self.model.to("cpu").eval()

    def _loop(self) -> None:
        settings, progress = self.settings, self.progress
        metric = "AUC" if "auc" in settings.choose_by else settings.choose_by
        with live(f"training, {settings.method}", settings.epochs, "epoch") as show:
            while progress.epoch < settings.epochs and not self._out_of_patience():
                self._epoch(progress.epoch)
                due = progress.epoch % settings.evaluate_every == 0 or progress.epoch == settings.epochs
                if due and self.validates:
                    self._validate()
                show(progress.epoch, f"validation {metric} {self._figure(progress.best):.4f}" if self.best else "")
                self._save(time.monotonic() - self._saved > self.seconds_between_checkpoints)
        self._save(True)

    def _epoch(self, epoch: int) -> None:
        settings = self.settings
        seed = settings.seed * 1_000_003 + epoch
        torch.manual_seed(seed)
        rate = settings.learning_rate if epoch < settings.drop_after else settings.later_learning_rate
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with self.clock.phase("training"):
            batches = self.batches if self.refresh is None else self.refresh(self.batches, seed)
            trained = [batch.to(self.device) for batch in batches if len(batch.train)]
            losses = [loss for batch in trained for loss in self._batch_losses(batch, seed)]
        loss = sum(losses) / len(losses)
        if not math.isfinite(loss):
            raise DivergedError(
                f"the loss is not finite in epoch {epoch + 1} ({settings.method}): lower learning_rate "
                f"({settings.learning_rate}), or look for values in the features that are not finite or very large"
            )
        self.progress.losses.append(loss)
        self.progress.epoch = epoch + 1
        if self.writer is not None:
            self.writer.add_scalar("loss/train", loss, epoch + 1)

    def _batch_losses(self, batch: Batch, seed: int) -> list[float]:
        settings, inputs = self.settings, batch.inputs
        self.model.train()
        size = settings.pairs_per_step or (PAIRS_OF_LARGE_GRAPHS if inputs.in_pieces else None)
        losses = []
        for part in steps(draw(batch.train, settings.pairs_per_epoch, seed), size, seed):
            loss = self.team.loss(self.model, inputs, part)
            self.optimizer.zero_grad()
            loss.backward()
            losses.append(self.team.add_up(self.model, loss))
            self.optimizer.step()
        return losses

    def _validate(self) -> None:
        progress = self.progress
        with self.clock.phase("evaluation"):
            found = self.team.broadcast(lambda: evaluate(self.model, self.batches, "val", auc_only=True)[0])
        progress.history.append({"epoch": progress.epoch, **found})
        if self.writer is not None:
            for name, value in found.items():
                self.writer.add_scalar(f"validation/{name}", value, progress.epoch)
        if not self.best or self._figure(found) > self._figure(progress.best):
            progress.best, progress.best_epoch = found, progress.epoch
            self.best = _copy(self.model)

    def _figure(self, found: dict[str, float]) -> float:
        """What models are chosen by; the AUC is that over all pairs together where graphs may have few."""
        disjoint = self.settings.protocol == "node-disjoint"
        return found.get("pooled_auc" if disjoint and "pooled_auc" in found else self.settings.choose_by, -1.0)

    def _out_of_patience(self) -> bool:
        patience, history = self.settings.patience, self.progress.history
        if patience is None or not history:
            return False
        return int(history[-1]["epoch"]) - self.progress.best_epoch >= patience

    def _save(self, due: bool) -> None:
        if self.path is None or not due or not self.team.leads:
            return
        self.progress.seconds = self.clock.seconds
        save_checkpoint(self.path, self.progress, self.model, self.best, self.optimizer)
        self._saved = time.monotonic()


def _copy(model: torch.nn.Module) -> Weights:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
