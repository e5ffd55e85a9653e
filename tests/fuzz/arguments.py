"""Every public callable with arguments of every kind."""

import inspect
from collections.abc import Callable
from types import GeneratorType
from typing import Any

import numpy as np

from tests.fuzz import calls, calls_nn
from tests.fuzz.call import Call
from tests.fuzz.entry import Case, Dice, Entry, short
from tests.fuzz.values import near, odd

LARGE = 50
"""From here on numbers of epochs and the like are legitimate, and take for ever."""

FUNCTIONS = ("kind", "strategy", "walk_graph")
"""Arguments that may be functions, whose errors are their author's."""

RESULTS = (
    "AnchorSet", "Diameter", "InputError", "tasks.LeakError", "tasks.LeakReport", "tasks.MeanMetrics", "tasks.SampleLike",
    "tasks.Split", "tasks.empty_pairs", "attacks.Attack", "attacks.Interval", "attacks.Tally", "nn.PairTerms", "nn.Preset",
    "nn.DotDecoder", "nn.ScaledDecoder", "datasets.DownloadError", "datasets.fetch", "datasets.names", "explain.AnchorTerm",
    "explain.LinkExplanation", "explain.NodeExplanation", "explain.PairExplanation", "explain.Path",
    "explain.SharedAnchor", "explain.Term", "tasks.EmbeddingScore", "IndexUpdate", "Snapshot",
)  # fmt: skip
"""What graphreach makes itself, takes no arguments, or downloads."""


def all_calls() -> list[Call]:
    """Every callable."""
    return [*calls.calls(), *calls_nn.calls()]


def entries() -> list[Entry]:
    """One entry point for each callable."""
    return [Entry(f"call.{call.name}", _maker(call), call.share) for call in all_calls()]


def _maker(call: Call) -> Callable[[Dice], Case]:
    def make(dice: Dice) -> Case:
        target, arguments = call.target(), call.base()
        for name in dice.sample(sorted(arguments), dice.pick([1, 1, 1, 2])):
            arguments[name] = _value(name, arguments[name], call.unbounded, dice)
        text = ", ".join(f"{name}={short(value, 80)}" for name, value in arguments.items())
        return Case(lambda: _consume(target(**arguments)), f"{call.name}({text})")

    return make


def _value(name: str, value: Any, unbounded: tuple[str, ...], dice: Dice) -> Any:
    while True:
        new = near(value, dice) if dice.chance(0.5) else odd(dice)
        if callable(new) and name in FUNCTIONS:
            continue
        if name not in unbounded or not _is_large(new):
            return new


def _is_large(value: Any) -> bool:
    number = value.item() if isinstance(value, np.generic | np.ndarray) and value.size == 1 else value
    try:
        return bool(float(number) > LARGE)
    except (TypeError, ValueError, OverflowError):
        return isinstance(number, int)


def _consume(value: Any) -> Any:
    return list(value) if isinstance(value, GeneratorType) else value


def uncovered() -> list[str]:
    """Public callables of graphreach's rooms that no entry point calls."""
    import importlib

    called = {call.name for call in all_calls()}
    out = []
    for room in ("", "tasks", "attacks", "nn", "datasets", "explain", "report"):
        module = importlib.import_module(f"graphreach.{room}" if room else "graphreach")
        for name in module.__all__:
            full = f"{room}.{name}" if room else name
            known = any(each == full or each.startswith(f"{full}.") for each in called)
            found = getattr(module, name)
            if callable(found) and not known and full not in RESULTS and not inspect.ismodule(found):
                out.append(full)
    return out
