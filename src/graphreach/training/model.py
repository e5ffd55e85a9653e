"""A model with what its task adds, and how well it does: scores of pairs, or classes of nodes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from graphreach import nn
from graphreach.auc import auc
from graphreach.tasks import Examples, Split, mean_metrics, metrics
from graphreach.threads import one_torch_thread
from graphreach.training.inputs import Batch, Part


class TaskModel(torch.nn.Module):
    """An encoder, and a head for node classification if the task is that."""

    def __init__(self, encoder: torch.nn.Module, task: str, width: int = 0, num_classes: int = 0) -> None:
        super().__init__()
        self.encoder, self.task = encoder, task
        self.head = nn.NodeClassifier(width, num_classes, 0.5) if task == "node" and width else None

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


Scores = list[NDArray[Any] | None]


@torch.no_grad()
@one_torch_thread()
def evaluate(
    model: TaskModel, batches: list[Batch], part: str, auc_only: bool = False
) -> tuple[dict[str, float], Scores]:
    """Metrics of one part, and the scores of each graph (None without examples).

    While a model trains, the AUC of pairs is all that is asked for (``auc_only``): scikit-learn's checks of hundreds of
    small graphs would take longer than training on them.

    Metrics are averaged over the graphs, as in the paper. Of several graphs there is ``"pooled_auc"`` too, over the pairs
    of all of them together: on pairs of unseen nodes a small graph may have a single positive pair, and would count as
    much as a graph with a hundred.
    """
    model.eval()
    rows: list[dict[str, float]] = []
    scores: Scores = []
    for batch in batches:
        listed = [getattr(split, part) for split in batch.splits]
        if any(len(examples) for examples in listed):
            z, place = _embed(model, batch, listed)
        for split, examples, first in zip(batch.splits, listed, batch.first, strict=False):
            if not len(examples):
                scores.append(None)
                continue
            reader = batch.pair_reach
            reach = None if reader is None else reader.of(split, part)
            own = _score(model, z, place(examples.index + first), reach)
            scores.append(own)
            if auc_only and own.ndim == 1:
                found = auc(own, examples.label == 1)
                rows.append({} if math.isnan(found) else {"auc": found})
                continue
            ranked = None
            if examples.candidates is not None:
                reach = None if reader is None else reader.candidates(split, part)
                ranked = _score(model, z, place(examples.candidate_pairs + first), reach)
                ranked = ranked.reshape(examples.candidates.shape[:2])
            rows.append(metrics(split.task, own, examples, ranked))
    return summarise(rows, [getattr(split, part) for batch in batches for split in batch.splits], scores), scores


def summarise(rows: list[dict[str, float]], examples: list[Examples], scores: Scores) -> dict[str, float]:
    """Metrics of several graphs: their means, and the AUC over all pairs together."""
    found = dict(mean_metrics(rows))
    scored = [(own, each.label) for own, each in zip(scores, examples, strict=True) if own is not None]
    if len(scored) > 1 and scored[0][0].ndim == 1:
        values, labels = (np.concatenate(column) for column in zip(*scored, strict=True))
        found["pooled_auc"] = auc(values, labels == 1)
    return found


def measure(splits: list[Split], scores: Scores, part: str, ranked: Scores | None = None) -> dict[str, float]:
    """Metrics of one part from the scores of each graph and, where there are some, of its candidates."""
    examples = [getattr(split, part) for split in splits]
    known = zip(examples, scores, ranked or [None] * len(scores), strict=True)
    rows = [metrics(splits[0].task, own, each, own_ranked) for each, own, own_ranked in known if own is not None]
    return summarise(rows, examples, scores)


def _embed(model: TaskModel, batch: Batch, listed: list[Examples]) -> tuple[Tensor, Callable[[Any], Any]]:
    """Embeddings, and where among them a node is found: of a large graph only the nodes asked for are embedded."""
    if not batch.inputs.in_pieces:
        return batch.inputs.embed(model.encoder), lambda index: index
    parts = [
        (index + first).ravel()
        for examples, first in zip(listed, batch.first, strict=False)
        for index in (examples.index, examples.candidate_pairs)
        if index is not None
    ]
    nodes = np.unique(np.concatenate(parts))
    z = batch.inputs.embed_some(model.encoder, torch.from_numpy(nodes))
    return z, lambda index: np.searchsorted(nodes, index)


def _score(
    model: TaskModel, z: torch.Tensor, index: NDArray[np.int64], reach: torch.Tensor | None
) -> NDArray[np.float32]:
    pairs = torch.from_numpy(np.ascontiguousarray(index)).to(z.device)
    scores = model.scores(z, pairs, None if reach is None else reach.to(z.device)).float()
    out: NDArray[np.float32] = (scores if model.head is None else scores.exp()).cpu().numpy()
    return out
