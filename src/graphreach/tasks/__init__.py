"""Tasks: splits that hide what a model has to predict, metrics, and scores that need no training."""

from typing import TYPE_CHECKING

from graphreach.lazy import import_lazily
from graphreach.tasks.examples import Examples, GivenPairs, SampleLike, Split, empty_pairs, find_task, join_pairs
from graphreach.tasks.heuristics import HEURISTICS, score
from graphreach.tasks.labels import closure, closure_scores, label_weights
from graphreach.tasks.leaks import LeakError, LeakReport, check_leaks
from graphreach.tasks.metrics import MeanMetrics, mean_metrics, metrics, pooled_hits
from graphreach.tasks.split import split, split_dataset, split_given

if TYPE_CHECKING:
    from graphreach.tasks.embedding_test import EmbeddingScore, judge_embedding

__getattr__, __dir__ = import_lazily(__name__, {"embedding_test": "EmbeddingScore judge_embedding"})

__all__ = [
    "HEURISTICS",
    "EmbeddingScore",
    "Examples",
    "GivenPairs",
    "LeakError",
    "LeakReport",
    "MeanMetrics",
    "SampleLike",
    "Split",
    "check_leaks",
    "closure",
    "closure_scores",
    "empty_pairs",
    "find_task",
    "join_pairs",
    "judge_embedding",
    "label_weights",
    "mean_metrics",
    "metrics",
    "pooled_hits",
    "score",
    "split",
    "split_dataset",
    "split_given",
]
