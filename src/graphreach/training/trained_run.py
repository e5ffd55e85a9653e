"""A finished run that predicts, also on a graph that has grown or changed."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from graphreach import nn
from graphreach.arguments import check_pairs, describe, to_array, to_integers, to_path
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.graph.ids import few_ids
from graphreach.graph.matching import check_anchor_ids, match_ids
from graphreach.io.model_folder import CONFIG, MODEL
from graphreach.progress import Clock
from graphreach.tasks.dataset import Sample
from graphreach.tasks.link_split import without_links
from graphreach.threads import one_torch_thread
from graphreach.training.inputs import PairReach
from graphreach.training.methods import SCORERS, find_method
from graphreach.training.model import TaskModel
from graphreach.training.plan import Plan, resolve
from graphreach.training.run_folder import HEAD, RunFolder, ids_hash, read_json
from graphreach.training.settings import FITTED, Settings

ENCODERS = ("GraphReach", "PGNN", "Neighbourhood", "MLP")


NO_PROBABILITIES = "scores are no probabilities"
"""What a run says about its scores unless they are calibrated."""

FEW_MISSING = 0.1
"""The share of anchors that a graph may lack; one may always be missing."""


class AnchorMatch(NamedTuple):
    """Where the anchors of a model are in a graph.

    Attributes:
        positions: Positions of those that the graph has, in the order of the anchors.
        columns: Which of the anchors these are.
        missing: Ids of the others.
    """

    positions: NDArray[np.int64]
    columns: NDArray[np.int64]
    missing: list[Any]

    def widen(self, z: NDArray[np.float32]) -> NDArray[np.float32]:
        """Embeddings with a column of zeros for each anchor that is missing."""
        if not self.missing:
            return z
        found, count = len(self.columns), len(self.columns) + len(self.missing)
        wide = np.zeros((len(z), z.shape[1] + len(self.missing)), z.dtype)
        wide[:, self.columns] = z[:, :found]
        wide[:, count:] = z[:, found:]
        return wide


NEW_ANCHORS = "new_anchors=True (--new-anchors) chooses anchors of its own"


def match_anchors(
    anchors: Sequence[Any], graph: Graph, *, all_needed: bool = False, remedy: str = NEW_ANCHORS
) -> AnchorMatch:
    """Where a model's anchors are in a graph; too many that are missing are refused, a few are named in a warning."""
    positions = match_ids(anchors, graph.ids)
    found = positions >= 0
    missing = [each for each, known in zip(anchors, found, strict=True) if not known]
    if missing:
        _check_missing(missing, len(anchors), all_needed, remedy)
    return AnchorMatch(positions[found], np.flatnonzero(found), missing)


def _check_missing(missing: list[Any], count: int, all_needed: bool, remedy: str) -> None:
    named = few_ids(missing)
    if all_needed:
        raise InputError(
            f"graph must have all {count} anchors that the classes were learned from, got one without {len(missing)} of"
            f" them: {named}"
        )
    if len(missing) > max(1, int(FEW_MISSING * count)) or 2 * len(missing) >= count:
        raise InputError(
            f"graph must have the anchors that the model was trained with, got one without {len(missing)} of {count}: "
            f"{named}; {remedy}"
        )
    warnings.warn(
        f"the graph lacks {len(missing)} of {count} anchors that the model was trained with: {named}; their columns of the"
        " embedding are zero",
        stacklevel=4,
    )


