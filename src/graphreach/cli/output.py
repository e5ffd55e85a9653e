"""What verbs print about runs, for people, and how rows go to stdout or to a file."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import typer

from graphreach.cli.group import say

FEW = 20
"""Test examples below which a figure says little."""

SHOWN = 200
"""Rows that a terminal gets as a table."""


def summary(record: dict[str, Any]) -> str:
    """A run in a few lines.

    Example:
        >>> record = {"settings": {"method": "gcn", "task": "link"}, "metrics": {"test": {"auc": 0.9}}, "seconds": {}}
        >>> print(summary(record | {"test_examples": 20, "leaks": ["link, clean: no leak"]}))
        gcn, link: test auc 0.9000
        20 test pairs; leak check: link, clean: no leak
    """
    method, task = record["settings"]["method"], record["settings"]["task"]
    examples = _examples_text(record["test_examples"], task) if "test_examples" in record else ""
    lines = [f"{method}, {task}: test {metrics_text(record['metrics']['test'])}", f"{examples}{leak_check(record)}"]
    held = record.get("calibration", {})
    if "test" in held:
        lines.append(calibration_text(held["test"], held["prior"], task))
    if "best_epoch" in record:
        lines.append(f"chosen on validation at epoch {record['best_epoch']} of {record['epochs']}")
    if "cluster" in record:
        lines.append("trained by {workers} workers with {cores} cores, nodes: {nodes}".format(**record["cluster"]))
    if record["seconds"]:
        lines.append(seconds_text(record["seconds"]))
    return "\n".join(line for line in lines if line)


def _examples_text(count: int, task: str) -> str:
    """How many test examples there were, and whether they are few.

    Example:
        >>> _examples_text(1, "node")
        '1 test node, too few to judge the model by'
    """
    noun = ("node" if task == "node" else "pair") + ("" if count == 1 else "s")
    few = "" if count >= FEW else ", too few to judge the model by"
    return f"{count} test {noun}{few}"


def metrics_text(found: dict[str, float]) -> str:
    """Metrics in one line."""
    return ", ".join(f"{name} {value:.4f}" for name, value in found.items()) or "none: no test examples of both kinds"


def calibration_text(error: float, prior: float, task: str) -> str:
    """How far probabilities hold, in one line.

    Example:
        >>> calibration_text(0.0123, 0.5, "link")
        'calibration error 0.0123 where 50% of all pairs are links, as the run assumes'
    """
    kind = "links" if task == "link" else "of one class"
    return f"calibration error {error:.4f} where {100 * prior:.3g}% of all pairs are {kind}, as the run assumes"


def seconds_text(seconds: dict[str, float]) -> str:
    """The times of a run's phases in one line."""
    return "seconds: " + ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())


def leak_check(record: dict[str, Any]) -> str:
    """What the leak check of a run found, one sentence for each of the first graphs.

    Example:
        >>> leak_check({"leaks": ["link, clean: no leak"], "data": {"graphs": 5}})
        '; leak check: link, clean: no leak (4 graphs more)'
    """
    found = record.get("leaks") or []
    if not found:
        return ""
    more = record.get("data", {}).get("graphs", 1) - len(found)
    return f"; leak check: {' | '.join(found)}" + (f" ({more} graphs more)" if more > 0 else "")


def table_text(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    left: str | Sequence[str],
    width: int,
    title: str | None = None,
) -> str:
    """A table with a frame; columns but those named ``left`` are flush right."""
    from rich.console import Console
    from rich.table import Table

    table, aligned = Table(title=title), {left} if isinstance(left, str) else set(left)
    for name in columns:
        table.add_column(name, justify="left" if name in aligned else "right")
    for row in rows:
        table.add_row(*row)
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    return capture.get().rstrip()


def say_plan(settings: Any, sample: Any) -> None:
    """Print every setting of a run on a graph to stderr, one line per group of settings."""
    from graphreach.training.plan import resolve

    for name in settings.method.split("+"):
        own = settings.part(name) if "+" in settings.method else settings
        attributes = own.features and sample.x is not None
        for line in str(resolve(own, sample.graph.num_nodes, attributes)).splitlines():
            say(line)


def write_rows(frames: Iterable[Any], output: Path | None, as_json: bool) -> None:
    """Write frames of the same columns one below the other: by the suffix of a file, else to stdout as CSV or JSON."""
    from graphreach.io.writers import records_text, write_records, write_table

    if output is None and as_json:
        for text in records_text(frames):
            typer.echo(text, nl=False)
    elif output is None:
        for number, frame in enumerate(frames):
            sys.stdout.write(frame.write_csv(include_header=number == 0))
    elif output.suffix.lower() == ".json":
        write_records(output, frames)
    else:
        write_table(output, frames)


def show_rows(frames: Iterable[Any], output: Path | None, as_json: bool) -> None:
    """What :func:`write_rows` does, but a terminal gets a table for people unless it has many rows."""
    parts: Iterator[Any] = iter(frames)
    if output is None and not as_json and sys.stdout.isatty():
        from polars import String

        first = next(parts)
        if len(first) <= SHOWN:
            for frame in (first, *parts):
                cells = [[_cell(value) for value in row] for row in frame.iter_rows()]
                left = [name for name in frame.columns if frame.schema[name] == String]
                typer.echo(table_text(frame.columns, cells, left, get_terminal_size().columns))
            return
        parts = chain([first], parts)
    write_rows(parts, output, as_json)


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
