"""Templates of pages: Markdown with ``$names`` that results take the place of."""

from collections.abc import Sequence
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent


def fill(name: str, **parts: str) -> str:
    """A template with its parts put in."""
    return Template((FOLDER / name).read_text(encoding="utf-8")).substitute(parts)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown.

    Example:
        >>> print(table(["a", "b"], [["1", "2"]]))
        | a | b |
        | --- | --- |
        | 1 | 2 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
