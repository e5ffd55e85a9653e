"""Training of the head that reads attributes: messages of a step leave out the links that the step learns from."""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn import functional

from graphreach.graph import Graph
from graphreach.nn.attributed_pair_head import AttributedPairHead, Member
from graphreach.nn.link_member import LinkMember
from graphreach.nn.neighbourhood import OPERATORS, Adjacency
from graphreach.nn.pair_head import calibrate
from graphreach.nn.sparse_rows import SparseRows
from graphreach.pairs.attributes import AttributeScaling
from graphreach.pairs.pair_network import best_calibration
from graphreach.progress import live
from graphreach.threads import available_cpus

PASSES = 60
"""Maximum number of passes over the pairs."""

PATIENCE = 10
"""Passes without a better loss of what was left out, after which a member is done."""

STEPS = 10
"""Minimum number of steps of a pass."""

LARGEST = 4096
"""Maximum number of pairs of one kind in a step."""

RATE, DECAY = 3e-3, 1e-4
"""Learning rate, which falls along a cosine, and weight decay of AdamW."""

WIDE = 4
"""Attributes are many if there are at least as many of them as nodes divided by this: words then distinguish nodes."""

MANY, FEW = 0.7, 0.3
"""Share of the attributes left out of a step if there are many, and if there are few."""


READINGS: tuple[dict[str, bool], ...] = ({"apart": True, "linear": True}, {"apart": False, "linear": True})
"""Ways to read what is known of links, of which the loss of left-out pairs chooses one."""


class Examples(NamedTuple):
    """Pairs to learn from.

    Attributes:
        features: What describes each, ``[m, f]``.
        pairs: Positions of the nodes in the graph of its messages, ``[2, m]``.
        y: 1 or 0.
        part: Which of ``messages`` a pair is learned with.
        messages: Graphs along which messages go: one without the links among its pairs each, where links are learned.
        x: Scaled attributes of the nodes of each of these graphs, ``[n, d]``.
    """

    features: NDArray[np.float32]
    pairs: NDArray[np.int64]
    y: NDArray[np.int64]
    part: NDArray[np.int64]
    messages: list[Graph]
    x: list[csr_array]


def message_matrix(graph: Graph) -> SparseRows:
    r""":math:`\hat A = \hat D^{-1/2} (A + I) \hat D^{-1/2}` of a graph; messages go along edges both ways."""
    matrix = Adjacency.from_graph(graph).matrix
    return SparseRows(OPERATORS["gcn"](csr_array(matrix + matrix.T) if graph.directed else matrix))


def default_attribute_dropout(num_nodes: int, width: int) -> float:
    """The share of the attributes that is left out of a step."""
    return MANY if WIDE * width >= num_nodes else FEW


def fit_attributed_pair_head(
    examples: Examples, scaling: AttributeScaling, seed: int = 0, links: bool = False, **arguments: Any
) -> tuple[AttributedPairHead, Tensor, Tensor]:
    """Train a head, and calibrate it on what its members left out.

    Each member leaves other pairs out, by which it is told when to stop: those of one of the graphs along which messages go
    if there are several, else a tenth of all. Members are trained side by side on the CPUs that there are.

    Where links are learned, the first member is trained in both ways of :class:`LinkMember`, and the others as the one of
    the two that has the lower loss on the pairs that it left out.

    Args:
        examples: Pairs to learn from.
        scaling: How attributes were scaled.
        seed: Random seed for weights, dropout and order.
        links: Whether links are learned.
        arguments: Arguments of :class:`AttributedPairHead`.

    Returns:
        The head, calibrated logits of pairs by a member that was trained without them, and the kinds of these pairs.
    """
    heads = [_new_head(examples, scaling, **arguments, **reading) for reading in (READINGS if links else ({},))]
    trainer = _Trainer(examples, heads[0].standardise(torch.from_numpy(examples.features)))
    first = [(head.members[0], 0) for head in heads]
    others = range(1, heads[0].num_members)
    with live("pair head with attributes", (len(first) + len(others)) * PASSES) as show:
        team = _Team(trainer, seed, show)
        unseen = team.train(first)
        losses = [_calibrated_loss(*each) for each in unseen]
        chosen = losses.index(min(losses))
        head = heads[chosen]
        unseen = [unseen[chosen], *team.train([(head.members[number], number) for number in others])]
    head.eval()
    logits, kinds = (torch.cat(each) for each in zip(*unseen, strict=True))
    calibrate(head, logits, kinds)
    return head, head.calibration[0] * logits + head.calibration[1], kinds


