"""Reachability to the anchors as the layers read it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, wraps
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.nn.kernels.positions import count_union, fill_union
from graphreach.nn.kernels.rows import COMPRESSED, DENSE, GATHERED, Layout
from graphreach.reachability import Reachability

Found = TypeVar("Found")

BLOCK = 1 << 22
"""Entries looked at together."""

MOSTLY_FILLED = 0.7
"""Share of entries that are not zero from which all are worked on in order, without a list of places."""

MAX_LEVELS = 4096
"""Different similarities of a direction up to which they are listed."""


class Levels(NamedTuple):
    """Zero and the different similarities, and the places among them of both directions' entries."""

    values: Tensor
    to: Tensor
    back: Tensor


class Filled(NamedTuple):
    """Where entries are not zero (empty if few are zero: then all are given), and their values ``[L, entries]``."""

    place: Tensor
    values: Tensor


def kept(make: Callable[[Any], Found]) -> cached_property[Found]:
    """A property that is found once, outside inference mode: what is made in that mode can take no part in training."""

    @wraps(make)
    def outside(self: Any) -> Found:
        with torch.inference_mode(False):
            return make(self)

    return cached_property(outside)


@dataclass(frozen=True, eq=False)
class Positions:
    """The positions of the nodes of one graph, or of a batch of graphs: their reachability to and from the anchors.

    Entries are listed node by node: those of node v are ``pointer[v] .. pointer[v + 1]``. There are three layouts:
    :class:`DensePositions` list every anchor of the node's graph in order, :class:`CompressedPositions` only those with
    reachability above zero, and :class:`GatheredPositions` have anchors that differ by node, as P-GNN's do. They are made
    by :meth:`dense`, :meth:`compressed` and :meth:`from_reachability`, as ``reachability(...).to_torch()`` does.

    Attributes:
        to_values: s(v, a), ``[entries]``, or ``[entries, L]`` with hops.
        from_values: s(a, v), likewise.
        pointer: ``[n + 1]``.
        anchor_index: Rows of the anchors among the nodes, ``[K]``, graph after graph.
        first_anchor: The first anchor's number (its place in ``anchor_index``) of each node's graph, ``[n]``.
        num_anchors: How many anchors each node's graph has, ``[n]``.
        width: The largest number of anchors (or sets) of a graph: the width of the embedding.
    """

    to_values: Tensor
    from_values: Tensor
    pointer: Tensor
    anchor_index: Tensor
    first_anchor: Tensor
    num_anchors: Tensor
    width: int

    kind: ClassVar[int]

    @property
    def num_nodes(self) -> int:
        """The number of rows."""
        return int(self.pointer.numel()) - 1

    @property
    def hops(self) -> int | None:
        """The number of steps that are kept separate, or ``None``."""
        return None if self.to_values.dim() == 1 else int(self.to_values.size(1))

    @property
    def rectangular(self) -> bool:
        """Whether it is one dense matrix of one graph, so that matrix products apply."""
        return self.kind == DENSE and self.anchor_index.numel() == self.width

    def matrix(self, values: Tensor) -> Tensor:
        """The entries of a rectangular layout as ``[n, k]``."""
        return values.view(self.num_nodes, self.width)

    @kept
    def levels(self) -> Levels | None:
        """The different similarities, or ``None`` if there are more than ``MAX_LEVELS``, as in exact reachability."""
        return _find_all_levels(self.to_values, self.from_values)

    @kept
    def filled(self) -> tuple[Filled, Filled]:
        """The entries that are not zero in each direction."""
        to, back = (_find_filled(each.view(len(each), -1)) for each in (self.to_values, self.from_values))
        return to, back

    @kept
    def layout(self) -> Layout:
        """Where entries are, as the kernels read it."""
        anchor = np.empty(0, np.int32) if self.kind == DENSE else self.entry_anchors.int().numpy()
        arrays = [each.contiguous().numpy() for each in (self.pointer, self.first_anchor, self.num_anchors)]
        return Layout(self.kind, arrays[0], anchor, arrays[1], arrays[2], self.width)

    @kept
    def reach_sums(self) -> Tensor:
        """The sum of s(v, a) over each node's anchors."""
        return sum_rows(self, self.to_values)

    @kept
    def entry_nodes(self) -> Tensor:
        """The node of each entry."""
        nodes = torch.arange(self.num_nodes, device=self.pointer.device)
        return torch.repeat_interleave(nodes, self.pointer.diff(), output_size=self.to_values.size(0))

    @kept
    def entry_columns(self) -> Tensor:
        """The column of the embedding that each entry stands in."""
        node = self.entry_nodes
        return torch.arange(node.numel(), device=node.device) - self.pointer[node]

    @kept
    def entry_anchors(self) -> Tensor:
        """The anchor's number of each entry."""
        return self.first_anchor[self.entry_nodes] + self.entry_columns

    @kept
    def with_equal_similarity(self) -> "Positions":
        """The same nodes and anchors with every similarity one."""
        pointer = torch.cat([self.num_anchors.new_zeros(1), self.num_anchors.cumsum(0)])
        ones = self.to_values.new_ones(int(pointer[-1]))
        return DensePositions(ones, ones, pointer, self.anchor_index, self.first_anchor, self.num_anchors, self.width)

    @kept
    def _converted(self) -> "dict[torch.dtype, Positions]":
        return {self.to_values.dtype: self}

    def in_precision(self, dtype: torch.dtype) -> "Positions":
        """The same with similarities of that type; converted once."""
        if dtype not in self._converted:
            with torch.inference_mode(False):
                self._converted[dtype] = self.to(dtype)
        return self._converted[dtype]

    def to(self, target: torch.device | torch.dtype | str) -> Self:
        """The same on another device or in another precision (of the similarities)."""
        tensors = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "width"}
        if isinstance(target, torch.dtype):
            tensors = {name: tensors[name] for name in ("to_values", "from_values")}
        moved: dict[str, Any] = {name: each.to(target) for name, each in tensors.items()}
        return self if all(moved[name] is tensors[name] for name in moved) else replace(self, **moved)

    @staticmethod
    def dense(
        to_anchors: Tensor,
        from_anchors: Tensor,
        anchor_index: Tensor,
        batch: Tensor | None = None,
        source: Tensor | None = None,
    ) -> "DensePositions | GatheredPositions":
        """From two tensors ``[n, k]`` (or ``[n, k, L]``); with ``batch`` every graph has k anchors.

        With ``source``, ``[n, k]``, entry (v, i) is about the anchor ``source[v, i]``, a row of ``anchor_index``; then
        there may be any number of anchors, and ``batch`` is not needed.
        """
        _check_dense(to_anchors, from_anchors, anchor_index, batch)
        n, k = to_anchors.shape[:2]
        device, anchors = to_anchors.device, anchor_index.numel()
        first = torch.zeros(n, dtype=torch.long, device=device)
        values = (to_anchors.flatten(0, 1), from_anchors.flatten(0, 1), torch.arange(n + 1, device=device) * k)
        count = torch.full((n,), k, dtype=torch.long, device=device)
        if source is not None:
            _check_source(source, (n, k), anchors)
            return GatheredPositions(*values, anchor_index, first, count, k, source.flatten().int())
        if anchors % k or (batch is None and anchors != k):
            wanted = f"{k} rows (one graph)" if batch is None else f"a multiple of {k} rows"
            raise InputError(f"anchor_index must hold {wanted}, got {anchors}")
        return DensePositions(*values, anchor_index, first if batch is None else batch * k, count, k)

    @staticmethod
    def compressed(
        to_anchors: Any,
        from_anchors: Any,
        anchor_index: Tensor,
        batch: Tensor | None = None,
        hops: int | None = None,
    ) -> "CompressedPositions":
        """From two compressed matrices ``[n, K]`` (or ``[n, K * L]`` with hops), of SciPy or torch.

        For a batch of graphs they are block-diagonal, and ``batch`` is the graph of each node.
        """
        to_csr, from_csr = (_as_scipy(matrix) for matrix in (to_anchors, from_anchors))
        n, per_anchor = to_csr.shape[0], hops or 1
        if to_csr.shape != from_csr.shape or to_csr.shape[1] != anchor_index.numel() * per_anchor:
            raise InputError(
                f"to_anchors and from_anchors must be [{n}, {anchor_index.numel() * per_anchor}] (nodes by anchors), "
                f"got {list(to_csr.shape)} and {list(from_csr.shape)}"
            )
        patterns = (to_csr.indptr, to_csr.indices, from_csr.indptr, from_csr.indices)
        pointer = np.zeros(n + 1, np.int64)
        count_union(*patterns, per_anchor, pointer[1:])
        np.cumsum(pointer, out=pointer)
        column = np.empty(pointer[-1], np.int64)
        values = [np.empty((pointer[-1], per_anchor), to_csr.data.dtype) for _ in range(2)]
        fill_union(*patterns, to_csr.data, from_csr.data, per_anchor, pointer, column, *values)
        arrays = [*(each if hops else each[:, 0].copy() for each in values), pointer, column]
        to, back, rows, columns = (torch.from_numpy(each).to(anchor_index.device) for each in arrays)
        first, count = _anchors_by_node(n, anchor_index, batch)
        width = int(count.max()) if n else 0
        return CompressedPositions(to, back, rows, anchor_index, first, count, width, columns)

    @staticmethod
    def from_reachability(reach: Reachability, device: torch.device | str = "cpu") -> "Positions":
        """From the result of :func:`graphreach.reachability`."""
        try:
            device = torch.device(device)
        except (TypeError, RuntimeError, ValueError):
            raise InputError(f"device must be a torch device, such as 'cpu', got {describe(device)}") from None
        anchor_index = torch.from_numpy(reach.anchors)
        if reach.layout == "dense":
            to, back = torch.from_numpy(reach.to_anchors), torch.from_numpy(reach.from_anchors)
            return Positions.dense(to, back, anchor_index).to(device)
        return Positions.compressed(reach.to_anchors, reach.from_anchors, anchor_index, hops=reach.hops).to(device)

    @staticmethod
    def batch(positions: Sequence["Positions"]) -> "Positions":
        """Several graphs side by side, dense or compressed; k may differ from graph to graph.

        Features to go with it are ``torch.cat`` of the graphs' features. The embedding has as many columns as the graph
        with most anchors, zero beyond a graph's own.

        Example:
            >>> ones = torch.ones(3, 2)
            >>> graph = Positions.dense(ones, ones, torch.tensor([0, 2]))
            >>> Positions.batch([graph, graph]).anchor_index
            tensor([0, 2, 3, 5])
        """
        graphs = _alike(list(positions))
        nodes = _offsets(each.num_nodes for each in graphs)
        anchors = _offsets(each.anchor_index.numel() for each in graphs)
        entries = _offsets(each.to_values.size(0) for each in graphs)
        listed: dict[str, Any] = {
            name: _shifted(graphs, name, anchors) for name in ("column", "source") if hasattr(graphs[0], name)
        }
        return replace(
            graphs[0],
            to_values=torch.cat([each.to_values for each in graphs]),
            from_values=torch.cat([each.from_values for each in graphs]),
            pointer=torch.cat([graphs[0].pointer[:1], _shifted(graphs, "pointer", entries, 1)]),
            anchor_index=_shifted(graphs, "anchor_index", nodes),
            first_anchor=_shifted(graphs, "first_anchor", anchors),
            num_anchors=torch.cat([each.num_anchors for each in graphs]),
            width=max(each.width for each in graphs),
            **listed,
        )

    def rows(self, nodes: Tensor) -> "Positions":
        """The positions of some nodes of one graph, followed by the anchors' own: all that their embedding needs.

        Row i is node ``nodes[i]``; the features to go with it are ``x[torch.cat([nodes, positions.anchor_index])]``.
        """
        if self.anchor_index.numel() != self.width:
            raise InputError("rows must be taken from one graph's positions, got a batch of graphs")
        chosen = torch.cat([nodes, self.anchor_index])
        lengths = self.pointer.diff()[chosen]
        pointer = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
        entry = torch.arange(int(pointer[-1]), device=pointer.device)
        entry += torch.repeat_interleave(self.pointer[:-1][chosen] - pointer[:-1], lengths)
        listed: dict[str, Any] = {"column": self.entry_anchors[entry]} if self.kind == COMPRESSED else {}
        rows = replace(
            self,
            to_values=self.to_values[entry],
            from_values=self.from_values[entry],
            pointer=pointer,
            anchor_index=torch.arange(self.width, device=pointer.device) + len(nodes),
            first_anchor=self.first_anchor[chosen],
            num_anchors=self.num_anchors[chosen],
            **listed,
        )
        if "levels" in vars(self):  # the search over all entries is not repeated for some of them
            known = self.levels
            vars(rows)["levels"] = known and Levels(known.values, known.to[entry], known.back[entry])
        return rows


