from pathlib import Path

import pytest

from graphreach.datasets import load, names, registry
from tools import datasets_page as page
from tools.table_2 import TABLE_2, agrees, count, differences, in_thousands

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"


@pytest.mark.parametrize("name", TABLE_2)
def test_every_difference_is_explained_by_a_count(name, data_root):
    ours, paper = count(load(name, data_root)), TABLE_2[name]._asdict()
    different = {column for column in ours if not agrees(ours[column], paper[column])}
    explained = {}
    for difference in differences(name, str(data_root)):
        explained |= dict(zip(difference.columns, difference.counted, strict=True))
    assert different <= set(explained)
    for column, counted in explained.items():
        assert agrees(counted, paper[column]), (column, counted)


def test_table_is_that_of_the_paper():
    """Typed twice, from the paper's source, in its own order."""
    printed = """
    grid 400 760 - 38 -
    communities 400 3.8K 20 9 -
    ppi 56.6K 818K - 8 50
    email-complete 986 16.6K 42 7 -
    email 920 7.8K 6 7 -
    protein 43.4K 81K 3 64 29
    cora 2.7K 5.4K 7 19 1433
    citeseer 3.3K 4.7K 6 28 3703
    """
    assert [[name, *row] for name, row in TABLE_2.items()] == [line.split() for line in printed.strip().splitlines()]


def test_thousands_are_cut():
    assert [in_thousands(n) for n in (999, 1_000, 3_799, 43_471, 56_658, 99_999, 793_617)] == [
        "999",
        "1K",
        "3.7K",
        "43.4K",
        "56.6K",
        "99.9K",
        "793K",
    ]


def test_page_is_up_to_date(data_root, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHREACH_DATA", str(data_root))
    assert page.main(["--output", str(PAGE), "--check"]) == 0, "run python -m tools.datasets_page"
    stale = tmp_path / "page.md"
    monkeypatch.setattr(page, "make_page", lambda: PAGE.read_text(encoding="utf-8"))
    assert page.main(["--output", str(stale), "--check"]) == 1
    assert not stale.exists()
    assert page.main(["--output", str(stale)]) == 0
    assert page.main(["--output", str(stale), "--check"]) == 0


def test_page_names_everything_the_registry_has():
    text = PAGE.read_text(encoding="utf-8")
    for entry in registry.ENTRIES:
        assert f"| {entry.name} |" in text
        for figure in (entry.num_nodes, entry.num_edges):
            assert f"{figure:,}" in text
        for file in entry.files:
            assert f"`{file.path}`" in text
    assert set(TABLE_2) < set(names())
