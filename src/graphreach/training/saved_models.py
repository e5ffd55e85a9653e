"""Which estimator a folder holds, so that one can say whose folder was given to another."""

from pathlib import Path

from graphreach.errors import InputError
from graphreach.io.model_folder import CONFIG, MODEL, saved_model

ESTIMATORS = {
    "PairHead": "LinkPredictor", "AttributedPairHead": "LinkPredictor", "LinearClasses": "ReachClassifier",
    "SavedVectors": "GraphReachEmbedding",
}  # fmt: skip
"""Estimators by the class of the model that they save."""


def check_saved(folder: Path, estimator: str, name: str = "folder") -> None:
    """Refuse the folder of another estimator, and that of a run, whose model is in a folder of it.

    Args:
        folder: The folder to load an estimator from.
        estimator: Name of that estimator.
        name: What the argument is called.
    """
    inside = folder if (folder / CONFIG).exists() else folder / MODEL
    found = ESTIMATORS.get(saved_model(inside) or "")
    if found not in (None, estimator):
        raise InputError(f"{name} must hold a saved {estimator}, but {inside} holds a {found}")
    if found and inside != folder:
        raise InputError(
            f"{name} must hold a saved {estimator}, got {folder}, the folder of a run; its model is in {inside}"
        )