@dataclass(frozen=True, eq=False)
class DensePositions(Positions):
    """Every anchor of a node's graph in order."""

    kind = DENSE


@dataclass(frozen=True, eq=False)
class CompressedPositions(Positions):
    """Only anchors with reachability above zero in either direction.

    Attributes:
        column: The anchor's number of each entry.
    """

    column: Tensor
    kind = COMPRESSED

    @kept
    def entry_anchors(self) -> Tensor:
        """The anchor's number of each entry."""
        return self.column

    @kept
    def entry_columns(self) -> Tensor:
        """The column of the embedding that each entry stands in."""
        return self.column - self.first_anchor[self.entry_nodes]


@dataclass(frozen=True, eq=False)
class GatheredPositions(Positions):
    """Anchors that differ by node, such as the closest member of a set of anchors (P-GNN).

    A node has one entry for each set, however many anchors there are.

    Attributes:
        source: The anchor's number of each entry.
    """

    source: Tensor
    kind = GATHERED

    def __post_init__(self) -> None:
        if self.source.shape != self.to_values.shape[:1]:
            raise InputError(
                f"source must have one number an entry, {self.to_values.size(0)}, got shape {list(self.source.shape)}"
            )

    @kept
    def entry_anchors(self) -> Tensor:
        """The anchor's number of each entry."""
        return self.source.long()

    @kept
    def with_equal_similarity(self) -> Positions:
        """The same nodes and anchors with every similarity one."""
        ones = self.to_values.new_ones(len(self.to_values))
        return replace(self, to_values=ones, from_values=ones)

    def rows(self, nodes: Tensor) -> "Positions":
        """Not for anchors that differ by node: they would need all rows."""
        raise InputError("rows must be taken from positions whose anchors are the same for all nodes, got a source")


