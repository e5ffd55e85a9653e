"""How good scores are."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_choice, check_whole, describe, to_finite, to_list
from graphreach.auc import auc, average_precision
from graphreach.errors import InputError
from graphreach.progress import stage
from graphreach.tasks.examples import Examples, find_task

HITS = (1, 3, 10, 50, 100)


class MeanMetrics(dict[str, float]):
    """Metrics averaged over the graphs that have them.

    Attributes:
        num_graphs: How many graphs there were.
        left_out: For each metric the number of graphs on which it was not defined.

    Example:
        >>> MeanMetrics({"auc": 0.75}, num_graphs=3, left_out={"auc": 1})
        MeanMetrics(auc=0.7500 over 2 of 3 graphs)
    """

    def __init__(self, means: Mapping[str, float], num_graphs: int, left_out: Mapping[str, int]) -> None:
        super().__init__(means)
        self.num_graphs, self.left_out = num_graphs, dict(left_out)

    def __repr__(self) -> str:
        parts = [f"{name}={mean:.4f} over {self.num_graphs - self.left_out[name]}" for name, mean in self.items()]
        return f"MeanMetrics({', '.join(parts) or 'none'} of {self.num_graphs} graphs)"


def metrics(
    task: str, scores: ArrayLike, examples: Examples, candidate_scores: ArrayLike | None = None, *, ties: str = "last"
) -> dict[str, float]:
    """Metrics of scores; one that is not defined (a single class) is left out.

    Pairs: ``"auc"`` (ROC AUC) and ``"ap"`` (average precision). With scores of candidates also ``"mrr"`` (mean reciprocal
    rank of a positive among its candidates) and ``"hits@1"``, ``"hits@3"``, ``"hits@10"``, ``"hits@50"``, ``"hits@100"``
    (the share that rank so high, for at most as many places as there are candidates). Hits against the negatives that all
    positives share are :func:`pooled_hits`.

    Nodes: ``"accuracy"``, ``"auc"`` (one-vs-rest ROC AUC of the probabilities, averaged over the classes that occur) and
    ``"hard_auc"`` (the same of the predicted class alone, as the authors' code computes it).

    Nodes with several labels: for ``"micro_f1"`` and ``"macro_f1"`` the number of labels of a node is known, and the most
    likely ones are predicted. For ``"micro_f1_unknown"`` and ``"macro_f1_unknown"`` it is not known, and labels with a
    probability of at least 0.5 are predicted, or else the most likely one. ``"auc"`` is the mean over the labels that some
    nodes have and some have not. Macro F1 is over the labels that a node has or is predicted to have.

    Args:
        task: ``"link"``, ``"pair"`` or ``"node"``.
        scores: One number per pair, ``[m]``; or the probabilities of the classes, ``[m, classes]``.
        examples: What was scored.
        candidate_scores: ``[positives, c]``, in the order of ``examples.candidates``.
        ties: How a positive ranks among candidates with an equal score: ``"last"``, or ``"mean"`` of the last and the first
            place, as in the evaluators of the Open Graph Benchmark and HeaRT.

    Example:
        >>> pairs = Examples(np.array([[0, 0, 0], [1, 2, 3]]), np.array([1, 1, 0]))
        >>> metrics("link", [0.9, 0.2, 0.4], pairs)
        {'auc': 0.5, 'ap': 0.8333333333333333}
        >>> metrics("link", [0.9, 0.2, 0.4], pairs, candidate_scores=[[0.8, 0.1], [0.3, 0.1]])["mrr"]
        0.75
        >>> metrics("link", [0.9, 0.3, 0.4], pairs, candidate_scores=[[0.8, 0.1], [0.3, 0.3]], ties="mean")["mrr"]
        0.75
    """
    task = find_task(task)
    check_choice("ties", ties, ("last", "mean"))
    if task == "node":
        values = _check_scores(scores, examples)
        if candidate_scores is not None:
            raise InputError("candidate_scores must be None for task node: ranking is for pairs")
        return _of_nodes(values, examples)
    values, out = _check_pair_scores(scores, examples, task), {}
    if 0 < int(examples.label.sum()) < len(examples):
        out["auc"] = auc(values, examples.label == 1)
        out["ap"] = average_precision(values, examples.label == 1)
    if candidate_scores is not None:
        ranked = to_finite("candidate_scores", candidate_scores)
        out.update(_of_ranking(values[examples.label == 1], ranked, ties))
    return out


def pooled_hits(scores: ArrayLike, examples: Examples, k: int = 100) -> float:
    """Hits@K over all negatives: the share of positives that score above the ``k``-th best negative.

    This is the Hits@K of the Open Graph Benchmark and, with ``k=100`` and as many random negatives as positives, the
    measure that NCN and others report on Cora, CiteSeer and PubMed. It depends on the number of negatives: figures can be
    compared only on equal splits. ``"hits@K"`` of :func:`metrics` is another measure, which ranks a positive among its own
    candidates.

    Args:
        scores: One number per pair, ``[m]``.
        examples: What was scored.
        k: Which of the negatives, the best first, a positive must score above.

    Example:
        >>> pairs = Examples(np.array([[0, 0, 1, 1], [1, 2, 3, 4]]), np.array([1, 1, 0, 0]))
        >>> pooled_hits([0.9, 0.3, 0.5, 0.2], pairs, k=1), pooled_hits([0.9, 0.3, 0.5, 0.2], pairs, k=2)
        (0.5, 1.0)
    """
    values, is_link = _check_pair_scores(scores, examples), examples.label == 1
    positives, negatives = values[is_link], values[~is_link]
    k = check_whole("k", k, 1)
    if k > len(negatives):
        raise InputError(f"k must be at most {len(negatives)}, the number of negatives, got {k}")
    if not len(positives):
        raise InputError("examples must hold at least one positive, got none")
    return float(np.mean(positives > np.partition(negatives, len(negatives) - k)[len(negatives) - k]))


def mean_metrics(each: Iterable[Mapping[str, float]]) -> MeanMetrics:
    """Average each metric over the graphs that have it, and count those that do not.

    Example:
        >>> mean_metrics([{"auc": 0.5, "ap": 0.5}, {"auc": 1.0}, {}])
        MeanMetrics(auc=0.7500 over 2, ap=0.5000 over 1 of 3 graphs)
    """
    graphs = to_list("each", each, "a list of dictionaries of metrics")
    wrong = [graph for graph in graphs if not isinstance(graph, Mapping)]
    if wrong:
        raise InputError(f"each must be a list of dictionaries of metrics, got {describe(wrong[0])} among them")
    means, left_out = {}, {}
    for name in dict.fromkeys(name for graph in graphs for name in graph):
        numbers = to_finite(f"metric {name}", [graph[name] for graph in graphs if name in graph])
        means[name], left_out[name] = float(np.mean(numbers)), len(graphs) - len(numbers)
    return MeanMetrics(means, len(graphs), left_out)


def _check_scores(scores: ArrayLike, examples: Examples) -> NDArray[np.float64]:
    values = to_finite("scores", scores).astype(np.float64)
    if not isinstance(examples, Examples):
        raise InputError(f"examples must be Examples, such as split.test, got {describe(examples)}")
    return values


def _check_pair_scores(scores: ArrayLike, examples: Examples, task: str = "link") -> NDArray[np.float64]:
    values = _check_scores(scores, examples)
    if not np.isin(examples.label, (0, 1)).all():
        raise InputError(
            f"examples must have labels 0 and 1 for task {task}, got {np.unique(examples.label)[:5].tolist()}"
        )
    if values.shape != (len(examples),):
        raise InputError(f"scores must have shape [{len(examples)}], one per pair, got {list(values.shape)}")
    return values


def _of_ranking(positives: NDArray[np.float64], candidates: NDArray[np.float64], ties: str) -> dict[str, float]:
    if candidates.ndim != 2 or len(candidates) != len(positives):
        raise InputError(
            f"candidate_scores must have shape [{len(positives)}, candidates], got {list(candidates.shape)}"
        )
    if not candidates.size:
        return {}
    with stage("ranking"):
        rank = 1 + np.count_nonzero(candidates >= positives[:, None], axis=1)
        if ties == "mean":
            rank = rank - np.count_nonzero(candidates == positives[:, None], axis=1) / 2
    return _of_ranks(rank, candidates.shape[1])


def rank_among(
    scores: NDArray[np.float64], candidate_scores: NDArray[np.float64], of: NDArray[np.int64]
) -> dict[str, float]:
    """Mean reciprocal rank and Hits@K of links that have different numbers of candidates; ties count half.

    Args:
        scores: Scores of the links, ``[p]``.
        candidate_scores: Scores of the candidates of all links, ``[e]``.
        of: The link that each candidate is ranked with, ``[e]``; each link has at least one candidate.

    Example:
        >>> rank_among(np.array([0.9, 0.2]), np.array([0.1, 0.2, 0.3]), np.array([0, 1, 1]))
        {'mrr': 0.7, 'hits@1': 0.5}
    """
    num = len(scores)
    above = np.bincount(of[candidate_scores > scores[of]], minlength=num)
    equal = np.bincount(of[candidate_scores == scores[of]], minlength=num)
    return _of_ranks(1 + above + equal / 2, int(np.bincount(of, minlength=num).min()))


def _of_ranks(rank: NDArray[Any], num_candidates: int) -> dict[str, float]:
    hits = {f"hits@{k}": float(np.mean(rank <= k)) for k in HITS if k <= num_candidates}
    return {"mrr": float(np.mean(1 / rank))} | hits


def _of_nodes(scores: NDArray[np.float64], examples: Examples) -> dict[str, float]:
    label = examples.label
    if examples.several:
        return _of_several(scores, label)
    if scores.ndim != 2 or len(scores) != len(label):
        raise InputError(f"scores must have shape [{len(label)}, classes], got {list(scores.shape)}")
    if not len(label):
        return {}
    if label.min() < 0:
        raise InputError(f"examples must have classes of at least 0, got {label.min()}")
    if label.max() >= scores.shape[1]:
        raise InputError(f"scores must have a column for each class up to {label.max()}, got {scores.shape[1]}")
    if scores.min() < 0 or np.abs(scores.sum(axis=1) - 1).max() > 1e-3:
        raise InputError("scores of nodes must be probabilities that sum to 1 in each row: apply a softmax")
    predicted = scores.argmax(axis=1)
    out = {"accuracy": float((predicted == label).mean())}
    present = np.unique(label)
    if len(present) > 1:
        out["auc"] = float(np.mean([auc(scores[:, each], label == each) for each in present]))
        out["hard_auc"] = float(np.mean([auc(predicted == each, label == each) for each in present]))
    return out


def _of_several(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> dict[str, float]:
    from graphreach.tasks.label_sets import f1_scores, likeliest_labels, probable_labels

    if scores.shape != truth.shape:
        raise InputError(
            f"scores must have shape {list(truth.shape)}, one per node and label, got {list(scores.shape)}"
        )
    if not len(truth):
        return {}
    if scores.min() < 0 or scores.max() > 1:
        raise InputError("scores of labels must be probabilities from 0 to 1: apply a sigmoid")
    known = f1_scores(truth, likeliest_labels(scores, truth.sum(axis=1)))
    free = f1_scores(truth, probable_labels(scores))
    out = {"micro_f1": known.micro, "macro_f1": known.macro}
    out |= {"micro_f1_unknown": free.micro, "macro_f1_unknown": free.macro}
    both = np.flatnonzero(truth.any(axis=0) & ~truth.all(axis=0))
    if len(both):
        out["auc"] = float(np.mean([auc(scores[:, each], truth[:, each]) for each in both]))
    return out
