"""Checks the words of pages, docstrings and option helps, by proselint and by rules of our own: ``python -m tools.prose``.

Code, tables, formulas and names of arguments are left out. All checks of proselint run except those in :data:`OFF`; our
own rules are :data:`RULES`, the length of sentences and the number of passive verbs. False alarms are in
:data:`ALLOWED`, each with its reason.
"""

import ast
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
PAGES = ("*.md", "docs/**/*.md", "benchmarks/*.md", "tools/templates/*.md")
SOURCES = ("src/graphreach/**/*.py",)
NOTEBOOKS = ("docs/**/*.ipynb", "examples/*.ipynb")

OFF = {
    "typography.symbols.curly_quotes": "the house writes straight quotes, as code does",
    "typography.symbols.ellipsis": "the house writes three dots, as code does",
    "typography.symbols.multiplication": "the house writes x, as code and keyboards do",
    "typography.diacritical_marks": "takes the verb 'resume' for a résumé",
    "dates_times": "takes '7 among' for a time of day; no page has any",
}
"""Checks of proselint that do not fit, each with the reason."""

LONGEST = 40
"""Words of a sentence."""

PASSIVES = 3
"""Passive verbs from which a sentence is a chain of them."""

PER = "anchor|class|column|edge|epoch|file|graph|label|line|link|node|pair|row|run|seed|set|split|start|step|walk"
ONE, SOME = r"(?:an?|one)", r"(?:two|three|several|\d+)"
SMALL = "as|or|for|that|is|where|of|in|than|when|with|has|by|to|from|and|per|on"
PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being) (?:\w+ly |not |never |also )?\w+(?:ed|en)\b")
SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\bApp\.)(?<!\bEqs\.)(?<!\bEq\.)\s+|(?<=:)\s+(?=[A-Z]|code\d)|\n\n+")
CODE = re.compile(r":\w+:`[^`]*`|``.+?``|`[^`]*`|\$[^$]+\$|https?://\S+", re.DOTALL)
BETWEEN = "\n\n|\n\n"
"""Separates the texts of a file for proselint, so that it sees no repetition across them."""


class Rule(NamedTuple):
    """A rule of the house.

    Attributes:
        name: Name in reports.
        pattern: What is wrong.
        advice: What to write.
    """

    name: str
    pattern: re.Pattern[str]
    advice: str


RULES = (
    Rule("of-fragment", re.compile(r"\AOf (?!the \d+\b|\d+\b)"), "begin with the subject: 'Random seed for walks'"),
    Rule("ends-in-of", re.compile(r"\b(?:is|are|be|was|made) of\.?\Z"), "name the whole: 'the graph of the nodes'"),
    Rule("so-many", re.compile(r"(?i)\b(?:at most|at least|of|up to|from|after) so (?:many|much)\b"), "'Maximum number'"),
    Rule("trailing-limit", re.compile(r"\A[A-Z][^.:;,]* at (?:most|least)(?=[.:;]|\Z)"), "'Maximum number of ...'"),
    Rule("a-for-per", re.compile(rf"\b(?:{ONE} (?!(?:{SMALL})\b)[\w-]+|{SOME} [\w-]+s) an? (?:{PER})\b"), "'one per run'"),
    Rule("beside", re.compile(r"\b[Bb]eside\b"), "'compared with', 'next to' or 'with'"),
    Rule("but-for", re.compile(r"\bbut for\b"), "'except'"),
    Rule("anew", re.compile(r"\banew\b"), "'again' or 'from scratch'"),
    Rule("told", re.compile(r"\b(?:told|tells?|telling) (?:from|better|by|them from|these|it from)\b|\bbe told\b"),
         "'distinguish', 'predict' or 'say'"),
    Rule("to-be", re.compile(r"\b(?:is|are|was|were) to be\b"), "'will be', 'has to be' or a participle"),
    Rule("as-it-has", re.compile(r"\bas \w+ (?:has|have) (?:it|them)\b"), "'in the layout of PyG'"),
    Rule("final-so", re.compile(r"(?<!or )(?<!do )(?<!does )(?<!say )(?<!says )\bso[.;]"), "'this way'"),
)  # fmt: skip

ALLOWED = {
    ("long-sentence", "LP Cora S+T, LP Cora S, LP CiteSeer S+T"): "a list of columns",
    ("long-sentence", "LP Cora training, LP Cora inference"): "a list of columns",
    ("lexical_illusions", "(x P P)(v)"): "a product of matrices",
    ("lexical_illusions", "COLUMNS columns"): "the name of a constant and what it counts",
}
"""Where a rule is wrong: its name and the words that it finds, with the reason."""


