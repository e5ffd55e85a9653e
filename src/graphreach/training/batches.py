"""Examples of several graphs as tensors, ready for a step."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphreach.tasks import Examples, Split
from graphreach.training.inputs import Inputs, side_by_side
from graphreach.training.pair_reach import PairReach


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
    """Up to ``size`` graphs a batch, those to train on apart from those only to predict for.

    Args:
        splits: Graphs and examples.
        inputs: What the model reads of each graph.
        size: Graphs of a batch.
        pair_reach: Computes the reachability of pairs, for decoders that read it.
    """
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
