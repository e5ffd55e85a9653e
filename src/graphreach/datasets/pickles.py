"""Old pickles that are known to be harmless, read by a reader that could not do harm if they were not."""

import collections
import io
import pickle
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from graphreach.errors import InputError

ALLOWED: dict[tuple[str, str], Any] = {
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("collections", "defaultdict"): collections.defaultdict,
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    # Asked of an array, because the module that holds it has moved and warns under its old name.
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): csr_matrix,
}
"""All that Planetoid's files refer to, under the names of the libraries of their time."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return ALLOWED[module, name]
        except KeyError:
            raise InputError(f"a pickle must refer to arrays, lists and dicts only, got {module}.{name}") from None


def read_pickle(data: bytes) -> Any:
    """Read a Python 2 pickle of arrays, sparse matrices, lists and dicts; any other class is refused.

    Call it only with bytes whose checksum has been verified: the list of classes is the second line of defence.

    Example:
        >>> read_pickle(pickle.dumps({0: [1, 2]}))
        {0: [1, 2]}
        >>> read_pickle(pickle.dumps(len))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: a pickle must refer to arrays, lists and dicts only, got builtins.len
    """
    return _Reader(io.BytesIO(data), encoding="latin1").load()
