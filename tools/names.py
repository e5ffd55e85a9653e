"""The public names, read from the package's ``__all__`` without importing it."""

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"


@cache
def public_names(module: str) -> tuple[str, ...]:
    """What a module offers: its ``__all__``, else its functions and classes without an underscore.

    Example:
        >>> public_names("graphreach.datasets")
        ('Dataset', 'DownloadError', 'Sample', 'fetch', 'find', 'load', 'names')
    """
    names = []
    for node in _tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(ast.literal_eval(node.value))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            names.append(node.name)
    return tuple(names)


@cache
def _tree(module: str) -> ast.Module:
    path = SOURCE / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def rooms() -> tuple[str, ...]:
    """The modules that ``graphreach`` offers, such as ``nn``."""
    return tuple(name for name in public_names("graphreach") if _is_module(name))


def _is_module(name: str) -> bool:
    # a folder can have the name of the function that it holds, as reachability has
    return name not in _imported() and _exists(f"graphreach.{name}")


@cache
def _imported() -> frozenset[str]:
    """Names that ``graphreach/__init__.py`` takes out of its modules, so functions and classes."""
    found = [
        node
        for node in ast.walk(_tree("graphreach"))
        if isinstance(node, ast.ImportFrom) and node.module != "graphreach"
    ]
    return frozenset(alias.name for node in found for alias in node.names)


@cache
def own_names() -> tuple[str, ...]:
    """Functions and classes of ``graphreach`` itself."""
    return tuple(name for name in public_names("graphreach") if name not in rooms() and not name.startswith("_"))


@cache
def documented() -> frozenset[str]:
    """Every name that the reference has, in full."""
    inner = {f"graphreach.{room}.{name}" for room in rooms() for name in public_names(f"graphreach.{room}")}
    return frozenset(inner | {f"graphreach.{name}" for name in own_names()})


@cache
def address(name: str) -> str:
    """Where a documented name is to be read from: where it is defined, if on the way there a module has its name.

    Example:
        >>> address("graphreach.nn.PGNN"), address("graphreach.tasks.split")
        ('graphreach.nn.PGNN', 'graphreach.tasks.split.split')
    """
    way = [name]
    while (imported := _imported_from(way[-1])) is not None:
        way.append(imported)
    return way[-1] if any(_exists(each) for each in way) else name


def _imported_from(name: str) -> str | None:
    """The name by which a module imports what it offers as this one; None if it is defined there."""
    module, _, short = name.rpartition(".")
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and short in [alias.name for alias in node.names]:
            return f"{node.module}.{short}"
    return None


def _exists(module: str) -> bool:
    path = SOURCE / module.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").exists()


def link_target(name: str) -> str | None:
    """The full name that a short one stands for, or None if that is not in the reference or not clear.

    Example:
        >>> link_target("Graph"), link_target("graphreach.nn.PGNN"), link_target("nowhere")
        ('graphreach.Graph', 'graphreach.nn.PGNN', None)
    """
    if name in documented():
        return name
    if f"graphreach.{name}" in documented():
        return f"graphreach.{name}"
    fitting = [each for each in documented() if each.endswith(f".{name}")]
    return fitting[0] if len(fitting) == 1 else None
