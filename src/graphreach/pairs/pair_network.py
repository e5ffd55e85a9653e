"""The trained network that reads what describes a pair, as arrays: scoring needs no torch."""

from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_number, check_whole
from graphreach.errors import InputError
from graphreach.io.model_folder import CONFIG, read_arrays, read_config, write_arrays
from graphreach.jit import fast_parallel_kernel, rows_of

MODEL = "PairHead"
"""The name of the model in a saved folder, which :class:`graphreach.nn.PairHead` reads as well."""

RIDGE, NEWTON = 1e-4, 50
"""Pull of the calibration towards none, and steps of Newton's method at most."""

Array = NDArray[Any]


class PairNetwork(NamedTuple):
    """What :class:`graphreach.nn.PairHead` learned: perceptrons with two hidden layers, whose logits are averaged.

    Arrays may be those of a torch module, which then changes with them.

    Attributes:
        mean: What is taken from each feature, ``[f]``.
        scale: What the rest is multiplied by, ``[f]``.
        calibration: Slope and shift of the mean logit.
        weights: Weights of each layer, ``[members, in, out]``.
        biases: Biases of each layer, ``[members, 1, out]``.
        dropout: Share of the hidden units left out in training; scoring leaves none out.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> weights = [rng.normal(size=shape) for shape in ((2, 5, 8), (2, 8, 8), (2, 8, 1))]
        >>> biases = [np.zeros((2, 1, size)) for size in (8, 8, 1)]
        >>> network = PairNetwork(np.zeros(5), np.ones(5), np.array([1.0, 0.0]), weights, biases)
        >>> network.logits(np.zeros((3, 5)))
        array([0., 0., 0.])
    """

    mean: Array
    scale: Array
    calibration: Array
    weights: list[Array]
    biases: list[Array]
    dropout: float = 0.2

    @property
    def in_channels(self) -> int:
        """Number of features."""
        return len(self.mean)

    def config(self) -> dict[str, Any]:
        """Arguments of the :class:`graphreach.nn.PairHead` that it is."""
        members, _, hidden = self.weights[0].shape
        sizes = {"in_channels": self.in_channels, "hidden_channels": hidden, "num_members": members}
        return sizes | {"dropout": self.dropout}

    def arrays(self) -> dict[str, Array]:
        """All arrays by the names of the module's tensors."""
        found = {"mean": self.mean, "scale": self.scale, "calibration": self.calibration}
        layers = (("weights", self.weights), ("biases", self.biases))
        return found | {f"{name}.{layer}": each for name, parts in layers for layer, each in enumerate(parts)}

    @classmethod
    def of(cls, arrays: dict[str, Array], dropout: float) -> Self:
        """The network of arrays that :meth:`arrays` gave."""
        layers = {name: [arrays[f"{name}.{layer}"] for layer in range(3)] for name in ("weights", "biases")}
        return cls(arrays["mean"], arrays["scale"], arrays["calibration"], **layers, dropout=dropout)

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Calibrated logits of described pairs ``[m, f]``, as if as many of them were of one kind as of the other."""
        layers = tuple(
            np.array(each, np.float32) for pair in zip(self.weights, self.biases, strict=True) for each in pair
        )
        scaling = np.array([self.mean, self.scale], np.float32)
        x, out = np.require(features, np.float32, ["C", "W"]), np.empty(len(features))
        _read_rows(x, scaling, layers, np.array(self.calibration, np.float64), out)
        return out

    def save(self, folder: str | Path, **metadata: Any) -> None:
        """Write what :class:`graphreach.nn.PairHead` writes.

        Args:
            folder: Is made if it is missing.
            metadata: Plain values to keep with the network.
        """
        write_arrays(folder, {"model": MODEL, "config": self.config(), "metadata": metadata}, self.arrays())

    @classmethod
    def load(cls, folder: Path) -> tuple[Self, dict[str, Any]]:
        """A network that was saved, by :meth:`save` or as a module, and its metadata."""
        record = read_config(folder, MODEL)
        try:
            shapes, dropout = _shapes(**record["config"])
        except (TypeError, InputError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{CONFIG} in {folder} does not describe a {MODEL}: {reason}") from None
        return cls.of(read_arrays(folder, shapes, record.get("checksum")), dropout), record["metadata"]


def _shapes(
    in_channels: int, hidden_channels: int = 64, num_members: int = 3, dropout: float = 0.2
) -> tuple[dict[str, tuple[int, ...]], float]:
    """Shapes of all arrays of a module with such arguments, which are checked, and its dropout."""
    sizes = [in_channels, hidden_channels, hidden_channels, 1]
    for name, size in zip(("in_channels", "hidden_channels", "num_members"), (*sizes[:2], num_members), strict=True):
        check_whole(name, size, 1)
    shapes: dict[str, tuple[int, ...]] = {"mean": (in_channels,), "scale": (in_channels,), "calibration": (2,)}
    for layer, size in enumerate(sizes[1:]):
        shapes[f"weights.{layer}"] = (num_members, sizes[layer], size)
        shapes[f"biases.{layer}"] = (num_members, 1, size)
    return shapes, check_number("dropout", dropout, 0, 1)


@fast_parallel_kernel
def _read_rows(share: Any, x: Any, scaling: Any, layers: Any, calibration: Any, out: Any) -> None:
    """Logits of rows, one at a time and always in the same order of sums, which products of a BLAS do not promise."""
    first, bias, second, more, last, shift = layers
    z, h, g = (
        np.empty(x.shape[1], np.float32),
        np.empty(first.shape[2], np.float32),
        np.empty(first.shape[2], np.float32),
    )
    for row in rows_of(share, len(x)):
        for i in range(len(z)):
            z[i] = (x[row, i] - scaling[0, i]) * scaling[1, i]
        total = 0.0
        for k in range(len(first)):
            for j in range(len(h)):
                h[j], g[j] = bias[k, 0, j], more[k, 0, j]
            for i in range(len(z)):
                for j in range(len(h)):
                    h[j] += z[i] * first[k, i, j]
            for i in range(len(h)):
                if h[i] > 0.0:
                    for j in range(len(g)):
                        g[j] += h[i] * second[k, i, j]
            logit = shift[k, 0, 0]
            for i in range(len(g)):
                logit += max(g[i], np.float32(0.0)) * last[k, i, 0]
            total += logit
        out[row] = calibration[0] * (total / len(first)) + calibration[1]


def best_calibration(logits: NDArray[np.float64], y: Array) -> tuple[float, float]:
    """Scale and shift by which logits of unseen pairs have the highest likelihood, both kinds counting alike.

    By Newton's method: PyTorch's optimisers take seconds to import.
    """
    truth = (y == 1).astype(np.float64)
    weight = truth / (2 * max(1.0, truth.sum())) + (1 - truth) / (2 * max(1.0, (1 - truth).sum()))
    values = np.stack([logits, np.ones(len(truth))])
    begin = np.array([1.0, 0.0])

    def loss(found: NDArray[np.float64]) -> float:
        margins = (1 - 2 * truth) * (found @ values)
        return float(weight @ np.logaddexp(0, margins) + RIDGE * ((found - begin) ** 2).sum())

    found, best = begin, loss(begin)
    for _ in range(NEWTON):
        chance = 0.5 * (1 + np.tanh(0.5 * (found @ values)))
        slope = values @ (weight * (chance - truth)) + 2 * RIDGE * (found - begin)
        curvature = (values * (weight * chance * (1 - chance))) @ values.T + 2 * RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        while (now := loss(found - step)) > best and np.abs(step).max() > 1e-9:
            step = step / 2
        if now >= best:
            break
        found, best = found - step, now
    return max(float(found[0]), 0.05), float(found[1])
