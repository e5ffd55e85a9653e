"""Attacks: how a trained model does when colluding nodes add edges."""

from graphreach.attacks.assess import KINDS, assess, curve
from graphreach.attacks.assessment import Assessment, Interval, Tally, interval, plot_curve
from graphreach.attacks.attack import Attack, add_edges, clique, hubs, noise

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
