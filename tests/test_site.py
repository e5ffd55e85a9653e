"""The site builds without a warning, and takes nothing from the network."""

import re

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from doc_blocks import ROOT
from tools.docstrings import to_markdown
from tools.names import documented

LOADED = re.compile(r"<(?:script|link|img|iframe|source|object|embed)\b[^>]*>")
ADDRESS = re.compile(r"""(?:src|href|data)=["']?((?:https?:)?//[^"'> ]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; ``strict`` makes a warning an error."""
    folder = tmp_path_factory.mktemp("site")
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    config.plugins.on_shutdown()
    return folder


def test_nothing_is_loaded_from_the_network(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        for tag in LOADED.findall(page.read_text(encoding="utf-8")):
            # sources that a link names for search engines are not loaded
            assert "canonical" in tag or not ADDRESS.search(tag), f"{page.name}: {tag}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet
    # the theme's script would load mermaid from the network for such a block
    assert not any('class="mermaid"' in page.read_text(encoding="utf-8") for page in pages)


def test_equations_are_mathml(site):
    text = (site / "concepts" / "model.html").read_text(encoding="utf-8")
    assert text.count("<math ") > 15
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        assert "arithmatex" not in html, page
        for math in re.findall("<math .*?</math>", html, re.DOTALL):
            assert not re.search(r"<m[io]>\\|&(?!#?\w+;)", math), f"{page.name}: {math}"


def test_every_public_name_is_in_the_reference(site):
    text = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    for name in documented():
        assert f'id="{name}"' in text, name
    assert "doc-symbol-module" not in text


def test_every_verb_has_a_page(site):
    import typer.main

    from graphreach.cli import app

    for name, command in typer.main.get_command(app).commands.items():
        text = (site / "cli" / f"{name}.html").read_text(encoding="utf-8")
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert parameter.opts[0] in text, (name, parameter.opts)


def test_docstrings_have_no_sphinx_left(site):
    for page in (site / "reference").glob("*.html"):
        prose = re.sub(r"<(pre|code).*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r":(math|class|func|meth|data):|\.\. math::|&gt;`_", prose), page


def test_docstring_is_turned_into_markdown():
    text = 'See :func:`graphreach.diameter`, `"P" <https://x.org>`_.\n\n.. math::\n    a &= b \\\\\n    c &= d\n\n'
    text += "Example:\n    >>> 1\n"
    found = to_markdown(text)
    assert '[`diameter`][graphreach.diameter], ["P"](https://x.org)' in found
    assert "$$\n\\begin{align*}a &= b \\\\\nc &= d\\end{align*}\n$$" in found
    assert found.endswith("Examples:\n    >>> 1")
