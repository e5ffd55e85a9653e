"""Layers and models in PyTorch. Loaded at first use, so that walks and anchors need no torch."""

from graphreach.nn.decoders import DotDecoder, ReachDecoder, ScaledDecoder, make_decoder
from graphreach.nn.graph_reach import GraphReach
from graphreach.nn.late_fusion import LateFusion
from graphreach.nn.messages import ReachReadout
from graphreach.nn.node_classifier import NodeClassifier
from graphreach.nn.pair_dot import pair_dot
from graphreach.nn.positions import Positions
from graphreach.nn.presets import PRESETS, Preset
from graphreach.nn.reach_conv import ReachConv
from graphreach.nn.similarity_map import SimilarityMap

__all__ = [
    "PRESETS",
    "DotDecoder",
    "GraphReach",
    "LateFusion",
    "NodeClassifier",
    "Positions",
    "Preset",
    "ReachConv",
    "ReachDecoder",
    "ReachReadout",
    "ScaledDecoder",
    "SimilarityMap",
    "make_decoder",
    "pair_dot",
]
