"""From arrays, edge lists and other libraries' graphs to :class:`~graphreach.graph.build.Edges`."""

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import as_frame, check_pairs, frame_columns, series_values
from graphreach.errors import InputError
from graphreach.graph.build import Edges, check_weights
from graphreach.graph.ids import check_listed, check_number_of_nodes, encode_ids, ids_array, rank_ids, specialise
from graphreach.limits import check_memory


def edges_from_index(
    edge_index: ArrayLike,
    num_nodes: int | None,
    edge_weight: ArrayLike | None,
    ids: Sequence[Hashable] | NDArray[Any] | None,
) -> Edges:
    """Check an integer array ``[2, m]`` of positions and renumber it by the sorted order of ``ids``."""
    frame = as_frame(edge_index)
    index = to_numpy(edge_index) if frame is None else check_pairs(frame, None, "edge_index")
    if index.ndim != 2 or index.shape[0] != 2:
        hint = "; transpose it" if index.ndim == 2 and index.shape[1] == 2 else ""
        raise InputError(f"edge_index must have shape [2, m], got {list(index.shape)}{hint}")
    if index.size and index.dtype.kind not in "iu":
        raise InputError(f"edge_index must hold integers, got {index.dtype}; for other ids use Graph.from_edge_list")
    listed = None if ids is None else check_ids(ids)
    n = _check_num_nodes(index, num_nodes, listed)
    weights = None if edge_weight is None else check_weights(to_numpy(edge_weight, "edge_weight"), index.shape[1])
    source, target = (np.ascontiguousarray(row, dtype=np.uint32) for row in index)
    if listed is None:
        return Edges(source, target, weights, np.arange(n))
    ordered, ranks = rank_ids(listed)
    return Edges(ranks[source], ranks[target], weights, ordered)


def check_ids(ids: Any) -> NDArray[Any]:
    """Return ids as an array of one dimension, or raise."""
    if isinstance(ids, str | bytes | Mapping | Set) or not hasattr(ids, "__len__"):
        raise InputError(f"ids must be a list or an array with one id per node, got {ids!r:.80}")
    if not isinstance(ids, np.ndarray):
        check_listed(ids, "ids")
        return ids_array(ids.tolist() if hasattr(ids, "detach") else series_values(ids))
    if ids.ndim != 1:
        raise InputError(f"ids must have one dimension, got shape {list(ids.shape)}")
    if ids.dtype.kind not in "biufUSOMm":
        raise InputError(f"ids must be numbers, text or other hashable values, got an array of {ids.dtype}")
    return specialise(check_unmasked(ids, "ids"))


