"""Training by several processes of a Ray cluster."""

import secrets
import signal
import socket
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphreach.cluster.connection import LOOPBACK
from graphreach.cluster.machines import MARK, STORAGE, Machines
from graphreach.cluster.ray_engine import WORKERS, Ray
from graphreach.errors import InputError
from graphreach.io.files import replacing
from graphreach.progress import live
from graphreach.training.trainer import CHECKPOINT, DivergedError, Trainer, read_progress

MOST_FAILURES = 8
"""Lost workers after which a run is given up."""

SECONDS_BETWEEN_LOOKS = 1.0


def train_on_ray(trainer: Trainer, engine: Ray) -> dict[str, Any]:
    """Train by Ray Train; the trainer is afterwards as its own ``run`` would have left it, up to rounding.

    Each worker computes a share of every step, and the gradients are added up. The first worker validates, and writes
    the checkpoint to the trainer's folder, which all nodes have to share. When a worker is lost, Ray Train starts the
    workers again, and they go on from the checkpoint.

    Args:
        trainer: Model, examples, settings and folder.
        engine: The cluster, and how many of its processes share the steps.

    Returns:
        What the record of a run says about it: workers, cores, nodes, and the estimated bytes that the steps move.
    """
    trainer.check_examples()
    with engine.ready(), tempfile.TemporaryDirectory(prefix="graphreach-") as scratch:
        machines = Machines.of_cluster()
        size = engine.workers or min(WORKERS, sum(machines.cores))
        cores = machines.cores_for(size)
        folder = Path(scratch) if trainer.path is None else trainer.path.parent.resolve()
        seen_by_all = trainer.path is not None or machines.one_machine
        token = secrets.token_hex(8)  # by which workers know whether their folder is the same one
        (folder / STORAGE).mkdir(parents=True, exist_ok=True)
        (folder / STORAGE / MARK).write_text(token)
        try:
            with _watched(trainer, folder), _interruptible():
                found = _fit(trainer, (folder, token) if seen_by_all else None, folder, machines, size, cores)
            _take(trainer, found, folder)
        except KeyboardInterrupt:
            if (folder / CHECKPOINT).exists():
                trainer.load(folder / CHECKPOINT)
            raise
        finally:
            trainer.use_best()
    _write_curves(trainer)
    # An all-reduce of w workers sends 2 (w - 1) times the gradients and the loss, in four bytes each.
    per_step = 2 * (size - 1) * 4 * (sum(each.numel() for each in trainer.model.parameters()) + 1)
    # Steps of the optimiser, also those before a run was resumed.
    steps = max((int(state["step"]) for state in trainer.optimizer.state.values()), default=0)
    return {
        "engine": "ray", "workers": size, "cores": size * cores, "nodes": machines.count,
        "bytes_moved_per_step": per_step, "bytes_moved": per_step * steps,
    }  # fmt: skip


def _fit(
    trainer: Trainer, shared: tuple[Path, str] | None, storage: Path, machines: Machines, size: int, cores: int
) -> Any:
    """What the first worker returns; ``shared`` is the folder of checkpoints and its mark, if all nodes see it."""
    import ray

    from graphreach.cluster.tensors import pack

    config = {
        "batches": ray.put(pack(trainer.batches)),
        "model": trainer.model,
        "settings": trainer.settings,
        "refresh": trainer.refresh,
        "shared": shared,
        "cores": cores,
        "seconds_between_checkpoints": trainer.seconds_between_checkpoints,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Ray's, about itself
        from ray import train
        from ray.train.torch import TorchTrainer

        from graphreach.cluster.team import train_in_worker

        run = train.RunConfig(
            name=STORAGE,
            storage_path=str(storage),
            failure_config=train.FailureConfig(max_failures=MOST_FAILURES),
            worker_runtime_env={"env_vars": _loopback_only()} if machines.loopback else None,
        )
        scaling = train.ScalingConfig(
            num_workers=size, resources_per_worker={"CPU": cores}, placement_strategy="SPREAD"
        )
        fitter = TorchTrainer(train_in_worker, train_loop_config=config, scaling_config=scaling, run_config=run)
        try:
            return fitter.fit().return_value
        except train.WorkerGroupError as error:
            raise explained(list(error.worker_failures.values())) or error from error


def explained(failures: list[Exception]) -> OSError | None:
    """One sentence, if workers could not read or write; of several failures the others only follow from it.

    Example:
        >>> explained([RuntimeError("connection closed"), OSError(28, "No space left on device", "checkpoint")])
        OSError("training on Ray was given up: [Errno 28] No space left on device: 'checkpoint'")
        >>> explained([RuntimeError("connection closed")])
    """
    causes = [getattr(each, "cause", None) or each for each in failures]
    found = next((each for each in causes if isinstance(each, OSError)), None)
    return None if found is None else OSError(f"training on Ray was given up: {found}")


def _take(trainer: Trainer, found: dict[str, Any], folder: Path) -> None:
    """Bring the trainer to where the workers are."""
    if found["error"] is not None:
        raise (DivergedError if found["diverged"] else InputError)(found["error"])
    path = folder / CHECKPOINT
    with replacing(path) as partial:
        partial.write_bytes(found["checkpoint"])
    trainer.load(path)


def _loopback_only() -> dict[str, str]:
    """Keep the workers' gradients on this machine, as Ray is."""
    names = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    return {"GLOO_SOCKET_IFNAME": names[0], "MASTER_ADDR": LOOPBACK} if names else {}


@contextmanager
def _interruptible() -> Iterator[None]:
    """Make Ctrl-C a ``KeyboardInterrupt`` again: Ray Train ends the process instead, and leaves its handler behind."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if main else None
    try:
        yield
    except SystemExit:
        raise KeyboardInterrupt from None
    finally:
        if main:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _watched(trainer: Trainer, folder: Path) -> Iterator[None]:
    """Show how far the workers are, as far as their checkpoint says."""
    ended = threading.Event()
    title = f"training on Ray, {trainer.settings.method}"

    def look() -> None:
        with live(title, trainer.settings.epochs, "epoch") as show:
            while not ended.wait(SECONDS_BETWEEN_LOOKS):
                progress = read_progress(folder / CHECKPOINT)
                if progress is not None:
                    show(progress.epoch, "")

    thread = threading.Thread(target=look, name="graphreach-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _write_curves(trainer: Trainer) -> None:
    if trainer.writer is None:
        return
    for epoch, loss in enumerate(trainer.progress.losses, 1):
        trainer.writer.add_scalar("loss/train", loss, epoch)
    for row in trainer.progress.history:
        for name, value in row.items():
            if name != "epoch":
                trainer.writer.add_scalar(f"validation/{name}", value, int(row["epoch"]))
