"""Training: one harness for all tasks and models; imported at their first use, as what was trained scores without torch."""

from typing import TYPE_CHECKING

from graphreach.lazy import import_lazily

if TYPE_CHECKING:
    from graphreach.training.harness import run
    from graphreach.training.loaded_run import load_run
    from graphreach.training.methods import METHODS, SCORERS
    from graphreach.training.outcome import Outcome
    from graphreach.training.plan import check_run
    from graphreach.training.settings import FITTED, Settings
    from graphreach.training.trained_run import TrainedRun
    from graphreach.training.trainer import DivergedError, Trainer

__getattr__, __dir__ = import_lazily(
    __name__,
    {
        "harness": "run",
        "loaded_run": "load_run",
        "methods": "METHODS SCORERS",
        "outcome": "Outcome",
        "plan": "check_run",
        "settings": "FITTED Settings",
        "trained_run": "TrainedRun",
        "trainer": "DivergedError Trainer",
    },
)

__all__ = [
    "FITTED",
    "METHODS",
    "SCORERS",
    "DivergedError",
    "Outcome",
    "Settings",
    "TrainedRun",
    "Trainer",
    "check_run",
    "load_run",
    "run",
]
