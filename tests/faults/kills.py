"""Processes that are killed at random moments: ``python -m tests.faults.kills`` counts what they leave.

Training is killed with the default interval between checkpoints, some times over, and then left to end: it must end with
the bits of a run that nothing interrupted. Runs of method ``reach`` have no checkpoints: killed while they learn or while
they write their model, they begin anew, and must end with the same bits too. ``graphreach embed`` is killed while it
writes: at the target there must be nothing, or the whole file that was there before. ``graphreach follow`` is killed while
lines are appended: in the end every line must have been applied once, and every batch must have its output.
"""

import argparse
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import graphreach as gr
from graphreach.io.files import replacing
from tests.faults.followed import BAD, count_follows

COUNTED = ("metrics", "best_epoch", "epochs", "training_loss", "history")
KINDS = ("link", "link-features", "pair", "node", "node-features")
FORMATS = (".parquet", ".csv", ".npy", ".npz", ".emb", ".tsv")
SAME = (
    "resumed_bit_identical",
    "repeated_bit_identical",
    "runs_with_the_graph_of_the_whole_file",
    "runs_with_its_lines",
)
OUTPUT = Path("results/robustness/kills.json")

TRAIN = """
import sys
from graphreach import datasets, training
from graphreach.training import trainer
folder, epochs, interval = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
trainer.SECONDS_BETWEEN_CHECKPOINTS = interval
settings = training.Settings(epochs=epochs, evaluate_every=20, num_anchors=8, dropout=0.2)
data = datasets.load("communities")
print("ready", flush=True)
training.run(data, settings, folder)
"""

FIT = """
import sys
import numpy as np
from graphreach import datasets, training
folder, (task, _, features) = sys.argv[1], sys.argv[2].partition("-")
sample = datasets.load("communities")[0]
x = np.random.default_rng(0).normal(size=(sample.graph.num_nodes, 8)) + sample.y[:, None] % 5
data = datasets.Sample(sample.graph, x.astype(np.float32) if features else None, sample.y)
model = {"num_anchors": 16} if task == "node" else {"num_anchors": 16, "num_links": 200, "num_members": 1}
print("ready", flush=True)
training.run(data, training.Settings(method="reach", task=task, model=model), folder)
"""

EMBED = """
import sys, time
from graphreach.cli import app
from graphreach.training.inputs import Inputs
whole = Inputs.blocks

def slowly(self, model):
    for block in whole(self, model):
        for begin in range(0, len(block), 10):
            time.sleep(float(sys.argv[2]))
            yield block[begin : begin + 10]

Inputs.blocks = slowly
words = ["embed", "communities", "-o", sys.argv[1], "--method", "paper", "--epochs", "1", "--no-compare", "-k", "4"]
app(words, prog_name="graphreach")
"""


def start(code, *words):
    """A process that runs the code, and can be killed."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    """Wait for a process that is to end well."""
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def kill(process):
    """End it as nothing can prevent; returns whether it was still running."""
    running = process.poll() is None
    process.kill()  # nothing, if it has ended: its number may be that of another process
    process.communicate()
    return running


def result(folder):
    """All that must be the same whatever interrupted the run: figures, scores and weights."""
    record = json.loads((folder / "record.json").read_text())
    with np.load(folder / "scores.npz") as file:
        scores = {name: file[name].tobytes() for name in file.files}
    model = {path.name: path.read_bytes() for path in (folder / "model").iterdir()}
    return {key: record[key] for key in COUNTED if key in record}, scores, model


def kill_training(folder, reference, kills, epochs, interval, longest, draw):
    """Kill a run some times, let it end, and compare; returns how many kills hit, and whether the results are the same."""
    done = 0
    while done < kills and not (folder / "record.json").exists():
        process = start(TRAIN, folder, epochs, interval)
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(draw.uniform(0.05, longest))
        done += kill(process)
    finish(start(TRAIN, folder, epochs, interval))
    return done, result(folder) == reference


def kill_fit(kind, folder, reference, kills, longest, draw):
    """The same for a run of method ``reach``, half of the time once it writes its model."""
    done = 0
    while done < kills and not (folder / "record.json").exists():
        before = _model_files(folder)
        process = start(FIT, folder, kind)
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        if draw.random() < 0.5:
            while process.poll() is None and _model_files(folder) == before:
                time.sleep(0.0005)
            time.sleep(draw.uniform(0.0, 0.02))
        else:
            time.sleep(draw.uniform(0.05, longest))
        done += kill(process)
    finish(start(FIT, folder, kind))
    return done, result(folder) == reference and not partials(folder) + partials(folder / "model")


def _model_files(folder):
    """Names of the model's files and when they were written; one that is just being renamed may be missing."""
    try:
        return {(path.name, path.stat().st_mtime_ns) for path in (folder / "model").iterdir()}
    except FileNotFoundError:
        return set()


def partials(folder):
    """Files that are being written, or that a killed process left."""
    return [path for path in folder.iterdir() if ".partial" in path.name]


def kill_embedding(target, pause, draw):
    """Kill ``embed`` at a random moment after it began to write; returns whether it was still writing."""
    process = start(EMBED, target, pause)
    while not partials(target.parent):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)
    time.sleep(draw.uniform(0.0, 30 * pause))
    return kill(process)


