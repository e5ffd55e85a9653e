"""Blocks of code in Markdown pages, and how they are run."""

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main

from graphreach.cli import app
from graphreach.datasets.packaged import KARATE, KARATE_SIDES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

BLOCK = re.compile(r"(?:<!-- test: (\w+) -->\n)?^```(python|sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
VALUE = re.compile(r"^print\(.*\)  # ((?:Graph\(|torch\.Size|\(?\[?\d|\d of).*)")
MARKS = {None, "data", "parse", "files", "output"}
"""``data``: needs real data sets. ``parse``: would take too long; what it says is read and not run. ``files``: reads
``friends.csv`` and ``groups.csv`` of a reader's own; here they are the karate club's. ``output``: text that the block
before prints to stdout."""

NUMBER = re.compile(r"\d+\.\d+(?:e-?\d+)?")


@dataclass(frozen=True)
class Block:
    """One block of a page."""

    mark: str | None
    language: str
    code: str


def blocks(page):
    """The blocks of a page, in order; text that is no output and shell that does not run graphreach are left out."""
    found = [Block(*each.groups()) for each in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    assert {block.mark for block in found} <= MARKS, page
    return [
        block
        for block in found
        if block.language == "python"
        or block.mark == "output"
        or (block.language == "sh" and re.search("^graphreach ", block.code, re.M))
    ]


def check_output(shown, printed):
    """What a page shows is part of what was printed; numbers with a point may differ in their third digit."""
    assert NUMBER.sub("#", shown) in NUMBER.sub("#", printed), (
        f"the page shows\n{shown}\nthe command printed\n{printed}"
    )
    start = NUMBER.sub("#", printed).index(NUMBER.sub("#", shown))
    skipped = NUMBER.sub("#", printed)[:start].count("#")
    expected = [float(number) for number in NUMBER.findall(shown)]
    found = [float(number) for number in NUMBER.findall(printed)][skipped : skipped + len(expected)]
    assert found == pytest.approx(expected, rel=0.01, abs=0.005)


def run(block, namespace, page):
    """Run a block in the current folder; commands run in this process, which spares an import each."""
    if block.mark == "files":
        shutil.copyfile(KARATE, "friends.csv")
        shutil.copyfile(KARATE_SIDES, "groups.csv")
    if block.language == "python":
        if block.mark == "parse":
            compile(block.code, str(page), "exec")
        else:
            run_python(block.code, namespace, page)
        return
    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[:2] == ["pip", "install"]:  # make release-check does that, in environments of its own
            continue
        if words[0] != "graphreach":
            subprocess.run(["sh", "-e", "-c", line], check=True)
        elif block.mark == "parse":
            parse(words[1:])
        else:
            assert call(words[1:]) == 0, line


def run_python(code, namespace, page):
    """Run a block; a comment behind ``print`` that looks like a value has to be what is printed."""
    lines = code.splitlines()

    def check(*values, **options):
        print(*values, **options)
        shown = VALUE.search(lines[sys._getframe(1).f_lineno - 1])
        if shown:
            text = " ".join(map(str, values))
            assert shown[1].startswith(text), f"{page}: printed {text!r}, the comment says {shown[1]!r}"

    namespace["print"] = check
    exec(compile(code, str(page), "exec"), namespace)


def call(words):
    """The exit code of a command."""
    try:
        app(words, prog_name="graphreach")
    except SystemExit as end:
        return end.code
    return 0


def parse(words):
    """Read a command line without running it; what it does not know is an error."""
    group = typer.main.get_command(app)
    command = group.commands[words[0]]
    command.make_context(words[0], list(words[1:]))
