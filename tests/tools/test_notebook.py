"""The notebook runs, and shows what it is committed with."""

import copy
import re

import pytest

from tools.notebook import code_cells, difference, execute, page, read, shown


def test_it_shows_what_it_is_committed_with():
    notebook = read()
    assert 10 <= len(notebook.cells) <= 15
    assert all(cell.outputs for cell in code_cells(notebook))
    assert difference(notebook, execute(notebook)) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [("78 lines", "77 lines"), ("num_nodes=34", "num_nodes=33"), ("probability 0.89", "probability 0.86")],
)
def test_a_changed_figure_is_found(old, new):
    notebook = read()
    other = copy.deepcopy(notebook)
    (output,) = (each for cell in code_cells(other) for each in cell.outputs if old in each.get("text", ""))
    output["text"] = output["text"].replace(old, new)
    assert "run python -m tools.notebook" in difference(notebook, other)


def test_rounding_is_no_change():
    notebook = read()
    other = copy.deepcopy(notebook)
    (output,) = (
        each for cell in code_cells(other) for each in cell.outputs if "score is +3.87" in each.get("text", "")
    )
    output["text"] = output["text"].replace("score is +3.87", "score is +3.88")
    assert difference(notebook, other) == ""


def test_the_page_has_every_cell_and_nothing_from_elsewhere():
    notebook = read()
    text = page(notebook)
    for cell in code_cells(notebook):
        assert cell.source in text
    assert text.count("<img") == [shown(cell) for cell in code_cells(notebook)].count("(a picture)") == 1
    assert text.count("<table>") == 2
    assert "../docs" not in text
    assert not re.search(r"https?://|<script|<style", text)
