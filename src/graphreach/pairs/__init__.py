"""Pairs of nodes described by reachability: directly, by position relative to anchors, by degree, return and attributes."""

from graphreach.pairs.attributes import AttributeScaling, PairAttributes, check_attributes
from graphreach.pairs.features import PairFeatures, pair_features
from graphreach.pairs.recipe import PairRecipe

__all__ = ["AttributeScaling", "PairAttributes", "PairFeatures", "PairRecipe", "check_attributes", "pair_features"]
