"""Packages whose names are imported at their first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from graphreach.errors import needed_packages


class LazyPackage(ModuleType):
    """A package in which a public name is never the module of the same name.

    Python binds a module's name in its package when the module is imported, as with the function ``reachability`` of the
    module ``reachability``; here the function stays.
    """

    _homes: Mapping[str, str]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._homes or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


def import_lazily(
    package: str, homes: Mapping[str, str], modules: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Let a package import its names at their first use; returns its ``__getattr__`` and ``__dir__``.

    Args:
        package: ``__name__`` of the package.
        homes: For each module of the package, the names that come from it, separated by spaces.
        modules: Modules that are public themselves, separated by spaces.
    """
    module = sys.modules[package]
    places = {name: home for home, names in homes.items() for name in names.split()}
    module.__dict__["_homes"] = places
    module.__class__ = LazyPackage

    def get(name: str) -> Any:
        what = f"{'gr' + package.removeprefix('graphreach')}.{name}"
        if name in modules.split() or (name in homes and name not in places):  # as if the module had been imported
            with needed_packages(what):
                return import_module(f"{package}.{name}")
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with needed_packages(what):
            found = getattr(import_module(f"{package}.{places[name]}"), name)
        setattr(module, name, found)
        return found

    return get, lambda: sorted({*vars(module), *places, *modules.split()})
