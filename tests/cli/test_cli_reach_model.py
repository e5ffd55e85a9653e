"""Links and pairs by ``reach``, the model that is trained unless another is named, through every verb that reads a run."""

import json

import polars as pl
import pytest

import graphreach as gr
from cli_helpers import trained
from graphreach.training.base_rate import density


def refused(done, *sentences):
    assert done.exit_code == 2, done.output
    *others, last = done.stderr.splitlines()
    assert all("features from columns" in line for line in others), done.stderr
    for sentence in sentences:
        assert sentence in last


@pytest.mark.parametrize("task", ["link", "pair"])
def test_it_is_the_default_and_every_verb_reads_its_run(run, streets, tmp_path, task):
    labels = () if task == "link" else ("--labels", streets["labels"], "--protocol", "published")
    folder, page, pairs = tmp_path / "run", tmp_path / "report.html", tmp_path / "pairs.csv"
    done = trained(run, streets, folder, "--task", task, *labels)
    assert done.stdout.startswith(f"reach, {task}: test auc")
    pairs.write_text("source,target\nstreet 1,street 2\nstreet 1,street 39\nstreet 2,street 1\n")
    done = run("predict", folder, "--pairs", pairs)
    assert done.exit_code == 0, done.output
    assert "scores are probabilities where" in done.stderr
    table = pl.read_csv(done.stdout.encode())
    assert table["score"].is_between(0, 1).all()
    assert table["score"][0] == table["score"][2] > table["score"][1]
    whole = run("evaluate", folder).stdout
    assert whole.startswith(f"reach, {task}: test auc")
    assert f"% of all pairs are {'links' if task == 'link' else 'of one class'}, as the run assumes" in whole
    pairs.write_text("source,target,label\nstreet 1,street 2,1\nstreet 1,street 39,0\n")
    prior = json.loads((folder / "record.json").read_text())["prior"]
    rate = density([gr.read_graph(streets["graph"])]) if task == "link" else prior
    found = json.loads(run("evaluate", folder, "--pairs", pairs, "--json").stdout)
    assert (found["auc"], found["prior"]) == (1, rate)
    weighted = rate * (1 - table["score"][0]) + (1 - rate) * table["score"][1]
    assert found["calibration_error"] == pytest.approx(weighted, abs=1e-5)
    assert (
        f"calibration error {found['calibration_error']:.4f} where" in run("evaluate", folder, "--pairs", pairs).stdout
    )
    found = json.loads(run("evaluate", folder, "--json").stdout)
    assert found["prior"] == prior
    assert {"auc", "ap", "calibration_error"} == found["test"].keys() == found["val"].keys()
    done = run("report", folder, "-o", page)
    assert done.exit_code == 0, done.output
    assert "average training pair" in page.read_text()
    done = run("explain", folder, "--node", "street 1")
    assert done.exit_code == 0, done.output
    told = run("explain", folder, "--pair", "street 1", "street 39")
    assert ("link" if task == "link" else "pairs are of one class") in told.stdout.splitlines()[0]
    assert told.stdout.count(" times)") == 3
    assert run("explain", folder, "--pair", "street 1", "street 39", "--top", 2).stdout.count(" times)") == 2
    found = json.loads(run("explain", folder, "--pair", "street 1", "street 39", "--json").stdout)
    assert found["probability"] == pytest.approx(table["score"][1], rel=1e-3)
    assert found["logit"] == pytest.approx(found["base"] + sum(found["groups"].values()))
    done = run("attack", folder, "--groups", 2)
    assert done.exit_code == 0, done.output
    assert f"on reach, {task}: 2 groups" in done.stdout


