"""The README's tables come from the result files, and its links lead somewhere."""

import re
import shutil
import subprocess
import tarfile

import pytest

from doc_blocks import ROOT, blocks
from graphreach.experiments import load_experiment, works
from graphreach.experiments.work import Store
from tools.readme import ACCURACY, FILES, accuracy, filled, main
from tools.readme import blocks as tables

README = ROOT / "README.md"
BLOCK = re.compile(r"<!-- begin: ([\w-]+) -->\n(.*?)<!-- end: \1 -->", re.DOTALL)


def committed(folder):
    """The result files of the last commit; None outside of a checkout."""
    if shutil.which("git") is None:
        return None
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", "HEAD", "benchmarks/results"]
    known = subprocess.run(["git", "-C", str(ROOT), "ls-tree", "HEAD", "results/"], capture_output=True, text=True)
    if known.returncode:
        return None
    archive = subprocess.run([*command, *(["results"] if known.stdout else [])], capture_output=True)
    (folder / "files.tar").write_bytes(archive.stdout)
    with tarfile.open(folder / "files.tar") as files:
        files.extractall(folder, filter="data")
    return folder


def figures(text):
    """The cells of the table of accuracies, by task, data and column."""
    table = filled_block(text, "accuracy")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {(task, data, column): cell for task, data, *cells in rows for column, cell in enumerate(cells)}


def filled_block(text, name):
    return next((found[2] for found in BLOCK.finditer(text) if found[1] == name), "")


def finished(cells):
    """Cells that no further run changes."""
    return {key: cell for key, cell in cells.items() if cell and not re.search(r"seeds\)|so far", cell)}


def without_accuracy(text):
    return text.replace(filled_block(text, "accuracy"), "")


@pytest.mark.parametrize("name", FILES)
def test_tables_are_those_of_the_result_files(name, tmp_path):
    text = (ROOT / name).read_text(encoding="utf-8")
    here = filled(text, tables(ROOT))
    if here == text:
        return
    folder = committed(tmp_path)
    assert folder is not None, "run make readme"
    there = filled(text, tables(folder))
    assert without_accuracy(text) in (without_accuracy(here), without_accuracy(there)), "run make readme"
    # experiments add results while they run: cells that are not finished may be behind, finished ones may not
    assert finished(figures(text)).items() <= figures(here).items(), "run make readme"
    assert finished(figures(there)).items() <= figures(text).items(), "run make readme"


def test_what_is_finished_is_told_from_what_is_not():
    rows = ["| links | Grid | 0.9 ± 0.1 | 0.8 (1 of 10 seeds) | | GIN 0.7 ± 0.1 so far |"]
    text = "\n".join(["<!-- begin: accuracy -->", "| head |", "|---|", *rows, "<!-- end: accuracy -->"])
    assert finished(figures(text)) == {("links", "Grid", 0): "0.9 ± 0.1"}
    assert without_accuracy(text) == "<!-- begin: accuracy -->\n<!-- end: accuracy -->"


def test_every_table_has_a_place():
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in FILES]
    assert {name for text in texts for name in re.findall("<!-- begin: (.*?) -->", text)} == set(tables(ROOT))


def test_accuracy_takes_the_best_neighbourhood_model_and_leaves_out_what_has_not_run(tmp_path):
    assert accuracy(tmp_path).startswith("No run is finished yet")
    figures = {"best": 0.95, "gcn": 0.6, "gin": 0.7, "pgnn-e": 0.9}
    lines = []
    for cell, seed, work in works(load_experiment("table-3b")):
        wanted = cell.group.name == "Published split" and (seed < 2 or cell.key == "best")
        shown = cell.name == "grid" or (cell.name, cell.key) == ("communities", "gcn")
        if wanted and shown and cell.key in figures:
            auc = figures[cell.key] + 0.02 * (seed % 2)
            lines.append({"key": work.key, "work": work.describe(), "metrics": {"test": {"auc": auc}}})
    Store(tmp_path, "table-3b").add(lines)
    found = accuracy(tmp_path).splitlines()[2:]
    others = "0.910 ± 0.014 (2 of 10 seeds) | GIN 0.710 ± 0.014 (2 of 10 seeds)"
    assert found == [f"| links | Grid |  | 0.960 ± 0.011 |  | {others} |"]


def test_accuracy_names_cells_that_exist():
    for _, _, table, group, column in ACCURACY:
        experiment = load_experiment(table)
        assert group in [each.name for each in experiment.groups]
        assert column in [each.label for each in experiment.columns.values()]


def test_check_says_what_is_stale(tmp_path, monkeypatch, capsys):
    import tools.readme

    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("<!-- begin: speed -->\nold\n<!-- end: speed -->\n")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "results").symlink_to(ROOT / "benchmarks" / "results")
    monkeypatch.setattr(tools.readme, "ROOT", tmp_path)
    assert main(["--check"]) == 1
    assert "README.md" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0


def test_readme_is_short_and_begins_with_something_useful():
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 180
    first = next(number for number, line in enumerate(lines, start=1) if line.startswith("graphreach "))
    assert first <= 15
    assert lines[first - 1].split()[:2] == ["graphreach", "recommend"]


def test_python_of_the_first_screen_is_eight_lines_and_that_of_pyg_twenty():
    first, second = (block.code for block in blocks(README) if block.language == "python")
    assert len([line for line in first.splitlines() if line]) <= 8
    assert len([line for line in second.splitlines() if line]) <= 20


def test_links_lead_somewhere():
    targets = re.findall(r"\]\((?!https?://)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert targets
    for target in targets:
        assert (README.parent / target).exists(), target
