"""What a table of the paper is made of, read from YAML."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator

from graphreach.arguments import nearest
from graphreach.errors import InputError
from graphreach.experiments.work import Work

FOLDER = files("graphreach.experiments") / "definitions"
ORDER = (
    "table-3a", "table-3b", "table-4", "table-5a", "table-5b", "table-6", "figure-3c", "figure-3d", "attack-curve",
    "table-8a", "table-8b", "table-9a", "table-9b", "table-10a", "table-10b", "table-7",
)  # fmt: skip
"""Every experiment, the most important first; times last, when nothing else runs."""


class Figure(NamedTuple):
    """A published figure: the mean, and the standard deviation where the paper gives one."""

    mean: float
    std: float | None = None


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(_Strict):
    """A column: a data set, the number of seeds, and where the figure stands in a result (``metric``)."""

    label: str
    data: str
    seeds: int = Field(ge=1)
    metric: str | None = None
    settings: dict[str, Any] = {}


class Row(_Strict):
    """A row of ours, compared with the ``published`` row of the paper.

    Without ``columns`` it has all of its group, without ``seeds`` as many seeds as each column.
    """

    label: str
    published: str | None = None
    columns: tuple[str, ...] | None = None
    seeds: int | None = Field(default=None, ge=1)
    metric: str | None = None
    settings: dict[str, Any] = {}


class Group(_Strict):
    """Rows under one protocol; without ``columns`` they have all. ``metrics`` has the metric of single columns."""

    name: str
    note: str = ""
    columns: tuple[str, ...] | None = None
    metric: str | None = None
    metrics: dict[str, str] = {}
    settings: dict[str, Any] = {}
    work: dict[str, Any] = {}
    rows: dict[str, Row]


class Comparison(_Strict):
    """Two rows under attack whose losses are compared, first minus second."""

    first: str
    second: str


class Experiment(_Strict):
    """A table or figure of the paper.

    Settings of a run are those of the experiment, over which go those of the column, of the group and of the row.

    Attributes:
        name: Its name in ``graphreach reproduce``.
        title: What it shows.
        place: Where the paper has it.
        kind: Whether its figures are AUCs or seconds.
        settings: Settings of every run.
        work: What is done, if it is not training.
        blocks: Columns that a page shows together, where all are too many for its width.
        columns: Its columns, in order.
        published: The paper's figures by its own row names, in the order of the columns; null where it has none.
        groups: Our rows.
        intervals: Rows whose losses under attack are compared.
        ambiguities: What the paper leaves open, and what was taken here.
        claims: What the text says about it.
        findings: What our runs say about that.
        axis: For a figure: what its columns stand for.
    """

    name: str
    title: str
    place: str
    kind: Literal["auc", "seconds"] = "auc"
    settings: dict[str, Any] = {}
    work: dict[str, Any] = {}
    columns: dict[str, Column]
    blocks: tuple[tuple[str, ...], ...] = ()
    published: dict[str, tuple[Figure | None, ...]] = {}
    groups: tuple[Group, ...]
    intervals: tuple[Comparison, ...] = ()
    ambiguities: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    axis: str | None = None

    @field_validator("published", mode="before")
    @classmethod
    def _read_figures(cls, value: dict[str, list[Any]]) -> Any:
        return {row: tuple(None if each is None else read_figure(each) for each in own) for row, own in value.items()}

    def cells(self) -> "Iterator[Cell]":
        """Every cell of ours, group by group."""
        for group in self.groups:
            for key, row in group.rows.items():
                for name in row.columns or group.columns or tuple(self.columns):
                    yield Cell(self, group, key, row, name, self.columns[name])

    @property
    def shown_blocks(self) -> tuple[tuple[str, ...], ...]:
        """Columns that stand side by side in a table."""
        return self.blocks or (tuple(self.columns),)

    def figure(self, row: str, column: str) -> Figure | None:
        """The paper's figure."""
        return self.published[row][list(self.columns).index(column)]


class Cell(NamedTuple):
    """A row and a column of ours."""

    experiment: Experiment
    group: Group
    key: str
    row: Row
    name: str
    column: Column

    @property
    def published(self) -> Figure | None:
        """The figure of the paper that the cell is compared with."""
        return None if self.row.published is None else self.experiment.figure(self.row.published, self.name)

    @property
    def seeds(self) -> int:
        """Number of seeds that the cell needs."""
        return self.row.seeds or self.column.seeds

    @property
    def metric(self) -> str:
        """Where the figure stands in a result."""
        by_column = self.group.metrics.get(self.name) or self.group.metric or self.column.metric
        return self.row.metric or by_column or "test.auc"

    @property
    def leaks(self) -> bool:
        """Whether its runs read labels of the test data, so that the figure is no result."""
        return self.work(0).leak is not None

    @property
    def label(self) -> str:
        """What the table shows before its row."""
        return f"{self.row.label} (leaks)" if self.leaks else self.row.label

    def work(self, seed: int) -> Work:
        """The work for one seed."""
        parts = (self.experiment, self.column, self.group, self.row)
        settings = merge(*(part.settings for part in parts), {"seed": seed})
        return Work.make(data=self.column.data, settings=settings, **merge(self.experiment.work, self.group.work))


def merge(*parts: dict[str, Any]) -> dict[str, Any]:
    """Settings over settings, group by group."""
    out: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            nested = isinstance(out.get(key), dict) and isinstance(value, dict)
            out[key] = merge(out[key], value) if nested else value
    return out


def read_figure(text: str | float) -> Figure:
    """A figure as the paper prints it."""
    mean, _, std = str(text).partition("±")
    return Figure(float(mean), float(std) if std else None)


@cache
def load_experiment(name: str) -> Experiment:
    """The experiment of that name.

    Example:
        >>> load_experiment("table-3a").figure("GraphReach", "email")
        Figure(mean=0.949, std=0.009)
    """
    if name not in ORDER:
        raise InputError(f"name must be one of {', '.join(ORDER)} or all, got {name!r}{nearest(name, ORDER)}")
    content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    known = columns()
    chosen = {}
    for each in content.pop("columns"):
        key, changes = (each, {}) if isinstance(each, str) else next(iter(each.items()))
        chosen[key] = Column(**merge(known[changes.pop("like", key)], changes))
    return Experiment(name=name, columns=chosen, **content)


@cache
def columns() -> dict[str, Any]:
    """The columns that several tables share."""
    content: dict[str, Any] = yaml.safe_load((FOLDER / "columns.yaml").read_text(encoding="utf-8"))
    return content