def test_a_grown_graph_and_another_one(run, streets, tmp_path):
    folder, pairs = tmp_path / "run", tmp_path / "pairs.csv"
    trained(run, streets, folder)
    grown = tmp_path / "grown.csv"
    grown.write_text(streets["graph"].read_text() + "new street,street 1\nnew street,street 2\nnew street,street 3\n")
    pairs.write_text("source,target\nnew street,street 4\nnew street,street 35\n")
    done = run("predict", folder, "--graph", grown, "--pairs", pairs, "--json")
    assert done.exit_code == 0, done.output
    near, far = json.loads(done.stdout)
    assert near["score"] > far["score"]
    assert "warning" not in done.stderr
    other = tmp_path / "other.csv"
    other.write_text("".join(f"from{i % 7},to{i % 5}\n" for i in range(35)).replace("from0,", "a,"))
    pairs.write_text("source,target\na,to1\n")
    done = run("predict", folder, "--graph", other, "--pairs", pairs)
    assert "warning: the graph lacks 6 of 6 anchors of the run, so it gets anchors of its own" in done.stderr
    assert "warning" not in run("predict", folder, "--graph", other, "--pairs", pairs, "--new-anchors").stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--epochs", "5"],
            "epochs must go with a method that is trained, it has no effect on 'reach'; --model graphreach",
        ),
        (["--preset", "paper"], "preset must go with method graphreach, it has no effect on 'reach'"),
        (["--device", "cpu"], "device must go with a method that is trained"),
        (["--set", "num_anchors=5"], "it has no effect on 'reach'; set model.num_anchors"),
        (["--set", "model.heads=5"], "model must not hold 'heads' for method 'reach'"),
        (["--set", "model.steps=1"], "model.steps must be"),
        (["--config", "settings.yaml"], "epochs must go with a method that is trained, it has no effect on 'reach'"),
        (["--tensorboard"], "--tensorboard must go with a method that is trained, got 'reach'"),
        (["--engine", "ray"], "--engine must be local for method 'reach', got 'ray'"),
    ],
)
def test_what_it_does_not_read_is_refused(run, streets, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.yaml").write_text("epochs: 5\n")
    (tmp_path / "x.csv").write_text("id,a\nstreet 1,3\n")
    refused(run("train", streets["graph"], "-o", tmp_path / "run", *words), sentence)
    assert not (tmp_path / "run").exists()


def test_settings_name_another_model(run, streets, tmp_path):
    config = tmp_path / "settings.yaml"
    config.write_text("method: gcn\nepochs: 2\nevaluate_every: 1\n")
    done = run("train", streets["graph"], "--config", config, "-o", tmp_path / "gcn")
    assert done.stdout.startswith("gcn, link: test auc")
    done = run("train", streets["graph"], "--set", "method=katz", "-o", tmp_path / "katz")
    assert done.stdout.startswith("katz, link: test auc")
    done = run(
        "train", streets["graph"], "--labels", streets["labels"], "-o", tmp_path / "node", "-m", "gcn", "--epochs", 2
    )
    assert done.stdout.startswith("gcn, node: test")


@pytest.fixture
def features(tmp_path):
    """Features of all streets, and of one that is built later."""
    path = tmp_path / "features.csv"
    rows = [f"street {i},{(i < 20) + i % 3 / 4},{i % 5}" for i in range(40)]
    path.write_text("\n".join(["id,a,b", *rows, "new street,1,0", ""]))
    return path


def grown_graph(streets, tmp_path):
    grown = tmp_path / "grown.csv"
    grown.write_text(streets["graph"].read_text() + "new street,street 1\nnew street,street 2\nnew street,street 3\n")
    return grown


@pytest.mark.parametrize("attributed", [False, True])
def test_classes_of_nodes_through_every_verb(run, streets, features, tmp_path, attributed):
    folder, page, nodes = tmp_path / "run", tmp_path / "report.html", tmp_path / "nodes.csv"
    own = tmp_path / "own.csv"
    own.write_text("\n".join(features.read_text().splitlines()[:-1]) + "\n")
    given = ("--features", own) if attributed else ()
    words = ("--labels", streets["labels"], "--set", "model.num_anchors=6", "--set", "model.strategy=degree")
    done = run("train", streets["graph"], "-o", folder, *words, *given)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("reach, node: test accuracy")
    nodes.write_text('id\n"street 3"\n"street 33"\n')
    done = run("predict", folder, "--nodes", nodes, "--json")
    assert done.exit_code == 0, done.output
    assert [row["class"] for row in json.loads(done.stdout)] == ["west", "east"]
    assert run("evaluate", folder).stdout.startswith("reach, node: test accuracy")
    found = run("evaluate", folder, "--labels", streets["labels"], "--json")
    assert json.loads(found.stdout)["accuracy"] > 0.9
    done = run("report", folder, "-o", page)
    assert done.exit_code == 0, done.output
    assert '"name":"predicted class","names":["east","west"]' in page.read_text()
    assert run("explain", folder, "--node", "street 1").exit_code == 0
    refused(run("explain", folder, "--pair", "street 1", "street 2"), "RUN must be of task link or pair")
    grown = grown_graph(streets, tmp_path)
    nodes.write_text('id\n"new street"\n')
    words = ("predict", folder, "--graph", grown, "--nodes", nodes, "--json")
    if attributed:
        refused(run(*words), "features of 2 columns must be given, as the run was trained with them, got none")
    done = run(*words, *(("--features", features) if attributed else ()))
    assert json.loads(done.stdout)[0]["class"] == "west", done.output
    if not attributed:
        refused(run(*words, "--features", features), "features must not be given, as the run was trained without")
    refused(run(*words, "--new-anchors"), "new_anchors must be False for classes of nodes")


def test_epochs_of_classes_are_refused(run, streets, tmp_path):
    words = ("--labels", streets["labels"], "--task", "node", "--epochs", 2)
    done = run("train", streets["graph"], "-o", tmp_path / "run", *words)
    refused(done, "epochs must go with a method that is trained, it has no effect on 'reach'; --model graphreach")


@pytest.mark.parametrize("task", ["link", "pair"])
def test_features_through_every_verb(run, streets, features, tmp_path, task):
    folder, page, pairs, own = (tmp_path / name for name in ("run", "report.html", "pairs.csv", "own.csv"))
    own.write_text("\n".join(features.read_text().splitlines()[:-1]) + "\n")
    labels = () if task == "link" else ("--labels", streets["labels"], "--protocol", "published")
    trained(run, streets, folder, "--task", task, "--features", own, *labels)
    pairs.write_text("source,target,label\nstreet 1,street 2,1\nstreet 1,street 39,0\n")
    scores = [row["score"] for row in json.loads(run("predict", folder, "--pairs", pairs, "--json").stdout)]
    assert scores[0] > scores[1]
    assert json.loads(run("evaluate", folder, "--pairs", pairs, "--json").stdout)["auc"] == 1
    found = json.loads(run("explain", folder, "--pair", "street 1", "street 39", "--json").stdout)
    assert "attributes" in found["groups"]
    assert found["probability"] == pytest.approx(scores[1], rel=1e-3)
    assert run("explain", folder, "--node", "street 1").exit_code == 0
    assert run("report", folder, "-o", page).exit_code == 0
    done = run("recommend", folder, "--node", "street 1", "--top", 3, "--json")
    assert len(json.loads(done.stdout)) == 3
    grown = grown_graph(streets, tmp_path)
    pairs.write_text("source,target\nnew street,street 4\nnew street,street 35\n")
    for words in (("predict", folder, "--pairs", pairs), ("explain", folder, "--pair", "new street", "street 4")):
        words = (*words, "--graph", grown, "--json")
        refused(run(*words), "features of 2 columns must be given, as the run was trained with them, got none")
        assert run(*words, "--features", features).exit_code == 0
    words = ("recommend", folder, "--node", "new street", "--graph", grown, "--json")
    refused(run(*words), "--features must be given, 2 columns, as the model was trained with them, got none")
    assert json.loads(run(*words, "--features", features).stdout)[0]["node"] == "new street"


def test_needless_features_are_refused(run, streets, features, tmp_path):
    folder, pairs = tmp_path / "run", tmp_path / "pairs.csv"
    trained(run, streets, folder)
    pairs.write_text("source,target\nstreet 1,street 2\n")
    own = tmp_path / "own.csv"
    own.write_text("\n".join(features.read_text().splitlines()[:-1]) + "\n")
    done = run("predict", folder, "--pairs", pairs, "--features", own)
    refused(done, "features must not be given, as the run was trained without, got 2 columns")
    done = run("recommend", folder, "--node", "street 1", "--features", own)
    refused(done, "--features must go with a model that reads them, got one that was trained without")
    done = run("recommend", streets["graph"], "--node", "street 1", "--features", own)
    refused(done, "--features must go with --fit, as the model that ships with the package reads none")
    done = run("recommend", streets["graph"], "--node", "street 1", "--features", own, "--fit", "--json")
    assert done.exit_code == 0, done.output


def test_it_is_compared_first(run, streets, tmp_path):
    words = ("--seeds", 1, "--set", "evaluate_every=1", "--epochs", 1, "-o", tmp_path / "runs", "--json")
    done = run("compare", streets["graph"], *words)
    assert done.exit_code == 0, done.output
    names = [row["model"] for row in json.loads(done.stdout)]
    assert names == ["reach", "graphreach", "pgnn-e", "gcn", "common-neighbours"]


def test_verbose_prints_its_options(run, streets, tmp_path):
    done = trained(run, streets, tmp_path / "run", "--verbose")
    assert "graphreach: model: steps 3, lengths [3], num_anchors 6, method auto, num_links 50000" in done.stderr
