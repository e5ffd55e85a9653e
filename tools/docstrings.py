"""Docstrings for the site: they are written for a terminal and for Sphinx, the site speaks Markdown."""

import ast
import re
import textwrap
from typing import Any

import griffe

from tools.names import link_target

ROLE = re.compile(r":(?:class|func|meth|data|obj|attr|mod|exc):`~?([^`]+)`")
INLINE_MATH = re.compile(r":math:`([^`]+)`", re.DOTALL)
LINK = re.compile(r"`([^`<]+?)\s*<(https?://[^>]+)>`_", re.DOTALL)
BLOCK_MATH = re.compile(r"^( *)\.\. math::\n((?:\1 +\S.*\n?|\s*\n)+)", re.MULTILINE)
EXAMPLE = re.compile(r"^( *)Example:$", re.MULTILINE)


def to_markdown(text: str) -> str:
    r"""A docstring with equations between dollars and links in brackets.

    Example:
        >>> to_markdown(":math:`n_w` walks, see :func:`nowhere`")
        '$n_w$ walks, see `nowhere`'
    """
    text = BLOCK_MATH.sub(_block, text + "\n")
    text = INLINE_MATH.sub(lambda found: f"${' '.join(found[1].split())}$", text)
    text = ROLE.sub(lambda found: _reference(found[1]), text)
    text = LINK.sub(lambda found: f"[{' '.join(found[1].split())}]({found[2]})", text)
    return EXAMPLE.sub(r"\1Examples:", text).rstrip()


def _block(found: re.Match[str]) -> str:
    indent, body = found[1], textwrap.dedent(found[2]).strip()
    if "&" in body:
        body = rf"\begin{{align*}}{body}\end{{align*}}"
    return f"{indent}$$\n" + textwrap.indent(body, indent) + f"\n{indent}$$\n\n"


def _reference(name: str) -> str:
    target = link_target(name)
    shown = name.removeprefix("graphreach.")
    return f"`{shown}`" if target is None else f"[`{shown}`][{target}]"


class Markdown(griffe.Extension):
    """Rewrites every docstring, and gives pydantic's fields their descriptions."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called for each object that is read."""
        if obj.docstring is None and isinstance(obj, griffe.Attribute):
            text = _description(obj.value)
            if text:
                obj.docstring = griffe.Docstring(text, parent=obj)
        elif obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)


def _description(value: Any) -> str | None:
    """What ``Field(description=...)`` says."""
    if isinstance(value, griffe.ExprCall) and str(value.function) == "Field":
        for each in value.arguments:
            if isinstance(each, griffe.ExprKeyword) and each.name == "description":
                return str(ast.literal_eval(str(each.value)))
    return None
