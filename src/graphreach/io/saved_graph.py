"""A graph as one ``.npz`` file that is read back as it was: ids in their order, which edge lists would sort."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import CSR, compact
from graphreach.graph.graph import Graph
from graphreach.graph.ids import ids_array
from graphreach.graph.matching import check_saved_ids
from graphreach.io.numpy_files import load_all_arrays
from graphreach.io.writers import write_arrays

FORMAT = 1
OPTIONAL = ("weights", "time", "first_time", "sides")
"""Arrays that only some graphs have."""


def write_graph(path: Path, graph: Graph) -> None:
    """Write a graph by rename; nothing is pickled.

    Args:
        path: Ends in ``.npz``.
        graph: A graph whose ids are numbers or text.
    """
    arrays: dict[str, NDArray[Any]] = {
        "format": np.array(FORMAT),
        "directed": np.array(graph.directed),
        "hash": np.array(graph.content_hash),
        "indptr": graph.indptr,
        "indices": graph.indices,
    }
    if graph.ids.dtype.kind in "if":
        arrays["ids"] = graph.ids
    else:
        text = json.dumps(check_saved_ids(graph.ids)).encode()
        arrays["ids_as_json"] = np.frombuffer(text, np.uint8)
    arrays |= {name: value for name in OPTIONAL if (value := getattr(graph, name)) is not None}
    write_arrays(path, arrays)


def read_saved_graph(path: Path) -> Graph:
    """Read what :func:`write_graph` wrote; a file that has changed since is refused.

    Example:
        >>> import tempfile
        >>> square = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_graph(Path(folder, "graph.npz"), square)
        ...     read_saved_graph(Path(folder, "graph.npz")).content_hash == square.content_hash
        True
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    arrays = load_all_arrays(path)
    try:
        graph = _assemble(arrays)
        same = graph.content_hash == str(arrays["hash"])
    except (KeyError, ValueError, TypeError, IndexError, RecursionError, AttributeError, OverflowError):
        raise InputError(f"{path} must hold a graph that graphreach saved, but it is none or is damaged") from None
    if not same:
        raise InputError(f"{path} must hold the graph that was saved, but its content has another hash")
    return graph


def _assemble(arrays: dict[str, NDArray[Any]]) -> Graph:
    if int(arrays["format"]) != FORMAT:
        raise ValueError("another format")
    indptr, indices, weights = arrays["indptr"], arrays["indices"], arrays.get("weights")
    ids = arrays["ids"] if "ids" in arrays else ids_array(json.loads(arrays["ids_as_json"].tobytes()))
    n, entries = len(ids), len(indices)
    pointers = indptr.astype(np.int64)
    sound = len(pointers) == n + 1 and pointers[0] == 0 and pointers[-1] == entries and (np.diff(pointers) >= 0).all()
    sound = sound and (not entries or int(indices.max()) < n)
    per_entry = [arrays[name] for name in OPTIONAL[:3] if name in arrays]
    per_node = [arrays["sides"]] if "sides" in arrays else []
    if not sound or any(each.shape != (entries,) for each in per_entry) or any(len(each) != n for each in per_node):
        raise ValueError("arrays that do not fit together")
    graph = Graph(CSR(*compact(indptr, indices, weights)), ids, bool(arrays["directed"]))
    for name in OPTIONAL[1:]:
        if name in arrays:
            arrays[name].flags.writeable = False
            setattr(graph, name, arrays[name])
    return graph
