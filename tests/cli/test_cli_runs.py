"""What the command line of runs assumes, refuses, remembers and says."""

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from graphreach import training
from graphreach.cli import app
from graphreach.training import Settings

QUICK = ("--set", "num_anchors=4", "--set", "evaluate_every=1", "--epochs", "2")
SHORT = ("--set", "evaluate_every=1", "--epochs", "2")


def call(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def done(*words):
    result = call(*words)
    assert result.exit_code == 0, result.output
    return result


def refused(*words):
    result = call(*words)
    assert result.exit_code == 2, result.output
    return result.stderr.splitlines()[-1]


def write_town(folder, seed=0):
    """Two quarters of twenty streets with districts and sizes."""
    rng = np.random.default_rng(seed)
    names = np.array([f"street {i}" for i in range(40)])
    ends = np.concatenate([rng.integers(0, 20, (2, 90)), rng.integers(20, 40, (2, 90)), [[0], [20]]], 1)
    files = SimpleNamespace(graph=folder / "town.csv", labels=folder / "labels.csv", features=folder / "x.csv")
    pl.DataFrame({"from": names[ends[0]], "to": names[ends[1]]}).write_csv(files.graph)
    kinds = {"district": ["west"] * 20 + ["east"] * 20, "size": ["large", "small"] * 20}
    pl.DataFrame({"id": names, **kinds}).write_csv(files.labels)
    pl.DataFrame({"id": names, "a": rng.random(40)}).write_csv(files.features)
    return files


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    return write_town(tmp_path_factory.mktemp("town"))


@pytest.fixture(scope="module")
def trained(town, tmp_path_factory):
    """Runs on links by method, each trained once."""
    known = {}

    def get(method):
        if method not in known:
            folder = tmp_path_factory.mktemp("runs") / "run"
            words = () if method in ("node2vec", "adamic-adar") else SHORT
            done("train", town.graph, "--model", method, "-o", folder, *words)
            known[method] = folder
        return known[method]

    return get


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("source,target\nstreet 1,street 2\nstreet 1,street 30\nstreet 5,street 6\n")
    return path


def column(names=("district",)):
    return ("--label-column", *names)


def test_pairs_of_an_own_graph_are_of_unseen_nodes_and_the_leak_check_is_shown(town, tmp_path):
    """The published split is solved by closure; the screen must say what was found."""
    words = ("train", town.graph, "--task", "pair", "--labels", town.labels, *column(), "--model", "closure")
    own = done(*words, "-o", tmp_path / "own")
    assert "pair, node-disjoint: no leak" in own.stdout
    asked = done(*words, "--protocol", "published", "-o", tmp_path / "asked")
    assert "transitive closure of the training positives holds 100.0% of the test positives" in asked.stdout
    assert json.loads((tmp_path / "own" / "settings.json").read_text())["protocol"] == "node-disjoint"


def test_links_of_an_own_graph_are_split_clean(trained):
    assert "leak check: link, clean: no leak" in done("evaluate", trained("adamic-adar")).stdout


def test_labels_without_a_task_make_it_nodes(town, tmp_path):
    found = done("train", town.graph, "--labels", town.labels, *column(), "-m", "gcn", "-o", tmp_path / "run", *SHORT)
    assert found.stdout.startswith("gcn, node: test accuracy")
    assert "4 test nodes, too few to judge the model by" in found.stdout
    assert "task node, as --labels are given" in found.stderr
    link = ("train", town.graph, "--labels", town.labels, *column(), "--task", "link", "-m", "adamic-adar")
    assert "--labels are not used to train links" in done(*link, "-o", tmp_path / "links").stderr


def test_the_task_of_a_file_of_settings_is_kept(town, tmp_path):
    config = tmp_path / "settings.yaml"
    config.write_text("task: pair\nmethod: adamic-adar\n")
    words = ("--labels", town.labels, *column(), "--config", config, "-o", tmp_path / "run")
    assert done("train", town.graph, *words).stdout.startswith("adamic-adar, pair")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--set", "reachability.walk_length=10"], "reachability.walk_length must not be given"),
        (["--set", "reachability.num_walks=10"], "reachability.num_walks must not be given"),
        (["--set", "reachability.seed=3"], "reachability.seed must not be given"),
        (["--set", "model.hops=3", "--set", "reachability.hops=5"], "reachability.hops must be the model's, 3"),
        (["--set", "strategy=degree", "--set", "anchor_walk_length=3"], "anchor_walk_length must go with strategy"),
        (["--set", "resample=true"], "resample must go with method pgnn-e or pgnn-f"),
        (["--set", "parts.gcn.epochs=3"], "parts must go with methods joined by +"),
        (["-m", "gcn", "--set", "model.hops=2"], "model must not hold 'hops'"),
        (["-m", "gcn", "--set", "reachability.hops=2"], "reachability must go with method graphreach"),
        (["-m", "gcn", "--preset", "paper"], "preset must go with method graphreach"),
        (["-m", "gcn+katz", "--preset", "paper"], "preset must go with method graphreach"),
        (["-m", "gcn", "--set", "strategy=degree"], "strategy must go with method graphreach"),
        (["-m", "common-neighbours", "--epochs", "5"], "epochs must go with a method that is trained"),
        (["-m", "node2vec", "--epochs", "5"], "epochs must go with a method that is trained"),
        (["-m", "katz", "--set", "dropout=0.1"], "dropout must go with a method that is trained"),
        (["-m", "katz", "--set", "learning_rate=0.1"], "learning_rate must go with a method that is trained"),
        (["-m", "katz", "--tensorboard"], "--tensorboard must go with a method that is trained"),
        (["-m", "closure", "--set", "model.beta=1"], "model must not hold 'beta'"),
        (["--set", "walk_weights=train-labels"], "walk_weights must be None for task link"),
        (["--set", "choose_by=accuracy"], "choose_by must be 'auc' for task 'link'"),
        (["--protocol", "node-disjoint"], "protocol must be one of published, clean"),
        (["--protocol", "graph-disjoint"], "must have several graphs"),
        (["--label-column", "x"], "--label-column must go with --labels"),
        (["--task", "node"], "--labels must be given for task node"),
    ],
)
def test_settings_without_effect_are_refused(town, tmp_path, words, sentence):
    """The same AUC came for walk lengths of 0, 1 and 10, without a word."""
    model = () if "-m" in words else ("-m", "graphreach")
    assert sentence in refused("train", town.graph, "-o", tmp_path / "run", *model, *words)
    assert not (tmp_path / "run").exists()


