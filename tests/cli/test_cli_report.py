"""graphreach report."""

import pytest

QUICK = ("--set", "num_anchors=6", "--set", "evaluate_every=2", "--epochs", "4")


@pytest.fixture
def folder(run, streets, tmp_path):
    done = run("train", streets["graph"], "--task", "link", "--model", "graphreach", "-o", tmp_path / "run", *QUICK)
    assert done.exit_code == 0, done.output
    return tmp_path / "run"


def test_links_with_labels_and_without(run, folder, streets, tmp_path):
    done = run("report", folder, "-o", tmp_path / "report.html")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert "the report is" in done.stderr
    plain = (tmp_path / "report.html").read_text()
    assert '"name":"community"' in plain
    assert '"name":"label"' not in plain
    run("report", folder, "-o", tmp_path / "labels.html", "--labels", streets["labels"])
    assert '"names":["east","west","without label"]' in (tmp_path / "labels.html").read_text()
    assert not list(tmp_path.glob(".*partial*"))


def test_pairs_of_a_file_remember_their_labels(run, streets, tmp_path):
    words = ("--task", "pair", "--labels", streets["labels"], "-o", tmp_path / "pairs")
    run("train", streets["graph"], "--model", "graphreach", *words, *QUICK)
    done = run("report", tmp_path / "pairs", "-o", tmp_path / "report.html")
    assert done.exit_code == 0, done.output
    done = run("report", tmp_path / "pairs", "-o", tmp_path / "report.html", "--labels", streets["labels"])
    assert done.exit_code == 0, done.output


def test_nodes_of_a_file_remember_their_labels(run, streets, tmp_path):
    words = ("--task", "node", "--labels", streets["labels"], "-o", tmp_path / "nodes")
    run("train", streets["graph"], "--model", "graphreach", *words, *QUICK)
    page = tmp_path / "report.html"
    done = run("report", tmp_path / "nodes", "-o", page)
    assert done.exit_code == 0, done.output
    assert '"name":"predicted class","names":["east","west"]' in page.read_text()
    other = tmp_path / "other.csv"
    other.write_text(streets["labels"].read_text().replace("west", "north"))
    done = run("report", tmp_path / "nodes", "-o", page, "--labels", other)
    assert done.exit_code == 2
    assert "--labels must hold the classes that the run was trained with (['east', 'west'])" in done.stderr


def test_one_graph_of_several(run, three_graphs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # a folder of the name of the data
    done = run("train", "email", "--task", "pair", "--model", "graphreach", "-o", "email", *QUICK)
    assert done.exit_code == 0, done.output
    for words, title in (((), "some, graph 2 of 3"), (("--graph-number", 3), "some, graph 3 of 3")):
        done = run("report", "email", "-o", "report.html", *words)
        assert done.exit_code == 0, done.output
        assert f"<title>{title} - graphreach</title>" in (tmp_path / "report.html").read_text()
    done = run("report", "email", "-o", "report.html", "--graph-number", 4)
    assert done.exit_code == 2
    assert done.stderr == "graphreach: error: --graph-number must be from 1 to 3, the graphs of the run, got 4\n"


def test_a_run_of_several_methods_is_reported_on_by_its_part(run, streets, tmp_path):
    both, page = tmp_path / "both", tmp_path / "report.html"
    done = run("train", streets["graph"], "--model", "gcn+graphreach", "-o", both, *QUICK)
    assert done.exit_code == 0, done.output
    done = run("report", both, "-o", page)
    assert done.exit_code == 2
    assert "adds the scores of gcn and graphreach" in done.stderr
    assert done.stderr.endswith(f"instead: {both / 'graphreach'}\n")
    assert not page.exists()
    done = run("report", both / "graphreach", "-o", page)
    assert done.exit_code == 0, done.output
    assert "streets.csv - graphreach</title>" in page.read_text()
    assert "method graphreach" in run("report", both / "gcn", "-o", page).stderr


def test_mistakes_are_one_line(run, folder, tmp_path):
    run("train", "grid", "--model", "gcn", "-o", tmp_path / "gcn", *QUICK[2:])
    for words, sentence in (
        ((folder, "-o", tmp_path / "report.pdf"), "--output must end in .html"),
        ((folder, "-o", tmp_path / "none" / "report.html"), "folder that exists"),
        ((tmp_path, "-o", tmp_path / "report.html"), "must hold settings.json of a run"),
        ((tmp_path / "gcn", "-o", tmp_path / "report.html"), "method graphreach"),
        ((folder, "-o", tmp_path / "report.html", "--graph-number", 2), "--graph-number must be 1, the only graph"),
    ):
        done = run("report", *words)
        assert done.exit_code == 2
        assert sentence in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "report.html").exists()
