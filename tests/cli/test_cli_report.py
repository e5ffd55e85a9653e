"""graphreach report."""

import pytest

QUICK = ("--set", "num_anchors=6", "--set", "evaluate_every=2", "--epochs", "4")


@pytest.fixture
def folder(run, streets, tmp_path):
    done = run("train", streets["graph"], "--task", "link", "-o", tmp_path / "run", *QUICK)
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


def test_pairs_of_a_file_need_its_labels(run, streets, tmp_path):
    words = ("--task", "pair", "--labels", streets["labels"], "-o", tmp_path / "pairs")
    run("train", streets["graph"], *words, *QUICK)
    done = run("report", tmp_path / "pairs", "-o", tmp_path / "report.html")
    assert done.exit_code == 2
    assert "--labels must be given" in done.stderr
    done = run("report", tmp_path / "pairs", "-o", tmp_path / "report.html", "--labels", streets["labels"])
    assert done.exit_code == 0, done.output


def test_mistakes_are_one_line(run, folder, tmp_path):
    run("train", "grid", "--model", "gcn", "-o", tmp_path / "gcn", *QUICK[2:])
    for words, sentence in (
        ((folder, "-o", tmp_path / "report.pdf"), "--output must end in .html"),
        ((folder, "-o", tmp_path / "none" / "report.html"), "folder that exists"),
        ((tmp_path, "-o", tmp_path / "report.html"), "must hold settings.json of a run"),
        ((tmp_path / "gcn", "-o", tmp_path / "report.html"), "method graphreach"),
    ):
        done = run("report", *words)
        assert done.exit_code == 2
        assert sentence in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "report.html").exists()