class Text(NamedTuple):
    """A paragraph, an item of a list, or what one argument is.

    Attributes:
        place: File and line, or the command and its option.
        words: The text without code.
    """

    place: str
    words: str


class Finding(NamedTuple):
    """Something to rewrite.

    Attributes:
        place: File and line, or the command and its option.
        rule: Name of the rule.
        found: The words.
        advice: What to write.
    """

    place: str
    rule: str
    found: str
    advice: str


def plain(text: str) -> str:
    """A text without code, links, formulas and marks of emphasis.

    Example:
        >>> plain("Call `fit(x)`, see [the *model*](model.md) and $n^2$.")
        'Call code1, see the model and code2.'
    """
    text = re.sub(r"<!--.*?-->|<[^>]+>", "", text, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    number = itertools.count(1)
    text = re.sub(CODE, lambda found: f"code{next(number)}", text)
    return re.sub(r"\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", "", text)


def page_texts(text: str, place: str) -> Iterator[Text]:
    """Paragraphs, headings and items of a page of Markdown.

    Example:
        >>> [each.words for each in page_texts("# Title\\n\\nWords `x`\\nmore.\\n\\n| a | b |\\n", "page")]
        ['Title', 'Words code1\\nmore.']
    """
    text = re.sub(r"^( *)```.*?^\1```", _blank, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$", _blank, text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", _blank, text, flags=re.DOTALL)
    text = re.sub(r"^ *(?:\|.*|</?\w.*>|!!!.*)$", _blank, text, flags=re.MULTILINE)
    for found in re.finditer(r"(?:^(?! *$).*\n?)+", text, re.MULTILINE):
        yield from _items(found[0], place, text.count("\n", 0, found.start()) + 1)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _items(block: str, place: str, line: int) -> Iterator[Text]:
    """A paragraph, or the items of a list in it."""
    start, parts = line, list[str]()
    for number, words in enumerate(block.splitlines(), line):
        bare = re.sub(r"^\s*(?:[-*+]|\d+\.|#+|>)\s+", "", words)
        if bare != words and parts:
            yield Text(f"{place}:{start}", plain("\n".join(parts)).strip())
            start, parts = number, []
        parts.append(bare.strip())
    if parts:
        yield Text(f"{place}:{start}", plain("\n".join(parts)).strip())


def source_texts(source: str, place: str) -> Iterator[Text]:
    """Docstrings of a module, its classes, functions and constants.

    Example:
        >>> [each.words for each in source_texts("def f(x):\\n    'Double.\\\\n\\\\nArgs:\\\\n    x: A number.'", "f")]
        ['Double.', 'A number.']
    """
    for node in ast.walk(ast.parse(source)):
        for each in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            if (
                isinstance(each, ast.Expr)
                and isinstance(each.value, ast.Constant)
                and isinstance(each.value.value, str)
            ):
                yield from docstring_texts(each.value.value, place, each.lineno)


SECTION = re.compile(r"^(\s*)(Args|Attributes|Returns|Yields|Raises|Shapes|Example|Examples|Note|References?):\s*$")
ENTRY = re.compile(r"^[\w*, `.\[\]]+(?: \([^)]*\))?: +(.*)$")


def docstring_texts(docstring: str, place: str, line: int) -> Iterator[Text]:
    """The paragraphs of a docstring, and what it says of each argument."""
    section, parts, start = "", list[str](), line
    lines = [*docstring.expandtabs().splitlines(), ""]
    margin = next((len(each) - len(each.lstrip()) for each in lines[1:] if each.strip()), 0)
    skipped = -1
    for number, raw in enumerate(lines, line):
        words = raw[margin:] if number > line and not raw[:margin].strip() else raw
        indent = len(words) - len(words.lstrip())
        head = SECTION.match(words)
        if skipped >= 0 and words.strip() and indent <= skipped:
            skipped = -1
        entry = ENTRY.match(words.strip()) if section in ("Args", "Attributes", "Raises") and 0 < indent <= 4 else None
        bullet = re.match(r"\s*[-*] +(.*)", words)
        ends = head or entry or bullet or not words.strip() or skipped >= 0 or words.lstrip().startswith((".. ", ">>>"))
        if ends and parts:
            yield Text(f"{place}:{start}", plain(re.sub(r"::$", ":", "\n".join(parts))))
            parts = []
        if head:
            section = head[2]
            skipped = indent if section in ("Example", "Examples", "Shapes") else -1
        elif words.lstrip().startswith((".. ", ">>>")):
            skipped = indent if skipped < 0 else skipped
        elif words.strip() and skipped < 0:
            start = start if parts else number
            parts.append(entry[1] if entry else bullet[1] if bullet else words.strip())
            section = section if indent or not section else ""


def help_texts() -> Iterator[Text]:
    """Helps of the commands and of their options."""
    import typer.main

    from graphreach.cli import app

    def walk(name: str, command: Any) -> Iterator[Text]:
        for paragraph in (command.help or "").split("\n\n"):
            yield Text(name, plain(paragraph.strip()))
        for parameter in command.params:
            shown = parameter.opts[0] if parameter.opts else parameter.name
            yield Text(f"{name} {shown}", plain(getattr(parameter, "help", None) or ""))
        for child, each in getattr(command, "commands", {}).items():
            yield from walk(f"{name} {child}", each)

    yield from walk("graphreach", typer.main.get_command(app))


def notebook_texts(path: Path, place: str) -> Iterator[Text]:
    """Cells of Markdown in a notebook."""
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "markdown":
            yield from page_texts("".join(cell["source"]), f"{place}[{number}]")


def all_texts(root: Path = ROOT) -> Iterator[list[Text]]:
    """The texts of each file, and those of the command line."""
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            yield list(page_texts(path.read_text(encoding="utf-8"), str(path.relative_to(root))))
    for pattern in SOURCES:
        for path in sorted(root.glob(pattern)):
            yield list(source_texts(path.read_text(encoding="utf-8"), str(path.relative_to(root))))
    for pattern in NOTEBOOKS:
        for path in sorted(root.glob(pattern)):
            yield list(notebook_texts(path, str(path.relative_to(root))))
    yield list(help_texts())


def house_findings(text: Text) -> Iterator[Finding]:
    """What the rules of the house find.

    Example:
        >>> [each.rule for each in house_findings(Text("page:1", "Of walks and ties."))]
        ['of-fragment']
    """
    for rule in RULES:
        for found in rule.pattern.finditer(text.words):
            yield Finding(text.place, rule.name, _around(text.words, *found.span()), rule.advice)
    for sentence in SENTENCE_END.split(text.words):
        length = len(re.findall(r"[\w'-]*[A-Za-z][\w'-]*", sentence))
        if length > LONGEST:
            yield Finding(text.place, "long-sentence", _around(sentence, 0, 60), f"{length} words; at most {LONGEST}")
        if len(PASSIVE.findall(sentence)) >= PASSIVES:
            yield Finding(text.place, "passive-chain", _around(sentence, 0, 60), "say who does it")


def proselint_findings(texts: Sequence[Text]) -> Iterator[Finding]:
    """What proselint finds in the texts of one file."""
    from proselint.checks import __register__
    from proselint.config import DEFAULT
    from proselint.registry import CheckRegistry
    from proselint.tools import LintFile

    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(__register__)
    content = BETWEEN.join(each.words for each in texts)
    if not content.strip():
        return
    for result in LintFile("text", content).lint(DEFAULT):
        check = result.check_result
        if not any(check.check_path == off or check.check_path.startswith(f"{off}.") for off in OFF):
            begin, end = (place - 1 for place in check.span)
            message = " ".join(check.message.split())
            yield Finding(_place_of(texts, begin), check.check_path, _around(content, begin, end), message)


def _place_of(texts: Sequence[Text], position: int) -> str:
    seen = 0
    for each in texts:
        seen += len(each.words) + len(BETWEEN)
        if position < seen:
            return each.place
    return texts[-1].place


def _around(text: str, begin: int, end: int, more: int = 25) -> str:
    return " ".join(text[max(0, begin - more) : end + more].split())


def findings(groups: Iterable[Sequence[Text]]) -> list[Finding]:
    """What proselint and the rules of the house find.

    Args:
        groups: The texts of each file.
    """
    found: list[Finding] = []
    for texts in groups:
        found += proselint_findings(texts)
        found += (finding for text in texts for finding in house_findings(text))
    return found


def unexpected(found: Iterable[Finding]) -> list[Finding]:
    """The findings that :data:`ALLOWED` does not list.

    Args:
        found: All findings.
    """
    return [each for each in found if not any(each.rule == rule and words in each.found for rule, words in ALLOWED)]


def main() -> int:
    """Print what should be rewritten."""
    found = unexpected(findings(all_texts()))
    for each in found:
        print(f"{each.place}: {each.rule}: {each.found!r}: {each.advice}")
    print(f"{len(found)} findings", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