def _new_head(examples: Examples, scaling: AttributeScaling, **arguments: Any) -> AttributedPairHead:
    """A head that knows how features and attributes are scaled; its weights are drawn when its members are trained."""
    num_nodes, width = sum(each.shape[0] for each in _distinct(examples.x)), examples.x[0].shape[1]
    arguments = {"attribute_dropout": default_attribute_dropout(num_nodes, width), **arguments}
    with torch.random.fork_rng(devices=[]):
        head = AttributedPairHead(examples.features.shape[1], width, **arguments)
    features = torch.from_numpy(examples.features)
    deviation = features.std(0, correction=0)
    head.mean.copy_(features.mean(0))
    head.scale.copy_(torch.where(deviation > 1e-6, 1 / deviation.clamp(min=1e-6), torch.zeros_like(deviation)))
    head.node_mean.copy_(torch.from_numpy(scaling.mean))
    head.node_scale.copy_(torch.from_numpy(scaling.scale))
    return head


def _calibrated_loss(logits: Tensor, y: Tensor) -> float:
    """The loss of logits on the scale that suits them best, so that over-confidence alone does not decide."""
    scale, shift = best_calibration(logits.double().numpy(), y.numpy())
    return float(balanced_loss(scale * logits + shift, y))


class _Team:
    """Members that are trained at the same time, one thread each; each draws its own random numbers.

    Args:
        trainer: The examples.
        seed: Random seed.
        show: Called with the number of passes that all members have made, and a text.
    """

    def __init__(self, trainer: "_Trainer", seed: int, show: Callable[[int, str], None]) -> None:
        self.trainer, self.seed, self._show, self._done = trainer, seed, show, 0
        self._lock, self._stop = Lock(), Event()

    def train(self, members: Sequence[tuple[Any, int]]) -> list[tuple[Tensor, Tensor]]:
        """Train members with their numbers; logits of the pairs that each was trained without, and their kinds."""
        with ThreadPoolExecutor(max(1, min(len(members), available_cpus()))) as pool:
            running = [pool.submit(self._train, *each) for each in members]
            try:
                return [each.result() for each in running]
            except BaseException:
                self._stop.set()
                for each in running:
                    each.cancel()
                raise

    def _train(self, member: Member | LinkMember, number: int) -> tuple[Tensor, Tensor]:
        rows, before = self.trainer.held_out(number, self.seed), 0
        for done in self.trainer.train(member, rows, number, self.seed):
            self._count(done - before, f"member {number + 1}")
            before = done
        self._count(PASSES - before, f"member {number + 1}")
        return self.trainer.logits(member, rows).sum(0), self.trainer.y[rows]

    def _count(self, passes: int, text: str) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt
        with self._lock:
            self._done += passes
            self._show(self._done, text)


def _distinct(x: list[csr_array]) -> list[csr_array]:
    """Attributes without repetitions: several graphs of messages may have the same nodes."""
    return list({id(each): each for each in x}.values())


