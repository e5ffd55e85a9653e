"""A run whose trained model is then attacked."""

from pathlib import Path
from typing import Any

from graphreach.attacks import curve
from graphreach.datasets import Dataset
from graphreach.experiments.work import shorten
from graphreach.training import Settings, TrainedRun, run
from graphreach.training.harness import make_splits


def attack_run(data: Dataset, settings: Settings, attack: dict[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """Train, then assess the model under attack at every fraction of ``attack["fractions"]``.

    Args:
        data: A data set of one graph.
        settings: Settings of the run.
        attack: ``fractions``, and other arguments of :func:`graphreach.attacks.curve`.
        folder: Where the run is kept until it is done.
    """
    outcome = run(data, settings, folder)
    (split,) = make_splits(data, settings)
    options = dict(attack)
    fractions = options.pop("fractions")
    trained = outcome if outcome.model is not None or folder is None else TrainedRun(folder)
    found = curve(trained, split, fractions, **options)
    return {**shorten(outcome.record), "attack": [each.to_dict() for each in found]}
