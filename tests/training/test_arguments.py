"""Settings of model and reachability are checked before there are data."""

import inspect
import json

import pytest

import graphreach as gr
from graphreach import Graph, InputError, datasets, training
from graphreach.experiments import ORDER, load_experiment
from graphreach.training import METHODS, SCORERS, Settings
from graphreach.training.plan import check_effect
from graphreach.training.settings import FITTED, OPTIONS, TRAINED, ReachabilityOptions


def refused(*changes, **values):
    with pytest.raises(InputError) as caught:
        Settings.read(None, changes, **values)
    assert "\n" not in str(caught.value)
    return str(caught.value)


MODELS = {
    "reach": gr.LinkPredictor, "graphreach": gr.nn.GraphReach, "mlp": gr.nn.MLP,
    **dict.fromkeys(("pgnn-e", "pgnn-f"), gr.nn.PGNN),
    **dict.fromkeys(("gcn", "sage", "gat", "gin", "gcn-rw", "gcn-laplacian"), gr.nn.Neighbourhood),
    **dict.fromkeys(("deepwalk", "node2vec"), gr.nn.SkipGram), **gr.tasks.HEURISTICS, "closure": lambda: None,
}  # fmt: skip
GIVEN = {"in_channels", "num_nodes", "kind", "graph", "pairs", "anchors", "engine", "address", "partitions"}
DRAWN = {"negatives", "prior", "random_state", "start"}
"""Arguments of LinkPredictor that a run has from its split and its seed."""

"""Arguments that follow from the data, from other settings or from where a run takes place."""


@pytest.mark.parametrize("name", MODELS)
def test_options_are_the_arguments_of_what_takes_them(name):
    given = DRAWN if name == "reach" else GIVEN
    assert set(OPTIONS[name].model_fields) == set(inspect.signature(MODELS[name]).parameters) - given


def test_options_of_reachability_are_its_arguments():
    assert set(ReachabilityOptions.model_fields) == set(inspect.signature(gr.reachability).parameters) - GIVEN


def test_every_method_is_known():
    assert set(OPTIONS) == set(MODELS) == {*METHODS, *FITTED, *SCORERS}
    assert set(TRAINED) == set(METHODS)


def test_only_what_was_set_is_stored():
    settings = Settings(model={"heads": 1, "hops": None}, reachability={"num_walks": 9})
    stored = json.loads(settings.model_dump_json())
    assert (stored["model"], stored["reachability"]) == ({"heads": 1, "hops": None}, {"num_walks": 9})
    assert settings.model_dump(mode="json", exclude_defaults=True)["model"] == {"heads": 1, "hops": None}
    assert Settings(**stored) == settings
    assert "model" not in Settings(method="gcn").model_dump(exclude_defaults=True)
    with pytest.raises(ValueError, match="frozen"):
        settings.model.heads = 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("model.head=2", "model must not hold 'head' for method 'graphreach'; did you mean 'heads'?"),
        ("model.heads=x", "model.heads: input should be a valid integer, got 'x'"),
        ("model.heads=1.5", "model.heads: input should be a valid integer, got 1.5"),
        ("model.bias=3", "model.bias: input should be a valid boolean, got 3"),
        ("model.decoder=[1, 2]", "model.decoder: input should be a valid string, got [1, 2]"),
        ("model.dropout=5", "model.dropout: input should be less than 1, got 5"),
        ("model.hidden_channels=-1", "model.hidden_channels: input should be greater than or equal to 1"),
        ("model.hidden_channels=1000000000000", "model.hidden_channels: input should be less than or equal to 65536"),
        ("model.heads=0", "model.heads: input should be greater than or equal to 1, got 0"),
        ("model.hops=1000000000", "model.hops: input should be less than or equal to 65536, got 1000000000"),
        ("model.num_nodes=3", "model must not hold 'num_nodes'"),
        ("reachability.hop=3", "reachability must not hold 'hop'; did you mean 'hops'?"),
        ("reachability.hops=many", "reachability.hops: input should be a valid integer, got 'many'"),
        ("reachability.method=3", "reachability.method: input should be a valid string, got 3"),
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
        check_effect(cell.work(0).settings)


def test_a_plan_is_complete_and_follows_preset_settings_and_graph(monkeypatch):
    from graphreach.training import plan

    own = plan.resolve(Settings(), 400)
    assert (own.reachability.method, own.reachability.hops, own.reachability.scale) == ("exact", 4, "log")
    assert own.model["decoder"] == "lift"
    assert own.model["hidden_channels"] == 32
    assert plan.resolve(Settings(), 400, attributes=True).model["local"] == "gcn"
    for settings in (Settings(model={"hops": 2}), Settings(reachability={"hops": 2})):
        assert plan.resolve(settings, 400).reachability.hops == plan.resolve(settings, 400).model["hops"] == 2
    assert plan.resolve(Settings(scale="none"), 400).reachability.scale is None
    assert plan.resolve(Settings(dropout=0.3, model={"dropout": 0.2}), 400).model["dropout"] == 0.2
    assert plan.resolve(Settings(method="gcn"), 400).reachability is None
    assert plan.resolve(Settings(method="node2vec", model={"q": 2.0}), 400).model == {"p": 1.0, "q": 2.0}
    monkeypatch.setattr(plan, "DENSE_BYTES", 100)
    assert plan.resolve(Settings(), 400).reachability.method == "walks"
    assert "reachability: method exact" in str(own)


def test_the_plan_is_stored_with_the_run():
    grid = datasets.load("grid")
    record = training.run(grid, Settings(epochs=1, num_anchors=3)).record
    assert record["plan"]["anchors"]["num_anchors"] == 3
    assert record["plan"]["training"]["epochs"] == 1
    assert json.loads(json.dumps(record["plan"])) == record["plan"]