def check_unmasked(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an array without its mask, or raise if a value of it is masked, that is, missing."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if np.ma.is_masked(array):
        count = int(np.count_nonzero(np.ma.getmaskarray(array)))
        raise InputError(f"{name} must not have masked values, got {count}; fill them, or leave these edges out")
    return np.asarray(array.data)


def check_size(num_nodes: int, what: str) -> None:
    """Refuse a graph whose nodes alone would not fit into memory."""
    check_number_of_nodes(num_nodes)
    check_memory(24 * num_nodes, f"a graph of {num_nodes} nodes ({what})", "give the number of nodes there are")


def _check_num_nodes(index: NDArray[Any], num_nodes: int | None, ids: Sequence[Hashable] | NDArray[Any] | None) -> int:
    low, high = (int(index.min()), int(index.max())) if index.size else (0, -1)
    n = num_nodes if num_nodes is not None else high + 1 if ids is None else len(ids)
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise InputError(f"num_nodes must be a whole number, got {num_nodes!r}")
    if n < 1:
        raise InputError(f"num_nodes must be at least 1, got {n} (edge_index holds {index.shape[1]} edges)")
    if ids is not None and len(ids) != n:
        raise InputError(f"ids must hold one id for each of the {n} nodes, got {len(ids)}")
    if num_nodes is None and ids is None:
        check_size(int(n), f"the largest position is {high}")
    if low < 0 or high >= n:
        wrong = low if low < 0 else high
        raise InputError(f"edge_index must hold positions between 0 and {n - 1}, got {wrong}")
    check_size(int(n), f"num_nodes={n}")
    return int(n)


def to_numpy(values: Any, name: str = "edge_index") -> NDArray[Any]:
    """Return an array, a list or a tensor (known by its ``detach``; torch is not imported) as a numpy array."""
    if hasattr(values, "as_tensor"):
        values = values.as_tensor()
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    if isinstance(values, np.ma.MaskedArray):
        return check_unmasked(values, name)
    try:
        return np.asarray(values)
    except ValueError:
        shape = "shape [2, m]" if name == "edge_index" else "one number per edge"
        raise InputError(f"{name} must have {shape}, got rows of unequal length in {values!r:.80}") from None
    except (TypeError, RuntimeError, OverflowError, MemoryError) as error:
        raise InputError(f"{name} must be an array of numbers, got {type(values).__name__}: {error!s:.80}") from None


def edges_from_list(edges: Iterable[Sequence[Any]], nodes: Iterable[Hashable]) -> Edges:
    """Number the ids of pairs or triples."""
    source, target, weights = split_rows(edges, "edges")
    columns = [object_column(source), object_column(target)]
    checked = None if weights is None else check_weights(weights, len(source), "weight")
    return number_columns(columns[0], columns[1], checked, nodes)


def split_rows(edges: Any, name: str) -> tuple[list[Any], list[Any], list[Any] | None]:
    """Return sources, targets and weights of pairs or triples."""
    rows = _as_rows(edges, name)
    lengths = {len(row) for row in rows}
    if lengths - {2, 3}:
        wrong = next(row for row in rows if len(row) not in (2, 3))
        raise InputError(f"{name} must be pairs (u, v) or triples (u, v, weight), got {wrong!r:.80}")
    if len(lengths) > 1:
        raise InputError(f"{name} must be all pairs (u, v) or all triples (u, v, weight), got some of each")
    weights = [row[2] for row in rows] if lengths == {3} else None
    return [row[0] for row in rows], [row[1] for row in rows], weights


def _is_iterable(value: Any) -> bool:
    # An array without dimensions has the method, but not what it promises.
    return hasattr(value, "__iter__") and not isinstance(value, type) and getattr(value, "ndim", 1) != 0


def _as_rows(edges: Any, name: str) -> list[tuple[Any, ...]]:
    if isinstance(edges, str | bytes | Mapping) or not _is_iterable(edges):
        raise InputError(f"{name} must be pairs (u, v) or triples (u, v, weight), got {edges!r:.80}")
    if isinstance(edges, np.ma.MaskedArray):
        edges = check_unmasked(edges, name)
    edges = edges.tolist() if hasattr(edges, "detach") else edges
    rows = []
    for edge in edges:
        if isinstance(edge, str | bytes | Mapping | Set) or not _is_iterable(edge):
            raise InputError(f"{name} must be pairs (u, v) or triples (u, v, weight), got {edge!r:.80}")
        rows.append(tuple(edge))
    return rows


def object_column(values: Any) -> NDArray[Any]:
    """Return ids of any kind as an array of that kind, or of objects."""
    if isinstance(values, np.ma.MaskedArray):
        values = check_unmasked(values, "ids")
    frame = as_frame(values)
    if frame is not None:
        (values,) = frame_columns("nodes", frame, 1, "node ids")
    check_listed(values, "ids")
    return ids_array(values.tolist() if hasattr(values, "detach") else series_values(values))


def node_column(nodes: Any) -> NDArray[Any]:
    """Return ids of nodes that were listed by themselves, or raise if they are no list."""
    is_text = isinstance(nodes, str | bytes)
    if is_text or not _is_iterable(nodes):
        raise InputError(f"nodes must be several ids, got {'the text ' if is_text else ''}{nodes!r:.80}")
    return object_column(nodes)


def number_columns(source: Any, target: Any, weights: NDArray[np.float64] | None, nodes: Any) -> Edges:
    """Number the ids of two columns and of further nodes."""
    is_series = hasattr(nodes, "null_count") and hasattr(nodes, "cast") and hasattr(nodes, "dtype")
    if is_series and nodes.null_count():
        raise InputError(f"nodes must be several ids, got a Series with {nodes.null_count()} gaps")
    named = nodes if is_series else node_column(nodes)
    ids, (source, target, _) = encode_ids([source, target, named])
    if not len(ids):
        raise InputError("a graph needs at least one edge or named node, got none")
    return Edges(source, target, weights, ids)


def edges_from_networkx(G: Any, weight: str | None, time: str | None = None) -> tuple[Edges, bool]:
    """Return the edges of a networkx graph and whether it is directed."""
    if not (hasattr(G, "is_directed") and hasattr(G, "nodes") and hasattr(G, "edges")):
        raise InputError(f"G must be a networkx graph, got {type(G).__name__}")
    for argument, value in (("weight", weight), ("time", time)):
        if not (value is None or isinstance(value, str)):
            raise InputError(f"{argument} must be the name of an edge attribute or None, got {value!r:.80}")
    if isinstance(G, type):
        raise InputError(f"G must be a networkx graph, got the class {G.__name__}")
    nodes = list(G.nodes)
    if not nodes:
        raise InputError("G must have at least one node, got an empty graph")
    ids, ranks = rank_ids(nodes)
    rank_of = dict(zip(nodes, ranks.tolist(), strict=True))
    pairs = list(G.edges(data=True))
    source, target = (np.fromiter((rank_of[e[end]] for e in pairs), np.uint32, len(pairs)) for end in (0, 1))
    weights, given = None, [] if weight is None else [e[2].get(weight) for e in pairs]
    if any(each is not None for each in given):
        filled = [1.0 if each is None else each for each in given]
        weights = check_weights(filled, len(pairs), f"edge attribute {weight!r}")
    times = None if time is None else _times([e[2].get(time) for e in pairs])
    first = None if times is None else _times([e[2].get(f"first_{time}") for e in pairs])
    if first is not None and times is not None and (first > times).any():
        first = None
    kinds = dict(G.nodes(data="bipartite"))
    sides = check_sides(np.array([_side(kinds[node]) for node in nodes], np.int8)[np.argsort(ranks)], source, target)
    return Edges(source, target, weights, ids, time=times, first_time=first, sides=sides), bool(G.is_directed())


def _times(values: list[Any]) -> NDArray[np.float64] | None:
    """Numbers, one per edge; None where some edge has none."""
    if not values or not all(isinstance(value, int | float | np.integer | np.floating) for value in values):
        return None
    times = np.array(values, np.float64)
    return times if np.isfinite(times).all() else None


def _side(value: Any) -> int:
    return int(value) if isinstance(value, int | np.integer) and value in (0, 1) else -1


def check_sides(sides: NDArray[np.int8], source: Any, target: Any) -> NDArray[np.int8] | None:
    """Kinds of nodes, 0 or 1, if every edge is between two kinds and there is an edge; else None."""
    fits = (sides[source] >= 0) & (sides[target] >= 0) & (sides[source] != sides[target])
    if not len(fits) or not fits.all():
        return None
    sides.flags.writeable = False
    return sides


def edges_from_scipy(A: Any, ids: Sequence[Hashable] | NDArray[Any] | None) -> Edges:
    """Return the stored entries of a square sparse matrix as edges; repeats are added, as scipy does."""
    if not hasattr(A, "tocsr") or isinstance(A, type):
        raise InputError(f"A must be a scipy sparse matrix, got {type(A).__name__}")
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise InputError(f"A must be square, got shape {tuple(A.shape)}")
    if A.dtype.kind not in "biuf":
        raise InputError(f"A must hold real numbers, got {A.dtype}")
    if A.shape[0] < 1:
        raise InputError("A must have at least one row, got none")
    check_size(int(A.shape[0]), "the rows of A")
    matrix = _checked_csr(A)
    source = np.repeat(np.arange(A.shape[0]), np.diff(matrix.indptr))
    weights = None if np.all(matrix.data == 1) else matrix.data
    return edges_from_index(np.stack([source, matrix.indices]), A.shape[0], weights, ids)


def _checked_csr(A: Any) -> Any:
    """Convert to CSR after a look at the arrays: scipy trusts them, and would read and write anywhere."""
    for name in ("data", "indices", "indptr"):
        if isinstance(getattr(A, name, None), np.ma.MaskedArray):
            raise InputError(f"A must be a sound sparse matrix, but its {name} are masked")
        if name != "data" and hasattr(A, name) and getattr(A, name).dtype.kind not in "iu":
            raise InputError(f"A must be a sound sparse matrix, but its {name} are {getattr(A, name).dtype}")
    try:
        if A.format in ("csr", "csc", "bsr"):
            A.check_format(full_check=True)
        elif A.format == "coo":
            A._check()
            ends = A.coords if hasattr(A, "coords") else (A.row, A.col)
            if any(len(end) != len(A.data) for end in ends):
                raise ValueError("row, column and data array must have the same length")
            for end, length in zip(ends, A.shape, strict=True):
                if len(end) and not 0 <= int(end.min()) <= int(end.max()) < length:
                    raise ValueError("a row or column lies outside of the matrix")
        matrix = A.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return matrix
    except (ValueError, IndexError, TypeError, AttributeError, OverflowError) as error:
        text = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"A must be a sound sparse matrix, but: {text:.120}") from None


