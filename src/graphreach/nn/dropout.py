"""Dropout that several processes can share."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch.nn.functional as F
from torch import Tensor

_rows: tuple[Tensor, int] | None = None


@contextmanager
def numbered_rows(rows: Tensor, total: int) -> Iterator[None]:
    """Within it, the rows of what is dropped from are some of a larger matrix: what is dropped of a row is decided by its
    number there, so that processes that each have some of the rows drop what one with all of them would.

    Args:
        rows: The number of each row in the larger matrix.
        total: The number of rows of the larger matrix.

    Example:
        >>> import torch
        >>> x = torch.ones(4, 8)
        >>> _ = torch.manual_seed(0)
        >>> whole = dropout(x, 0.5, training=True)
        >>> _ = torch.manual_seed(0)
        >>> with numbered_rows(torch.tensor([3, 1]), 4):
        ...     some = dropout(x[[3, 1]], 0.5, training=True)
        >>> torch.equal(some, whole[[3, 1]])
        True
    """
    global _rows
    before, _rows = _rows, (rows, total)
    try:
        yield
    finally:
        _rows = before


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """``torch.nn.functional.dropout``, of the rows that :func:`numbered_rows` says.

    Example:
        >>> import torch
        >>> dropout(torch.ones(1000), 0.5, training=True).unique()
        tensor([0., 2.])
    """
    if _rows is None or not training or p == 0:
        return F.dropout(x, p, training)
    rows, total = _rows
    return x * F.dropout(x.new_ones(total, *x.shape[1:]), p)[rows]
