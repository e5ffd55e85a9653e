"""Explanations: which anchors carry a score, and where a node stands among them; imported at their first use."""

from typing import TYPE_CHECKING

from graphreach.lazy import import_lazily

if TYPE_CHECKING:
    from graphreach.explain.explainer import Explainer, explain_node, explain_pair
    from graphreach.explain.explanations import AnchorTerm, NodeExplanation, PairExplanation, Term
    from graphreach.explain.likely_paths import Path, likely_paths
    from graphreach.explain.pair_groups import LinkExplanation, SharedAnchor

__getattr__, __dir__ = import_lazily(
    __name__,
    {
        "explainer": "Explainer explain_node explain_pair",
        "explanations": "AnchorTerm NodeExplanation PairExplanation Term",
        "likely_paths": "Path likely_paths",
        "pair_groups": "LinkExplanation SharedAnchor",
    },
)

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
