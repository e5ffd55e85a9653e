"""Results on disk: one JSON line per run, sorted, one file per table."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from filelock import FileLock

from graphreach.errors import InputError
from graphreach.io.files import replacing

Line = dict[str, Any]


class Store:
    """The results of one table.

    A writer holds a lock, adds its lines to those on disk and puts the new file in the place of the old, so two writers
    lose nothing and a kill leaves the file as it was.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.jsonl"
        self._lock = folder / f".{name}.lock"

    def lines(self) -> list[Line]:
        """Every result; a line that was cut short at the end of the file is left out."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        rows, found = text.splitlines(), []
        for number, row in enumerate(rows, 1):
            if not row.strip():
                continue
            try:
                line = json.loads(row)
            except json.JSONDecodeError:
                if number == len(rows) and not text.endswith("\n"):
                    break
                raise InputError(f"{self.path} line {number} is not JSON; delete that line") from None
            if not isinstance(line, dict) or "key" not in line:
                raise InputError(f"{self.path} line {number} is no result of a run; delete that line")
            found.append(line)
        return found

    def add(self, new: Iterable[Line]) -> None:
        """Add results; one with the key of another takes its place."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._lock):
            merged = {line["key"]: line for line in self.lines()}
            merged |= {line["key"]: line for line in new}
            with replacing(self.path) as partial, partial.open("w", encoding="utf-8") as file:
                for line in sorted(merged.values(), key=_order):
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _order(line: Line) -> tuple[Any, ...]:
    work = line.get("work", {})
    settings = work.get("settings", {})
    return work.get("data", ""), settings.get("method", ""), line["key"]
