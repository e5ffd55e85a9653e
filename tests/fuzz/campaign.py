"""Many cases in worker processes, so that a crash is a finding and not an end."""

import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.fuzz.entry import Entry
from tests.fuzz.judge import FINDINGS, Verdict

ROOT = Path(__file__).parents[2]
HANG = 5.0
"""Seconds of processor time after which a case hangs."""

WAIT = 40.0
"""Seconds after which it hangs even if it computes nothing; a busy machine lets a process wait for long."""

START = 600.0
"""Seconds that a worker may take to import everything."""

BATCH = 40
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "OMP_WAIT_POLICY": "passive",
    "GRAPHREACH_MEMORY_LIMIT": str(2**30), "MPLBACKEND": "agg", "RUST_BACKTRACE": "0", "PYTHONHASHSEED": "0",
    "COLUMNS": "120",
}  # fmt: skip


class CaseDiedError(Exception):
    """The worker ended in the middle of a case."""


class CaseSlowError(Exception):
    """The worker took too long for a case."""


class Worker:
    """A process that judges cases, and replaces itself when one kills it."""

    def __init__(self, seed: int, samples: Path, noise: Path) -> None:
        self.noise = noise
        command = [sys.executable, "-m", "tests.fuzz.worker", str(seed), str(samples), str(noise)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environment()
        )
        self.selector = selectors.DefaultSelector()
        assert self.process.stdout is not None
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.buffer = b""
        self.child = self._line(START)["child"]

    def send(self, entry: str, first: int, last: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{entry} {first} {last}\n".encode())
        self.process.stdin.flush()

    def read(self, hang: float = HANG, wait: float = WAIT) -> Verdict:
        """The next verdict.

        Raises :class:`CaseDiedError` or :class:`CaseSlowError`, after which the worker is ready for another batch.
        """
        began, used = time.monotonic(), cpu_seconds(self.child)
        while True:
            try:
                line = self._line(1.0)
            except CaseSlowError:
                if time.monotonic() - began < min(hang, wait):
                    continue
                if cpu_seconds(self.child) - used < hang and time.monotonic() - began < wait:
                    continue
                self._end_child()
                self.child = self._line(30.0)["child"]
                raise CaseSlowError(self.tail()) from None
            if "died" in line:
                self.child = self._line(30.0)["child"]
                raise CaseDiedError(f"{line['died']}: {self.tail()}")
            return Verdict(**line)

    def _end_child(self) -> None:
        """End a case that hangs; the first signal writes where it is."""
        for number in (signal.SIGABRT, signal.SIGKILL):
            os.kill(self.child, number)
            try:
                self._line(10.0)
                return
            except CaseSlowError:
                continue

    def _line(self, seconds: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            if not self.selector.select(max(end - time.monotonic(), 0)):
                raise CaseSlowError
            piece = os.read(self.process.stdout.fileno(), 2**16)
            if not piece:
                raise RuntimeError(f"the worker ended with code {self.process.wait()}: {self.tail()}")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def tail(self) -> str:
        """The end of what the process wrote beside its reports."""
        return self.noise.read_bytes()[-1500:].decode("utf-8", "replace")

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(30.0)
        except subprocess.TimeoutExpired:
            os.kill(self.child, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.selector.close()


def environment() -> dict[str, str]:
    """Of workers: this copy's sources, one thread, and a limit on memory."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return os.environ | ENVIRONMENT | {"PYTHONPATH": path}


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Campaign:
    """Cases of entry points, shared by workers.

    Args:
        seed: Of all cases.
        workers: How many processes.
        say: Takes a line of progress.
        hang: Seconds of processor time after which a case hangs.
    """

    def __init__(
        self, seed: int = 0, workers: int = 1, say: Callable[[str], None] = lambda line: None, hang: float = HANG
    ) -> None:
        self.seed, self.workers, self.say, self.hang = seed, workers, say, hang
        self.counts: dict[str, Counter[str]] = {}
        self.findings: list[Verdict] = []
        self.suspects: list[tuple[str, int, str]] = []
        self.lock = threading.Lock()
        self.failure: BaseException | None = None
        self.ready = threading.Event()

    def run(self, plan: Sequence[tuple[str, int, int]], samples: Path | None = None) -> None:
        """Judge the cases ``first .. last - 1`` of each entry point of the plan.

        Args:
            plan: Names of entry points with the first case and the one after the last.
            samples: Folder of samples; they are made if it does not exist.
        """
        with tempfile.TemporaryDirectory(prefix="fuzz-samples-") as folder:
            self.samples, self.folder = samples or Path(folder, "samples"), Path(folder)
            batches: queue.Queue[tuple[str, int, int]] = queue.Queue()
            for name, first, last in plan:
                for begin in range(first, last, BATCH):
                    batches.put((name, begin, min(begin + BATCH, last)))
            self.total, self.begun = sum(last - first for _, first, last in plan), time.monotonic()
            threads = [threading.Thread(target=self._work, args=(batches, i)) for i in range(self.workers)]
            for thread in threads:
                thread.start()
                self.ready.wait()  # the first worker makes the samples
            for thread in threads:
                thread.join()
            if self.failure is not None:
                raise self.failure

    def _work(self, batches: "queue.Queue[tuple[str, int, int]]", number: int) -> None:
        try:
            worker = self._start(number)
            self.ready.set()
            while self.failure is None:
                try:
                    name, first, last = batches.get_nowait()
                except queue.Empty:
                    break
                while first < last:
                    worker.send(name, first, last)
                    first = self._follow(worker, name, first, last)
            self._look_again(worker)
            worker.stop()
        except BaseException as error:
            self.failure = error
            self.ready.set()

    def _start(self, number: int) -> Worker:
        return Worker(self.seed, self.samples, self.folder / f"noise-{number}")

    def _follow(self, worker: Worker, name: str, first: int, last: int) -> int:
        """Take verdicts; returns the number of the next case that was not judged."""
        for number in range(first, last):
            try:
                self._count(worker.read(self.hang))
            except CaseSlowError as error:
                with self.lock:
                    self.suspects.append((name, number, str(error)))
                return number + 1
            except CaseDiedError as error:
                self._count(Verdict(name, number, "crash", str(error)))
                return number + 1
        return last

    def _count(self, verdict: Verdict) -> None:
        with self.lock:
            self.counts.setdefault(verdict.entry, Counter())[verdict.kind] += 1
            done = sum(sum(each.values()) for each in self.counts.values())
            if verdict.kind in FINDINGS:
                self.findings.append(verdict)
                self.say(f"{verdict.entry}:{verdict.number} {verdict.kind} {' '.join(verdict.detail.split())[:300]}")
            if done % 1000 == 0:
                self.say(
                    f"{done} of {self.total}, {len(self.findings)} findings, {time.monotonic() - self.begun:.0f} s"
                )

    def _look_again(self, worker: Worker) -> None:
        """A case that was slow may have compiled a kernel: it hangs if it is slow when it was run before."""
        while self.suspects:
            with self.lock:
                name, number, noise = self.suspects.pop()
            try:
                worker.send(name, number, number + 1)
                worker.read(4 * self.hang, 4 * WAIT)
                worker.send(name, number, number + 1)
                self._count(worker.read(self.hang))
            except CaseSlowError as error:
                self._count(Verdict(name, number, "hang", str(error) or noise))
            except CaseDiedError as error:
                self._count(Verdict(name, number, "crash", str(error)))


def make_plan(entries: Sequence[Entry], cases: int, first: int = 0) -> list[tuple[str, int, int]]:
    """Cases shared by the entry points' shares, at least one each."""
    total = sum(entry.share for entry in entries)
    ends = [max(1, round(cases * entry.share / total)) for entry in entries]
    return [(entry.name, first, first + end) for entry, end in zip(entries, ends, strict=True)]
