from pathlib import Path

import pytest

from graphreach.experiments import ORDER, load_experiment, works
from graphreach.experiments.summary import summarise
from graphreach.experiments.tables import contents
from graphreach.experiments.work import Store
from tools.headline import gains
from tools.published_numbers_page import story
from tools.results_page import results_page, write_pages

RESULTS = Path(__file__).parents[2] / "results"


def fill(folder, name, figure, columns):
    lines = []
    for cell, seed, work in works(load_experiment(name)):
        if cell.name in columns and seed < 2:
            auc = figure(cell) + 0.002 * seed
            metrics = {"auc": auc, "pooled_auc": auc, "hard_auc": auc}
            lines.append({"key": work.key, "work": work.describe(), "metrics": {"test": metrics}})
    Store(folder, name).add(lines)


def one(cell):
    if cell.leaks:
        return 0.94
    return {"gcn": 0.5, "pgnn-e": 0.8, "best": 0.92, "best-by-graph": 0.92, "closure": 0.99}.get(cell.key, 0.6)


def test_the_story_has_every_protocol(tmp_path):
    fill(tmp_path, "table-3a", one, ["email"])
    text = story(tmp_path, "pictures")
    first = text.split("## What the pair split measures")[0]
    lines = {line.split(" | ")[0].strip("| "): line for line in first.splitlines() if line.startswith("|")}
    assert "0.949 ± 0.009" in lines["paper"]
    leak = lines["authors' command, attention (**leaks**)"]
    assert "0.941 ± 0.001" in leak
    assert "0.921 ± 0.001" in lines["no labels in the walks, `best`"]
    assert "0.991 ± 0.001" in lines["closure of the training pairs, no graph"]
    assert leak.split(" | ")[1] == "-"


def test_leaking_rows_are_marked_in_every_form(tmp_path):
    fill(tmp_path, "table-3a", one, ["email"])
    experiment = load_experiment("table-3a")
    texts = contents(experiment, summarise(experiment, tmp_path))
    for suffix in (".md", ".tex"):
        assert "authors, mean pool (leaks)" in texts[suffix]
    (line,) = [line for line in texts[".csv"].splitlines() if "authors, mean pool" in line]
    assert ",yes," in line


def test_the_headline_is_ours_over_the_best_other_model(tmp_path):
    fill(tmp_path, "table-3a", one, ["email"])
    found = gains(summarise(load_experiment("table-3a"), tmp_path))
    assert {gain.column for gain in found} == {"Email"}
    assert all(gain.model == "P-GNN-E" for gain in found)
    assert {gain.preset: round(gain.relative, 9) for gain in found} == {
        "best": round(0.921 / 0.801 - 1, 9), "paper": round(0.601 / 0.801 - 1, 9), "authors": round(0.601 / 0.801 - 1, 9),
    }  # fmt: skip
    page = results_page(tmp_path, "pictures")
    row = "| PNC, published split, structure only | Email | 0.801 (P-GNN-E) | 0.921, +15% | 0.601, -25% | 0.601, -25% |"
    assert row in page
    assert "- PNC: `best` at most +15% (Email), `paper` at most -25% (Email), `authors` at most -25% (Email)." in page
    assert "- 40% or more: none of them." in page


def test_the_headline_marks_attributes_on_different_scales(tmp_path):
    fill(tmp_path, "table-3a", one, ["protein"])
    found = gains(summarise(load_experiment("table-3a"), tmp_path))
    marks = {(gain.group, gain.preset): gain.fair for gain in found}
    assert not marks["Published split, structure only", "best"]
    assert marks["Published split, structure only", "paper"]
    assert marks["Published split, attributes on one scale", "best"]


def test_pages_are_written_and_say_what_is_not_run(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "docs").mkdir()
    paths = write_pages(tmp_path / "results", tmp_path / "docs")
    assert [path.name for path in paths] == ["results.md", "published-numbers.md"]
    assert paths[0].read_text().count("Not run yet.") == 16


def test_losses_under_attack_have_intervals(tmp_path):
    lines = []
    for cell, seed, work in works(load_experiment("table-6")):
        after = 30.0 if cell.key == "pgnn-e" else 45.0
        task = work.settings.task
        tally = {
            "positives": [5, 5],
            "negatives": [10, 10],
            "concordant_before": [50.0, 50.0],
            "concordant_after": [after, after],
        }
        attack = {"kind": "clique", "fraction": 0.1, "seed": seed, "method": "", "task": task, "colluders": [4, 4],
                  "added": [6, 6], "any": tally, "both": tally}  # fmt: skip
        lines.append({"key": work.key, "work": work.describe(), "metrics": {"test": {"auc": 1.0}}, "attack": [attack]})
    Store(tmp_path, "table-6").add(lines)
    page = results_page(tmp_path, "pictures")
    row = "| PNC | at least one colluding end | P-GNN-E minus GraphReach, best | +0.300 | +0.300 to +0.300 |"
    assert row in page
    change = next(each for each in summarise(load_experiment("table-6"), tmp_path) if each.cell.name == "link-change")
    assert abs(change.mean + 0.4) < 1e-12


def test_pictures_are_copied_beside_the_pages_and_missing_ones_not_linked(tmp_path):
    results, docs = tmp_path / "results", tmp_path / "docs"
    (results / "figures").mkdir(parents=True)
    docs.mkdir()
    _, page = write_pages(results, docs)
    assert "](images/results/leak.png)" not in page.read_text()
    (results / "figures" / "leak.png").write_bytes(b"picture")
    _, page = write_pages(results, docs)
    assert "](images/results/leak.png)\n\nThe paper" in page.read_text()
    assert (docs / "images" / "results" / "leak.png").read_bytes() == b"picture"


@pytest.mark.parametrize("name", ORDER)
def test_tables_in_the_repository_are_made_from_its_results(name):
    experiment = load_experiment(name)
    found = summarise(experiment, RESULTS)
    for suffix, text in contents(experiment, found).items():
        assert (RESULTS / "tables" / f"{name}{suffix}").read_text(encoding="utf-8") == text


def test_pages_in_the_repository_are_made_from_its_results(tmp_path):
    docs = RESULTS.parent / "docs"
    for path in write_pages(RESULTS, tmp_path):
        assert path.read_text(encoding="utf-8") == (docs / path.name).read_text(encoding="utf-8")
    for picture in (tmp_path / "images" / "results").iterdir():
        assert picture.read_bytes() == (docs / "images" / "results" / picture.name).read_bytes()
