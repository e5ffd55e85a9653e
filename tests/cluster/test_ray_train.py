"""Training by workers of a Ray cluster: several nodes on this machine, reachable from nowhere else."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach import InputError, datasets, training
from graphreach.cluster import Ray, connected, inference
from graphreach.cluster import training as cluster_training
from graphreach.cluster.training import train_on_ray
from graphreach.training import DivergedError, Settings, inputs
from graphreach.training.trainer import CHECKPOINT, read_progress

pytest.importorskip("ray", reason="ray is not installed")

SMALL = {"epochs": 12, "evaluate_every": 4, "num_anchors": 8}


@pytest.fixture(scope="module", autouse=True)
def address(three_nodes):
    """One connection for all tests, as each takes seconds."""
    three_nodes.grow(3)
    with connected(three_nodes.address):
        yield three_nodes.address


@pytest.fixture(scope="module")
def data():
    return datasets.load("communities")


def assert_same_run(found, expected):
    assert found.losses == pytest.approx(expected.losses, rel=1e-5)
    assert found.best_epoch == expected.best_epoch
    assert [row["auc"] for row in found.history] == pytest.approx([row["auc"] for row in expected.history], abs=1e-3)


def test_two_workers_have_the_losses_of_one_process(data, tmp_path):
    settings = Settings(preset="authors", **SMALL)  # with dropout
    alone = training.run(data, settings, tmp_path / "local")
    shared = training.run(data, settings, tmp_path / "ray", engine=Ray(workers=2))
    progress = [read_progress(tmp_path / name / CHECKPOINT) for name in ("ray", "local")]
    assert_same_run(*progress)
    assert shared.test["auc"] == pytest.approx(alone.test["auc"], abs=1e-3)
    assert shared.record.keys() - alone.record.keys() == {"cluster"}
    numbers = alone.record["parameters"] + 1
    assert shared.record["cluster"] == {
        "engine": "ray", "workers": 2, "cores": 2, "nodes": 3, "bytes_moved_per_step": 8 * numbers,
        "bytes_moved": 12 * 8 * numbers,
    }  # fmt: skip
    again = training.TrainedRun(tmp_path / "ray").embed(data.samples[0].graph)
    assert again.shape == (data.samples[0].graph.num_nodes, 8)


class Disturbance:
    """What happens to workers in the middle: they read rows of a large graph, and one of them may be killed once."""

    def __init__(self, folder: Path, in_pieces: bool = False, kill_at: int | None = None) -> None:
        self.folder, self.in_pieces, self.kill_at = folder, in_pieces, kill_at

    def __call__(self, batches, seed):
        import torch.distributed as dist

        if self.in_pieces:
            inputs.WHOLE_GRAPH_NODES = 10
        rank = dist.get_rank()
        with (self.folder / f"epochs-{rank}").open("a") as file:
            file.write(f"{seed % 1_000_003} ")
        killed = self.folder / "killed"
        if rank == 1 and seed % 1_000_003 == self.kill_at and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return batches

    def epochs(self, rank):
        return [int(each) for each in (self.folder / f"epochs-{rank}").read_text().split()]


def made(data, monkeypatch, settings, folder=None, refresh=None):
    """A trainer as the harness makes it."""
    found = {}
    with monkeypatch.context() as patch:
        patch.setattr(training.Trainer, "run", lambda self: found.update(trainer=self) or self.progress)
        patch.setattr(training.harness, "evaluate", lambda *args: ({}, [None] * len(data.samples)))
        with pytest.raises(IndexError):  # there are no losses
            training.run(data, settings)
    made = found["trainer"]
    return training.Trainer(made.model, made.batches, settings, folder, refresh)


def test_a_run_begun_here_goes_on_with_two_workers_one_of_which_is_killed(data, monkeypatch, tmp_path):
    settings = Settings(task="pair", dropout=0.3, pairs_per_step=200, pairs_per_epoch=500, **SMALL)
    monkeypatch.setattr(inputs, "WHOLE_GRAPH_NODES", 10)
    whole = made(data, monkeypatch, settings)
    assert all(batch.inputs.in_pieces for batch in whole.batches)
    expected = whole.run()
    begun = made(data, monkeypatch, settings, tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(training.Trainer, "_out_of_patience", lambda self: self.progress.epoch == 3)
        assert begun.run().epoch == 3
    disturbance = Disturbance(tmp_path, in_pieces=True, kill_at=7)
    shared = made(data, monkeypatch, settings, tmp_path / "run", pickled(disturbance))
    shared.seconds_between_checkpoints = -1.0
    train_on_ray(shared, Ray(workers=2))
    assert (tmp_path / "killed").exists()
    assert disturbance.epochs(0) == disturbance.epochs(1) == [*range(3, 8), *range(7, 12)]  # epoch 7 again, no other
    assert_same_run(shared.progress, expected)
    for name, value in whole.model.state_dict().items():
        torch.testing.assert_close(shared.model.state_dict()[name], value, rtol=1e-3, atol=1e-5)


def test_what_workers_find_wrong_is_raised_here(data, monkeypatch, tmp_path):
    trainer = made(data, monkeypatch, Settings(**SMALL))
    found = {"checkpoint": None, "error": "the loss is not finite in epoch 3", "diverged": True}
    with pytest.raises(DivergedError, match="the loss is not finite in epoch 3"):
        cluster_training._take(trainer, found, tmp_path)
    with pytest.raises(InputError, match="not finite"):
        cluster_training._take(trainer, {**found, "diverged": False}, tmp_path)


@pytest.fixture
def trained_here(monkeypatch):
    """Take here the steps that the cluster would take in half a minute; returns where they would have been taken."""
    calls = []

    def train(trainer, engine):
        calls.append((engine.address, engine.workers))
        trainer.run()
        return {"engine": "ray", "workers": engine.workers or 2, "cores": engine.workers or 2, "nodes": 3}

    monkeypatch.setattr(cluster_training, "train_on_ray", train)
    return calls


def test_the_estimator_takes_its_steps_on_the_cluster(data, trained_here):
    graph = data.samples[0].graph
    alone = gr.GraphReachEmbedding(method="paper", num_anchors=8, epochs=2).fit(graph)
    engine = Ray(workers=3)
    shared = gr.GraphReachEmbedding(method="paper", num_anchors=8, epochs=2, engine=engine).fit(graph)
    assert trained_here == [(None, 3)]
    assert engine.last_use.nodes == 3  # of reachability
    assert shared.embedding_.tobytes() == alone.embedding_.tobytes()


def test_commands(data, tmp_path, address, trained_here):
    import polars as pl
    from typer.testing import CliRunner

    from graphreach.cli.app import app

    graph = data.samples[0].graph
    source, target = graph.edge_index
    edges = tmp_path / "edges.csv"
    edges.write_text("".join(f"n{a},n{b}\n" for a, b in zip(source, target, strict=True) if a < b))
    options = ["-k", "8", "--epochs", "4", "--no-compare", "--engine", "ray", "--address", address]
    result = CliRunner().invoke(app, ["embed", str(edges), "-o", str(tmp_path / "z"), "--method", "paper", *options])
    assert result.exit_code == 0, result.output
    assert trained_here == [(address, None)]
    frame = pl.read_parquet(tmp_path / "z" / "*.parquet")
    assert frame.columns == ["id", *(f"z{i}" for i in range(8))]
    assert sorted(frame["id"]) == sorted({f"n{each}" for each in source})
    options = ["--epochs", "4", "--engine", "ray", "--address", address, "--workers", "3"]
    result = CliRunner().invoke(app, ["train", str(edges), "-m", "graphreach", "-o", str(tmp_path / "run"), *options])
    assert result.exit_code == 0, result.output
    assert trained_here[1:] == [(address, 3)]
    assert json.loads((tmp_path / "run" / "record.json").read_text())["cluster"]["workers"] == 3


def test_a_graph_in_parts_is_embedded_as_a_whole_one(data, tmp_path):
    import polars as pl

    graph = data.samples[0].graph
    settings = Settings(preset="authors", reachability={"walk_length": 6}, **{**SMALL, "epochs": 2})
    training.run(data, settings, tmp_path / "run")
    run = training.TrainedRun(tmp_path / "run")
    stored = gr.cluster.write_partitions(graph, tmp_path / "graph", 3)
    files = gr.cluster.embed_partitions(run, stored, tmp_path / "z")
    assert [file.name for file in files] == [f"part-0000{i}.parquet" for i in range(3)]
    for part, file in enumerate(files):
        assert pl.read_parquet(file)["id"].to_list() == stored.part_ids(part).tolist()
    frame = pl.concat([pl.read_parquet(file) for file in files])
    np.testing.assert_allclose(frame.drop("id").to_numpy(), run.embed(graph), atol=1e-5)
    run.anchors = ["none", "of", "them"]
    with pytest.raises(InputError, match="graph must have the run's 3 anchors, got one without 3 of them: 'none'"):
        gr.cluster.embed_partitions(run, stored, tmp_path / "again")
    run.new_anchors = True  # so it gets three of its own
    again = gr.cluster.embed_partitions(run, stored, tmp_path / "again")
    assert pl.read_parquet(again[0]).width == 1 + 3


@pytest.mark.parametrize("kind", ["pieces", "whole", "identity"])
def test_the_data_set_is_the_embedding(data, monkeypatch, tmp_path, kind):
    import polars as pl

    if kind != "whole":
        monkeypatch.setattr(inputs, "WHOLE_GRAPH_NODES", 10)
        monkeypatch.setattr(inputs, "BLOCK_ROWS", 48)
        monkeypatch.setattr(inference, "BLOCK_ROWS", 48)
    trainer = made(data, monkeypatch, Settings(identity=kind == "identity", **SMALL))
    model, whole = trainer.model.encoder.eval(), trainer.batches[0].inputs
    expected = np.concatenate(list(whole.blocks(model)))
    ids = np.array([f"node {i}" for i in range(whole.num_nodes)])
    files = inference.write_embeddings(model, whole, ids, tmp_path / "z", shards=4)
    assert [file.name for file in files] == [f"part-0000{i}.parquet" for i in range(4)]
    assert sorted(files) == sorted((tmp_path / "z").iterdir())
    frame = pl.concat([pl.read_parquet(file) for file in files])
    assert frame["id"].to_list() == ids.tolist()
    np.testing.assert_array_equal(frame.drop("id").to_numpy(), expected)
    with pytest.raises(InputError, match="folder must be empty or not there yet, got"):
        inference.write_embeddings(model, whole, ids, tmp_path / "z")


class FullDisk(torch.nn.Module):
    """Where a worker's disk is full."""

    def forward(self, x, positions):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "part-00000.parquet")


