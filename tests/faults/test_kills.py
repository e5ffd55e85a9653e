"""The short form of ``python -m tests.faults.kills``, and what other ends leave."""

import os
import random
import signal
import sys
import time

import pytest

from graphreach import InputError, datasets, training
from graphreach.io.files import replacing
from graphreach.training.run_folder import RunFolder
from tests.faults import followed, kills

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")


def test_training_killed_at_random_moments_ends_with_the_same_bits(tmp_path):
    settings = training.Settings(epochs=60, evaluate_every=20, num_anchors=8, dropout=0.2)
    training.run(datasets.load("communities"), settings, tmp_path / "whole")
    done, same = kills.kill_training(
        tmp_path / "run", kills.result(tmp_path / "whole"), 2, 60, 0.05, 0.8, random.Random()
    )
    assert same, f"after {done} kills"


@pytest.mark.parametrize("kind", ["link", "node-features"])
def test_a_run_of_method_reach_killed_at_random_moments_ends_with_the_same_bits(kind, tmp_path):
    kills.finish(kills.start(kills.FIT, tmp_path / "whole", kind))
    done, same = kills.kill_fit(kind, tmp_path / "run", kills.result(tmp_path / "whole"), 2, 1.0, random.Random())
    assert same, f"after {done} kills"


def test_embed_killed_while_it_writes_leaves_no_half_file(tmp_path):
    target = tmp_path / "out.parquet"
    target.write_bytes(b"before")
    assert kills.kill_embedding(target, 0.1, random.Random(0))
    assert target.read_bytes() == b"before"
    (left,) = kills.partials(tmp_path)
    with replacing(tmp_path / "another.csv") as partial:  # whatever is written there next
        partial.write_text("whole")
        assert not left.exists()


@pytest.mark.slow
def test_follow_killed_at_random_moments_applies_every_line_once(tmp_path):
    found = followed.one_run(tmp_path, 3000, 3, 0.04, 2.0, random.Random())
    assert found["same_lines"], found
    assert found["same_graph"], found
    assert found["outputs"] == found["batches"] > 1
    assert [found[name] for name in followed.BAD] == [0, 0]


TERMINATED = """
import sys
from graphreach import training
from graphreach.cli import app
validate = training.Trainer._validate

def say(self):
    validate(self)
    print("validated", flush=True)

training.Trainer._validate = say
words = ["train", "communities", "--model", "graphreach", "-o", sys.argv[1], "--epochs", "100000", "--set", "num_anchors=4"]
app(words, prog_name="graphreach")
"""


def test_sigterm_keeps_the_model_as_ctrl_c_does(tmp_path):
    process = kills.start(TERMINATED, tmp_path)
    assert process.stdout.readline() == "validated\n", process.stderr.read()
    os.kill(process.pid, signal.SIGTERM)
    _, errors = process.communicate()
    assert process.returncode == 143, errors
    assert errors.splitlines()[-1] == "graphreach: terminated"
    assert training.TrainedRun(tmp_path).embed(datasets.load("communities")[0].graph).shape == (400, 4)
    assert kills.partials(tmp_path) == []


def test_two_processes_in_one_folder_are_never_mixed(tmp_path):
    process = kills.start(kills.TRAIN, tmp_path, 100_000, 0.05)
    try:
        assert process.stdout.readline() == "ready\n"
        while not (tmp_path / "checkpoint.safetensors").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        settings = RunFolder(tmp_path).settings
        with pytest.raises(InputError, match="is in use by another process"):
            training.run(datasets.load("communities"), settings, tmp_path)
        assert process.poll() is None
    finally:
        kills.kill(process)
    with RunFolder(tmp_path).locked():  # a process that was killed holds nothing
        pass