def sum_rows(positions: Positions, values: Tensor) -> Tensor:
    """The sum of each node's entries."""
    if positions.rectangular:
        return positions.matrix(values).sum(1)
    return values.new_zeros(positions.num_nodes).index_add(0, positions.entry_nodes, values)


def _check_dense(to_anchors: Any, from_anchors: Any, anchor_index: Any, batch: Tensor | None) -> None:
    for name, value in (("to_anchors", to_anchors), ("from_anchors", from_anchors)):
        if not isinstance(value, Tensor) or value.dim() not in (2, 3) or not value.size(1):
            got = list(value.shape) if isinstance(value, Tensor) else describe(value)
            raise InputError(f"{name} must be a tensor [n, k] or [n, k, L], got {got}")
    _check_index("anchor_index", anchor_index, len(to_anchors))
    if batch is not None and (batch.shape != (len(to_anchors),) or batch.is_floating_point()):
        raise InputError(f"batch must hold the graph of each of {len(to_anchors)} nodes, got {list(batch.shape)}")
    if from_anchors.shape != to_anchors.shape:
        raise InputError(
            f"from_anchors must have the shape of to_anchors {list(to_anchors.shape)}, got {list(from_anchors.shape)}"
        )


def _check_source(source: Tensor, shape: tuple[int, int], num_anchors: int) -> None:
    if tuple(source.shape) != shape:
        raise InputError(f"source must have the shape of to_anchors {list(shape)}, got {list(source.shape)}")
    if source.numel() and (int(source.min()) < 0 or int(source.max()) >= num_anchors):
        raise InputError(
            f"source must hold rows of anchor_index, 0 to {num_anchors - 1}, got {int(source.min())} to {int(source.max())}"
        )


