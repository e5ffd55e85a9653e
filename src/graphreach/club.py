"""The demo's question about a real graph: who goes with whom when a karate club splits?"""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach import plot
from graphreach.datasets.packaged import KARATE, KARATE_SIDES, LEADERS, karate
from graphreach.graph import Graph
from graphreach.io.files import replacing
from graphreach.link_predictor import LinkPredictor
from graphreach.reach_classifier import ReachClassifier

NEW_LINKS = 5


class Split(NamedTuple):
    """What is predicted of the club.

    Attributes:
        graph: The club.
        sides: The side that each member is predicted to take, ``[n]``; those of the leaders are given.
        truth: The side that each member took.
        new: The likeliest new links.
    """

    graph: Graph
    sides: NDArray[Any]
    truth: NDArray[Any]
    new: Any

    @property
    def others(self) -> NDArray[np.bool_]:
        """The members whose side had to be predicted."""
        return ~np.isin(self.graph.ids, list(LEADERS))

    @property
    def right(self) -> int:
        """How many of them took the side that is predicted."""
        return int((self.sides == self.truth)[self.others].sum())

    @property
    def baseline(self) -> int:
        """How many of them are right if all are said to take the larger side."""
        return int(np.unique(self.truth[self.others], return_counts=True)[1].max())


def split_club() -> Split:
    """Predict the side of each member from those of the two leaders, and the likeliest new friendships.

    Example:
        >>> split = split_club()
        >>> split.right, int(split.others.sum())
        (31, 32)
    """
    club = karate().samples[0]
    sides = ReachClassifier().fit(club.graph, LEADERS).predict(club.graph.ids)
    new = LinkPredictor.pretrained().new_links(NEW_LINKS, club.graph)
    return Split(club.graph, sides, np.array(list(LEADERS.values()))[club.y], new)


def draw_club(split: Split) -> Any:
    """The picture of it: sides as they are predicted, and the new links."""
    figure, (left, right) = plot.new_figure(2)
    style: dict[str, Any] = {"positions": plot.stress_layout(split.graph), "show_ids": True}
    leaders = split.graph.index_of(list(LEADERS))
    plot.plot_classes(split.graph, split.sides, known=leaders, ax=left, **style)
    left.set_title(f"Who goes with whom? From two leaders, {split.right} of {split.others.sum()} right")
    links = np.stack([split.graph.index_of(split.new.node), split.graph.index_of(split.new.partner)])
    plot.plot_classes(split.graph, split.sides, links=links, ax=right, **style)
    right.set_title("Who should know whom? The likeliest new links")
    wrong = np.flatnonzero(split.sides != split.truth)
    left.scatter(*style["positions"][wrong].T, s=330, marker="x", c=plot.ANCHOR, linewidths=2, zorder=6, label="wrong")
    for ax in (left, right):
        ax.legend(loc="lower center", frameon=False, ncols=4, bbox_to_anchor=(0.5, -0.09))
    return figure


def save_club(folder: Path, split: Split) -> None:
    """Write the picture, and the club as files that other commands read."""
    draw_club(split).savefig(folder / "club.png", dpi=96, bbox_inches="tight")
    for file, name in ((KARATE, "club.csv"), (KARATE_SIDES, "sides.csv")):
        with replacing(folder / name) as partial:
            shutil.copyfile(file, partial)
