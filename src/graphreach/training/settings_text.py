"""Settings as text: YAML files and ``key=value``, read without trust."""

import re
from pathlib import Path
from typing import Any

import yaml

from graphreach.errors import InputError
from graphreach.training.settings import check_names

MOST_BYTES = 1_000_000
"""Size of a file of settings; all settings there are take a few kilobytes."""

MOST_VALUES = 10_000
"""Values of a file with its aliases written out: a few lines of nested aliases can stand for billions."""

CONSTRUCTION = (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What PyYAML raises for text that is not YAML, or for values such as ``!!int ""`` and the 99th of a month."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Plain values alone, with ``1e-3`` a number, which YAML 1.1 takes for text."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def read_yaml(file: Path) -> dict[str, Any]:
    """The settings that a YAML file holds, as plain values."""
    text = _read_text(file)
    try:
        content = _load(text, f"config {file}")
    except InputError:
        raise
    except CONSTRUCTION as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"config {file} is not YAML: {reason:.300}") from None
    if not isinstance(content, dict):
        raise InputError(f"config {file} must hold key: value lines, got {type(content).__name__}")
    check_names(content, f"config {file}")
    return content


def change(values: dict[str, Any], text: str) -> str:
    """Put what a text such as ``"model.heads=2"`` says into ``values``; returns the setting, here ``"model"``."""
    if not isinstance(text, str):
        raise InputError(f"set must be key=value, got {text!r:.80}")
    key, equals, value = text.partition("=")
    *groups, last = (name.strip() for name in key.split("."))
    if not equals or not all([*groups, last]):
        raise InputError(f"set must be key=value, with a name before and behind each dot of the key, got {text!r}")
    try:
        parsed = _load(value, f"set {key.strip()}")
    except InputError:
        raise
    except CONSTRUCTION:
        parsed = value
    check_names(parsed, f"set {key.strip()}")
    place = values
    for group in groups:
        place = place.setdefault(group, {})
        if not isinstance(place, dict):
            raise InputError(f"set must not give a part of {group!r}, which is a single value, got {text!r}")
    place[last] = parsed
    return [*groups, last][0]


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InputError(f"config must be a YAML file of at most {MOST_BYTES:,} bytes, got {file}, which has more")
        return content.decode("utf-8-sig")
    except OSError as error:
        reasons = {FileNotFoundError: f"{file}, which does not exist", IsADirectoryError: f"the folder {file}"}
        reason = reasons.get(type(error), f"{file}, which cannot be read: {error.strerror}")
        raise InputError(f"config must be a YAML file, got {reason}") from None
    except UnicodeDecodeError:
        raise InputError(f"config {file} is not YAML: it is not text in UTF-8") from None


def _load(text: str, what: str) -> Any:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node, what)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _check_size(root: Any, what: str) -> None:
    """Refuse aliases that stand for too much or for themselves, and keys that come twice."""
    sizes: dict[int, int] = {}
    inside: set[int] = set()

    def size(node: Any) -> int:
        if id(node) in inside:
            raise InputError(f"{what} must not hold an alias of itself, got one in line {node.start_mark.line + 1}")
        if id(node) not in sizes:
            inside.add(id(node))
            sizes[id(node)] = 1 + sum(size(child) for child in _children(node, what))
            inside.discard(id(node))
        if sizes[id(node)] > MOST_VALUES:
            raise InputError(f"{what} must hold at most {MOST_VALUES:,} values, counted with its aliases, got more")
        return sizes[id(node)]

    size(root)


def _children(node: Any, what: str) -> list[Any]:
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    if not isinstance(node, yaml.MappingNode):
        return []
    keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    twice = next((key for number, key in enumerate(keys) if key in keys[:number]), None)
    if twice is not None:
        raise InputError(f"{what} must hold each key once, got {twice!r} twice")
    return [each for pair in node.value for each in pair]