def _alike(graphs: list[Positions]) -> list[Positions]:
    """The same graphs in one layout: compressed if one is, gathered if one is."""
    if not graphs:
        raise InputError("positions must hold at least one graph, got none")
    hops = sorted({str(each.hops) for each in graphs})
    if len(hops) > 1:
        raise InputError(f"positions must all have the same hops, got {' and '.join(hops)}")
    kinds = {each.kind for each in graphs}
    if {COMPRESSED, GATHERED} <= kinds:
        raise InputError("positions must all be dense where one has a source, got compressed ones too")
    if kinds == {DENSE}:
        return graphs
    return [_listed(each, max(kinds)) if each.kind == DENSE else each for each in graphs]


def _listed(dense: Positions, kind: int) -> Positions:
    """Dense positions with the anchor of each entry."""
    parts: dict[str, Any] = {each.name: getattr(dense, each.name) for each in fields(Positions)}
    if kind == COMPRESSED:
        return CompressedPositions(**parts, column=dense.entry_anchors)
    return GatheredPositions(**parts, source=dense.entry_anchors.int())


def _offsets(sizes: Iterable[int]) -> list[int]:
    return [0, *accumulate(sizes)][:-1]


def _shifted(graphs: list[Positions], name: str, offsets: list[int], begin: int = 0) -> Tensor:
    return torch.cat([getattr(each, name)[begin:] + offset for each, offset in zip(graphs, offsets, strict=True)])