def test_a_full_disk_is_one_sentence(data, monkeypatch, tmp_path):
    whole = made(data, monkeypatch, Settings(**SMALL)).batches[0].inputs
    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device: 'part-00000.parquet'$"):
        inference.write_embeddings(pickled(FullDisk()), whole, np.arange(whole.num_nodes), tmp_path / "z")


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        (Ray(workers=4), "workers must be at most 3, the number of CPUs in the Ray cluster, got 4"),
        ("spark", "engine must be one of local, ray, got 'spark'"),
        (Ray("127.0.0.1:1"), "address must be .*, which this process is connected to already"),
    ],
)
def test_wrong_arguments_are_one_sentence_before_any_work(data, monkeypatch, engine, message):
    monkeypatch.setattr(training.harness, "make_splits", None)
    with pytest.raises(InputError, match=message):
        training.run(data, Settings(**SMALL), engine=engine)


FRESH = """
import sys
import graphreach as gr
from graphreach import datasets, training

grid, settings = datasets.load("grid"), training.Settings(epochs=1, num_anchors=4)
training.run(grid, settings)
gr.GraphReachEmbedding(method="paper", num_anchors=4, epochs=1).fit(grid.samples[0].graph)
assert not any(name.partition(".")[0] == "ray" for name in sys.modules)
try:
    training.run(grid, settings, engine=gr.cluster.Ray("127.0.0.1:1"))
except gr.InputError as error:
    print(error)
"""


def test_the_default_does_not_import_ray_and_an_address_without_a_cluster_is_refused():
    done = subprocess.run([sys.executable, "-c", FRESH], check=True, capture_output=True, text=True)
    assert done.stdout.startswith(
        "address 127.0.0.1:1 must be that of a running Ray cluster, but nothing answers there"
    )
    assert done.stdout.count("\n") == 1


def pickled(thing):
    """Something of this module for workers, who cannot import it."""
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return thing