def embedding(path):
    """What a file of embeddings holds, to compare."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name].tobytes() for name in file.files}
    return path.read_bytes()


def count_training(kills, epochs, longest, seed):
    """Kill trainings until there were so many kills."""
    from graphreach.training import trainer

    interval = trainer.SECONDS_BETWEEN_CHECKPOINTS
    draw, found = random.Random(seed), {"kills": 0, "runs": 0, "resumed_bit_identical": 0}
    with tempfile.TemporaryDirectory() as scratch:
        finish(start(TRAIN, Path(scratch, "whole"), epochs, interval))
        reference = result(Path(scratch, "whole"))
        while found["kills"] < kills:
            folder = Path(scratch, str(found["runs"]))
            done, same = kill_training(
                folder, reference, min(5, kills - found["kills"]), epochs, interval, longest, draw
            )
            found["kills"] += done
            found["runs"] += 1
            found["resumed_bit_identical"] += same
            print(found, file=sys.stderr, flush=True)
    return {**found, "seconds_between_checkpoints": interval, "epochs": epochs}


def count_fits(kills, seed):
    """Kill runs of method ``reach``, of every kind in turn; those that ended before a kill are not counted."""
    draw, found = random.Random(seed), {"kills": 0, "runs": 0, "repeated_bit_identical": 0}
    known = {}
    with tempfile.TemporaryDirectory() as scratch:
        for number in itertools.count():
            if found["kills"] >= kills:
                break
            kind = KINDS[number % len(KINDS)]
            if kind not in known:
                known[kind] = _whole_fit(Path(scratch, kind), kind)
            folder, (reference, longest) = Path(scratch, str(number)), known[kind]
            done, same = kill_fit(kind, folder, reference, min(4, kills - found["kills"]), longest, draw)
            found["kills"] += done
            found["runs"] += done > 0 or not same
            found["repeated_bit_identical"] += done > 0 and same
            print(kind, found, file=sys.stderr, flush=True)
    return {**found, "kinds": list(known)}


def _whole_fit(folder, kind):
    """What a run that nothing interrupts gives, and its seconds after the imports."""
    process = start(FIT, folder, kind)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    began = time.monotonic()
    finish(process)
    return result(folder), time.monotonic() - began


def count_embedding(kills, seed):
    """Kill ``embed`` while it writes files of every kind, over an old file and without one."""
    draw, found = random.Random(seed), {"kills": 0, "half_files": 0, "written_afterwards": 0, "partial_files_left": 0}
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(kills):
            suffix = FORMATS[number % len(FORMATS)]
            folder = Path(scratch, f"{number}")
            folder.mkdir()
            target, old = folder / f"out{suffix}", number >= kills // 2
            if old:
                target.write_bytes(b"the file from before")
            while not kill_embedding(target, 0.03, draw):  # it had ended; the next one is hit
                target.write_bytes(b"the file from before") if old else target.unlink()
            found["kills"] += 1
            found["half_files"] += target.read_bytes() != b"the file from before" if old else target.exists()
            if number < len(FORMATS):
                found["written_afterwards"] += _written_again(target, Path(scratch, f"whole{suffix}"))
                found["partial_files_left"] += len(partials(folder))
            print(found, file=sys.stderr, flush=True)
    return {**found, "formats": list(FORMATS)}


def _written_again(target, whole):
    """Whether the next ``embed`` writes the file as one that nothing interrupted does, and removes what was left."""
    for path in (whole, target):
        finish(start(EMBED, path, 0.0))
    return embedding(whole) == embedding(target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--training", type=int, default=50, help="kills of training")
    parser.add_argument("--reach", type=int, default=40, help="kills of runs of method reach")
    parser.add_argument("--embed", type=int, default=20, help="kills of embed while it writes")
    parser.add_argument("--follow", type=int, default=50, help="kills of follow while lines are appended")
    parser.add_argument("--epochs", type=int, default=1200)
    parser.add_argument("--longest", type=float, default=11.0, help="seconds of training before a kill, at most")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    parts = {
        "training": lambda: count_training(options.training, options.epochs, options.longest, options.seed),
        "reach": lambda: count_fits(options.reach, options.seed),
        "embed": lambda: count_embedding(options.embed, options.seed),
        "follow": lambda: count_follows(options.follow, options.seed),
    }
    command = " ".join(["python -m tests.faults.kills", *sys.argv[1:]])
    asked = {name: {"command": command, "version": gr.__version__, **count()} for name, count in parts.items()
        if getattr(options, name)}  # fmt: skip
    found = (json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {}) | asked  # parts without kills stay as they were
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    with replacing(OUTPUT) as partial:
        partial.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(1 if any(_is_bad(each) for each in asked.values()) else 0)


def _is_bad(part):
    """Whether a run ended with other bits, a half file was found, or a batch was lost or applied twice."""
    same = [part[name] for name in SAME if name in part]
    bad = any(part["runs"] != each for each in same) or any(part.get(name, 0) for name in ("half_files", *BAD))
    return bad or part.get("outputs") != part.get("batches")


if __name__ == "__main__":
    main()
