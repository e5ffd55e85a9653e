"""Position matrices as the layers read them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.nn.kernels.positions import count_union, fill_union
from graphreach.reachability import Reachability

Found = TypeVar("Found")

INDICES = ("pointer", "column", "anchor_index", "first_anchor", "num_anchors", "source")
BLOCK = 1 << 22
"""Entries looked at together."""

MOSTLY_FILLED = 0.7
"""Share of entries that are not zero from which all are worked on in order, without a list of places."""

LEVELS = "levels"


@dataclass(frozen=True, eq=False)
class Positions:
    """Reachability of one graph or of a batch of graphs, as tensors, dense or compressed.

    Entries are listed row by row: the entries of node v are ``pointer[v] .. pointer[v + 1]``. Dense rows list every
    anchor of the node's graph in order; compressed ones say which by ``column``, and anchors without an entry have
    reachability zero in both directions.

    Where the anchor differs by node, as with the closest member of a set of anchors (P-GNN), ``source`` says which it is:
    entry e of a dense row is about the anchor ``source[e]``, a row of ``anchor_index``. A node then has k entries (sets),
    however many anchors there are.

    Attributes:
        to_values: s(v, a), ``[entries]``, or ``[entries, L]`` with hops.
        from_values: s(a, v), likewise.
        pointer: ``[n + 1]``.
        column: The anchor's number (a row of ``anchor_index``) of each entry, or ``None`` if rows are dense.
        anchor_index: Rows of the anchors among the nodes, ``[K]``, graph after graph.
        first_anchor: The first anchor's number of each node's graph, ``[n]``.
        num_anchors: How many anchors each node's graph has, ``[n]``.
        width: The largest number of anchors (or sets) of a graph: the width of the embedding.
        source: The anchor's number of each entry of dense rows, if it differs by node, else ``None``.
    """

    to_values: Tensor
    from_values: Tensor
    pointer: Tensor
    column: Tensor | None
    anchor_index: Tensor
    first_anchor: Tensor
    num_anchors: Tensor
    width: int
    source: Tensor | None = None
    _found: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.source is None:
            return
        if self.column is not None:
            raise InputError("source must go with dense rows, got column as well")
        if self.source.shape != self.to_values.shape[:1]:
            raise InputError(
                f"source must have one number an entry, {self.to_values.size(0)}, got shape {list(self.source.shape)}"
            )

    @property
    def num_nodes(self) -> int:
        """The number of rows."""
        return int(self.pointer.numel()) - 1

    @property
    def hops(self) -> int | None:
        """How many steps are kept apart, or ``None``."""
        return None if self.to_values.dim() == 1 else int(self.to_values.size(1))

    @property
    def rectangular(self) -> bool:
        """Whether it is one dense matrix of one graph, so that matrix products apply."""
        return self.column is None and self.source is None and self.anchor_index.numel() == self.width

    def matrix(self, values: Tensor) -> Tensor:
        """The entries of a rectangular layout as ``[n, k]``."""
        return values.view(self.num_nodes, self.width)

    def levels(self, most: int) -> tuple[Tensor, Tensor, Tensor] | None:
        """Zero and the different similarities, and the places among them of ``to_values`` and ``from_values``, found once.

        ``None`` if there are more than ``most`` of one direction, as in exact reachability.
        """
        return self._once(LEVELS, lambda: _find_all_levels(self.to_values, self.from_values, most))

    def filled(self, name: str, hops: int) -> tuple[Tensor, Tensor]:
        """The entries of ``to_values`` or ``from_values`` that are not zero, found once.

        Where they are (empty if few are zero: then all are given), and their values as ``[hops, entries]``.
        """
        return self._once((name, hops), lambda: _find_filled(getattr(self, name).view(-1, hops)))

    @property
    def layout(self) -> tuple[Any, ...]:
        """Pointer, column, first anchor, number of anchors and source as the kernels read them, found once."""
        tensors = (self.pointer, self.column, self.first_anchor, self.num_anchors, self.source)
        return self._once(
            "layout", lambda: tuple(None if each is None else each.contiguous().numpy() for each in tensors)
        )

    @property
    def reach_sums(self) -> Tensor:
        """The sum of s(v, a) over each node's anchors, found once."""
        return self._once("reach_sums", lambda: sum_rows(self, self.to_values))

    @property
    def everything(self) -> "Positions":
        """The same nodes and anchors with every similarity one, made once."""
        return self._once("everything", lambda: _everything(self))

    def _once(self, name: Any, make: Callable[[], Found]) -> Found:
        if name not in self._found:
            with torch.inference_mode(False):  # what is made in that mode can take no part in training afterwards
                self._found[name] = make()
        found: Found = self._found[name]
        return found

    def in_precision(self, dtype: torch.dtype) -> "Positions":
        """The same with similarities of that type; converted once."""
        if self.to_values.dtype == dtype:
            return self
        return self._once(dtype, lambda: self.to(dtype))

    def to(self, target: torch.device | torch.dtype | str) -> "Positions":
        """The same on another device or in another precision (of the similarities)."""
        parts = {name: getattr(self, name) for name in INDICES}
        if not isinstance(target, torch.dtype):
            parts = {name: None if value is None else value.to(target) for name, value in parts.items()}
        return Positions(self.to_values.to(target), self.from_values.to(target), width=self.width, **parts)

    @classmethod
    def dense(
        cls,
        to_anchors: Tensor,
        from_anchors: Tensor,
        anchor_index: Tensor,
        batch: Tensor | None = None,
        source: Tensor | None = None,
    ) -> "Positions":
        """From two tensors ``[n, k]`` (or ``[n, k, L]``); with ``batch`` every graph has k anchors.

        With ``source``, ``[n, k]``, entry (v, i) is about the anchor ``source[v, i]``, a row of ``anchor_index``; then
        there may be any number of anchors, and ``batch`` is not needed.
        """
        for name, value in (("to_anchors", to_anchors), ("from_anchors", from_anchors)):
            if not isinstance(value, Tensor) or value.dim() not in (2, 3) or not value.size(1):
                got = list(value.shape) if isinstance(value, Tensor) else describe(value)
                raise InputError(f"{name} must be a tensor [n, k] or [n, k, L], got {got}")
        _check_index("anchor_index", anchor_index, len(to_anchors))
        if batch is not None and (batch.shape != (len(to_anchors),) or batch.is_floating_point()):
            raise InputError(f"batch must hold the graph of each of {len(to_anchors)} nodes, got {list(batch.shape)}")
        n, k = to_anchors.shape[:2]
        if from_anchors.shape != to_anchors.shape:
            raise InputError(
                f"from_anchors must have the shape of to_anchors {list(to_anchors.shape)}, got {list(from_anchors.shape)}"
            )
        graphs, rest = divmod(anchor_index.numel(), k)
        if source is not None:
            _check_source(source, (n, k), anchor_index.numel())
        elif rest or (batch is None and graphs != 1):
            wanted = f"{k} rows (one graph)" if batch is None else f"a multiple of {k} rows"
            raise InputError(f"anchor_index must hold {wanted}, got {anchor_index.numel()}")
        device = to_anchors.device
        first = torch.zeros(n, dtype=torch.long, device=device)
        if batch is not None and source is None:
            first = batch * k
        return cls(
            to_anchors.flatten(0, 1),
            from_anchors.flatten(0, 1),
            torch.arange(n + 1, device=device) * k,
            None,
            anchor_index,
            first,
            torch.full((n,), k, dtype=torch.long, device=device),
            k,
            None if source is None else source.flatten().int(),
        )

    @classmethod
    def compressed(
        cls,
        to_anchors: Any,
        from_anchors: Any,
        anchor_index: Tensor,
        batch: Tensor | None = None,
        hops: int | None = None,
    ) -> "Positions":
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
        pointer = np.cumsum(count_union(*patterns, per_anchor))
        column = np.empty(pointer[-1], np.int64)
        values = [np.empty((pointer[-1], per_anchor), to_csr.data.dtype) for _ in range(2)]
        fill_union(
            to_csr.indptr, to_csr.indices, to_csr.data, from_csr.indptr, from_csr.indices, from_csr.data, per_anchor,
            pointer, column, *values,
        )  # fmt: skip
        tensors = [torch.from_numpy(value if hops else value[:, 0].copy()) for value in values]
        first, count = _anchors_by_node(n, anchor_index, batch)
        width = int(count.max()) if n else 0
        to, back, rows, columns = (
            part.to(anchor_index.device) for part in (*tensors, torch.from_numpy(pointer), torch.from_numpy(column))
        )
        return cls(to, back, rows, columns, anchor_index, first, count, width)

    @classmethod
    def from_reachability(cls, reach: Reachability, device: torch.device | str = "cpu") -> "Positions":
        """From the result of :func:`graphreach.reachability`."""
        anchor_index = torch.from_numpy(reach.anchors)
        if reach.layout == "dense":
            to, back = torch.from_numpy(reach.to_anchors), torch.from_numpy(reach.from_anchors)
            return cls.dense(to, back, anchor_index).to(device)
        return cls.compressed(reach.to_anchors, reach.from_anchors, anchor_index, hops=reach.hops).to(device)

    @classmethod
    def batch(cls, positions: Sequence["Positions"]) -> "Positions":
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
        return cls(
            torch.cat([each.to_values for each in graphs]),
            torch.cat([each.from_values for each in graphs]),
            torch.cat([graphs[0].pointer[:1], _shifted(graphs, "pointer", entries, 1)]),
            None if graphs[0].column is None else _shifted(graphs, "column", anchors),
            _shifted(graphs, "anchor_index", nodes),
            _shifted(graphs, "first_anchor", anchors),
            torch.cat([each.num_anchors for each in graphs]),
            max(each.width for each in graphs),
            None if graphs[0].source is None else _shifted(graphs, "source", anchors),
        )

    def rows(self, nodes: Tensor) -> "Positions":
        """The positions of some nodes of one graph, followed by the anchors' own: all that their embedding needs.

        Row i is node ``nodes[i]``; the features to go with it are ``x[torch.cat([nodes, positions.anchor_index])]``.
        """
        if self.source is not None:
            raise InputError("rows must be taken from positions whose anchors are the same for all nodes, got a source")
        if self.anchor_index.numel() != self.width:
            raise InputError("rows must be taken from one graph's positions, got a batch of graphs")
        chosen = torch.cat([nodes, self.anchor_index])
        lengths = (self.pointer[1:] - self.pointer[:-1])[chosen]
        pointer = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
        entry = torch.arange(int(pointer[-1]), device=pointer.device)
        entry += torch.repeat_interleave(self.pointer[:-1][chosen] - pointer[:-1], lengths)
        rows = Positions(
            self.to_values[entry],
            self.from_values[entry],
            pointer,
            None if self.column is None else self.column[entry],
            torch.arange(self.width, device=pointer.device) + len(nodes),
            self.first_anchor[chosen],
            self.num_anchors[chosen],
            self.width,
        )
        if LEVELS in self._found:
            known = self._found[LEVELS]
            rows._found[LEVELS] = None if known is None else (known[0], *(place[entry] for place in known[1:]))
        return rows

    def entry_nodes(self) -> Tensor:
        """The node of each entry."""
        lengths = self.pointer[1:] - self.pointer[:-1]
        nodes = torch.arange(self.num_nodes, device=lengths.device)
        return torch.repeat_interleave(nodes, lengths, output_size=self.to_values.size(0))

    def entry_columns(self) -> Tensor:
        """The column of the embedding that each entry stands in."""
        node = self.entry_nodes()
        if self.column is not None:
            return self.column - self.first_anchor[node]
        return torch.arange(node.numel(), device=node.device) - self.pointer[node]

    def entry_anchors(self) -> Tensor:
        """The anchor's number of each entry."""
        if self.source is not None:
            return self.source.long()
        if self.column is not None:
            return self.column
        return self.first_anchor[self.entry_nodes()] + self.entry_columns()