def test_a_table_of_features_that_no_method_reads_is_refused(town, tmp_path):
    words = ("train", town.graph, "--features", town.features, "-o", tmp_path / "run", "-m")
    assert "features must go with a method that is trained" in refused(*words, "katz")


def test_options_of_files_are_refused_with_the_name_of_a_data_set(town, tmp_path):
    words = ("train", "grid", "-o", tmp_path / "run", "-m", "katz")
    assert "--directed must go with a file" in refused(*words, "--directed")
    assert "--labels must go with a file" in refused(*words, "--labels", town.labels)


def test_a_setting_that_one_of_the_compared_models_reads_is_taken(town, tmp_path):
    words = ("compare", town.graph, "--models", "gcn,katz", "--seeds", 1, "-o", tmp_path / "a")
    assert "preset must go with method graphreach" in refused(*words, "--preset", "paper")
    assert "model must not hold 'beta' for method 'gcn'" in refused(*words, "--set", "model.beta=0.1")
    assert "method must be given as --models" in refused(*words, "--set", "method=gcn")
    done(*words, *SHORT)
    words = ("compare", town.graph, "--models", "katz,pgnn-e", "--seeds", 1, "-o", tmp_path / "c")
    done(*words, *SHORT, "--set", "resample=true")
    words = ("compare", town.graph, "--models", "katz", "--seeds", 1, "-o", tmp_path / "b")
    done(*words, "--set", "model.beta=0.1")


