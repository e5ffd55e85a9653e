"""From `git clone` to the picture of `make demo`, on an empty machine that has the packages' files."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import FOLDER, Row, timed

KEPT = ("PATH", "HOME", "LANG", "SSL_CERT_FILE", "PIP_CONFIG_FILE")
"""What an empty machine has of an environment: no settings of threads, and no compiled kernels anywhere else."""


def run(command: list[str], folder: Path, **more: str) -> None:
    """A command that has to succeed, with little of our environment."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    subprocess.run(command, cwd=folder, env=environment | more, check=True, stdout=subprocess.DEVNULL)


def first_picture(quick: bool) -> list[Row]:
    """Clone, make the environment from packages that are downloaded before, train both models, draw."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheels, clone = folder / "wheels", folder / "graphreach"
        python = Path(sys.base_prefix) / "bin" / "python3"
        run(
            [str(python), "-m", "pip", "download", "--quiet", "--dest", str(wheels), "--constraint", "constraints.txt",
             ".[nn,plot]", "hatchling", "editables"],
            FOLDER.parent,
        )  # fmt: skip
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
        steps: dict[str, Callable[[], None]] = {
            "clone": lambda: run(["git", "clone", "--quiet", str(FOLDER.parent), str(clone)], folder),
            "installation": lambda: run(["make", f"PYTHON={python}", ".venv/.installed"], clone, **offline),
            "demo": lambda: run(["make", "demo"], clone),
        }
        if quick:
            del steps["demo"]
        seconds = {name: timed(step) for name, step in steps.items()}
        if not quick and not (clone / "demo" / "demo.png").exists():
            raise RuntimeError("make demo has made no picture")
    return [
        Row(
            "from `git clone` to the first picture, without the download of packages",
            "at most",
            90,
            sum(seconds.values()),
            "seconds",
            raw={"seconds": seconds},
            notes=["Clone, environment, compilation of kernels, two trained models, picture."],
        )
    ]


BENCHMARKS = {"first-picture": first_picture}
