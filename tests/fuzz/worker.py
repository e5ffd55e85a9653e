"""Processes that judge cases, fed by the campaign; run by ``python -m tests.fuzz.worker SEED SAMPLES NOISE``.

The first process imports everything and then only forks: a child that dies is replaced at once.
"""

import faulthandler
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

EXTRA_MEMORY = 3 * 2**30
"""Bytes that a case may take beyond what the process has before the first case."""

IMPORTS = (
    "graphreach", "graphreach.cli", "graphreach.attacks", "graphreach.explain", "graphreach.nn", "graphreach.report",
    "graphreach.tasks", "graphreach.training", "graphreach.transforms", "graphreach.plot", "graphreach.io.tables",
    "graphreach.estimator", "matplotlib.pyplot", "networkx", "pandas", "polars", "scipy.io",
    "scipy.sparse.csgraph", "sklearn.metrics", "torch_geometric.data", "tests.fuzz.entries",
)  # fmt: skip


def main(seed: int, folder_of_samples: str, noise_path: str) -> None:
    """Judge the cases named on stdin, one line ``ENTRY FIRST LAST`` per batch; one line of JSON per case on stdout."""
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    noise = open(noise_path, "w+b", buffering=0)  # noqa: SIM115
    os.dup2(noise.fileno(), 1)
    os.dup2(noise.fileno(), 2)
    for name in IMPORTS:
        importlib.import_module(name)
    make_samples(Path(folder_of_samples))
    while True:
        child = os.fork()
        if not child:
            faulthandler.enable(noise)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            serve(seed, reports, noise)
            os._exit(0)
        reports.write(json.dumps({"child": child}) + "\n")
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            return
        reports.write(json.dumps({"died": signal.Signals(-code).name if code < 0 else f"exit code {code}"}) + "\n")


def make_samples(folder: Path) -> None:
    """Make the samples if there are none, in a process of their own: threads that it starts must not be forked."""
    from tests.fuzz import samples

    child = 0 if folder.exists() else os.fork()
    if not folder.exists() and not child:
        samples.use(folder)
        sys.stdout.flush()
        os._exit(0)
    if child and os.waitpid(child, 0)[1]:
        raise RuntimeError("the samples cannot be made")
    samples.use(folder)


def batches() -> Iterator[tuple[str, int, int]]:
    """The batches that come, unbuffered, as the next process reads from the same pipe."""
    while line := os.read(0, 4096).decode():
        name, first, last = line.split()
        yield name, int(first), int(last)


def serve(seed: int, reports: IO[str], noise: Any) -> None:
    """Judge what comes until there is no more."""
    from tests.fuzz import entries, faults, judge

    known = {entry.name: entry for entry in (*entries.all_entries(), *faults.entries())}
    limit_memory()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        os.chdir(folder)
        quiet = os.fstat(noise.fileno()).st_size
        for name, first, last in batches():
            for number in range(first, last):
                judge.clear_folder(Path(folder))
                verdict = judge.judge(known[name], number, seed).as_dict()
                sys.stdout.flush()
                sys.stderr.flush()
                size = os.fstat(noise.fileno()).st_size
                if size > quiet:
                    text = os.pread(noise.fileno(), 2000, quiet).decode("utf-8", "replace")
                    if verdict["kind"] not in judge.FINDINGS:
                        verdict |= {"kind": "output", "detail": text[:500]}
                    quiet = size
                reports.write(json.dumps(verdict) + "\n")
        os.chdir("/")


def limit_memory() -> None:
    """Address space for a case, beyond what libraries have reserved already."""
    status = Path("/proc/self/status").read_text()
    used = int(next(line for line in status.splitlines() if line.startswith("VmSize")).split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (used + EXTRA_MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
