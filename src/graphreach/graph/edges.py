"""Edges between positions, before merging: what every converter and reader hands to the builder."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph.reading import Reading


class Edges(NamedTuple):
    """Edges between positions in sorted ids, with checked weights.

    ``time`` holds one number per edge, and ``reading`` says how they were read, where they came from a table.
    """

    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    weights: NDArray[np.float64] | None
    ids: NDArray[Any]
    time: NDArray[np.float64] | None = None
    reading: Reading | None = None
