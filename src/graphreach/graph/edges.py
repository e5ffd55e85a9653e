"""Edges between positions, before merging: what every converter and reader hands to the builder."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Edges(NamedTuple):
    """Edges between positions in sorted ids, with checked weights."""

    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    weights: NDArray[np.float64] | None
    ids: NDArray[Any]
