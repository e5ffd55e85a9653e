"""Layers and models in PyTorch, imported at their first use: walks and anchors need no torch, an embedding no baselines."""

from typing import TYPE_CHECKING

from graphreach.lazy import import_lazily

if TYPE_CHECKING:
    from graphreach.nn.attributed_pair_head import AttributedPairHead
    from graphreach.nn.decoders import (
        DotDecoder,
        LateFusion,
        PairTerms,
        ReachDecoder,
        ScaledDecoder,
        make_decoder,
        pair_dot,
        pair_terms,
    )
    from graphreach.nn.encodings import laplacian_encodings, random_walk_encodings
    from graphreach.nn.graph_reach import GraphReach
    from graphreach.nn.neighbourhood import Adjacency, Neighbourhood
    from graphreach.nn.node_model import MLP, NodeClassifier, Standardise
    from graphreach.nn.pgnn import PGNN, anchor_sets
    from graphreach.nn.positions import Positions
    from graphreach.nn.presets import PRESETS, Preset
    from graphreach.nn.reach_conv import ReachConv, ReachReadout
    from graphreach.nn.similarity_map import SimilarityMap
    from graphreach.nn.skip_gram import SkipGram

__getattr__, __dir__ = import_lazily(
    __name__,
    {
        "attributed_pair_head": "AttributedPairHead",
        "decoders": "DotDecoder LateFusion PairTerms ReachDecoder ScaledDecoder make_decoder pair_dot pair_terms",
        "encodings": "laplacian_encodings random_walk_encodings",
        "graph_reach": "GraphReach",
        "neighbourhood": "Adjacency Neighbourhood",
        "node_model": "MLP NodeClassifier Standardise",
        "pgnn": "PGNN anchor_sets",
        "positions": "Positions",
        "presets": "PRESETS Preset",
        "reach_conv": "ReachConv ReachReadout",
        "similarity_map": "SimilarityMap",
        "skip_gram": "SkipGram",
    },
)

__all__ = [
    "MLP",
    "PGNN",
    "PRESETS",
    "Adjacency",
    "AttributedPairHead",
    "DotDecoder",
    "GraphReach",
    "LateFusion",
    "Neighbourhood",
    "NodeClassifier",
    "PairTerms",
    "Positions",
    "Preset",
    "ReachConv",
    "ReachDecoder",
    "ReachReadout",
    "ScaledDecoder",
    "SimilarityMap",
    "SkipGram",
    "Standardise",
    "anchor_sets",
    "laplacian_encodings",
    "make_decoder",
    "pair_dot",
    "pair_terms",
    "random_walk_encodings",
]
