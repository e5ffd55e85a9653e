"""Processes that are killed at random moments: ``python -m tests.faults.kills`` counts what they leave.

Training is killed with the default interval between checkpoints, some times over, and then left to end: it must end with
the bits of a run that nothing interrupted. ``graphreach embed`` is killed while it writes: at the target there must be
nothing, or the whole file that was there before.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import graphreach as gr
from graphreach.io.files import replacing

COUNTED = ("metrics", "best_epoch", "epochs", "training_loss", "history")
FORMATS = (".parquet", ".csv", ".npy", ".npz", ".emb")
OUTPUT = Path("results/robustness/kills.json")

TRAIN = """
import sys
from graphreach import datasets, training
folder, epochs, interval = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
training.trainer.SECONDS_BETWEEN_CHECKPOINTS = interval
settings = training.Settings(epochs=epochs, evaluate_every=20, num_anchors=8, dropout=0.2)
data = datasets.load("communities")
print("ready", flush=True)
training.run(data, settings, folder)
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
words = ["embed", "communities", "-o", sys.argv[1], "--epochs", "1", "--no-compare", "-k", "4"]
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
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    return running


def result(folder):
    """All that must be the same whatever interrupted the run: figures, scores and weights."""
    record = json.loads((folder / "record.json").read_text())
    with np.load(folder / "scores.npz") as file:
        scores = {name: file[name].tobytes() for name in file.files}
    return {key: record[key] for key in COUNTED}, scores, (folder / "model" / "model.safetensors").read_bytes()


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
    parser.add_argument("--embed", type=int, default=20, help="kills of embed while it writes")
    parser.add_argument("--epochs", type=int, default=1200)
    parser.add_argument("--longest", type=float, default=11.0, help="seconds of training before a kill, at most")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = {
        "command": "python -m tests.faults.kills " + " ".join(sys.argv[1:]),
        "version": gr.__version__,
        "training": count_training(options.training, options.epochs, options.longest, options.seed),
        "embed": count_embedding(options.embed, options.seed),
    }
    found["command"] = found["command"].strip()
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    with replacing(OUTPUT) as partial:
        partial.write_text(json.dumps(found, indent=1) + "\n")
    bad = found["training"]["runs"] - found["training"]["resumed_bit_identical"] + found["embed"]["half_files"]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
