"""What a model reads of graphs, and the examples of several graphs as tensors, ready for a step."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from graphreach.graph import Graph
from graphreach.nn.decoders import ReachDecoder
from graphreach.nn.neighbourhood import Adjacency
from graphreach.nn.positions import GatheredPositions, Positions
from graphreach.progress import track
from graphreach.reachability import pair_reachability
from graphreach.reachability.result import inverse_shares
from graphreach.tasks import Examples, Split
from graphreach.tasks.link_split import without_links
from graphreach.threads import one_torch_thread

FOLDS = 10

WHOLE_GRAPH_NODES = 50_000
"""Nodes up to which every step embeds the whole graph."""

BLOCK_ROWS = 16_384


@dataclass(frozen=True, eq=False)
class Inputs:
    """Features and structure of a graph, as tensors.

    Attributes:
        x: Features ``[n, d]``, or None.
        structure: :class:`graphreach.nn.Positions`, :class:`graphreach.nn.Adjacency` or None, as the model reads it.
        num_nodes: n.
        neighbours: Adjacency for the GNN branch of nodes with features, or None.
        anchors: Positions of the anchors, or None.
        numbers: Which nodes of a larger graph these are, for a model with a vector for each of its nodes, or None.
    """

    x: Tensor | None
    structure: Any
    num_nodes: int
    neighbours: Adjacency | None = None
    anchors: NDArray[np.int64] | None = None
    numbers: Tensor | None = None

    def to(self, device: torch.device) -> "Inputs":
        """The same on another device; an :class:`graphreach.nn.Adjacency` goes where it is used."""
        moved: dict[str, Any] = {
            name: each.to(device)
            for name, each in (("x", self.x), ("structure", self.structure), ("numbers", self.numbers))
            if each is not None
        }
        return replace(self, **moved)

    @one_torch_thread()
    def embed(self, model: nn.Module) -> Tensor:
        """All nodes' embeddings by one pass."""
        if self.neighbours is not None:
            return model(self.x, self.structure, edge_index=self.neighbours)  # type: ignore[no-any-return]
        return model(self.x, self.structure)  # type: ignore[no-any-return]

    @property
    def in_pieces(self) -> bool:
        """Whether nodes are embedded some at a time: large graphs, and models that read rows of positions."""
        by_rows = isinstance(self.structure, Positions) and not isinstance(self.structure, GatheredPositions)
        return self.num_nodes > WHOLE_GRAPH_NODES and by_rows and self.neighbours is None

    def width(self, model: nn.Module) -> int:
        """Number of columns of the embedding by a model that reads positions."""
        return int(self.structure.width) + int(getattr(model, "local_channels", 0))

    @one_torch_thread()
    def embed_rows(self, model: nn.Module, nodes: Tensor) -> Tensor:
        """The embeddings of some nodes, from their rows and the anchors' alone."""
        nodes = nodes.to(self.structure.anchor_index.device)
        everyone = torch.cat([nodes, self.structure.anchor_index])
        x = None if self.x is None else self.x[everyone]
        numbers = everyone if self.numbers is None else self.numbers[everyone]
        options = {} if getattr(model, "table", None) is None else {"node_index": numbers}
        z: Tensor = model(x, self.structure.rows(nodes), **options)
        return z[: len(nodes)]

    @torch.no_grad()
    def embed_some(self, model: nn.Module, nodes: Tensor) -> Tensor:
        """Embeddings of some nodes without gradient, in blocks of rows if the graph is large."""
        if not self.in_pieces:
            return self.embed(model)[nodes]
        blocks = nodes.split(BLOCK_ROWS)
        return torch.cat([self.embed_rows(model, block) for block in track(blocks, len(blocks), "embedding")])

    @torch.no_grad()
    def blocks(self, model: nn.Module) -> Iterator[NDArray[np.float32]]:
        """Embeddings of all nodes in order, some rows at a time; all at once if the graph is small."""
        if not self.in_pieces:
            yield self.embed(model).numpy()
            return
        for nodes in torch.arange(self.num_nodes).split(BLOCK_ROWS):
            yield self.embed_rows(model, nodes).numpy()


