"""A small graph with string ids, and the command in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from graphreach.cli import app

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
def run() -> Callable[..., Result]:
    """Run the command; what it should not have raised is raised here."""

    def command(*words: object) -> Result:
        result = CliRunner().invoke(app, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return command
