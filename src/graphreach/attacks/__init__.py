"""Attacks: what a trained model still says when colluding nodes add edges."""

from graphreach.attacks.assess import KINDS, assess, curve
from graphreach.attacks.assessment import Assessment, Tally
from graphreach.attacks.attack import Attack, add_edges
from graphreach.attacks.interval import Interval, interval
from graphreach.attacks.kinds import clique, hubs, noise
from graphreach.attacks.plot_curve import plot_curve

__all__ = [
    "KINDS",
    "Assessment",
    "Attack",
    "Interval",
    "Tally",
    "add_edges",
    "assess",
    "clique",
    "curve",
    "hubs",
    "interval",
    "noise",
    "plot_curve",
]
