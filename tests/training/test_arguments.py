"""Settings of model and reachability are checked before there are data."""

import pytest

from graphreach import Graph, InputError, datasets, training
from graphreach.experiments import ORDER, load_experiment
from graphreach.training import METHODS, SCORERS, Settings
from graphreach.training.arguments import MODELS, check_arguments


def refused(*changes, **values):
    with pytest.raises(InputError) as caught:
        Settings.read(None, changes, **values)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_method_is_known():
    assert set(MODELS) == {*METHODS, *SCORERS}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("model.head=2", "model must not hold 'head' for method 'graphreach'; did you mean 'heads'?"),
        ("model.heads=x", "model.heads must be a whole number, got 'x'"),
        ("model.heads=1.5", "model.heads must be a whole number, got 1.5"),
        ("model.bias=3", "model.bias must be true or false, got 3"),
        ("model.decoder=[1, 2]", "model.decoder must be text, got [1, 2]"),
        ("model.dropout=5", "model.dropout: input should be less than 1, got 5"),
        ("model.hidden_channels=-1", "model.hidden_channels: input should be greater than or equal to 1"),
        ("model.hidden_channels=1000000000000", "model.hidden_channels: input should be less than or equal to 65536"),
        ("model.heads=0", "model.heads must be between 1 and 65536, got 0"),
        ("model.hops=1000000000", "model.hops must be between 1 and 65536, got 1000000000"),
        ("model.num_nodes=3", "model must not hold 'num_nodes'"),
        ("reachability.hop=3", "reachability must not hold 'hop'; did you mean 'hops'?"),
        ("reachability.hops=many", "reachability.hops must be a whole number or null, got 'many'"),
        ("reachability.method=3", "reachability.method must be text, got 3"),
        ("reachability.anchors=[1]", "reachability must not hold 'anchors'"),
    ],
)
def test_wrong_names_and_kinds_of_set(change, sentence):
    assert refused(change).startswith(sentence)


def test_settings_without_effect_are_refused():
    """``--set reachability.walk_length=10`` with preset best changed nothing."""
    assert "hops=4" in refused("reachability.walk_length=10")
    assert "takes no walks" in refused("reachability.num_walks=10")
    assert "no effect on 'gcn'" in refused("num_anchors=5", method="gcn")
    assert "no effect on 'gcn'" in refused("reachability.hops=3", method="gcn")
    assert "pgnn-e or pgnn-f" in refused("resample=true", method="graphreach")
    assert "joined by +" in refused("parts.gcn.epochs=3", method="gcn")
    assert "takes no settings" in refused("model.x=3", method="closure")


def test_settings_with_an_effect_are_taken():
    assert Settings.read(None, ["reachability.walk_length=10"], preset="paper").reachability == {"walk_length": 10}
    together = ["model.hops=null", "reachability.hops=null", "reachability.walk_length=10"]
    assert Settings.read(None, together).model == {"hops": None}
    assert Settings.read(None, ["resample=true"], method="pgnn-e").resample
    assert Settings.read(None, ["parts.gcn.epochs=3"], method="gcn+graphreach").parts == {"gcn": {"epochs": 3}}
    assert Settings.read(None, ["model.p=2"], method="node2vec").model == {"p": 2}


def test_parts_are_checked_too():
    assert "'head' for method 'gcn'" in refused("parts.gcn.model.head=3", method="gcn+graphreach")


def test_python_is_told_before_data_are_split(monkeypatch):
    monkeypatch.setattr(training.harness, "make_splits", lambda *values: pytest.fail("the data were split"))
    with pytest.raises(InputError, match="did you mean 'heads'"):
        training.run(datasets.Sample(Graph.from_edges([[0], [1]])), Settings(model={"head": 3}))


@pytest.mark.parametrize("name", ORDER)
def test_experiments_ask_for_settings_that_have_an_effect(name):
    for cell in load_experiment(name).cells():
        check_arguments(cell.work(0).settings)
