"""Pairs of nodes described by reachability: directly, by position relative to anchors, by degree, return and attributes."""

from graphreach.pairs.attributes import AttributeScaling, PairAttributes, check_attributes
from graphreach.pairs.features import PairFeatures, pair_features
from graphreach.pairs.recipe import PairRecipe
from graphreach.pairs.recommendations import Recommendations

__all__ = [
    "AttributeScaling",
    "PairAttributes",
    "PairFeatures",
    "PairRecipe",
    "Recommendations",
    "check_attributes",
    "pair_features",
]
