"""What scikit-learn's ``set_output`` asks for: vectors as arrays or as data frames with named columns."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice

CONTAINERS = ("default", "pandas", "polars")


class FrameOutput:
    """A transformer of graphs or of ids of nodes whose rows scikit-learn can ask for as a data frame.

    scikit-learn's own wrapper of ``transform`` knows no argument of the name ``graph``.
    """

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` and ``fit_transform`` return, as in scikit-learn.

        Args:
            transform: ``"default"`` for an array, ``"pandas"`` for a frame indexed by ids, ``"polars"`` for one whose rows
                are in the same order, or None to leave it. Without a choice that of ``sklearn.set_config`` holds.
        """
        if transform is not None:
            check_choice("transform", transform, CONTAINERS)
            # The name under which scikit-learn's clone copies the choice.
            self._sklearn_output_config = {"transform": transform}
        return self

    def _in_container(self, rows: NDArray[np.float32], index: Any) -> Any:
        """Rows as they were asked for; ``index`` is that of a pandas frame."""
        import sklearn

        kind = getattr(self, "_sklearn_output_config", {}).get("transform", sklearn.get_config()["transform_output"])
        if kind not in CONTAINERS[1:]:
            return rows
        columns = column_names(rows.shape[1]).tolist()
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame(rows, index=index, columns=columns)
        import polars as pl

        return pl.DataFrame(rows, schema=columns, orient="row")


def column_names(width: int) -> NDArray[Any]:
    """Names of the columns of an embedding, as files and frames have them.

    Example:
        >>> column_names(3)
        array(['z0', 'z1', 'z2'], dtype=object)
    """
    return np.array([f"z{number}" for number in range(width)], dtype=object)
