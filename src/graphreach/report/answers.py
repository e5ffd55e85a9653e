"""What a run found, in sentences and figures: how good it is compared with a baseline, and for how many examples."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.report.figures import Bounds
from graphreach.tasks import Examples, score
from graphreach.tasks.label_sets import f1_scores, likeliest_labels, probable_labels

CONFUSIONS = 8
"""Confused pairs of classes that are told in words."""

WORDS = ((0.95, "very good"), (0.85, "good"), (0.7, "fair"), (0.0, "weak"))
"""What an AUC is called from each value on."""

WIDE = 0.1
"""Width of a 95% interval from which it is called wide."""


class ClassRow(NamedTuple):
    """How well one class was found: of ``support`` nodes that have it, and of those that were predicted to."""

    number: int
    precision: float
    recall: float
    f1: float
    support: int


def class_rows(truth: NDArray[Any], predicted: NDArray[Any], count: int) -> list[ClassRow]:
    """Precision, recall, F1 and support of the classes that occur or were predicted.

    Labels are classes ``[m]`` or, of examples with several, booleans ``[m, classes]``. A precision or recall without any
    example is 0.

    Example:
        >>> class_rows(np.array([0, 0, 2]), np.array([0, 2, 2]), 3)[0]
        ClassRow(number=0, precision=1.0, recall=0.5, f1=0.6666666666666666, support=2)
    """
    classes = np.arange(count)
    has, said = (each if each.ndim == 2 else each[:, None] == classes for each in (truth, predicted))
    right, there, told = (np.count_nonzero(each, axis=0).astype(float) for each in (has & said, has, said))
    precision, recall, f1 = (
        np.divide(above, below, out=np.zeros(count), where=below > 0)
        for above, below in ((right, told), (right, there), (2 * right, there + told))
    )
    used = np.flatnonzero(there + told)
    return [ClassRow(i, float(precision[i]), float(recall[i]), float(f1[i]), int(there[i])) for i in used.tolist()]


def confusion(truth: NDArray[Any], predicted: NDArray[Any]) -> list[tuple[int, int, int]]:
    """How often each class was predicted for nodes of each, as (class, predicted class, number), where it happened.

    Example:
        >>> confusion(np.array([0, 0, 2]), np.array([0, 2, 2]))
        [(0, 0, 1), (0, 2, 1), (2, 2, 1)]
    """
    if not len(truth):
        return []
    cells, counts = np.unique(np.stack([truth, predicted]), axis=1, return_counts=True)
    return [(int(a), int(b), int(c)) for a, b, c in zip(*cells.tolist(), counts.tolist(), strict=True)]


def confused(cells: list[tuple[int, int, int]], names: Sequence[str], most: int = CONFUSIONS) -> list[str]:
    """The most frequent confusions in words.

    Example:
        >>> confused([(0, 0, 1), (0, 1, 2), (1, 1, 4)], ["cat", "dog"])
        ['cat taken for dog: 2 of 3']
    """
    sizes: dict[int, int] = {}
    for label, _, times in cells:
        sizes[label] = sizes.get(label, 0) + times
    wrong = sorted((each for each in cells if each[0] != each[1]), key=lambda each: (-each[2], each[0], each[1]))
    return [f"{names[a]} taken for {names[b]}: {times:,} of {sizes[a]:,}" for a, b, times in wrong[:most]]


class ClassAnswer(NamedTuple):
    """Sentences on a run of one class per node, and the baseline: the class of most training nodes, and its accuracy."""

    sentences: list[str]
    majority: int
    baseline: float


def on_classes(
    scores: NDArray[Any], test: Examples, train: Examples, accuracy: Bounds, names: Sequence[str]
) -> ClassAnswer:
    """How good predicted classes are, compared with always predicting the most frequent one.

    Args:
        scores: Probabilities of the test nodes, ``[m, classes]``.
        test: The test nodes.
        train: The training nodes.
        accuracy: The accuracy and its interval.
        names: Names of the classes.
    """
    count, right = len(test), int(np.count_nonzero(scores.argmax(1) == test.label))
    majority = int(np.bincount(train.label, minlength=scores.shape[1]).argmax()) if len(train) else 0
    usual = int(np.count_nonzero(test.label == majority))
    base = usual / count
    sentences = [
        f"Of {_many(count, 'held-out node')} the model classifies {right:,} correctly: accuracy {accuracy.value:.3f}"
        f"{interval(accuracy)}.",
        f"Always saying “{names[majority]}”, the most frequent class of the training nodes, is right for {usual:,}: "
        f"{base:.3f}.",
        f"The model is {_against(accuracy, base)}.{_few(accuracy, count, 'node')}",
    ]
    return ClassAnswer(sentences, majority, base)


class LabelAnswer(NamedTuple):
    """Sentences on a run of several labels per node, and what the most frequent labels reach by the same measures."""

    sentences: list[str]
    baseline: dict[str, float]


def on_labels(test: Examples, train: Examples, found: dict[str, Bounds]) -> LabelAnswer:
    """How good predicted labels are, compared with giving every node the labels that are most frequent in training.

    Args:
        test: The test nodes.
        train: The training nodes.
        found: Micro and macro F1 by both protocols, with intervals.
    """
    truth, usual = test.label, np.tile(train.label.mean(axis=0), (len(test), 1))
    known, free = f1_scores(truth, likeliest_labels(usual, truth.sum(axis=1))), f1_scores(truth, probable_labels(usual))
    base = {
        "micro_f1": known.micro, "macro_f1": known.macro,
        "micro_f1_unknown": free.micro, "macro_f1_unknown": free.macro,
    }  # fmt: skip
    micro = found["micro_f1"]
    sentences = [
        f"{_many(len(test), 'held-out node')} {'has' if len(test) == 1 else 'have'} {_many(int(truth.sum()), 'label')}, "
        f"of {truth.shape[1]} kinds. Told how many "
        f"labels each node has, the model reaches micro F1 {micro.value:.3f}{interval(micro)} and macro F1 "
        f"{found['macro_f1'].value:.3f}; not told, {found['micro_f1_unknown'].value:.3f} and "
        f"{found['macro_f1_unknown'].value:.3f}.",
        f"Giving every node the most frequent labels of the training nodes reaches {known.micro:.3f} and "
        f"{known.macro:.3f}; not told how many, {free.micro:.3f} and {free.macro:.3f}.",
        f"By micro F1 the model is {_against(micro, known.micro)}.{_few(micro, len(test), 'node')}",
    ]
    return LabelAnswer(sentences, base)


class PairAnswer(NamedTuple):
    """Sentences on a run on pairs, and the AUC of counting common neighbours, or None where that is no baseline."""

    sentences: list[str]
    baseline: float | None


def on_pairs(task: str, test: Examples, auc: Bounds, graph: Any) -> PairAnswer:
    """How well links, or pairs of one class, are distinguished from others.

    Args:
        task: ``"link"`` or ``"pair"``.
        test: The test pairs.
        auc: The AUC and its interval.
        graph: The graph that the model was trained on.
    """
    noun, other = ("link", "pair without a link") if task == "link" else ("pair of one class", "pair of two classes")
    count = int(np.count_nonzero(test.label == 1))
    held = f"{_many(len(test), 'held-out pair')}, {_many(count, noun)} and {_many(len(test) - count, other)}"
    if not len(test) or np.isnan(auc.value):
        what = "no pairs were held out" if not len(test) else f"the held-out pairs are of one kind: {held}"
        return PairAnswer([f"Nothing is measured on this graph, as {what}."], None)
    base = _common_neighbours(graph, test)
    beside = f", counting common neighbours reaches {100 * base:.3g}%" if base is not None else ""
    guess = "cannot be told from guessing" if auc.low <= 0.5 else f"is {_called(auc.value)}"
    sentences = [
        f"On {held}, the model ranks a {noun} above a {other} {100 * auc.value:.3g}% of the time: AUC {auc.value:.3f}"
        f"{interval(auc)}.",
        f"Guessing reaches 50%{beside}. The result {guess}.{_few(auc, *min((count, noun), (len(test) - count, other)))}",
    ]
    return PairAnswer(sentences, base)


def _common_neighbours(graph: Any, test: Examples) -> float | None:
    from graphreach.auc import auc

    if graph.sides is not None:  # nodes of different kinds share no neighbours
        return None
    return float(auc(score("common-neighbours", graph, test.index), test.label == 1))


def interval(bounds: Bounds) -> str:
    """The 95% interval in brackets, or nothing where there is none.

    Example:
        >>> interval(Bounds(0.5, 0.25, 0.75))
        ' (95% interval 0.250 to 0.750)'
    """
    return "" if np.isnan(bounds.low) else f" (95% interval {bounds.low:.3f} to {bounds.high:.3f})"


def _many(count: int, noun: str) -> str:
    """A number and its noun, whose first word before "of" or "without" has the plural.

    Example:
        >>> _many(2, "pair without a link"), _many(1, "link")
        ('2 pairs without a link', '1 link')
    """
    for mark in (" of ", " without "):
        head, found, rest = noun.partition(mark)
        if found:
            return f"{_many(count, head)}{found}{rest}"
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _called(value: float) -> str:
    return next(word for least, word in WORDS if value >= least)


def _against(found: Bounds, base: float) -> str:
    if found.low > base:
        return "clearly better than that"
    if found.value > base:
        return "better than that, but by no more than chance can explain"
    return "no better than that"


def _few(bounds: Bounds, count: int, noun: str) -> str:
    """A word of care where few examples leave much open."""
    wide, were = bounds.high - bounds.low > WIDE, "was" if count == 1 else "were"
    return f" The interval is wide, as only {_many(count, noun)} {were} held out." if wide else ""
