"""Diagrams of who calls whom in ``embed``, ``train`` and ``fit``, drawn from runs that are watched.

``python -m tools.calls`` writes them to ``docs/images``; a test compares them with the code.
"""

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import graphreach as gr
from tools.flow import ROOMS

IMAGES = Path(__file__).parent.parent / "docs" / "images"
PACKAGE = Path(gr.__file__).parent
LANES = ("cli", "estimator", "training", *(name for name, _ in ROOMS if name != "training"))
"""What calls is drawn to the left of what it calls."""

LOOKS = ("check_", "find_", "resolve_", "in_parts", "ready")
"""How functions begin that only look at something."""

WIDTH, ROW, TOP = 128, 24, 40


class Call(NamedTuple):
    """A call from one room into another."""

    caller: str
    room: str
    name: str


def embed(folder: Path) -> None:
    """``graphreach embed`` on a small graph."""
    _command("embed", _file(folder), "-o", folder / "embedding.npy")


def train(folder: Path) -> None:
    """``graphreach train --model graphreach`` on a small graph."""
    _command("train", _file(folder), "-m", "graphreach", "-o", folder / "run", "--epochs", 1)


def fit(folder: Path) -> None:
    """The estimator on a small graph."""
    gr.GraphReachEmbedding().fit(gr.Graph.from_edges(_ring()))


RUNS = {each.__name__: each for each in (embed, train, fit)}


def watch(run: Callable[[Path], None]) -> list[Call]:
    """The calls of public functions from room to room, each once, in the order of their first time."""
    found: dict[Call, None] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or (room := _room(frame)) is None:
            return
        name, caller = frame.f_code.co_qualname, frame.f_back
        while caller is not None and _room(caller) is None:
            caller = caller.f_back
        if caller is not None and (origin := _room(caller)) != room and _is_step(name, frame):
            found[Call(str(origin), room, name)] = None

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        run(Path(folder))  # the first time kernels are compiled and rooms imported
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            run(Path(folder))
        finally:
            sys.setprofile(before)
    return list(found)


def draw(calls: list[Call], title: str) -> str:
    """A line for each call, from the lane of the caller's room to that of the called one."""
    lanes = [name for name in LANES if any(name in (call.caller, call.room) for call in calls)]
    place = {name: number * WIDTH + WIDTH // 2 for number, name in enumerate(lanes)}
    height = TOP + ROW * len(calls) + 12
    parts = [
        f'<text x="{x}" y="18" text-anchor="middle" font-weight="bold" font-size="14" fill="currentColor">{name}</text>'
        f'<path d="M{x} 26V{height}" stroke="currentColor" stroke-opacity="0.25" fill="none"/>'
        for name, x in place.items()
    ]
    parts += [_arrow(place[call.caller], place[call.room], TOP + ROW * i, call.name) for i, call in enumerate(calls)]
    size = f'viewBox="-90 0 {WIDTH * len(lanes) + 90} {height}"'
    style = "font-family:inherit;max-width:100%;height:auto"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}" style="{style}">'
        + "\n".join(["", *parts, "</svg>", ""])
    )


def diagram(name: str) -> str:
    """The diagram of one of :data:`RUNS`, as the code is now."""
    return draw(watch(RUNS[name]), f"Calls from room to room in {name}")


def stored(name: str) -> Path:
    """Where a diagram is kept."""
    return IMAGES / f"calls-{name}.svg"


def _arrow(start: int, end: int, y: int, label: str) -> str:
    side = 1 if end > start else -1
    head = f"M{end - 6 * side} {y + 4}L{end} {y + 8}L{end - 6 * side} {y + 12}"
    anchor, x = ("end", end - 8) if side > 0 else ("start", end + 8)
    return (
        f'<path d="M{start} {y + 8}H{end}{head}" fill="none" stroke="currentColor" stroke-opacity="0.6"/>'
        f'<text x="{x}" y="{y + 5}" text-anchor="{anchor}" font-size="11" fill="currentColor">{label}</text>'
    )


def _room(frame: FrameType) -> str | None:
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(PACKAGE):
        return None
    name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return name if name in LANES else None


def _is_step(name: str, frame: FrameType) -> bool:
    """Whether a function is public and does something: it is no check, no look-up of a name and no property."""
    last = name.rpartition(".")[2]
    if any(part.startswith(("_", "<")) for part in name.split(".")) or last.startswith(LOOKS):
        return False
    owner = type(frame.f_locals.get("self"))
    return not isinstance(getattr(owner, last, None), property | cached_property)


def _ring(count: int = 40) -> list[list[int]]:
    return [[*range(count)], [*range(1, count), 0]]


def _file(folder: Path) -> Path:
    path = folder / "ring.csv"
    path.write_text("from,to\n" + "\n".join(f"{u},{v}" for u, v in zip(*_ring(), strict=True)) + "\n")
    return path


def _command(*arguments: Any) -> None:
    from graphreach.cli import app

    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        app([str(each) for each in arguments], standalone_mode=False)


def main() -> None:
    """Write all diagrams."""
    for name in RUNS:
        stored(name).write_text(diagram(name), encoding="utf-8")


if __name__ == "__main__":
    main()