def test_compare_chooses_models_by_task_and_refuses_before_training(town, tmp_path, monkeypatch):
    """Three models were trained before common neighbours could not classify nodes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(training.harness._Run, "_train", lambda self, method: pytest.fail("trained"))
    words = ("compare", town.graph, "--task", "node", "--labels", town.labels, *column(), *SHORT)
    assert "which scores pairs" in refused(*words, "--models", "gcn,mlp,common-neighbours")
    assert "did you mean 'gcn'" in refused(*words, "--models", "mlp,gcnn")
    assert list(tmp_path.iterdir()) == []


def test_compare_of_nodes_by_default_and_without_a_deviation_of_one_seed(town, tmp_path):
    words = ("compare", town.graph, "--labels", town.labels, *column(), "--seeds", 1, "-o", tmp_path, *QUICK)
    words = (*words, "--set", "fractions=[0.5,0.25,0.25]")
    found = done(*words)
    assert all(name in found.stdout for name in ("reach ", "graphreach", "pgnn-e", "gcn", "sage", "hard_auc"))
    assert "±" not in found.stdout
    assert "node, split node-disjoint; leak check: node, node-disjoint: no leak" in found.stderr
    rows = json.loads(done(*words, "--json").stdout)
    assert all("auc_std" not in row for row in rows)


def test_compare_names_its_folder_by_content(town, tmp_path, monkeypatch):
    """The runs of one graph were shown as another's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    other = write_town(tmp_path / "other", seed=5)
    words = ("--models", "katz,adamic-adar", "--seeds", 2)
    done("compare", town.graph, *words)
    first = set(tmp_path.glob("comparison-*"))
    done("compare", other.graph, *words)
    done("compare", town.graph, *words, "--set", "fractions=[0.6,0.2,0.2]")
    assert len(first) == 1
    assert len(list(tmp_path.glob("comparison-*"))) == 3
    before = {path: path.stat().st_mtime_ns for folder in first for path in folder.rglob("record.json")}
    done("compare", town.graph, "--models", "katz,adamic-adar,common-neighbours", "--seeds", 2)
    assert len(list(tmp_path.glob("comparison-*"))) == 3
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_an_interrupted_compare_goes_on(town, tmp_path, monkeypatch):
    words = ("compare", town.graph, "--models", "gcn,mlp", "--seeds", 1, "-o", tmp_path, *SHORT)
    original = training.harness._Run._train
    with monkeypatch.context() as patch:

        def interrupt(self, method):
            if self.settings.method == "mlp":
                raise KeyboardInterrupt
            return original(self, method)

        patch.setattr(training.harness._Run, "_train", interrupt)
        assert call(*words).exit_code == 130
    before = (tmp_path / "runs" / "gcn-0" / "record.json").stat().st_mtime_ns
    done(*words)
    assert (tmp_path / "runs" / "gcn-0" / "record.json").stat().st_mtime_ns == before
    assert (tmp_path / "comparison.json").exists()


def test_runs_of_compare_can_be_opened(town, pairs, tmp_path):
    done("compare", town.graph, "--models", "graphreach,katz", "--seeds", 1, "-o", tmp_path, *QUICK)
    for name in ("graphreach-0", "katz-0"):
        run = tmp_path / "runs" / name
        assert "source,target,score,rank,percentile" in done("predict", run, "--pairs", pairs).stdout
        assert "test auc" in done("evaluate", run).stdout
    done("report", tmp_path / "runs" / "graphreach-0", "-o", tmp_path / "page.html")


def test_scores_have_ranks_and_no_probability_is_spoken_of(trained, pairs):
    """On random pairs without a link 96.7% of the scores were above 0.5."""
    found = done("predict", trained("gcn"), "--pairs", pairs, "--json")
    rows = json.loads(found.stdout)
    assert [row["rank"] for row in sorted(rows, key=lambda row: -row["score"])] == [1, 2, 3]
    assert all(0 <= row["percentile"] <= 1 for row in rows)
    assert "scores are no probabilities" in found.stderr
    text = " ".join(call("predict", "--help").stdout.replace("│", " ").split())
    assert "With model reach the score is a probability" in text
    assert "with other models it is not a probability" in text
    assert done("predict", trained("gcn"), "--pairs", pairs, "--json").stdout == found.stdout