def _find_filled(values: Tensor) -> Filled:
    place = (values != 0).any(1).nonzero().view(-1)
    if len(place) > MOSTLY_FILLED * len(values):
        return Filled(place.new_empty(0), values.t().contiguous())
    return Filled(place, values[place].t().contiguous())


def _find_all_levels(to: Tensor, back: Tensor, most: int = MAX_LEVELS) -> Levels | None:
    """Zero, then the different values of both directions; and each entry's place among all these."""
    found = [_find_levels(values, most) for values in (to, back)]
    if found[0] is None or found[1] is None:
        return None
    (first, places), (second, others) = found[0], found[1]
    return Levels(torch.cat([first.new_zeros(1), first, second]), places + 1, others + len(first) + 1)


def _find_levels(values: Tensor, most: int) -> tuple[Tensor, Tensor] | None:
    """The different values and each entry's place among them; from a sample first, which is all of them as a rule."""
    levels = torch.unique(values[:: max(1, len(values) // (1 << 20))])
    if len(levels) > most:
        return None
    places = torch.empty(len(values), dtype=torch.int16, device=values.device)
    for begin in range(0, len(values), BLOCK):
        block = values[begin : begin + BLOCK]
        place = torch.searchsorted(levels, block).clamp(max=max(0, len(levels) - 1))
        if not torch.equal(levels[place], block):
            levels, place = torch.unique(values, return_inverse=True)
            return None if len(levels) > most else (levels, place.to(torch.int16))
        places[begin : begin + BLOCK] = place
    return levels, places


def _check_index(name: str, index: Any, num_nodes: int) -> None:
    """Refuse what is no list of rows."""
    if not isinstance(index, Tensor) or index.dim() != 1 or index.is_floating_point() or index.is_complex():
        raise InputError(f"{name} must be a tensor of rows [K], got {describe(index)}")
    if torch.compiler.is_compiling() or not index.numel():
        return
    if not 0 <= int(index.min()) <= int(index.max()) < num_nodes:
        raise InputError(f"{name} must hold rows between 0 and {num_nodes - 1}, got {int(index.max())}")


def _as_scipy(matrix: Any) -> csr_array:
    if isinstance(matrix, Tensor) and matrix.layout != torch.sparse_csr:
        raise InputError(f"to_anchors and from_anchors must be sparse CSR or both dense, got layout {matrix.layout}")
    if not isinstance(matrix, Tensor) and not hasattr(matrix, "tocsr"):
        raise InputError(
            f"reach must be a Reachability, Positions, a tensor or a sparse matrix, got {describe(matrix)}"
        )
    if isinstance(matrix, Tensor):
        parts = (matrix.values(), matrix.col_indices(), matrix.crow_indices())
        return csr_array(tuple(part.cpu().numpy() for part in parts), shape=tuple(matrix.shape))
    return matrix


def _anchors_by_node(num_nodes: int, anchor_index: Tensor, batch: Tensor | None) -> tuple[Tensor, Tensor]:
    """First anchor and number of anchors of each node's graph."""
    if batch is None:
        count = torch.full((num_nodes,), anchor_index.numel(), dtype=torch.long, device=anchor_index.device)
        return torch.zeros_like(count), count
    per_graph = torch.bincount(batch[anchor_index], minlength=int(batch.max()) + 1 if num_nodes else 0)
    first = torch.cumsum(per_graph, 0) - per_graph
    return first[batch], per_graph[batch]
