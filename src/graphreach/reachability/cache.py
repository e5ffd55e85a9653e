"""Reachability on disk, found again by the graph's content and every parameter."""

import hashlib
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphreach.arguments import to_path
from graphreach.errors import InputError
from graphreach.io.files import replacing
from graphreach.reachability.result import Reachability
from graphreach.walks.engine import AnyGraph

FORMAT = 2
"""Raised whenever the same parameters give other numbers than before, or are stored in another way."""

CSR_PARTS = ("data", "indices", "indptr", "shape")

PARAMETERS = ("method", "similarity", "num_walks", "walk_length", "hops", "seed")


def cached(
    cache: str | Path | bool | None,
    graph: AnyGraph,
    anchors: NDArray[np.int64],
    layout: str,
    parameters: dict[str, Any],
    compute: Callable[[], Reachability],
) -> Reachability:
    """The result from ``cache`` if it is there and sound, else computed and stored.

    A cache that cannot be read or written, say on a full disk, is warned of: the result is there without it.
    """
    if cache is None or cache is False:
        return compute()
    if not isinstance(cache, str | Path | bool):
        raise InputError(f"cache must be a folder, True or None, got {cache!r:.80}")
    folder = user_cache() if cache is True else to_path("cache", cache)
    path = folder / f"{cache_key(graph, anchors, layout, parameters)}.npz"
    try:
        return check_result(load_npz(path), graph, anchors, layout, parameters)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except Exception as error:  # a damaged archive can fail in many ways; each is reported and mended
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        warnings.warn(f"cache file {path.name} is not readable ({reason}); it is computed anew", stacklevel=3)
    result = compute()
    try:
        save_npz(result, path)
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        warnings.warn(f"the result is not kept in the cache {folder}: {reason}", stacklevel=3)
    return result


def check_result(
    result: Reachability, graph: AnyGraph, anchors: NDArray[np.int64], layout: str, parameters: dict[str, Any]
) -> Reachability:
    """Return ``result`` if it is what its key promises."""
    shape: tuple[int, ...] = (graph.num_nodes, len(anchors))
    if parameters["hops"] is not None:
        hops = parameters["hops"]
        shape = (*shape, hops) if layout == "dense" else (shape[0], shape[1] * hops)
    if not np.array_equal(result.anchors, anchors) or any(
        getattr(result, name) != parameters[name] for name in parameters
    ):
        raise ValueError("it holds a result for other parameters")
    for matrix in (result.to_anchors, result.from_anchors):
        if result.layout != layout or matrix.shape != shape or matrix.dtype != np.float32:
            raise ValueError(
                f"it holds {matrix.dtype} of shape {list(matrix.shape)}, expected float32 of {list(shape)}"
            )
    return result


def user_cache() -> Path:
    """``GRAPHREACH_CACHE``, or ``graphreach`` in the user's cache folder."""
    chosen = os.environ.get("GRAPHREACH_CACHE")
    if chosen:
        return Path(chosen) / "reachability"
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        raise InputError("cache must be a folder where there is no home folder, got True") from None
    return Path(home) / "graphreach" / "reachability"


def cache_key(graph: AnyGraph, anchors: NDArray[np.int64], layout: str, parameters: dict[str, Any]) -> str:
    """A hash of everything that the result depends on."""
    text = json.dumps({"format": FORMAT, "graph": graph.content_hash, "layout": layout, **parameters}, sort_keys=True)
    return hashlib.sha256(text.encode() + np.ascontiguousarray(anchors, "<i8").tobytes()).hexdigest()


def save_npz(result: Reachability, path: str | Path) -> None:
    """Write ``result`` to a new file next to ``path`` and rename it, so that a reader never meets half a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {"anchors": result.anchors, **result_arrays(result)}
    with replacing(path) as partial, partial.open("wb") as file:
        np.savez(file, checksum=np.array(checksum(arrays)), **arrays)


def checksum(arrays: dict[str, Any]) -> str:
    """A hash of the arrays' names, types, shapes and numbers."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def result_arrays(result: Reachability) -> dict[str, Any]:
    """Both matrices and the parameters as arrays that load without pickle."""
    arrays: dict[str, Any] = {}
    for name in ("to_anchors", "from_anchors"):
        matrix = getattr(result, name)
        if result.layout == "dense":
            arrays[name] = matrix
        else:
            arrays |= {f"{name}_{part}": getattr(matrix, part) for part in CSR_PARTS}
    arrays["parameters"] = np.array(json.dumps({name: getattr(result, name) for name in PARAMETERS}))
    return arrays


def load_npz(path: str | Path) -> Reachability:
    """Read what :func:`save_npz` wrote; nothing is unpickled, and checksums of archive and content are verified."""
    with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    if str(arrays.pop("checksum")) != checksum(arrays):
        raise ValueError("its content is not what was written")
    for name in ("to_anchors", "from_anchors"):
        if name not in arrays:
            data, indices, indptr, shape = (arrays.pop(f"{name}_{part}") for part in CSR_PARTS)
            arrays[name] = csr_array((data, indices, indptr), shape=tuple(shape))
    parameters = json.loads(str(arrays.pop("parameters")))
    return Reachability(**arrays, **parameters)
