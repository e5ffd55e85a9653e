"""Every page, docstring and option help is in plain English, as far as a linter can say."""

import json

import pytest

from tools.prose import (
    ALLOWED,
    OFF,
    RULES,
    Text,
    all_texts,
    docstring_texts,
    findings,
    help_texts,
    house_findings,
    notebook_texts,
    page_texts,
    plain,
    proselint_findings,
    source_texts,
    unexpected,
)

EXAMPLES = {
    "of-fragment": ("Of walks and ties.", "Random seed for walks and for breaking ties."),
    "ends-in-of": ("The graph that all ids must be of.", "The graph of all ids."),
    "so-many": ("Epochs, at most so many.", "Maximum number of epochs."),
    "trailing-limit": ("Jumps of a walk at most.", "Maximum number of jumps of a walk."),
    "a-for-per": ("A file with one line a run.", "A file with one line per run."),
    "beside": ("Our figures beside the published ones.", "Our figures, compared with the published ones."),
    "but-for": ("The same but for rounding.", "The same up to rounding."),
    "anew": ("The rows are computed anew.", "The rows are computed again."),
    "told": ("Links are told from other pairs.", "Links are distinguished from other pairs."),
    "to-be": ("A link that is to be found.", "A link that has to be found."),
    "as-it-has": ("Edges as PyG has them.", "Edges in the layout of PyG."),
    "final-so": ("It is loaded so.", "It is loaded this way, or says so."),
}


def rules_of(words):
    return {each.rule for each in house_findings(Text("page:1", words))}


@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_a_rule_finds_what_it_is_for_and_not_what_it_advises(name):
    wrong, right = EXAMPLES[name]
    assert rules_of(wrong) == {name}
    assert rules_of(right) == set()


def test_long_sentences_and_chains_of_passives_are_found():
    assert rules_of("word " * 40 + "word.") == {"long-sentence"}
    assert rules_of("word " * 39 + "word. " + "word " * 39 + "word.") == set()
    assert rules_of("It was made, is kept and has been walked along.") == set()
    assert rules_of("It was created, is stored and has been walked along.") == {"passive-chain"}


def test_code_tables_and_formulas_of_a_page_are_left_out():
    parts = ["# Head", "See [this](x.md), `beside` and $beside$.", "```sh\nbeside\n```", "| beside |\n|---|"]
    page = "\n\n".join([*parts, "$$\nbeside\n$$", "- one\n- two"])
    texts = list(page_texts(page, "page"))
    assert [(each.place, each.words) for each in texts] == [
        ("page:1", "Head"), ("page:3", "See this, code1 and code2."), ("page:16", "one"), ("page:17", "two"),
    ]  # fmt: skip


def test_docstrings_are_read_by_argument_and_without_examples():
    docstring = """Double a number.

    Args:
        x: A number, or
            two.
        y: Another one.

    Returns:
        Twice the number.

    Example:
        >>> print(1)
        beside

    The last word."""
    words = [each.words for each in docstring_texts(docstring, "file", 1)]
    assert words == ["Double a number.", "A number, or\ntwo.", "Another one.", "Twice the number.", "The last word."]


def test_docstrings_of_constants_and_classes_are_read():
    source = 'X = 1\n"""First."""\n\nclass Y:\n    """Second."""\n\n    z = 2\n    """Third."""\n'
    assert {each.words for each in source_texts(source, "file")} == {"First.", "Second.", "Third."}


def test_helps_of_options_are_read():
    found = {each.place: each.words for each in help_texts()}
    assert found["graphreach info --json"] == "Print JSON, for scripts."
    assert "graphreach predict --pairs" in found


def test_markdown_of_notebooks_is_read(tmp_path):
    code, words = (
        {"cell_type": "code", "source": ["beside"]},
        {"cell_type": "markdown", "source": ["# A\n", "\n", "Words."]},
    )
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": [code, words]}))
    found = list(notebook_texts(tmp_path / "book.ipynb", "book"))
    assert [each.words for each in found] == ["A", "Words."]


def test_proselint_names_the_place_of_what_it_finds():
    texts = [Text("page:1", "Anchors"), Text("page:3", "Anchors are nodes."), Text("page:5", "It is is wrong.")]
    assert [(each.place, each.rule) for each in proselint_findings(texts)] == [("page:5", "lexical_illusions")]


def test_checks_that_are_off_find_nothing():
    texts = [Text("page:1", 'A "word" ... and 7 am.')]
    assert list(proselint_findings(texts)) == []
    assert all(OFF.values())
    assert all(ALLOWED.values())


def test_plain_text_numbers_its_code():
    assert plain("`a` and ``b``") == "code1 and code2"


def test_everything_is_in_plain_english():
    found = findings(all_texts())
    wrong = unexpected(found)
    assert not wrong, "\n".join(f"{each.place}: {each.rule}: {each.found!r}: {each.advice}" for each in wrong)
    assert len(found) >= len(ALLOWED)
    for rule, words in ALLOWED:
        assert any(each.rule == rule and words in each.found for each in found), f"{words!r} is no longer there"
