"""Layers and models in PyTorch. Loaded at first use, so that walks and anchors need no torch."""

from graphreach.nn.adjacency import Adjacency
from graphreach.nn.anchor_set_positions import anchor_sets
from graphreach.nn.decoders import DotDecoder, ReachDecoder, ScaledDecoder, make_decoder
from graphreach.nn.encodings import laplacian_encodings, random_walk_encodings
from graphreach.nn.graph_reach import GraphReach
from graphreach.nn.late_fusion import LateFusion
from graphreach.nn.messages import ReachReadout
from graphreach.nn.mlp import MLP
from graphreach.nn.neighbourhood import Neighbourhood
from graphreach.nn.node_classifier import NodeClassifier
from graphreach.nn.pair_dot import pair_dot
from graphreach.nn.pair_terms import PairTerms, pair_terms
from graphreach.nn.pgnn import PGNN
from graphreach.nn.positions import Positions
from graphreach.nn.presets import PRESETS, Preset
from graphreach.nn.reach_conv import ReachConv
from graphreach.nn.similarity_map import SimilarityMap
from graphreach.nn.skip_gram import SkipGram
from graphreach.nn.standardise import Standardise

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
