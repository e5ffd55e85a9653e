"""How a file or a frame was read: which columns were used for what, and what was assumed."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from graphreach.arguments import few

ROLES = ("source", "target", "weight", "time")
"""What a column can be used for."""


@dataclass(frozen=True)
class Reading:
    """How a graph was read.

    Attributes:
        path: The file, ``"-"`` for standard input, or ``None`` for a frame.
        format: The format that it was read as, such as ``"text"`` or ``"parquet"``.
        columns: The column (in GraphML and similar formats the attribute) that each role was read from, by name, or
            by number from 0 on where there is no header. Roles are ``source``, ``target``, ``weight`` and ``time``;
            those that no column was used for are not listed.
        ignored: Columns that were not used.
        header: Whether the first row of a text file was read as a header; ``None`` where formats have no such row.
        assumed: What was assumed where the file does not say, one sentence each.

    Example:
        >>> reading = Reading("roads.csv", "text", {"source": "from", "target": "to"}, ("km",), header=True)
        >>> print(reading)
        read roads.csv as text with a header: source 'from', target 'to', no weight, ignored 'km'
    """

    path: str | None
    format: str
    columns: dict[str, str | int] = field(default_factory=dict)
    ignored: tuple[str | int, ...] = ()
    header: bool | None = None
    assumed: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def __str__(self) -> str:
        columns = self.describe_columns()
        return "; ".join([f"read {self.what} as {self.kind}" + (f": {columns}" if columns else ""), *self.assumed])

    @property
    def what(self) -> str:
        """The name of the file without its folder, or what stands for it."""
        if self.path is None:
            return "the frame"
        return "standard input" if self.path == "-" else Path(self.path).name

    def describe_columns(self) -> str:
        """Which column was used for what, in one line.

        Example:
            >>> Reading("edges.txt", "text", {"source": 0, "target": 1, "weight": 2}).describe_columns()
            'source column 0, target column 1, weight column 2'
        """
        parts = [f"{role} {_title(self.columns[role])}" for role in ROLES if role in self.columns]
        if "source" in self.columns and "weight" not in self.columns:
            parts.append("no weight")
        if self.ignored:
            parts.append(f"ignored {few([_title(name) for name in self.ignored], 8)}")
        return ", ".join(parts)

    @property
    def kind(self) -> str:
        """The format, and whether there was a header."""
        if self.header is None:
            return self.format
        return f"{self.format} with{'' if self.header else 'out'} a header"


def _title(name: str | int) -> str:
    return f"column {name}" if isinstance(name, int) else repr(name)
