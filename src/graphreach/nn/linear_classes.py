"""A linear model of nodes' classes, with the labels that it reads, as a folder of safetensors and JSON."""

from typing import Any

import torch
from torch import Tensor, nn

from graphreach.arguments import check_flag, check_whole, describe
from graphreach.errors import InputError
from graphreach.limits import check_memory
from graphreach.nn.pretrained import Pretrained

MOST_COLUMNS, MOST_ROWS = 2**31, 2**32
"""Columns and nodes beyond which something else was meant."""


class LinearClasses(Pretrained, nn.Module):
    """What :class:`graphreach.ReachClassifier` keeps of its training: one weight per feature and class, and the labels.

    Nodes that reach nothing have a bias of their own, and their attributes' weights a factor.

    Args:
        widths: Number of columns of each group of features that is read.
        num_classes: Number of classes.
        num_labelled: Number of nodes with known labels, which reachability of the classes is computed from.
        several: Whether a node may have several labels.

    Example:
        >>> model = LinearClasses({"classes": 12}, num_classes=2, num_labelled=5)
        >>> model.weight("classes").shape, model.labels.shape
        (torch.Size([12, 2]), torch.Size([5, 2]))
    """

    bias: Tensor
    lonely_bias: Tensor
    lonely_factor: Tensor
    labels: Tensor
    folds: Tensor

    def __init__(self, widths: dict[str, int], num_classes: int, num_labelled: int, several: bool = False) -> None:
        super().__init__()
        self._keep_config(locals())
        if not isinstance(widths, dict):
            raise InputError(f"widths must be a number of columns for each group, got {describe(widths)}")
        classes = check_whole("num_classes", num_classes, 1, MOST_COLUMNS)
        labelled = check_whole("num_labelled", num_labelled, 1, MOST_ROWS)
        columns = [check_whole(f"width of {name}", width, 0, MOST_COLUMNS) for name, width in widths.items()]
        check_memory(
            8 * classes * (sum(columns) + labelled), f"weights and labels of {classes} classes", "save it again"
        )
        self.several = check_flag("several", several)
        for name, width in widths.items():
            self.register_buffer(f"weight_{name}", torch.zeros(width, classes, dtype=torch.float64))
        for name in ("bias", "lonely_bias"):
            self.register_buffer(name, torch.zeros(classes, dtype=torch.float64))
        self.register_buffer("lonely_factor", torch.zeros(1, dtype=torch.float64))
        self.register_buffer("labels", torch.zeros(labelled, classes, dtype=torch.uint8))
        self.register_buffer("folds", torch.zeros(labelled, dtype=torch.int64))

    def weight(self, name: str) -> Tensor:
        """The weights of a group, ``[columns, classes]``."""
        found: Any = getattr(self, f"weight_{name}")
        return found  # type: ignore[no-any-return]