class _Trainer:
    """The examples as tensors, and the passes of one member over them."""

    def __init__(self, examples: Examples, features: Tensor) -> None:
        rows = {id(each): SparseRows(each) for each in _distinct(examples.x)}
        self.x, self.features = [rows[id(each)] for each in examples.x], features
        self.pairs, self.y = torch.from_numpy(examples.pairs), torch.from_numpy(examples.y).float()
        self.part = torch.from_numpy(examples.part)
        self.messages = [message_matrix(graph) for graph in examples.messages]

    def held_out(self, number: int, seed: int) -> Tensor:
        """Pairs that a member is not trained on, of both kinds."""
        count = len(self.messages)
        if count >= STEPS // 2:
            chosen = self.part == number % count
            if 0 < int(self.y[chosen].sum()) < int(chosen.sum()):
                return torch.nonzero(chosen)[:, 0]
        generator = _generator(seed, number, 1)
        kept = []
        for kind in (0, 1):
            own = torch.nonzero(self.y == kind)[:, 0]
            kept.append(own[torch.randperm(len(own), generator=generator)[: -(-len(own) // 10)]])
        return torch.cat(kept)

    def train(self, member: Member | LinkMember, held: Tensor, number: int, seed: int) -> Iterator[int]:
        """Train a member up to its best pass; yields the number of passes."""
        generator = _generator(seed, number, 0)
        member.reset_parameters(generator)
        optimiser = torch.optim.AdamW(member.parameters(), lr=RATE, weight_decay=DECAY, fused=True)
        free = torch.ones(len(self.y), dtype=torch.bool)
        free[held] = False
        best, kept, since = math.inf, {}, 0
        for done in range(PASSES):
            steps = self.steps(free, generator)
            for step, (part, rows) in enumerate(steps):
                progress = (done + step / len(steps)) / PASSES
                optimiser.param_groups[0]["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * progress))
                optimiser.zero_grad()
                self.loss(member, part, rows, generator).backward()
                optimiser.step()
            loss = sum_of_losses(self.logits(member, held), self.y[held])
            since += 1
            if float(loss) < best:
                best, since = float(loss), 0
                kept = {name: value.clone() for name, value in member.state_dict().items()}
            yield done + 1
            if since == PATIENCE:
                break
        if kept:
            member.load_state_dict(kept)

    def steps(self, free: Tensor, generator: torch.Generator) -> list[tuple[int, Tensor]]:
        """One pass: for each step the graph of its messages and its pairs, as many of one kind as of the other."""
        found = []
        for part in range(len(self.messages)):
            own = free & (self.part == part)
            kinds = [torch.nonzero(own & (self.y == kind))[:, 0] for kind in (1, 0)]
            fewer = min(len(each) for each in kinds)
            if not fewer:
                continue
            kinds = [each[torch.randperm(len(each), generator=generator)] for each in kinds]
            pieces = max(-(-STEPS // len(self.messages)), -(-fewer // LARGEST))
            size = max(1, -(-fewer // pieces))
            split = [each[:fewer].split(size) for each in kinds]
            found += [(part, torch.cat(piece)) for piece in zip(*split, strict=True)]
        return [found[place] for place in torch.randperm(len(found), generator=generator).tolist()]

    def loss(self, member: Member | LinkMember, part: int, rows: Tensor, generator: torch.Generator | None) -> Tensor:
        """The loss of some pairs with the messages of one graph."""
        return sum_of_losses(self.scores(member, part, rows, generator), self.y[rows])

    def scores(
        self, member: Member | LinkMember, part: int, rows: Tensor, generator: torch.Generator | None = None
    ) -> Tensor:
        """Logits of some pairs by each perceptron of a member, ``[k, m]``, with the messages of one graph."""
        nodes = member.nodes(self.x[part], self.messages[part], generator)
        first, second = self.pairs[:, rows]
        found: Tensor = member.networks(self.features[rows], nodes[first] * nodes[second], generator)
        return found

    @torch.no_grad()
    def logits(self, member: Member | LinkMember, rows: Tensor) -> Tensor:
        """Logits of pairs by each perceptron, ``[k, m]``, each pair with the messages of its own graph."""
        parts = self.part[rows].unique().tolist()
        found = [self.scores(member, part, rows[self.part[rows] == part]) for part in parts]
        out = torch.empty(found[0].size(0), len(rows))
        for part, own in zip(parts, found, strict=True):
            out[:, self.part[rows] == part] = own
        return out


def balanced_loss(logits: Tensor, y: Tensor) -> Tensor:
    """Cross entropy, in which both kinds of pairs count alike."""
    losses = functional.binary_cross_entropy_with_logits(logits, y, reduction="none")
    return 0.5 * (losses[y == 1].mean() + losses[y == 0].mean())


def sum_of_losses(logits: Tensor, y: Tensor) -> Tensor:
    """The losses of several perceptrons with logits ``[k, m]``, each trained for itself."""
    return torch.stack([balanced_loss(own, y) for own in logits]).sum()


def _generator(seed: int, number: int, purpose: int) -> torch.Generator:
    """Random numbers of one member for one purpose."""
    state = np.random.SeedSequence([seed, number, purpose]).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))
