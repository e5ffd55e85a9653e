"""Every block of code on every page runs."""

import re
import tomllib

import pytest

import graphreach as gr
from doc_blocks import PAGES, ROOT, blocks, check_output, parse, run, run_python
from graphreach.cli.app import VERBS

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


def test_what_is_in_it_names_all_of_it():
    page = (ROOT / "docs" / "what-is-in-it.md").read_text(encoding="utf-8")
    words = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`[^`\n]+`", page))))
    assert {name for name in gr.__all__ if not name.startswith("_")} <= words
    assert set(VERBS) <= words
    assert {"to_networkx", "to_pyg", "to_scipy", "to_frame", "new_links", "pretrained", "set_output", "karate"} <= words


def test_home_and_the_pages_that_it_names_lead_to_every_page():
    """One need not know the menu."""
    docs, found, asked = ROOT / "docs", set(), [ROOT / "docs" / "index.md"]
    while asked:
        page = asked.pop()
        if page not in found and page.exists():
            found.add(page)
            links = re.findall(r"\]\(([\w./-]+\.md)", page.read_text(encoding="utf-8"))
            asked += [(page.parent / link).resolve() for link in links]
    home = (docs / "index.md").read_text(encoding="utf-8")
    assert {"comparison.md", "what-is-in-it.md", "how-to/install.md"} <= set(re.findall(r"\(([\w./-]+\.md)", home))
    assert set(docs.rglob("*.md")) - found == set()


def test_install_names_what_each_extra_brings():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE))
    base = re.search(r"The base install brings (.+?)\.\s", page, re.DOTALL)[1]
    assert sorted(packages(base)) == sorted(each.partition(">")[0] for each in project["dependencies"])
    for name, needed in project["optional-dependencies"].items():
        if name != "all":
            assert packages(rows[name]) == {re.split(r"[>\[]", each)[0] for each in needed}, name


def packages(text):
    """Names of packages in a sentence or a cell of a table."""
    return set(re.findall(r"[\w-]+", text)) - {"and", "no", "torch" if "no torch" in text else ""}


def test_named_files_exist():
    """Pages name the files that implement what they tell."""
    named = {
        name for page in PAGES for name in re.findall(r"`((?:src|examples|benchmarks)/[\w./-]+)`", page.read_text())
    }
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists(), name