def edges_from_pyg(data: Any, ids: Sequence[Hashable] | NDArray[Any] | None = None) -> Edges:
    """Return the edges of a PyG ``Data`` (``edge_index``, or the transposed ``adj_t``) or ``EdgeIndex``."""
    if hasattr(data, "node_types"):
        raise InputError(
            "data must have one type of nodes and edges, got heterogeneous data; use to_homogeneous() first"
        )
    is_index = hasattr(data, "shape")
    index = data if is_index else getattr(data, "edge_index", None)
    transposed = None if is_index else getattr(data, "adj_t", None)
    weights = None if is_index else getattr(data, "edge_weight", None)
    n = None if is_index else _num_nodes(data)
    if index is None and transposed is not None:
        target, source, weights, n = _entries(transposed)
        weights = None if weights is None or np.all(weights == 1) else weights
        return edges_from_index(np.stack([source, target]), n, weights, ids)
    if index is None:
        raise InputError(f"data must have edge_index or adj_t, got {type(data).__name__} with neither")
    if hasattr(index, "sparse_size"):
        sizes = [size for size in index.sparse_size() if size is not None]
        n = max([*sizes, *([] if n is None else [n])], default=None)
    edges = edges_from_index(index, n, weights, ids)
    return edges if is_index else _with_times_and_sides(edges, data, ids)


