"""A model with what its task adds: scores of pairs, or classes of nodes."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphreach.nn.node_model import NodeClassifier
from graphreach.training.batches import Part


class TaskModel(nn.Module):
    """An encoder, and a head for node classification if the task is that.

    Args:
        encoder: From features and structure to embeddings.
        task: ``"link"``, ``"pair"`` or ``"node"``.
        width: Width of the embedding, for node classification.
        num_classes: Of node classification.

    Example:
        >>> import graphreach as gr
        >>> TaskModel(gr.nn.GraphReach(), "pair").task
        'pair'
    """

    def __init__(self, encoder: nn.Module, task: str, width: int = 0, num_classes: int = 0) -> None:
        super().__init__()
        self.encoder, self.task = encoder, task
        self.head = NodeClassifier(width, num_classes, 0.5) if task == "node" and width else None

    def scores(self, z: Tensor, index: Tensor, reach: Tensor | None = None) -> Tensor:
        """Logits of pairs ``[m]``, or log-probabilities of nodes' classes ``[m, c]``."""
        if self.head is not None:
            return self.head(z[index])  # type: ignore[no-any-return]
        return self.encoder.score_pairs(z, index, reach)  # type: ignore[no-any-return,operator]

    def loss(self, z: Tensor, part: Part) -> Tensor:
        """Cross entropy; every graph counts the same."""
        scores = self.scores(z, part.index, part.reach)
        reduction = "mean" if part.weight is None else "none"
        if self.head is not None:
            losses = F.nll_loss(scores, part.label, reduction=reduction)
        else:
            losses = F.binary_cross_entropy_with_logits(scores, part.label.to(scores.dtype), reduction=reduction)
        return losses if part.weight is None else torch.dot(losses, part.weight.to(losses.dtype))
