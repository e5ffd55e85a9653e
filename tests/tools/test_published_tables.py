"""Our figures beside published ones: what is ahead, what is behind, and where the published ones come from."""

import csv
import json

import pytest

from benchmarks.published import Published, figures, published
from doc_blocks import ROOT
from tools.published_tables import Ours, Protocol, embedding_methods, published_tables, sources, summary, unseen

RESULTS = ROOT / "benchmarks" / "results"
TABLES = (
    "seal",
    "degree-bias-uniform",
    "degree-bias-degree",
    "attributes",
    "heart",
    "multi-label",
    "multi-label-later",
)


def method(name, figures, checked=True, year=2020):
    return Published(name, "A paper, VENUE", year, checked, figures)


@pytest.fixture
def protocol():
    ours = {"one": Ours([0.5, 0.7]), "two": Ours([0.9], 0.05)}
    others = [method("A", {"one": 0.61, "two": 0.8}), method("B", {"one": 0.4}, checked=False)]
    return Protocol("links", ours, others, 2, "AUC", "2 splits")


def test_a_published_figure_above_ours_is_a_loss(protocol):
    assert protocol.behind() == {"one": (0.61, "A")}
    assert protocol.words() == "**Where we lose:** 1 of 2: one (0.60; A 0.61)."
    ahead = protocol._replace(others=[method("A", {"one": 0.6, "two": 0.1})])
    assert ahead.behind() == {}
    assert ahead.words() == "No published figure is above ours on any of the 2 graphs."


def test_the_best_of_a_row_is_bold_and_missing_figures_are_empty(protocol):
    lines = protocol.table().splitlines()
    assert lines[0] == "| AUC | A | B † | graphreach |"
    assert lines[2:] == ["| one | **0.61** | 0.40 | 0.60 ± 0.10 |", "| two | 0.80 |  | **0.90 ± 0.05** |"]


def test_sources_say_what_was_not_checked(protocol):
    assert sources([protocol]) == (
        "Published figures: A: A paper, VENUE 2020; B: A paper, VENUE 2020 †. († not checked against the paper.)"
    )
    undated = protocol._replace(others=[method("A", {"one": 0.6}, year=None)])
    assert sources([undated]) == "Published figures: A: A paper, VENUE."


@pytest.mark.parametrize("name", TABLES)
def test_published_figures_are_complete(name):
    methods = published(name)
    assert methods
    for each in methods:
        assert each.source
        assert each.year is None or 2000 < each.year < 2100
        assert all(0 < figure < 100 for figure in each.figures.values())


def test_figures_of_a_method_are_found_by_its_name():
    assert figures("seal", "WalkPool")["Power"] == 92.56
    with pytest.raises(ValueError, match="not enough values"):
        figures("seal", "nobody")


def test_degree_bias_figures_are_the_best_of_the_authors_file(data_root):
    with (data_root / "degree-bias" / "published.csv").open() as file:
        rows = list(csv.DictReader(file))
    for kind, name in (("uniform", "uniform"), ("degreeBiased", "degree")):
        known = {graph: figure for each in published(f"degree-bias-{name}") for graph, figure in each.figures.items()}
        assert len(known) == 6
        for graph, figure in known.items():
            assert figure == max(float(row["auc"]) for row in rows if (row["graph"], row["negatives"]) == (graph, kind))


def test_the_short_table_has_ten_rows_and_its_figures_are_those_of_the_benchmarks():
    *lines, _, note = summary(RESULTS).splitlines()[2:]
    rows = [line.split(" | ") for line in lines]
    assert all(("†" in row[3]) != ("micro F1" in row[1] or row[1] == "AUC") for row in rows)
    assert note.startswith("†")
    assert len(rows) <= 10
    found = json.loads((RESULTS / "attributes-pubmed.json").read_text())["rows"][0]["measured"]
    (pubmed,) = (row for row in rows if "PubMed" in row[0])
    assert float(pubmed[2]) == round(100 * found, 2)
    seal = [row["measured"] for row in json.loads((RESULTS / "seal-links.json").read_text())["rows"][:8]]
    assert float(rows[0][2]) == round(sum(seal) / 8, 2)


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_cells_where_another_embedding_is_ahead_are_listed(tmp_path):
    def run(name, first, second):
        scores = [{"share": share, "micro_f1": f1, "macro_f1": 0.1} for share, f1 in ((0.1, first), (0.5, second))]
        return {"data": "cora", "method": name, "scores": scores}

    write(tmp_path / "embedding-classes.jsonl", [run("graphreach", 0.8, 0.8), run("prone", 0.9, 0.7)])
    write(tmp_path / "embedding-multi-label.jsonl", [])
    links = [
        {"data": "ring", "method": "graphreach", "auc": 0.9},
        {"data": "ring", "method": "prone", "failed": "late"},
    ]
    write(tmp_path / "embedding-links.jsonl", [*links, {"data": "ring", "method": "spectral", "auc": 0.7}])
    text = embedding_methods(tmp_path)
    assert "in 1 of 5 cells another embedding is ahead" in text
    assert "| Cora | 10% | classes, micro F1 | 0.800 | 0.900 (ProNE (nodevectors)) |" in text
    assert "| ProNE (nodevectors) | 0.800 | 0.100 |  |  |" in text


def test_unseen_nodes_are_compared_with_fitting_again(tmp_path):
    new, anew = {"auc": 0.8, "seconds": 1.0}, {"auc": 0.9, "seconds": 4.0}
    lines = [{"data": "ring.txt.gz", "method": "transform", **new}, {"data": "ring.txt.gz", "method": "anew", **anew}]
    write(tmp_path / "embedding-unseen.jsonl", lines)
    rows = unseen(tmp_path).splitlines()[2:]
    assert rows == [
        "| ring | AUC of links | 0.800 | 0.900 |",
        "| ring | share of the time of fitting again | 0.250 | 1 |",
    ]


def test_the_page_shows_every_table():
    page = (ROOT / "docs" / "published-tables.md").read_text(encoding="utf-8")
    for name, text in published_tables(ROOT).items():
        assert f"<!-- begin: {name} -->\n{text}\n<!-- end: {name} -->" in page, "run make readme"
