"""Powers of the transition matrix at the anchors, kept up to date by what a change adds to each of them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.index.rows import NO_WEIGHTS, Changed, Rows
from graphreach.jit import kernel, parallel_kernel, rows_of
from graphreach.limits import check_memory
from graphreach.progress import track
from graphreach.reachability.layouts import compress

UPDATES = 1000
"""Changes after which what was left out may reach the tolerance at the earliest; then all powers are computed again."""

ROUNDING = 1e-12
"""What sums of differences may leave where nothing should be."""

SPARE = 1.25
"""Room for nodes that come later."""


class Spread(NamedTuple):
    """Rows of some nodes, other rows of these being zero.

    Attributes:
        nodes: Their positions, ``[s]``.
        rows: ``[s, k]``.
    """

    nodes: NDArray[np.int64]
    rows: NDArray[np.float64]


class ExactLayers:
    r"""The powers :math:`X_t = P^t E` for t = 1 .. L, where E has a column with a single one for each anchor.

    With a changed graph :math:`X'_t - X_t = P' (X'_{t-1} - X_{t-1}) + (P' - P) X_{t-1}`: what the step before has added is
    passed on, and the changed rows add what they now see instead. Rows that add no more than a small number are left out.
    What that can amount to is summed up in :attr:`error_bound`: P' averages, so that an error never grows on its way.

    Args:
        graph: The graph in the beginning.
        anchors: Positions of the anchors.
        length: L.
        tolerance: Largest error of a mean over the powers (or of a power, with hops).
        hops: Whether powers are kept separate in the result.
        backward: Whether walks are from the anchors: :math:`(P^T)^t E`; needed for directed graphs alone.
    """

    def __init__(
        self,
        graph: Graph,
        anchors: NDArray[np.int64],
        length: int,
        tolerance: float,
        hops: bool,
        backward: bool = False,
    ) -> None:
        self.anchors, self.length, self.hops, self.backward = anchors, length, hops, backward
        self.tolerance, self.least = tolerance, tolerance / (UPDATES * length)
        self.rows = Rows(graph)
        self.arriving = Rows(graph.transpose()) if graph.directed else self.rows
        room = self._room(graph.num_nodes)
        what = f"exact powers of {graph.num_nodes} nodes and {len(anchors)} anchors"
        check_memory(8 * room * len(anchors) * length, what, "take fewer anchors or steps, or method='walks'")
        self.inverse, self.place = np.zeros(room), np.full(room, -1, np.int64)
        self.layers = np.zeros((length, room, len(anchors)))
        self.left_out = np.zeros(length)
        self._note_degrees(np.arange(graph.num_nodes))
        self._compute()

    @property
    def num_nodes(self) -> int:
        """How many nodes there are."""
        return self.rows.num_nodes

    @property
    def nbytes(self) -> int:
        """Memory of the powers."""
        return self.layers.nbytes

    @property
    def error_bound(self) -> float:
        """The largest error that an entry may have by what was left out."""
        sums = np.cumsum(self.left_out)
        return float(sums[-1] if self.hops else sums.mean())

    @property
    def noise(self) -> float:
        """Entries up to this one may be left over from updates where an anchor is not reached at all; 0 before them."""
        return 0.0 if self.is_computed else self.error_bound + ROUNDING

    def _room(self, num_nodes: int) -> int:
        return int(num_nodes * SPARE) + 16

    def _note_degrees(self, nodes: NDArray[np.int64]) -> None:
        """One over the degree of nodes, 0 without edges."""
        rows = self.rows.taken(nodes)
        sizes = np.diff(rows.pointer)
        if self.rows.weighted:
            total = np.add.reduceat(np.append(rows.weights, 0.0), rows.pointer[:-1]) if len(nodes) else np.empty(0)
            sizes = np.where(sizes > 0, total, 0.0)
        self.inverse[nodes] = np.divide(1.0, sizes, out=np.zeros(len(nodes)), where=sizes > 0)

    def _compute(self) -> None:
        """All powers from the first."""
        n = self.num_nodes
        first = np.zeros((len(self.inverse), len(self.anchors)))
        first[self.anchors, np.arange(len(self.anchors))] = 1.0
        rows = self.arriving if self.backward else self.rows
        for t in track(range(self.length), self.length, "powers of the index"):
            before = first if t == 0 else self.layers[t - 1]
            weights = NO_WEIGHTS if rows.weights is None else rows.weights.data
            head = rows.targets.head if rows.weights is None else rows.weights.head
            _multiply(
                n,
                rows.targets.head,
                head,
                rows.targets.data,
                weights,
                self.inverse,
                self.backward,
                before,
                self.layers[t],
            )
        self.left_out[:] = 0.0
        self.is_computed = True

    def grow(self, num_nodes: int) -> None:
        """More nodes, without edges."""
        self.rows.grow(num_nodes)
        self.arriving.grow(num_nodes)
        if num_nodes > len(self.inverse):
            layers, room = self.layers, self._room(num_nodes)
            self.layers = np.zeros((self.length, room, len(self.anchors)))
            self.layers[:, : layers.shape[1]] = layers
            self.inverse = np.concatenate([self.inverse, np.zeros(room - len(self.inverse))])
            self.place = np.full(room, -1, np.int64)

    def put(self, new: Changed, before: Changed, arriving: Changed | None = None) -> NDArray[np.int64]:
        """Rows of some nodes are others.

        Args:
            new: Their rows.
            before: Those that they had.
            arriving: For a directed graph, the rows of edges that arrive at nodes, of those where they changed.

        Returns:
            Positions of the nodes whose rows of the result changed, rising.
        """
        inverse = self.inverse[new.nodes]
        self.rows.put(new, before)
        if arriving is not None:
            self.arriving.put(arriving, self.arriving.taken(arriving.nodes))
        self._note_degrees(new.nodes)
        spread, changed = Spread(np.empty(0, np.int64), np.empty((0, len(self.anchors)))), []
        # the changed rows see the power before the change, so each power is changed after it has been seen
        for t in range(self.length):
            seen = self._seen(before, inverse, new, t)
            passed = self._passed_on(spread, seen)
            if t > 0:
                self.layers[t - 1, spread.nodes] += spread.rows
            spread = self._kept(passed, t)
            changed.append(spread.nodes)
        self.layers[-1, spread.nodes] += spread.rows
        self.is_computed &= not len(new.nodes)
        if self.error_bound > self.tolerance:
            self._compute()
            return np.arange(self.num_nodes)
        return np.unique(np.concatenate(changed))

    def _seen(self, before: Changed, inverse: NDArray[np.float64], new: Changed, t: int) -> Spread:
        """(P' - P) times the power before, at the nodes where that may not be zero."""
        power = self.layers[t - 1] if t > 0 else None
        if not self.backward:
            rows = np.zeros((len(new.nodes), len(self.anchors)))
            for each, scale, sign in ((before, inverse, -1.0), (new, self.inverse[new.nodes], 1.0)):
                _gather(each.pointer, each.targets, each.weights, scale * sign, self._power(power, each.targets), rows)
            return Spread(new.nodes, rows)
        nodes = np.unique(np.concatenate([before.targets, new.targets])).astype(np.int64)
        self.place[nodes] = np.arange(len(nodes))
        rows = np.zeros((len(nodes), len(self.anchors)))
        own = self._power(power, new.nodes)
        for each, scale, sign in ((before, inverse, -1.0), (new, self.inverse[new.nodes], 1.0)):
            _scatter(each.pointer, each.targets, each.weights, scale * sign, own, self.place, rows)
        self.place[nodes] = -1
        return Spread(nodes, rows)

    def _power(self, power: NDArray[np.float64] | None, nodes: NDArray[Any]) -> NDArray[np.float64]:
        """Rows of a power, of the zeroth where it is None."""
        rows: NDArray[np.float64] = power[nodes] if power is not None else (nodes[:, None] == self.anchors) * 1.0
        return rows

    def _passed_on(self, spread: Spread, seen: Spread) -> Spread:
        """P' times some rows, and others added."""
        rows = self.rows if self.backward else self.arriving
        around = rows.taken(spread.nodes)
        nodes = np.unique(np.concatenate([around.targets.astype(np.int64), seen.nodes]))
        self.place[nodes] = np.arange(len(nodes))
        out = np.zeros((len(nodes), len(self.anchors)))
        out[self.place[seen.nodes]] = seen.rows
        _pass_on(
            around.pointer, around.targets, around.weights, self.inverse, spread.nodes, spread.rows, self.backward,
            self.place, out,
        )  # fmt: skip
        self.place[nodes] = -1
        return Spread(nodes, out)

    def _kept(self, passed: Spread, t: int) -> Spread:
        """Without the rows that add hardly anything, which is noted."""
        most = np.abs(passed.rows).max(axis=1, initial=0.0)
        kept = most > self.least
        # on the way back the sum of errors over nodes never grows, otherwise the largest of them
        left = np.abs(passed.rows[~kept]).sum(axis=0) if self.backward else most[~kept]
        self.left_out[t] += left.max(initial=0.0)
        return Spread(passed.nodes[kept], passed.rows[kept])

    def rows_of(self, nodes: Any = slice(None)) -> NDArray[np.float32]:
        """The mean of the powers, or each of them with hops, of some nodes or of all, ``[m, k]`` or ``[m, k * L]``."""
        layers = self.layers[:, : self.num_nodes][:, nodes]
        width = len(self.anchors) * self.length
        each = np.moveaxis(layers, 0, 2).reshape(layers.shape[1], width) if self.hops else layers.mean(axis=0)
        rows: NDArray[np.float32] = each.astype(np.float32)
        return np.maximum(rows, 0.0, out=rows)  # differences may leave a little less than nothing

    def reaching(self, columns: NDArray[np.intp]) -> NDArray[np.int64]:
        """Positions of the nodes that reach one of some anchors, given by their columns."""
        reached = np.zeros(self.num_nodes, np.bool_)
        for layer in self.layers:
            reached |= (layer[: self.num_nodes, columns] > 0).any(axis=1)
        return np.flatnonzero(reached)

    def matrix(self, layout: str) -> Any:
        """The rows of all nodes, dense or compressed."""
        return compress(self.rows_of()) if layout == "csr" else self.rows_of()


@parallel_kernel
def _multiply(
    share: Any, n: Any, head: Any, weight_head: Any, targets: Any, weights: Any, inverse: Any, backward: Any, x: Any,
    y: Any,
) -> None:  # fmt: skip
    """y = P x by out-edges, or y = P' x by the edges that arrive, with the degrees of where they come from."""
    for v in rows_of(share, n):
        begin, first = head[v, 0], weight_head[v, 0]
        y[v] = 0.0
        for j in range(head[v, 1]):
            u = targets[begin + j]
            weight = (1.0 if len(weights) == 0 else weights[first + j]) * (inverse[u] if backward else inverse[v])
            for c in range(x.shape[1]):
                y[v, c] += weight * x[u, c]


@kernel
def _gather(pointer: Any, targets: Any, weights: Any, scale: Any, x: Any, out: Any) -> None:
    """Add to each row of ``out`` its edges' mean of ``x``, which has a row for each edge."""
    for i in range(len(pointer) - 1):
        for j in range(pointer[i], pointer[i + 1]):
            weight = scale[i] * (1.0 if len(weights) == 0 else weights[j])
            for c in range(out.shape[1]):
                out[i, c] += weight * x[j, c]


@kernel
def _scatter(pointer: Any, targets: Any, weights: Any, scale: Any, x: Any, place: Any, out: Any) -> None:
    """Add the share of each row of ``x`` that goes along each of its edges."""
    for i in range(len(pointer) - 1):
        for j in range(pointer[i], pointer[i + 1]):
            weight = scale[i] * (1.0 if len(weights) == 0 else weights[j])
            at = place[targets[j]]
            for c in range(out.shape[1]):
                out[at, c] += weight * x[i, c]


@parallel_kernel
def _pass_on(
    share: Any, pointer: Any, targets: Any, weights: Any, inverse: Any, nodes: Any, rows: Any, backward: Any, place: Any,
    out: Any,
) -> None:  # fmt: skip
    """Every thread does some of the columns, so that sums have one order."""
    mine = rows_of(share, rows.shape[1])
    for i in range(len(nodes)):
        for j in range(pointer[i], pointer[i + 1]):
            v = targets[j]
            weight = (1.0 if len(weights) == 0 else weights[j]) * (inverse[nodes[i]] if backward else inverse[v])
            at = place[v]
            for c in mine:
                out[at, c] += weight * rows[i, c]
