"""Two trained scorers together."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_whole, to_array, to_finite
from graphreach.auc import auc
from graphreach.errors import InputError

LARGEST = 1e100
"""Scores up to this size have a standard deviation that is a number."""


class LateFusion:
    r"""A weighted sum of the standardised scores of two trained models, :math:`(1 - \lambda)\, a + \lambda\, b`.

    Scale and :math:`\lambda` are chosen on validation pairs, never on test pairs. Training a neighbourhood model and
    GraphReach apart and adding their scores does better than training them as one: they are best at different epochs.

    Args:
        steps: How many weights to try between 0 and 1.

    Example:
        >>> fusion = LateFusion().fit([0.1, 0.9, 0.8, 0.2], [5.0, 1.0, 9.0, 2.0], [0, 0, 1, 1])
        >>> fusion.score([0.5], [9.0]).shape
        (1,)
    """

    def __init__(self, steps: int = 21) -> None:
        self.steps = check_whole("steps", steps, 2, 10**6)

    def fit(self, first: ArrayLike, second: ArrayLike, labels: ArrayLike) -> "LateFusion":
        """Choose scale and weight on validation scores; ``labels`` are 0 or 1."""
        scores = [
            to_finite(name, each).astype(np.float64).ravel() for name, each in (("first", first), ("second", second))
        ]
        truth = to_array("labels", labels).ravel()
        if not len(scores[0]) == len(scores[1]) == len(truth):
            lengths = [len(scores[0]), len(scores[1]), len(truth)]
            raise InputError(f"first, second and labels must be equally long, got {lengths}")
        if not np.isin(truth, (0, 1)).all():
            raise InputError("labels must be 0 or 1, got others")
        if len(np.unique(truth)) < 2:
            raise InputError("labels must hold both classes, got one")
        if any(np.abs(each).max() > LARGEST for each in scores):
            raise InputError(f"first and second must be at most {LARGEST:g} in size, so that their spread is a number")
        self.mean_ = [float(each.mean()) for each in scores]
        self.std_ = [float(each.std()) or 1.0 for each in scores]
        weights = np.linspace(0, 1, self.steps)
        self.auc_ = [auc(self._fuse(scores[0], scores[1], weight), truth == 1) for weight in weights]
        self.weight_ = float(weights[int(np.argmax(self.auc_))])
        return self

    def score(self, first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
        """Fused scores of other pairs."""
        if not hasattr(self, "weight_"):
            raise InputError("LateFusion must be fitted first: call fit with validation scores and labels")
        one, two = to_finite("first", first).astype(np.float64), to_finite("second", second).astype(np.float64)
        if one.shape != two.shape:
            raise InputError(
                f"first and second must be equally long, got shapes {list(one.shape)} and {list(two.shape)}"
            )
        return self._fuse(one, two, self.weight_)

    def __repr__(self) -> str:
        return f"LateFusion(steps={self.steps})"

    def _fuse(self, first: NDArray[np.float64], second: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
        a, b = ((each - m) / s for each, m, s in zip((first, second), self.mean_, self.std_, strict=True))
        fused: NDArray[np.float64] = (1 - weight) * a + weight * b
        return fused
