"""The reachability of the pairs themselves, for decoders that read it."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphreach.graph import Graph
from graphreach.reachability import pair_reachability
from graphreach.reachability.result import inverse_shares
from graphreach.tasks import Split
from graphreach.tasks.link_split import without_links

FOLDS = 10


class PairReach:
    """Reachability of listed pairs, step by step, in both directions, computed once.

    The edge of a training link inflates the reachability between its ends, and the links to predict have no edge. So the
    training pairs are dealt out to ten folds, and the reachability of a fold's pairs is computed without its links.

    Args:
        hops: L, how many steps are kept apart.
        lift: Whether reachability is divided by the target's share of all edges' weight.

    Example:
        >>> import graphreach as gr
        >>> split = gr.tasks.split(gr.datasets.load("grid").samples[0], "link")
        >>> PairReach(3).train(split).shape
        torch.Size([1216, 2, 3])
    """

    def __init__(self, hops: int, lift: bool = True) -> None:
        self.hops, self.lift = hops, lift
        self._known: dict[tuple[int, str], tuple[Split, Tensor]] = {}

    def train(self, split: Split) -> Tensor:
        """Reachability of the training pairs, ``[m, 2, L]``."""
        index, label = split.train.index, split.train.label
        if split.task != "link":
            return self._compute(split.graph, index)
        fold = np.random.default_rng([split.seed, 7]).permutation(len(label)) % FOLDS
        out = torch.empty(len(label), 2, self.hops)
        for number in range(FOLDS):
            chosen = np.flatnonzero(fold == number)
            if chosen.size:
                hidden = index[:, chosen[label[chosen] == 1]]
                out[chosen] = self._compute(without_links(split.graph, hidden), index[:, chosen])
        return out

    def of(self, split: Split, part: str) -> Tensor:
        """Reachability of the pairs of ``"val"`` or ``"test"``."""
        return self._once(split, part, getattr(split, part).index)

    def candidates(self, split: Split, part: str) -> Tensor:
        """Reachability of every positive's source with each of its candidates."""
        return self._once(split, f"{part} candidates", getattr(split, part).candidate_pairs)

    def _once(self, split: Split, name: str, pairs: NDArray[np.int64]) -> Tensor:
        key = (id(split), name)
        if key not in self._known:
            # Holds the split, so that its id stays its own.
            self._known[key] = split, self._compute(split.graph, pairs)
        return self._known[key][1]

    def _compute(self, graph: Graph, pairs: NDArray[np.int64]) -> Tensor:
        return pair_features(graph, pairs, self.hops, self.lift)


def pair_features(graph: Graph, pairs: NDArray[np.int64], hops: int, lift: bool) -> Tensor:
    """Exact reachability of pairs ``[2, m]``, ``[m, 2, L]``, or its lift.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> pair_features(path, np.array([[0], [1]]), 1, True)
        tensor([[[2.],
                 [2.]]])
    """
    reach = pair_reachability(graph, pairs, hops=hops)
    if lift:
        reach *= inverse_shares(graph)[pairs[::-1].T][:, :, None]
    return torch.from_numpy(reach)
