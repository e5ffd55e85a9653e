"""Layers and models in PyTorch. Loaded at first use, so that walks and anchors need no torch."""

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

__all__ = [
    "MLP",
    "PGNN",
    "PRESETS",
    "Adjacency",
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
