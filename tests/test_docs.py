"""Every block of code on every page runs."""

import re

import pytest

from doc_blocks import PAGES, ROOT, blocks, check_output, parse, run, run_python

WITH_CODE = [page for page in PAGES if blocks(page)]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run_in_order(page, request, capsys):
    namespace, printed = {"__name__": "page"}, ""
    for block in blocks(page):
        if block.mark == "data":
            request.getfixturevalue("data_root")
        if block.mark == "output":
            check_output(block.code, printed)
        else:
            run(block, namespace, page)
            printed = capsys.readouterr().out


def test_output_that_a_page_shows_is_compared():
    check_output("id,p\nann,0.812\n", "read 0.5\nid,p\nann,0.8119\nbob,0.1\n")
    for wrong in ("id,p\nann,0.9\n", "id,p\nbob,0.812\n"):
        with pytest.raises(AssertionError):
            check_output(wrong, "id,p\nann,0.812\n")


def test_a_wrong_value_in_a_comment_is_found():
    with pytest.raises(AssertionError, match="printed '3', the comment says '4'"):
        run_python("print(1 + 2)  # 4", {}, "page")
    run_python("print(1 + 2)  # 3, as everybody knows\nprint(1)  # one", {}, "page")


def test_a_wrong_option_is_found_though_the_command_is_not_run():
    parse(["embed", "big.parquet", "-o", "out.parquet"])
    with pytest.raises(Exception, match="No such option"):
        parse(["embed", "big.parquet", "-o", "out.parquet", "--nothing"])


def test_named_files_exist():
    """Pages name the files that implement what they tell."""
    named = {
        name for page in PAGES for name in re.findall(r"`((?:src|examples|benchmarks)/[\w./-]+)`", page.read_text())
    }
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists(), name