def sum_rows(positions: Positions, values: Tensor) -> Tensor:
    """The sum of each node's entries."""
    if positions.rectangular:
        return positions.matrix(values).sum(1)
    return values.new_zeros(positions.num_nodes).index_add(0, positions.entry_nodes(), values)


def _everything(positions: Positions) -> Positions:
    pointer = torch.cat([positions.num_anchors.new_zeros(1), positions.num_anchors.cumsum(0)])
    ones = positions.to_values.new_ones(int(pointer[-1]))
    return replace(positions, to_values=ones, from_values=ones, pointer=pointer, column=None, _found={})


def _check_source(source: Tensor, shape: tuple[int, int], num_anchors: int) -> None:
    if tuple(source.shape) != shape:
        raise InputError(f"source must have the shape of to_anchors {list(shape)}, got {list(source.shape)}")
    if source.numel() and (int(source.min()) < 0 or int(source.max()) >= num_anchors):
        raise InputError(
            f"source must hold rows of anchor_index, 0 to {num_anchors - 1}, got {int(source.min())} to {int(source.max())}"
        )


def _alike(graphs: list[Positions]) -> list[Positions]:
    """The same graphs, all compressed if one is, and all with a source if one has it."""
    if not graphs:
        raise InputError("positions must hold at least one graph, got none")
    hops = sorted({str(each.hops) for each in graphs})
    if len(hops) > 1:
        raise InputError(f"positions must all have the same hops, got {' and '.join(hops)}")
    compressed, sourced = (any(getattr(each, name) is not None for each in graphs) for name in ("column", "source"))
    if compressed and sourced:
        raise InputError("positions must all be dense where one has a source, got compressed ones too")
    if compressed:
        return [
            each if each.column is not None else replace(each, column=each.entry_anchors(), _found={})
            for each in graphs
        ]
    if sourced:
        return [
            each if each.source is not None else replace(each, source=each.entry_anchors().int(), _found={})
            for each in graphs
        ]
    return graphs


