"""A public callable with right arguments, and what such arguments are made of."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tests.fuzz import samples


@dataclass(frozen=True)
class Call:
    """A callable with right arguments.

    Attributes:
        name: Of the entry point.
        target: Returns the callable.
        base: Returns right arguments.
        unbounded: Arguments that may be as large as one has time.
        share: See :class:`tests.fuzz.entry.Entry`.
    """

    name: str
    target: Callable[[], Callable[..., Any]]
    base: Callable[[], dict[str, Any]]
    unbounded: tuple[str, ...] = ()
    share: float = 0.6


def lazy(path: str) -> Callable[[], Any]:
    """A callable of graphreach by its path, imported when it is needed."""

    def find() -> Any:
        import importlib

        module, *names = path.split(":")
        found: Any = importlib.import_module(f"graphreach.{module}" if module else "graphreach")
        for name in names:
            found = getattr(found, name)
        return found

    return find


def graph(kind: str = "small") -> Any:
    return samples.graph(kind)


@cache
def reach() -> Any:
    import graphreach as gr

    return gr.reachability(graph(), [0, 3], num_walks=5, walk_length=3)


@cache
def split(task: str = "link") -> Any:
    import graphreach as gr

    y = None if task == "link" else (np.arange(30) >= 15).astype(np.int64)
    return gr.tasks.split(gr.datasets.Sample(graph("int"), None, y), task, "published")


def sample() -> Any:
    import graphreach as gr

    return gr.datasets.Sample(graph("int"), np.ones((30, 2), np.float32), (np.arange(30) >= 15).astype(np.int64))


@cache
def trained(task: str = "link") -> Any:
    from graphreach.training import TrainedRun

    return TrainedRun(samples.folder() / task)


def dataset() -> Any:
    import graphreach as gr

    return gr.datasets.Dataset("mine", (sample(),))