def test_ties_share_the_best_rank():
    from graphreach.cli.predict import _ranks

    assert _ranks(np.array([0.2, 0.9, 0.9, 0.1])).tolist() == [3, 1, 1, 4]


def test_known_ids_are_written_and_unknown_ones_listed(trained, pairs, tmp_path):
    """One unknown id failed all of predict."""
    pairs.write_text(pairs.read_text() + "street 1,nowhere\nelsewhere,street 2\n")
    found = call("predict", trained("gcn"), "--pairs", pairs)
    assert found.exit_code == 3
    assert len(found.stdout.splitlines()) == 4
    assert "2 ids that are not known" in found.stderr
    assert all(name in found.stderr for name in ("'nowhere'", "'elsewhere'"))
    out = tmp_path / "scores.csv"
    assert "nowhere" in refused("predict", trained("gcn"), "--pairs", pairs, "--strict", "-o", out)
    assert not out.exists()
    pairs.write_text("source,target\na,b\n")
    assert "got 'a', 'b' that are not" in refused("predict", trained("gcn"), "--pairs", pairs)


def test_runs_of_links_ask_for_pairs_and_name_the_other_verb(trained, pairs):
    for words in ((), ("--nodes", pairs)):
        assert "--pairs must be given for a run of task link" in (line := refused("predict", trained("gcn"), *words))
        assert "graphreach recommend" in line
    assert "got both" in refused("predict", trained("gcn"), "--nodes", pairs, "--pairs", pairs)


def test_unknown_nodes_of_classes(town, tmp_path):
    run, nodes = tmp_path / "run", tmp_path / "nodes.csv"
    done("train", town.graph, "--labels", town.labels, *column(), "-m", "gcn", "-o", run, *SHORT)
    nodes.write_text('id\n"street 3"\n"nowhere"\n')
    found = call("predict", run, "--nodes", nodes)
    assert found.exit_code == 3
    assert found.stdout.splitlines()[0] == "node,class,p_east,p_west"
    assert "'nowhere'" in found.stderr
    assert "RUN must have learned links, got" in refused("recommend", run)


@pytest.mark.parametrize("method", ["gcn+graphreach", "gcn+adamic-adar+node2vec"])
def test_fused_runs_score_as_they_did_in_training(town, tmp_path, method):
    """They were refused. On the graph of the split the scores must be those of the test pairs."""
    sample = training.harness.Sample(*read(town))
    settings = Settings(method=method, epochs=2, evaluate_every=1, parts={"graphreach": {"num_anchors": 4}}
                        if "graphreach" in method else {})  # fmt: skip
    outcome = training.run(sample, settings, tmp_path)
    (split,) = training.harness.make_splits(training.harness.Dataset("town", (sample,)), settings)
    run = training.load_run(tmp_path)
    found = run.score_pairs(run.embed(split.graph), split.test.index, split.graph)
    np.testing.assert_allclose(found, outcome.scores["test"][0], rtol=1e-4, atol=1e-5)


def test_fused_runs_of_nodes_mix_their_shares(town, tmp_path):
    from graphreach.io.tables import read_labels

    graph = read(town)[0]
    y, _ = read_labels(town.labels, graph, label="district")
    sample = training.harness.Sample(graph, None, y)
    settings = Settings(task="node", method="gcn+mlp", epochs=2, evaluate_every=1)
    outcome = training.run(sample, settings, tmp_path)
    (split,) = training.harness.make_splits(training.harness.Dataset("town", (sample,)), settings)
    run = training.load_run(tmp_path)
    found = run.class_probabilities(run.embed(split.graph), split.test.index)
    np.testing.assert_allclose(found, outcome.scores["test"][0], atol=1e-6)


def read(town):
    import graphreach as gr

    return gr.read_graph(town.graph), None, None


def test_fused_and_node2vec_runs_predict(town, trained, pairs, tmp_path):
    done("train", town.graph, "-m", "gcn+adamic-adar", "-o", tmp_path / "fused", *SHORT)
    for run in (tmp_path / "fused", trained("node2vec"), trained("adamic-adar")):
        rows = json.loads(done("predict", run, "--pairs", pairs, "--json").stdout)
        assert sorted(row["rank"] for row in rows)[0] == 1


