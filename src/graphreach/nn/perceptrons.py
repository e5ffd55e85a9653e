"""Training of small perceptrons side by side, shared by all CPUs.

A perceptron with two hidden layers has so few weights that autograd and PyTorch's dropout take longer than its products.
The gradient is written out here, and a random byte decides on a hidden unit.
"""

import itertools
import math
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import numpy as np
import torch
from torch import Tensor

from graphreach.progress import live
from graphreach.threads import available_cpus

EPOCHS = 40
"""Maximum number of passes over the rows."""

ROWS = 1_000_000
"""Rows that all passes together look at, unless that is less than :data:`FEWEST` passes."""

FEWEST = 8
"""Minimum number of passes over the rows."""

RATE, DECAY = 3e-3, 1e-2
"""Learning rate, which falls along a cosine, and weight decay of AdamW."""

MEAN, SQUARE = 0.9, 0.999
"""How much AdamW keeps of its means of gradients and of their squares."""

SHOWN = 0.2
"""Seconds after which progress is shown again."""


class Perceptron:
    """One perceptron in training: its weights in one vector, its gradient, and arrays that every step uses again.

    Args:
        layers: Weight ``[in, out]`` and bias ``[1, out]`` of each layer, to begin with; the last has one output.
        size: Rows of a step.
        dropout: Share of the hidden units left out in a step, to the nearest of 256 parts.
        generator: Random numbers of dropout.

    Attributes:
        parameters: All weights and biases.
        gradient: Their gradient in the last step.
        kept: For each hidden layer, which units were kept in the last step, ``[size, out]``; empty without dropout.
    """

    def __init__(
        self, layers: Sequence[tuple[Tensor, Tensor]], size: int, dropout: float, generator: torch.Generator
    ) -> None:
        shapes = [each.shape for layer in layers for each in layer]
        self.parameters = torch.cat([each.detach().reshape(-1) for layer in layers for each in layer])
        self.gradient, self._mean, self._square = (torch.zeros_like(self.parameters) for _ in range(3))
        self._layers, self._gradients = _layers(self.parameters, shapes), _layers(self.gradient, shapes)
        self._steps = 0
        self._left_out = round(256 * dropout)
        self._scale = 256 / (256 - self._left_out)
        self._generator = generator
        widths = [weight.size(1) for weight, _ in layers[:-1]]
        self._x = torch.empty(size, layers[0][0].size(0))
        self._hidden = [torch.empty(size, width) for width in widths]
        self._passed_back = [torch.empty(size, width) for width in widths]
        self._random = torch.empty(-(-size * sum(widths) // 8), dtype=torch.int64)
        cuts = itertools.pairwise([0, *itertools.accumulate(size * width for width in widths)])
        bytes_ = self._random.view(torch.uint8)
        self._bytes = [bytes_[begin:end].view(size, width) for (begin, end), width in zip(cuts, widths, strict=True)]
        self.kept: list[Tensor] = []

    def layers(self) -> list[tuple[Tensor, Tensor]]:
        """Weight and bias of each layer as they are now."""
        return self._layers

    def gradients(self) -> list[tuple[Tensor, Tensor]]:
        """Gradients of weight and bias of each layer after the last step."""
        return self._gradients

    def find_gradient(self, x: Tensor, y: Tensor, rows: Tensor) -> None:
        """Write the gradient of the mean cross entropy of some rows of ``x`` ``[m, f]`` and ``y`` ``[m]``."""
        own, hidden, scale = torch.index_select(x, 0, rows, out=self._x), self._hidden, self._scale
        self._draw()
        before, factor = own, 1.0
        for number, out in enumerate(hidden):
            weight, bias = self._layers[number]
            torch.addmm(bias, before, weight, alpha=factor, out=out).clamp_(min=0)
            if self.kept:
                out.mul_(self.kept[number])
            before, factor = out, scale
        weight, bias = self._layers[-1]
        slope = torch.addmm(bias, before, weight, alpha=scale)  # the logits
        slope.sigmoid_().sub_(y[rows][:, None]).div_(len(rows))
        for number in range(len(hidden), -1, -1):
            weight, bias = self._gradients[number]
            below, factor = (hidden[number - 1], scale) if number else (own, 1.0)
            torch.addmm(weight, below.t(), slope, beta=0, alpha=factor, out=weight)
            torch.sum(slope, 0, keepdim=True, out=bias)
            if number:
                out = self._passed_back[number - 1]
                torch.addmm(out, slope, self._layers[number][0].t(), beta=0, alpha=scale, out=out)
                slope = torch.ops.aten.threshold_backward(out, below, 0)  # a unit that was left out is 0, too

    def step(self, rate: float) -> None:
        """Change the weights by AdamW; the optimisers of PyTorch take seconds to import."""
        self._steps += 1
        self._mean.lerp_(self.gradient, 1 - MEAN)
        self._square.mul_(SQUARE).addcmul_(self.gradient, self.gradient, value=1 - SQUARE)
        deviation = self._square.sqrt().div_(math.sqrt(1 - SQUARE**self._steps)).add_(1e-8)
        self.parameters.mul_(1 - rate * DECAY)
        self.parameters.addcdiv_(self._mean, deviation, value=-rate / (1 - MEAN**self._steps))

    def _draw(self) -> None:
        """Draw the hidden units that the next step keeps."""
        if self._left_out:
            self._random.random_(-(2**63), None, generator=self._generator)
            self.kept = [each.ge(self._left_out) for each in self._bytes]


def train_perceptrons(
    weights: Sequence[Tensor], biases: Sequence[Tensor], x: Tensor, y: Tensor, own: Sequence[Tensor],
    dropout: float = 0.0, seed: int = 0, rate: float = RATE,
) -> None:  # fmt: skip
    """Train perceptrons on their rows of the same examples, as many at a time as there are CPUs.

    Each has random numbers of its own, so the outcome does not depend on how many run at a time. The learning rate falls
    along a cosine, so that no epoch has to be chosen.

    Args:
        weights: Weights of each layer, ``[members, in, out]``; changed in place. The last layer has one output, a logit.
        biases: Biases of each layer, ``[members, 1, out]``; changed in place.
        x: Standardised examples, ``[m, f]``.
        y: Their kinds, 1 or 0.
        own: Rows that each member is trained on.
        dropout: Share of the hidden units left out in a step.
        seed: Random seed for order and dropout.
        rate: Learning rate to begin with.
    """
    fewest = min(len(each) for each in own)
    size = max(1, min(1024, max(64, fewest // 32), fewest))
    steps = fewest // size
    epochs = int(min(EPOCHS, max(FEWEST, ROWS // max(1, fewest))))
    stopped, waiting, done = threading.Event(), deque[Iterator[int]](), [0] * len(own)

    def passes(member: int) -> Iterator[int]:
        generator = _generator(seed, member)
        layers = [(weight[member], bias[member]) for weight, bias in zip(weights, biases, strict=True)]
        perceptron = Perceptron(layers, size, dropout, generator)
        for epoch in range(epochs):
            order = own[member][torch.randperm(len(own[member]), generator=generator)[: steps * size]]
            for step, rows in enumerate(order.split(size)):
                if stopped.is_set():
                    return
                progress = (epoch + step / steps) / epochs
                perceptron.find_gradient(x, y, rows)
                perceptron.step(rate * 0.5 * (1 + math.cos(math.pi * progress)))
            done[member] += 1
            yield member
        for (weight, bias), found in zip(layers, perceptron.layers(), strict=True):
            weight.copy_(found[0])
            bias.copy_(found[1])

    @torch.no_grad()
    def work() -> None:
        """Take the member that has waited longest through one pass, until others have all that are left."""
        while True:
            try:
                member = waiting.popleft()
            except IndexError:
                return
            if next(member, None) is not None:
                waiting.append(member)

    waiting.extend(passes(member) for member in range(len(own)))
    workers = min(len(own), available_cpus())
    pool = ThreadPoolExecutor(workers)
    try:
        running = {pool.submit(work) for _ in range(workers)}
        with live("pair head", epochs * len(own)) as show:
            while running:
                ended, running = wait(running, SHOWN, FIRST_EXCEPTION)
                for each in ended:
                    each.result()
                show(sum(done), "")
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)


def _layers(flat: Tensor, shapes: Sequence[torch.Size]) -> list[tuple[Tensor, Tensor]]:
    """Weight and bias of each layer as views of one vector."""
    parts = [part.view(shape) for part, shape in zip(flat.split([s.numel() for s in shapes]), shapes, strict=True)]
    return list(zip(parts[::2], parts[1::2], strict=True))


def _generator(seed: int, member: int) -> torch.Generator:
    """Random numbers of one member."""
    state = np.random.SeedSequence([seed, member]).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))
