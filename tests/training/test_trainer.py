"""The loop itself: the same whatever interrupts it."""

import json

import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach import InputError, datasets, training
from graphreach.training import DivergedError, Settings

SMALL = {"epochs": 30, "evaluate_every": 5, "num_anchors": 8}


@pytest.fixture(scope="module")
def data():
    return datasets.load("communities")


def what_counts(record):
    return {key: record[key] for key in ("metrics", "best_epoch", "epochs", "training_loss", "history")}


@pytest.mark.parametrize("method", ["graphreach", "gcn", "pgnn-f"])
def test_the_same_seed_gives_the_same_run(data, method):
    settings = Settings(method=method, **SMALL)
    first, second = (training.run(data, settings).record for _ in range(2))
    assert what_counts(first) == what_counts(second)
    other = training.run(data, settings.model_copy(update={"seed": 1})).record
    assert what_counts(first) != what_counts(other)


def test_training_leaves_the_global_generator_alone(data):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    training.run(data, Settings(**{**SMALL, "epochs": 2}))
    assert torch.equal(torch.rand(3), expected)


class Killed(BaseException):
    """Like SIGKILL: nothing catches it."""


@pytest.mark.parametrize("method", ["graphreach", "gat"])
@pytest.mark.parametrize("when", [1, 7, 22])
def test_killed_at_an_epoch_and_resumed_it_ends_the_same(data, method, when, tmp_path, monkeypatch):
    settings = Settings(method=method, dropout=0.3, **SMALL)
    whole = training.run(data, settings).record
    monkeypatch.setattr(training.trainer, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    validate = training.Trainer._save

    def save_and_die(self, due):
        validate(self, due)
        if self.progress.epoch == when:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(training.Trainer, "_save", save_and_die)
        with pytest.raises(Killed):
            training.run(data, settings, tmp_path)
    assert not (tmp_path / "record.json").exists()
    resumed = training.run(data, settings, tmp_path).record
    assert what_counts(resumed) == what_counts(whole)


def test_a_finished_run_is_not_repeated(data, tmp_path, monkeypatch):
    settings = Settings(**SMALL)
    first = training.run(data, settings, tmp_path)
    monkeypatch.setattr(training.Trainer, "run", lambda self: pytest.fail("trained again"))
    again = training.run(data, settings, tmp_path)
    assert again.record == json.loads(json.dumps(first.record))
    for part in ("val", "test"):
        np.testing.assert_array_equal(again.scores[part][0], first.scores[part][0])


def test_a_folder_with_other_settings_is_refused(data, tmp_path):
    training.run(data, Settings(**SMALL), tmp_path)
    with pytest.raises(InputError, match=r"epochs 30 there and 31 here"):
        training.run(data, Settings(**{**SMALL, "epochs": 31}), tmp_path)


def test_a_damaged_checkpoint_is_named(data, tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"half")
    with pytest.raises(InputError, match="is not a whole checkpoint"):
        training.run(data, Settings(**SMALL), tmp_path)


def test_a_loss_that_is_not_a_number_names_the_epoch(data):
    settings = Settings(method="gcn", **(SMALL | {"learning_rate": 1e38}))
    with pytest.raises(DivergedError, match=r"not finite in epoch [2-9] \(gcn\): lower learning_rate"):
        training.run(data, settings)


def test_ctrl_c_keeps_the_best_model(data, tmp_path, monkeypatch):
    settings = Settings(**SMALL)
    validate = training.Trainer._validate

    def interrupt(self):
        validate(self)
        if self.progress.epoch == 20:
            raise KeyboardInterrupt

    monkeypatch.setattr(training.Trainer, "_validate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        training.run(data, settings, tmp_path)
    trained = training.TrainedRun(tmp_path)
    assert trained.embed(data.samples[0].graph).shape == (400, 8)


def test_learning_rate_falls_and_patience_stops(data):
    settings = Settings(**{**SMALL, "epochs": 400, "patience": 20})
    record = training.run(data, settings).record
    assert record["epochs"] == 400 or record["epochs"] - record["best_epoch"] >= 20
    rates = []

    class Spy(torch.optim.Adam):
        def step(self, *args):
            rates.append(self.param_groups[0]["lr"])
            return super().step(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim, "Adam", Spy)
        training.run(data, Settings(**{**SMALL, "epochs": 6, "drop_after": 4}))
    assert rates == [0.01] * 4 + [0.001] * 2


def stops_at(data, monkeypatch, best=10, **settings):
    """The epoch after which training stops if no validation is better than that of epoch ``best``."""
    found = training.trainer.evaluate

    def skip(self, epoch):
        self.progress.losses.append(1.0)
        self.progress.epoch = epoch + 1

    def flat(model, batches, part, auc_only=False):
        if not auc_only:
            return found(model, batches, part)
        seen.append(len(seen) + 1)
        epoch = seen[-1] * settings.get("evaluate_every", 10)
        return {"auc": 0.5 + epoch / 10_000 if epoch <= best else 0.4}, None

    seen = []
    monkeypatch.setattr(training.Trainer, "_epoch", skip)
    monkeypatch.setattr(training.trainer, "evaluate", flat)
    monkeypatch.setattr(training.Trainer, "_save", lambda self, due: None)
    record = training.run(data, Settings(method="mlp", features=False, identity=True, **settings)).record
    assert record["best_epoch"] == best
    return record["epochs"]


def test_training_stops_some_time_after_its_best_epoch_unless_told_otherwise(data, monkeypatch):
    assert stops_at(data, monkeypatch) == 260
    assert stops_at(data, monkeypatch, best=120) == 370
    assert stops_at(data, monkeypatch, patience=None) == 1000
    assert stops_at(data, monkeypatch, patience=40) == 50


def test_patience_ends_with_a_validation(data, monkeypatch):
    assert stops_at(data, monkeypatch, best=300, evaluate_every=300) == 600
    assert stops_at(data, monkeypatch, evaluate_every=10, patience=25) == 40


def test_the_model_of_the_best_validation_is_kept(data):
    outcome = training.run(data, Settings(**SMALL))
    history = {int(row["epoch"]): row["auc"] for row in outcome.record["history"]}
    assert history[outcome.record["best_epoch"]] == max(history.values())
    assert outcome.record["metrics"]["val"]["auc"] == pytest.approx(max(history.values()), abs=1e-12)


def test_pairs_are_drawn_anew_in_every_epoch(data):
    seen = []
    loss = training.model.TaskModel.loss

    def spy(self, z, part):
        seen.append(part.index)
        return loss(self, z, part)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training.model.TaskModel, "loss", spy)
        training.run(data, Settings(**{**SMALL, "epochs": 3, "pairs_per_epoch": 100}))
    assert [index.shape for index in seen] == [(2, 100)] * 3
    assert not torch.equal(seen[0], seen[1])


def test_large_graphs_in_pieces_learn_as_the_whole_does(data, monkeypatch):
    """With all pairs in one step and no dropout, rows in pieces give the same training."""
    settings = Settings(**{**SMALL, "epochs": 10, "pairs_per_step": 10**6})
    whole = training.run(data, settings).record
    monkeypatch.setattr(training.inputs, "WHOLE_GRAPH_NODES", 10)
    pieces = training.run(data, settings).record
    assert pieces["metrics"]["test"]["auc"] == pytest.approx(whole["metrics"]["test"]["auc"], abs=1e-3)
    assert pieces["training_loss"] == pytest.approx(whole["training_loss"], abs=1e-4)


def test_bigger_seeds_and_ids_of_any_kind(tmp_path):
    graph = gr.Graph.from_edge_list([(f"n{i}", f"n{(i * 7 + j) % 40}") for i in range(40) for j in (1, 2, 3)])
    outcome = training.run(datasets.Sample(graph, None, None), Settings(**SMALL, seed=2**32 - 1), tmp_path)
    assert 0 <= outcome.test["auc"] <= 1
    assert set(training.TrainedRun(tmp_path).anchors) <= set(graph.ids.tolist())
