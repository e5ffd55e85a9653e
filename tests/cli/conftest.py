"""A small graph with string ids, and the command in this process."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner, Result

import graphreach as gr
from graphreach.cli import app
from report_helpers import some_graphs

ROADS = """from,to,km
oslo,bergen,463
oslo,drammen,44
drammen,kongsberg,40
bergen,voss,100
bergen,bergen,5
hamar,lillehammer,60
"""


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    path = tmp_path / "roads.csv"
    path.write_text(ROADS)
    return path


@pytest.fixture
def streets(tmp_path: Path) -> dict[str, Path]:
    """Two quarters of streets, with districts."""
    rng = np.random.default_rng(0)
    names = np.array([f"street {i}" for i in range(40)])
    half = rng.integers(0, 20, (2, 150))
    ends = np.concatenate([half, rng.integers(20, 40, (2, 150)), [[0], [20]]], 1)
    files = {"graph": tmp_path / "streets.csv", "labels": tmp_path / "labels.csv"}
    pl.DataFrame({"from": names[ends[0]], "to": names[ends[1]]}).write_csv(files["graph"])
    pl.DataFrame({"id": names, "label": ["west"] * 20 + ["east"] * 20}).write_csv(files["labels"])
    return files


@pytest.fixture
def three_graphs(monkeypatch: pytest.MonkeyPatch) -> gr.datasets.Dataset:
    """What the name of a data set stands for: three graphs of several sizes, with two classes."""
    data = some_graphs()
    monkeypatch.setattr(gr.datasets, "load", lambda name, **options: data)
    return data


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run the command; what it should not have raised is raised here."""

    def command(*words: object) -> Result:
        result = CliRunner().invoke(app, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        # Every command says how it read the graph; the tests of that look at ``readings``, the others at the rest.
        lines = result.stderr.splitlines(keepends=True)
        result.readings = [line for line in lines if line.startswith("graphreach: read ")]
        result.stderr_bytes = "".join(line for line in lines if line not in result.readings).encode()
        return result

    return command
