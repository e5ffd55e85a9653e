"""Hooks of the documentation site: equations, the reference, a page for each verb, diagrams."""

import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent.parent))

from tools import notebook
from tools.calls import stored
from tools.flow import flow
from tools.link_tables import pretrained_table, raw_files_table
from tools.names import address, own_names, public_names, rooms
from tools.split_questions import split_table

CALLS = re.compile(r"<!-- calls: (\w+) -->")
MATH = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_config(config: Any) -> Any:
    """Put the generated pages into the navigation."""
    for section in config["nav"]:
        if "Command line" in section:
            section["Command line"] += [f"cli/{name}.md" for name, _ in verbs()]
        if "Reference" in section:
            section["Reference"] += [{f"gr.{room}": f"reference/{room}.md"} for room in rooms()]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Make the pages that come from the code, and the one of the notebook."""
    pages = {
        notebook.PAGE: notebook.page(notebook.read()),
        "reference/graphreach.md": reference("graphreach", own_names()),
    }
    for room in rooms():
        pages[f"reference/{room}.md"] = reference(f"graphreach.{room}", public_names(f"graphreach.{room}"))
    for name, command in verbs():
        pages[f"cli/{name}.md"] = verb_page(name, command)
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Draw the diagrams and list the verbs where a page asks for it."""
    markdown = CALLS.sub(lambda found: stored(found[1]).read_text(encoding="utf-8").replace("\n", ""), markdown)
    made = {
        "flow": flow, "verbs": _verb_table, "pretrained": pretrained_table, "raw-files": raw_files_table,
        "split-questions": split_table,
    }  # fmt: skip
    for name, make in made.items():
        if f"<!-- {name} -->" in markdown:
            markdown = markdown.replace(f"<!-- {name} -->", make())
    return markdown


def on_page_content(content: str, **kwargs: Any) -> str:
    """Turn TeX into MathML, which browsers show by themselves."""
    return MATH.sub(_mathml, content)


def _mathml(found: re.Match[str]) -> str:
    tex = html.unescape(found[3]).strip()
    tex = re.sub(r"\\mathrm\{(\w\w+)\}", r"\\text{\1}", tex)
    return convert(tex, display="block" if found[2] == "[" else "inline")


def reference(module: str, names: tuple[str, ...]) -> str:
    """A page of the reference."""
    short = module.replace("graphreach", "gr", 1)
    lines = [
        f"# {short}",
        "",
        f"::: {module}",
        "    options:",
        "      members: false",
        "      show_root_heading: false",
    ]
    lines += ["      show_root_toc_entry: false", "      show_source: false", ""]
    for name in names:
        full = f"{module}.{name}"
        if address(full) != full:
            lines += [f"[](){{#{full}}}", ""]
        lines += [f"::: {address(full)}", ""]
    return "\n".join(lines)


def verbs() -> list[tuple[str, Any]]:
    """The verbs of the command and what they do."""
    import typer.main

    from graphreach.cli import app

    return list(typer.main.get_command(app).commands.items())  # type: ignore[attr-defined]


def _verb_table() -> str:
    rows = [f"| [{name}]({name}.md) | {_cell(command.help.split(chr(10) * 2)[0])} |" for name, command in verbs()]
    return "\n".join(["| verb | |", "|---|---|", *rows])


def verb_page(name: str, command: Any) -> str:
    """The page of a verb, from what its ``--help`` is made of."""
    lines = [f"# graphreach {name}", ""]
    for path, each in _with_children(f"graphreach {name}", command):
        context = each.make_context(path, [], resilient_parsing=True)
        if each is not command:
            lines += [f"## {path}", ""]
        usage = each.collect_usage_pieces(context)
        lines += [_paragraphs(each.help or ""), ""]
        lines += ["```text", " ".join([path, *usage]), "```", "", *_parameters(each, context)]
    return "\n".join(lines)


def _with_children(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from _with_children(f"{path} {name}", child)


def _parameters(command: Any, context: Any) -> list[str]:
    """Tables of arguments and options."""
    tables: dict[str, list[str]] = {"argument": [], "option": []}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            name, text = record
            tables[parameter.param_type_name].append(f"| {_code(name)} | {_cell(text)} |")
    lines = []
    for kind, rows in tables.items():
        if rows:
            lines += [f"| {kind} | |", "|---|---|", *rows, ""]
    return lines


def _paragraphs(text: str) -> str:
    return "\n\n".join(_cell(part) for part in text.split("\n\n"))


def _code(text: str) -> str:
    return f"<code>{_cell(text)}</code>"


def _cell(text: str) -> str:
    """Text that Markdown takes as it stands."""
    escaped = html.escape(" ".join(text.split()), quote=False)
    return re.sub(r"[|*_\[\]`$]", lambda found: f"&#{ord(found[0])};", escaped)
