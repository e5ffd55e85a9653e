"""Pairs of nodes described by reachability: directly, by position relative to anchors, by degree and by return."""

from graphreach.pairs.features import PairFeatures, pair_features
from graphreach.pairs.recipe import PairRecipe

__all__ = ["PairFeatures", "PairRecipe", "pair_features"]
