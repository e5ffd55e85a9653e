"""Training: one harness for all tasks and models."""

from graphreach.training.harness import run
from graphreach.training.loaded_run import load_run
from graphreach.training.methods import METHODS, SCORERS
from graphreach.training.outcome import Outcome
from graphreach.training.plan import check_run
from graphreach.training.settings import FITTED, Settings
from graphreach.training.trained_run import TrainedRun
from graphreach.training.trainer import DivergedError, Trainer

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
