"""Vectors as a folder: arrays in safetensors, everything else in JSON, nothing pickled."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from graphreach.errors import InputError
from graphreach.graph.ids import ids_array
from graphreach.graph.matching import check_anchor_ids, check_saved_ids
from graphreach.nn.pair_head import PairHead
from graphreach.nn.pretrained import Pretrained
from graphreach.nn.skip_gram import SkipGram
from graphreach.pairs.attributes import AttributeScaling
from graphreach.vectors.fitted import Fitted
from graphreach.vectors.link_scorer import HIDDEN, LinkScorer
from graphreach.vectors.near import FactorPart
from graphreach.vectors.node_vectors import WALK_DIM, WALKS, AttributePart, NodeVectors, VectorOptions
from graphreach.vectors.positions import PositionPart, PositionVectors
from graphreach.vectors.reduce import Axes


class SavedVectors(Pretrained, nn.Module):
    """Arrays with names, as a model that can be saved and loaded with checksums.

    Args:
        shapes: The shape of each array.
        in_channels: Columns that the head of links reads; 0 without one.
        doubles: Names of the arrays of double precision.

    Example:
        >>> SavedVectors({"near": [3, 2]}).arrays()["near"].shape
        (3, 2)
    """

    def __init__(self, shapes: dict[str, list[int]], in_channels: int = 0, doubles: Sequence[str] = ()) -> None:
        super().__init__()
        self._keep_config({"shapes": shapes, "in_channels": in_channels, "doubles": list(doubles)})
        self.names = list(shapes)
        for number, (name, shape) in enumerate(shapes.items()):
            precision = torch.float64 if name in doubles else torch.float32
            self.register_buffer(f"array_{number}", torch.zeros(shape, dtype=precision))
        self.head = PairHead(in_channels, HIDDEN) if in_channels else None

    def arrays(self) -> dict[str, Any]:
        """The arrays by name."""
        return {name: getattr(self, f"array_{number}").numpy() for number, name in enumerate(self.names)}


def save_fitted(folder: str | Path, fitted: Fitted, parameters: dict[str, Any]) -> None:
    """Write all that was fitted.

    Args:
        folder: Is made if it is missing.
        fitted: What was fitted.
        parameters: Plain values of the estimator's arguments.
    """
    vectors = fitted.vectors
    arrays = {"rows": vectors.rows, "degree": vectors.degree}
    options: dict[str, Any] | None = None
    if isinstance(vectors, NodeVectors):
        arrays, options = vector_arrays(vectors), asdict(vectors.options)
    save_vectors(
        folder, arrays, fitted.scorer, estimator=parameters, ids=check_saved_ids(fitted.ids),
        anchors=check_saved_ids(fitted.anchors), anchor_positions=vectors.anchors.tolist(), options=options,
    )  # fmt: skip


def load_fitted(folder: Path) -> tuple[Fitted, dict[str, Any]]:
    """What :func:`save_fitted` wrote: what was fitted, and the arguments of the estimator."""
    arrays, scorer, found = load_vectors(folder)
    try:
        ids, anchors = (check_anchor_ids(found[name], folder) for name in ("ids", "anchors"))
        at = [int(place) for place in found["anchor_positions"]]
        vectors: NodeVectors | PositionVectors = (
            PositionVectors(arrays["rows"], np.array(at, np.int64), arrays["degree"].astype(np.float64))
            if found["options"] is None
            else vectors_from(arrays, found["options"], at)
        )
        if ids is None or len(ids) != len(vectors.rows):
            raise InputError(f"it has {len(vectors.rows)} vectors for {len(ids or [])} ids")
        parameters = dict(found["estimator"])
    except (InputError, KeyError, TypeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{folder} must hold a saved GraphReachEmbedding, but {reason}") from None
    return Fitted(vectors, scorer, ids_array(ids), ids_array(anchors or [])), parameters


def save_vectors(folder: str | Path, arrays: dict[str, Any], scorer: LinkScorer, **metadata: Any) -> None:
    """Write arrays and a scorer of links.

    Args:
        folder: Is made if it is missing.
        arrays: Arrays by name; those that are not of double precision are written in single.
        scorer: The scorer.
        metadata: Plain values to keep with them.
    """
    width = 0 if scorer.head is None else scorer.head.in_channels
    doubles = [name for name, value in arrays.items() if value.dtype == np.float64]
    saved = SavedVectors({name: list(value.shape) for name, value in arrays.items()}, width, doubles)
    for number, (name, value) in enumerate(arrays.items()):
        precision = np.float64 if name in doubles else np.float32
        setattr(saved, f"array_{number}", torch.from_numpy(np.array(value, precision, order="C")))
    saved.head = scorer.head
    saved.save_pretrained(folder, auc=None if math.isnan(scorer.auc) else scorer.auc, links=scorer.links, **metadata)


def load_vectors(folder: Path) -> tuple[dict[str, Any], LinkScorer, dict[str, Any]]:
    """What :func:`save_vectors` wrote: arrays, the scorer and metadata."""
    saved = SavedVectors.from_pretrained(folder)
    found: dict[str, Any] = saved.metadata  # type: ignore[assignment]
    auc = found.get("auc")
    scorer = LinkScorer(saved.head, math.nan if auc is None else float(auc), int(found.get("links", 0)))
    return saved.arrays(), scorer, found


def vector_arrays(vectors: NodeVectors) -> dict[str, Any]:
    """All arrays that vectors are made of, by name."""
    found: dict[str, Any] = {
        **{f"near.{name}": value for name, value in vectors.near._asdict().items()},
        **{f"outline.{name}": value for name, value in vectors.outline._asdict().items()},
        "walks.source": vectors.walks.embedding_, "walks.context": vectors.walks.context_, "degree": vectors.degree,
    }  # fmt: skip
    for number, (place, axes) in enumerate(zip(vectors.places, vectors.axes, strict=True)):
        found |= {
            f"place.{number}.rows": place.rows, f"place.{number}.mean": place.axes.mean,
            f"place.{number}.axes": place.axes.axes, f"half.{number}.mean": axes.mean, f"half.{number}.axes": axes.axes,
            f"half.{number}.rows": vectors.halves[number],
        }  # fmt: skip
    for side, parts in enumerate(vectors.parts):
        found |= {f"part.{side}.{number}": part for number, part in enumerate(parts)}
    if vectors.attributes is not None:
        own = vectors.attributes
        found |= {"attributes.rows": own.rows, "attributes.axes": own.axes}
        found |= {"attributes.mean": own.scaling.mean, "attributes.scale": own.scaling.scale}
    return found


def vectors_from(arrays: dict[str, Any], options: dict[str, Any], anchors: list[int]) -> NodeVectors:
    """Vectors from what :func:`vector_arrays` named."""
    chosen = VectorOptions(**options)
    sides = 2 if chosen.directed else 1
    try:
        walks = SkipGram(dim=min(chosen.dim, WALK_DIM), directed=chosen.directed, seed=chosen.seed, **WALKS)
        walks.embedding_, walks.context_ = arrays["walks.source"], arrays["walks.context"]
        walks.directed_ = chosen.directed
        places = [
            PositionPart(arrays[f"place.{k}.rows"], Axes(arrays[f"place.{k}.mean"], arrays[f"place.{k}.axes"]))
            for k in range(sides)
        ]
        attributes = None
        if "attributes.rows" in arrays:
            scaling = AttributeScaling(arrays["attributes.mean"], arrays["attributes.scale"])
            attributes = AttributePart(arrays["attributes.rows"], arrays["attributes.axes"], scaling)
        near, outline = (
            FactorPart(*(arrays[f"{part}.{name}"] for name in FactorPart._fields)) for part in ("near", "outline")
        )
        found = NodeVectors(
            chosen, np.array(anchors, np.int64), near, outline, places, walks, attributes,
            arrays["degree"].astype(np.float64),
            [Axes(arrays[f"half.{k}.mean"], arrays[f"half.{k}.axes"]) for k in range(sides)],
        )  # fmt: skip
        found.halves = [arrays[f"half.{k}.rows"] for k in range(sides)]
        count = 4 if attributes is None else 5
        found.parts = [[arrays[f"part.{side}.{number}"] for number in range(count)] for side in range(sides)]
    except KeyError as error:
        raise InputError(f"a saved embedding must hold the array {error.args[0]!r}, got none") from None
    return found