class TrainedModel:
    """A trained model with the settings and the anchors that it was trained with, ready for other graphs.

    Other graphs are taken for the training graph, grown or changed: the anchors stay, and only reachability is computed.
    Ids that were integers may have become text. If a few anchors are gone, a warning names them, and their columns of the
    embedding are zero. A graph without more of them is refused, unless ``new_anchors`` is given.

    Args:
        model: Encoder and head.
        settings: Settings of the run.
        anchors: Ids of the anchors; None if every graph has anchors of its own.
        new_anchors: Whether every graph gets the same number of its own anchors, for graphs that are unrelated to the
            training graph. Not for classes of nodes, which are learned from the anchors.
        ids_hash: Hash of the ids of the only nodes that the model knows, if it has a vector for each.
    """

    def __init__(
        self,
        model: TaskModel,
        settings: Settings,
        anchors: list[Any] | None,
        new_anchors: bool = False,
        ids_hash: str | None = None,
    ) -> None:
        self.model, self.settings, self.anchors = model.eval(), settings, anchors
        self.new_anchors, self.ids_hash = new_anchors, ids_hash

    @torch.no_grad()
    @one_torch_thread()
    def embed(
        self, graph: Graph, x: NDArray[np.float32] | None = None, *, new_anchors: bool | None = None
    ) -> NDArray[np.float32]:
        """Embeddings of all nodes of a graph, ``[n, d]``.

        Args:
            graph: The graph that was trained on, grown or changed.
            x: Features, if the run was trained with them.
            new_anchors: Whether anchors are chosen again; by default what :class:`TrainedModel` was given.
        """
        check_graph(graph)
        if x is not None:
            x = Sample(graph, x).x
        self.check_features(x)
        self.check_identity(graph)
        match, x = self.match(graph, new_anchors), x if self.settings.features else None
        anchors = None if match is None else match.positions
        method, plan = find_method(self.settings.method), self.plan(graph.num_nodes, x is not None)
        inputs = method.inputs(graph, x, plan, Clock(), anchors)
        z: NDArray[np.float32] = np.concatenate(list(inputs.blocks(self.model.encoder)))
        return z if match is None else match.widen(z)

    def check_features(self, x: NDArray[np.float32] | None) -> None:
        """Refuse a graph without the features that the model was trained with."""
        width = getattr(self.model.encoder, "in_channels", 0)
        if self.settings.features and width and x is None and self.settings.method == "graphreach":
            raise InputError(f"features of {width} columns must be given, as the run was trained with them, got none")

    def check_identity(self, graph: Graph) -> None:
        """Refuse other nodes than those that a run with ``identity`` learned vectors of."""
        if self.ids_hash is not None and self.ids_hash != ids_hash(graph):
            raise InputError(
                "graph must have the nodes that the run learned vectors of (identity), and no others, got other ids"
            )

    @property
    def meaning(self) -> str:
        """What scores of pairs are, as a clause."""
        return NO_PROBABILITIES

    def meaning_of(self, z: Any) -> str:
        """What scores of pairs of one graph are, given what :meth:`embed` found of it, as a clause."""
        return self.meaning

    def match(self, graph: Graph, new_anchors: bool | None = None) -> AnchorMatch | None:
        """Where the run's anchors are in a graph; None if the graph has anchors of its own.

        A run on several graphs keeps no anchors: each graph has its own, as in training.
        """
        if self.anchors is None:
            return None
        if self.new_anchors if new_anchors is None else new_anchors:
            if self.model.head is not None:
                raise InputError("new_anchors must be False for classes of nodes, which are learned from the anchors")
            return None
        return match_anchors(self.anchors, graph, all_needed=self.model.head is not None)

    def anchors_on(self, graph: Graph) -> NDArray[np.int64] | None:
        """Positions of the run's anchors that the graph has, or None if it has anchors of its own; see :meth:`match`."""
        match = self.match(graph)
        return None if match is None else match.positions

    def plan(self, num_nodes: int, attributes: bool = False) -> Plan:
        """What the run does on a graph: with as many anchors as it was trained with, no more than the graph has nodes."""
        wanted = self.settings.num_anchors if self.anchors is None else len(self.anchors)
        count = min(wanted, num_nodes) if isinstance(wanted, int) else None
        return resolve(self.settings, num_nodes, attributes, count)

    @torch.no_grad()
    @one_torch_thread()
    def score_pairs(
        self, z: NDArray[np.float32], pairs: NDArray[np.int64], graph: Graph | None = None
    ) -> NDArray[np.float32]:
        """The score between 0 and 1 of each pair ``[2, m]`` of positions; with the graph, if the decoder reads it.

        Higher means more likely, but a score is not a probability: it is not calibrated, and most pairs without a link may
        score above 0.5. The own edge of a pair is left out of the graph for its reachability, as in training.
        """
        out: NDArray[np.float32] = torch.from_numpy(self.logits(z, pairs, graph)).sigmoid().numpy()
        return out

    @torch.no_grad()
    def logits(
        self, z: NDArray[np.float32], pairs: NDArray[np.int64], graph: Graph | None = None
    ) -> NDArray[np.float32]:
        """The numbers whose sigmoid is :meth:`score_pairs`."""
        rows = _check_rows(z)
        pairs = check_pairs(pairs, len(rows))
        reach = self.pair_reach(pairs, graph)
        scores = self.model.scores(torch.from_numpy(rows), torch.from_numpy(np.ascontiguousarray(pairs)), reach)
        out: NDArray[np.float32] = scores.numpy()
        return out

    def knows(self, graph: Graph) -> NDArray[np.bool_]:
        """Which nodes of a graph can be scored: all."""
        return np.ones(graph.num_nodes, np.bool_)

    def pair_reach(self, pairs: NDArray[np.int64], graph: Graph | None) -> torch.Tensor | None:
        """The pairs' own reachability, if the decoder reads it; see :meth:`score_pairs`."""
        reader = PairReach.for_decoder(self.model.encoder.decoder)
        if reader is None:
            return None
        if graph is None:
            raise InputError("graph must be given to a run whose decoder reads the reachability of pairs, got None")
        check_graph(graph)
        seen = without_links(graph, pairs) if self.settings.task == "link" else graph
        return reader.compute(seen, pairs)

    @torch.no_grad()
    @one_torch_thread()
    def class_probabilities(self, z: NDArray[np.float32], nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """The probability of each class for some nodes, ``[m, classes]``."""
        if self.model.head is None:
            raise InputError(f"the run must be of task 'node' to predict classes, got task {self.settings.task!r}")
        rows = _check_rows(z)
        if rows.shape[1] != self.model.head.linear.in_features:
            raise InputError(f"z must be the embedding that the run made, got shape {list(rows.shape)}")
        found = to_integers("nodes", nodes)
        if found.ndim != 1 or (len(found) and not 0 <= found.min() <= found.max() < len(rows)):
            raise InputError(f"nodes must be a list of positions from 0 to {len(rows) - 1}, got {describe(nodes)}")
        out: NDArray[np.float32] = (
            self.model.scores(torch.from_numpy(rows), torch.from_numpy(np.ascontiguousarray(found))).exp().numpy()
        )
        return out


class TrainedRun(TrainedModel):
    """The model of a run's folder; see :class:`TrainedModel`.

    Args:
        folder: Folder of :func:`graphreach.training.run`.
        new_anchors: Whether every graph gets as many anchors of its own.

    Attributes:
        settings: Settings of the run.
        model: Encoder and head, in evaluation mode.
        anchors: Ids of the anchors, or None.
        new_anchors: See the argument.
    """

    def __init__(self, folder: str | Path, *, new_anchors: bool = False) -> None:
        path = to_path("folder", folder)
        settings = RunFolder(path).settings
        _refuse_without_model(path, settings)
        kind = read_json(path / MODEL / CONFIG).get("model")
        if not isinstance(kind, str) or kind not in ENCODERS:
            raise InputError(f"{path / MODEL / CONFIG} must describe one of {', '.join(ENCODERS)}, got {kind!r:.80}")
        encoder: Any = getattr(nn, kind).from_pretrained(path / MODEL)
        model = TaskModel(encoder, settings.task)
        if (path / HEAD).exists():
            model.head = nn.NodeClassifier.from_pretrained(path / HEAD)
        elif settings.task == "node":
            raise InputError(f"folder must hold {HEAD} of a run of task node, got none in {path}")
        anchors = check_anchor_ids(encoder.metadata.get("anchors"), path / MODEL / CONFIG)
        super().__init__(model, settings, anchors, new_anchors, encoder.metadata.get("ids"))


def _check_rows(z: Any) -> NDArray[np.float32]:
    """Embeddings as the model reads them."""
    rows = to_array("z", z, what="the embedding of every node, an array [n, d]")
    if rows.ndim != 2:
        raise InputError(f"z must be the embedding of every node, an array [n, d], got shape {list(rows.shape)}")
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(rows, np.float32)
    if not np.isfinite(single).all():
        raise InputError("z must hold finite 32-bit numbers, got some that are not")
    return single


def _refuse_without_model(folder: Path, settings: Settings) -> None:
    """One sentence for a run that has no model of its own, but those of its parts or none at all."""
    method = settings.method
    names = method.split("+")
    if method in SCORERS:
        raise InputError(f"folder must be of a run with a model, got {folder}, whose method {method} has none")
    if method in FITTED:
        raise InputError(
            f"folder must be of a run that embeds nodes, got {folder}, whose method {method} describes"
            f" {'nodes' if settings.task == 'node' else 'pairs'}; load_run and graphreach predict read it"
        )
    if len(names) == 1:
        return
    stored = [name for name in names if (folder / name / MODEL / "config.json").exists()]
    first = "graphreach" if "graphreach" in stored else stored[0] if stored else None
    hint = "" if first is None else f"; give the folder of one of them instead: {folder / first}"
    raise InputError(
        f"folder must be of a run of one method, got {folder}, which adds the scores of {' and '.join(names)}{hint}"
    )