def _with_times_and_sides(edges: Edges, data: Any, ids: Any) -> Edges:
    """The same with what :meth:`graphreach.Graph.to_pyg` writes in addition to edges and weights."""
    times = [_tensor(data, name, len(edges.source)) for name in ("edge_time", "edge_first_time")]
    if times[0] is None or (times[1] is not None and (times[1] > times[0]).any()):
        times[1] = None
    sides = _tensor(data, "sides", len(edges.ids))
    if sides is not None:
        order = slice(None) if ids is None else np.argsort(rank_ids(check_ids(ids))[1])
        sides = np.where(np.isin(sides, (0, 1)), sides, -1).astype(np.int8)[order]
        sides = check_sides(sides, edges.source, edges.target)
    return edges._replace(time=times[0], first_time=times[1], sides=sides)


def _tensor(data: Any, name: str, size: int) -> NDArray[Any] | None:
    """Finite numbers of a ``Data``, so many; None for anything else."""
    value = getattr(data, name, None)
    if not hasattr(value, "detach"):
        return None
    array = to_numpy(value, name)
    fits = array.shape == (size,) and size > 0 and array.dtype.kind in "iuf" and bool(np.isfinite(array).all())
    return array.astype(np.float64) if fits else None


def _num_nodes(data: Any) -> int | None:
    with warnings.catch_warnings():
        # PyG warns that it guesses the number from edge_index; that guess is what we would make, too.
        warnings.simplefilter("ignore", UserWarning)
        return getattr(data, "num_nodes", None)


def _entries(adjacency: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None, int]:
    """Return rows, columns, values and size of a ``torch_sparse.SparseTensor`` or a sparse torch tensor."""
    if hasattr(adjacency, "coo"):
        rows, columns, values = adjacency.coo()
        size = max(adjacency.sparse_sizes())
        return to_numpy(rows), to_numpy(columns), None if values is None else to_numpy(values), size
    layout = str(adjacency.layout)
    if layout not in ("torch.sparse_coo", "torch.sparse_csr", "torch.sparse_csc"):
        raise InputError(f"adj_t must be a sparse tensor, got layout {layout}")
    listed = adjacency.detach().to_sparse_coo()
    rows, columns = to_numpy(listed._indices())
    return rows, columns, to_numpy(listed._values()), max(adjacency.shape[:2])
