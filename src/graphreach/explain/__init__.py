"""Explanations: which anchors carry a score, and where a node stands among them."""

from graphreach.explain.explainer import Explainer, explain_node, explain_pair
from graphreach.explain.explanations import AnchorTerm, NodeExplanation, PairExplanation, Term
from graphreach.explain.likely_paths import Path, likely_paths
from graphreach.explain.pair_groups import LinkExplanation, SharedAnchor

__all__ = [
    "AnchorTerm",
    "Explainer",
    "LinkExplanation",
    "NodeExplanation",
    "PairExplanation",
    "Path",
    "SharedAnchor",
    "Term",
    "explain_node",
    "explain_pair",
    "likely_paths",
]