def side_by_side(parts: list[Inputs]) -> Inputs:
    """Several graphs as one, in order."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    x = None if first.x is None else torch.cat([part.x for part in parts])  # type: ignore[misc]
    structure = None if first.structure is None else type(first.structure).batch([part.structure for part in parts])
    neighbours = [part.neighbours for part in parts if part.neighbours is not None]
    return Inputs(
        x, structure, sum(part.num_nodes for part in parts), Adjacency.batch(neighbours) if neighbours else None
    )


class PairReach:
    """Reachability of listed pairs, step by step, in both directions, computed once.

    The edge of a training link inflates the reachability between its ends, and the links to predict have no edge. So the
    training pairs are dealt out to ten folds, and the reachability of a fold's pairs is computed without its links.
    """

    def __init__(self, hops: int, lift: bool = True) -> None:
        self.hops, self.lift = hops, lift
        self._known: dict[tuple[int, str], tuple[Split, Tensor]] = {}

    @classmethod
    def for_decoder(cls, decoder: Any) -> "PairReach | None":
        """What a decoder reads of pairs; None if it reads nothing but embeddings."""
        return cls(decoder.hops, decoder.epsilon == 1.0) if isinstance(decoder, ReachDecoder) else None

    def train(self, split: Split) -> Tensor:
        """Reachability of the training pairs, ``[m, 2, L]``."""
        index, label = split.train.index, split.train.label
        if split.task != "link":
            return self.compute(split.graph, index)
        fold = np.random.default_rng([split.seed, 7]).permutation(len(label)) % FOLDS
        out = torch.empty(len(label), 2, self.hops)
        for number in range(FOLDS):
            chosen = np.flatnonzero(fold == number)
            if chosen.size:
                hidden = index[:, chosen[label[chosen] == 1]]
                out[chosen] = self.compute(without_links(split.graph, hidden), index[:, chosen])
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
            self._known[key] = split, self.compute(split.graph, pairs)
        return self._known[key][1]

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> Tensor:
        """Reachability of listed pairs on a graph."""
        return pair_features(graph, pairs, self.hops, self.lift)


def pair_features(graph: Graph, pairs: NDArray[np.int64], hops: int, lift: bool) -> Tensor:
    """Exact reachability of pairs ``[2, m]``, ``[m, 2, L]``, or its lift."""
    reach = pair_reachability(graph, pairs, hops=hops)
    if lift:
        reach *= inverse_shares(graph)[pairs[::-1].T][:, :, None]
    return torch.from_numpy(reach)


@dataclass(frozen=True, eq=False)
class Part:
    """Training examples of a batch: pairs ``[2, m]`` or nodes ``[m]``, targets, and the weight of each in the loss.

    The weights let every graph of a batch count the same, as gradients averaged over graphs do; None if there is one graph.
    ``reach`` is the reachability of the pairs themselves, for decoders that read it.
    """

    index: Tensor
    label: Tensor
    weight: Tensor | None
    reach: Tensor | None = None

    def __len__(self) -> int:
        return self.label.numel()

    def to(self, device: torch.device) -> "Part":
        """The same on another device."""
        tensors = (self.index, self.label, self.weight, self.reach)
        return Part(*(None if each is None else each.to(device) for each in tensors))  # type: ignore[arg-type]

    def take(self, chosen: Tensor) -> "Part":
        """Some of the examples."""
        weight = None
        if self.weight is not None:
            weight = self.weight[chosen]
            weight /= weight.sum()
        reach = None if self.reach is None else self.reach[chosen]
        return Part(self.index[..., chosen], self.label[chosen], weight, reach)


@dataclass(frozen=True, eq=False)
class Batch:
    """Graphs that are embedded together, and their training examples.

    Attributes:
        inputs: The graphs side by side.
        splits: Their splits, in order.
        first: The first node of each graph, and the number of all nodes.
        train: Training examples of all of them.
        pair_reach: Reachability of pairs, for decoders that read it.
    """

    inputs: Inputs
    splits: tuple[Split, ...]
    first: NDArray[np.int64]
    train: Part
    pair_reach: PairReach | None = None

    def to(self, device: torch.device) -> "Batch":
        """The same on another device."""
        return replace(self, inputs=self.inputs.to(device), train=self.train.to(device))


def make_batches(
    splits: list[Split], inputs: list[Inputs], size: int, pair_reach: PairReach | None = None
) -> list[Batch]:
    """Up to ``size`` graphs per batch; graphs for training and graphs only for prediction are in separate batches."""
    groups = [
        [i for i, split in enumerate(splits) if (len(split.train.label) > 0) == trained] for trained in (True, False)
    ]
    batches = [group[begin : begin + size] for group in groups for begin in range(0, len(group), size)]
    return [_batch([splits[i] for i in each], [inputs[i] for i in each], pair_reach) for each in batches]


def _batch(splits: list[Split], inputs: list[Inputs], pair_reach: PairReach | None) -> Batch:
    first = np.cumsum([0] + [each.num_nodes for each in inputs])
    train = _join([split.train for split in splits], first, splits[0].task == "node")
    if pair_reach is not None:
        train = replace(train, reach=torch.cat([pair_reach.train(split) for split in splits]))
    return Batch(side_by_side(inputs), tuple(splits), first, train, pair_reach)


def _join(examples: list[Examples], first: NDArray[np.int64], nodes: bool) -> Part:
    index = np.concatenate([each.index + shift for each, shift in zip(examples, first, strict=False)], -1)
    label = torch.from_numpy(np.concatenate([each.label for each in examples]))
    weight = None
    sizes = [len(each.label) for each in examples]
    graphs = sum(size > 0 for size in sizes)
    if graphs > 1:
        weight = torch.cat([torch.full((size,), 1 / (size * graphs)) for size in sizes if size])
    return Part(torch.from_numpy(np.ascontiguousarray(index)), label if nodes else label.float(), weight)


def steps(part: Part, size: int | None, seed: int) -> Iterator[Part]:
    """The examples in pieces of ``size``, in an order drawn by ``seed``; all at once, as they stand, without a size."""
    if size is None or size >= len(part):
        yield part
        return
    generator = torch.Generator().manual_seed(seed)
    for chosen in torch.randperm(len(part), generator=generator).split(size):
        yield part.take(chosen)


def draw(part: Part, count: int | None, seed: int) -> Part:
    """A sample of ``count`` examples, or all of them."""
    if count is None or count >= len(part):
        return part
    generator = torch.Generator().manual_seed(seed)
    return part.take(torch.randint(len(part), (count,), generator=generator))
