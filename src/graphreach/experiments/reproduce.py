"""Running experiments: what is not on disk yet, side by side, in the order of importance."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from graphreach.experiments.definition import ORDER, Cell, Experiment, load_experiment
from graphreach.experiments.work import Line, Store, Work
from graphreach.training import Settings

SCRATCH = ".runs"
QUICK = {"epochs": 4, "evaluate_every": 2, "patience": None}
QUICK_PAIRS = 5000
QUICK_GRAPHS = 3


@dataclass
class Task:
    """Work, and the tables that wait for it."""

    work: Work
    what: str
    tables: list[str]


@dataclass
class Status:
    """How far the runs are: what a display shows.

    Attributes:
        total: Runs of each table.
        done: Finished runs of each table.
        failed: What went wrong, by the run's name.
        seconds: What the runs of this call took.
        left: Seconds that the rest will take, if it goes on like this; None before the first run is finished.
    """

    total: dict[str, int]
    done: dict[str, int]
    failed: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    left: float | None = None


Show = Callable[[Status, str], None]


def chosen(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names, the most important first; ``all`` are all.

    Example:
        >>> [each.name for each in chosen(["table-5a", "table-3a"])]
        ['table-3a', 'table-5a']
    """
    wanted = set(ORDER if "all" in names else names)
    for name in wanted:
        load_experiment(name)
    return [load_experiment(name) for name in ORDER if name in wanted]


def works(
    experiment: Experiment,
    seeds: Iterable[int] | None = None,
    quick: bool = False,
    columns: Iterable[str] | None = None,
) -> list[tuple[Cell, int, Work]]:
    """Every run of an experiment: the first seed of all cells, then the second, and so on.

    Args:
        experiment: The experiment.
        seeds: Seeds to run; None: as many as each cell says.
        quick: One seed by default, few epochs, few graphs, of a sweep the first and the last row.
        columns: Columns to run; None: all.
    """
    listed = None if seeds is None else list(seeds)
    wanted = None if columns is None else set(columns)
    found = []
    for cell in experiment.cells():
        if (wanted is not None and cell.name not in wanted) or (quick and not _in_quick(experiment, cell)):
            continue
        own = listed if listed is not None else range(1 if quick else cell.seeds)
        found += [(seed, cell, _quick(cell.work(seed)) if quick else cell.work(seed)) for seed in own]
    found.sort(key=lambda each: each[0])
    return [(cell, seed, work) for seed, cell, work in found]


def reproduce(
    names: Sequence[str], folder: Path, *, seeds: Sequence[int] | None = None, jobs: int = 1, quick: bool = False,
    columns: Sequence[str] | None = None, show: Show | None = None,
) -> Status:  # fmt: skip
    """Do every run of the named experiments that ``folder`` does not hold yet.

    Results go to ``folder/<name>.jsonl`` as they come. A run that several tables need is done once. A run that fails does
    not stop the others; it is named in the result.

    Args:
        names: Experiments, or ``all``.
        folder: Where results are, and go.
        seeds: Seeds to run; None: as many as each cell says.
        jobs: Runs side by side; the cores are shared among them.
        quick: A look at every path in minutes; use a folder of its own.
        columns: Columns to run; None: all.
        show: Called with the status and a line of text after each run.
    """
    experiments = chosen(names)
    tasks: dict[str, Task] = {}
    for experiment in experiments:
        for cell, seed, work in works(experiment, seeds, quick, columns):
            task = tasks.setdefault(
                work.key, Task(work, f"{cell.group.name}, {cell.row.label}, {cell.column.label}, seed {seed}", [])
            )
            if experiment.name not in task.tables:
                task.tables.append(experiment.name)
    names = [each.name for each in experiments]
    total = Counter(name for task in tasks.values() for name in task.tables)
    status = Status({name: total[name] for name in names}, dict.fromkeys(names, 0))
    pending = _from_disk(tasks, folder, status)
    if show is not None:
        show(status, f"{len(tasks) - len(pending)} of {len(tasks)} runs are on disk")
    alone = [task for task in pending if task.work.kind == "time"]
    together = [task for task in pending if task.work.kind != "time"]
    for some, side_by_side in ((together, jobs), (alone, 1)):
        if some:
            _run_all(some, folder, side_by_side, status, show or (lambda status, text: None))
    return status


def _from_disk(tasks: dict[str, Task], folder: Path, status: Status) -> list[Task]:
    """The tasks that are left; a result that another table has is copied."""
    by_table = {name: {line["key"]: line for line in Store(folder, name).lines()} for name in ORDER}
    known = {key: line for lines in by_table.values() for key, line in lines.items()}
    copies: dict[str, list[Line]] = {}
    pending = []
    for key, task in tasks.items():
        if key not in known:
            pending.append(task)
            continue
        for name in task.tables:
            status.done[name] += 1
            if key not in by_table[name]:
                copies.setdefault(name, []).append(known[key])
    for name, lines in copies.items():
        Store(folder, name).add(lines)
    return pending


def _run_all(pending: list[Task], folder: Path, jobs: int, status: Status, show: Show) -> None:
    scratch = folder / SCRATCH
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _start, (threads,)) as pool:
        queue = iter(pending)
        running: dict[Future[Line], Task] = {}
        left = len(pending)
        try:
            while left:
                while len(running) < jobs and (task := next(queue, None)) is not None:
                    running[pool.submit(_do, task.work.model_dump_json(), str(scratch))] = task
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    left -= 1
                    _finish(future, running.pop(future), folder, left / jobs, status, show)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(getattr(pool, "_processes", None) or {}):
                os.kill(process, 15)
            raise


def _finish(future: "Future[Line]", task: Task, folder: Path, rounds: float, status: Status, show: Show) -> None:
    try:
        line = future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:
        status.failed[task.what] = str(error)
        show(status, f"{task.tables[0]}, {task.what}: failed, {error}")
        return
    for name in task.tables:
        Store(folder, name).add([line])
        status.done[name] += 1
    status.seconds.append(line["wall"])
    status.left = rounds * sum(status.seconds) / len(status.seconds)
    auc = line.get("metrics", {}).get("test", {}).get("auc")
    figure = "" if auc is None else f" AUC {auc:.3f},"
    show(status, f"{task.tables[0]}, {task.what}:{figure} {line['wall']:.0f} s")


def _start(threads: int) -> None:
    """Called in every new process."""
    import numba
    import torch

    Thread(target=_end_with_parent, daemon=True).start()

    torch.set_num_threads(threads)
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def _end_with_parent() -> None:
    """A run whose result nobody would write ends with whoever asked for it, however that was killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(work: str, scratch: str) -> Line:
    task = Work.model_validate_json(work)
    began = time.perf_counter()
    found = task.do(Path(scratch))
    wall = round(time.perf_counter() - began, 2)
    return {"key": task.key, "work": task.describe(), **found, "wall": wall, "python": sys.version.split()[0]}


def _in_quick(experiment: Experiment, cell: Cell) -> bool:
    """The first and the last column or row of a sweep."""
    names, rows = list(experiment.columns), list(cell.group.rows)
    if experiment.axis is not None:
        return cell.name in (names[0], names[-1])
    return not experiment.place.startswith(("Table 9", "Table 10")) or cell.key in (rows[0], rows[-1])


def _quick(work: Work) -> Work:
    settings: dict[str, Any] = work.settings.model_dump(exclude_defaults=True) | QUICK
    if settings.get("task") == "pair":
        settings["pairs_per_epoch"] = QUICK_PAIRS
    return work.model_copy(update={"settings": Settings(**settings), "max_graphs": QUICK_GRAPHS})