def test_nodes_without_a_vector_are_named(town, trained, pairs, tmp_path):
    grown = tmp_path / "grown.csv"
    grown.write_text(town.graph.read_text() + "street 1,new street\n")
    pairs.write_text(pairs.read_text() + "street 1,new street\n")
    found = call("predict", trained("node2vec"), "--pairs", pairs, "--graph", grown)
    assert found.exit_code == 3
    assert "'new street'" in found.stderr
    assert len(found.stdout.splitlines()) == 4


@pytest.mark.parametrize("damage", ["cut", "missing", "text", "shapes"])
def test_damaged_vectors_are_one_sentence(trained, pairs, tmp_path, damage):
    import shutil

    run = shutil.copytree(trained("node2vec"), tmp_path / "run")
    path = run / "vectors.npz"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-200])
    elif damage == "missing":
        path.unlink()
    elif damage == "text":
        path.write_text("vectors")
    else:
        np.savez(
            path, ids=np.array(["a"]), embedding=np.ones((2, 2)), context=np.ones((2, 2)), directed=np.array(False)
        )
    assert "vectors.npz" in refused("predict", run, "--pairs", pairs)


def test_report_and_attack_remember_the_labels(town, tmp_path):
    """They asked again for labels that the run was trained with."""
    files = write_town(tmp_path)
    run = tmp_path / "run"
    words = ("--labels", files.labels, "--label-column", "size", "--task", "pair", "--protocol", "published")
    done("train", files.graph, "--model", "graphreach", *words, "-o", run, *QUICK)
    done("attack", run, "--groups", 1)
    done("report", run, "-o", tmp_path / "page.html")
    whole = files.labels.read_text()
    files.labels.write_text(whole.replace("large", "huge", 1))
    assert "got other labels" in refused("attack", run, "--groups", 1)
    files.labels.unlink()
    assert "labels are not at" in refused("report", run, "-o", tmp_path / "page.html")
    moved = tmp_path / "moved.csv"
    moved.write_text(whole)
    done("attack", run, "--groups", 1, "--labels", moved, "--label-column", "size")


def test_labels_colour_the_report_of_links(town, tmp_path):
    run = tmp_path / "run"
    words = ("--labels", town.labels, *column(), "--task", "link")
    done("train", town.graph, "--model", "graphreach", *words, "-o", run, *QUICK)
    assert "district" in done("report", run, "-o", tmp_path / "page.html").stderr


def test_evaluate_says_task_and_number_of_examples(trained, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("source,target,label\nstreet 1,street 2,1\nstreet 1,street 30,0\n")
    found = done("evaluate", trained("gcn"), "--pairs", truth, "--json")
    assert set(json.loads(found.stdout)) == {"auc", "ap"}
    assert "gcn, link: 2 pairs, 1 of them positive" in found.stderr
    assert "hard_auc" in call("evaluate", "--help").stdout
    assert "--labels must go" not in found.stderr
    assert "--graph must go with --candidates, --pairs or --labels" in refused(
        "evaluate", trained("gcn"), "--graph", truth
    )
    assert "--pairs must be given for a run of task link" in refused("evaluate", trained("gcn"), "--labels", truth)


def test_another_graph_is_read_with_the_options_of_the_runs_own(tmp_path, pairs):
    edges = "w;b;a\n" + "".join(f"{i};{i};{(i + 1) % 30}\n{i + 1};{i};{(i + 7) % 30}\n" for i in range(30))
    graph, other = tmp_path / "graph.csv", tmp_path / "other.csv"
    graph.write_text(edges)
    other.write_text(edges + "3;0;99\n")
    columns = ("--source", "b", "--target", "a", "--weight", "w")
    done("train", graph, *columns, "-m", "adamic-adar", "-o", tmp_path / "run")
    pairs.write_text("source,target\n0,99\n")
    found = done("predict", tmp_path / "run", "--pairs", pairs, "--graph", other)
    assert "source 'b', target 'a', weight 'w'" in found.stderr
    missing = refused("predict", tmp_path / "run", "--pairs", pairs, "--graph", tmp_path / "none.csv")
    assert "which does not exist" in missing