def _offsets(sizes: Iterable[int]) -> list[int]:
    return [0, *accumulate(sizes)][:-1]


def _shifted(graphs: list[Positions], name: str, offsets: list[int], begin: int = 0) -> Tensor:
    return torch.cat([getattr(each, name)[begin:] + offset for each, offset in zip(graphs, offsets, strict=True)])


def _find_filled(values: Tensor) -> tuple[Tensor, Tensor]:
    place = (values != 0).any(1).nonzero().view(-1)
    if len(place) > MOSTLY_FILLED * len(values):
        return place.new_empty(0), values.t().contiguous()
    return place, values[place].t().contiguous()


def _find_all_levels(to: Tensor, back: Tensor, most: int) -> tuple[Tensor, Tensor, Tensor] | None:
    """Zero, then the different values of both directions; and each entry's place among all these."""
    found = [_find_levels(values, most) for values in (to, back)]
    if found[0] is None or found[1] is None:
        return None
    (first, places), (second, others) = found[0], found[1]
    levels = torch.cat([first.new_zeros(1), first, second])
    kind = torch.int16 if len(levels) < torch.iinfo(torch.int16).max else torch.int32
    return levels, (places + 1).to(kind), (others + len(first) + 1).to(kind)


def _find_levels(values: Tensor, most: int) -> tuple[Tensor, Tensor] | None:
    """The different values and each entry's place among them; from a sample first, which is all of them as a rule."""
    levels = torch.unique(values[:: max(1, len(values) // (1 << 20))])
    if len(levels) > most:
        return None
    places = torch.empty(len(values), dtype=torch.int32, device=values.device)
    for begin in range(0, len(values), BLOCK):
        block = values[begin : begin + BLOCK]
        place = torch.searchsorted(levels, block).clamp(max=max(0, len(levels) - 1))
        if not torch.equal(levels[place], block):
            levels, place = torch.unique(values, return_inverse=True)
            return None if len(levels) > most else (levels, place.to(torch.int32))
        places[begin : begin + BLOCK] = place
    return levels, places


def _check_index(name: str, index: Any, num_nodes: int) -> None:
    """Refuse what is no list of rows."""
    if not isinstance(index, Tensor) or index.dim() != 1 or index.is_floating_point() or index.is_complex():
        raise InputError(f"{name} must be a tensor of rows [K], got {describe(index)}")
    if (
        index.numel()
        and not torch.compiler.is_compiling()
        and not 0 <= int(index.min()) <= int(index.max()) < num_nodes
    ):
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
