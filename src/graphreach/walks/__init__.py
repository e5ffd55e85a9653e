"""Random walks: counter-based, in lockstep, the same on any number of threads."""

from graphreach.walks.diameter import Diameter, diameter
from graphreach.walks.random_walks import random_walks
from graphreach.walks.walk_length import recommended_num_walks

__all__ = ["Diameter", "diameter", "random_walks", "recommended_num_walks"]
