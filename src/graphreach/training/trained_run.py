"""A finished run, ready to predict."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphreach import nn
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn.decoders import ReachDecoder
from graphreach.nn.node_classifier import NodeClassifier
from graphreach.tasks.link_split import without_links
from graphreach.threads import one_torch_thread
from graphreach.training.clock import Clock
from graphreach.training.methods import find_method
from graphreach.training.model import TaskModel
from graphreach.training.outcome import SETTINGS
from graphreach.training.pair_reach import pair_features
from graphreach.training.record import read_json
from graphreach.training.run_folder import HEAD, MODEL
from graphreach.training.scorers import SCORERS
from graphreach.training.settings import Settings

ENCODERS = {"GraphReach": nn.GraphReach, "PGNN": nn.PGNN, "Neighbourhood": nn.Neighbourhood, "MLP": nn.MLP}


class TrainedRun:
    """The model of a run's folder.

    A graph that has all anchors' ids is taken for the graph that was trained on, grown or changed: the anchors stay, and
    only reachability is computed. Any other graph gets as many anchors of its own.

    Args:
        folder: Of :func:`graphreach.training.run`.

    Attributes:
        settings: Of the run.
        model: Encoder and head, in evaluation mode.
        anchors: Ids of the anchors, or None.
    """

    def __init__(self, folder: str | Path) -> None:
        path = Path(folder)
        self.settings = Settings.make(**read_json(path / SETTINGS))
        _refuse_without_model(path, self.settings.method)
        kind = read_json(path / MODEL / "config.json").get("model")
        if kind not in ENCODERS:
            raise InputError(f"{path / MODEL} must hold one of {', '.join(ENCODERS)}, got {kind!r}")
        encoder: Any = ENCODERS[kind].from_pretrained(path / MODEL)  # type: ignore[attr-defined]
        self.anchors: list[Any] | None = encoder.metadata.get("anchors")
        self.model = TaskModel(encoder, self.settings.task)
        if (path / HEAD).exists():
            self.model.head = NodeClassifier.from_pretrained(path / HEAD)
        self.model.eval()

    @torch.no_grad()
    @one_torch_thread()
    def embed(self, graph: Graph, x: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Embeddings of all nodes of a graph, ``[n, d]``."""
        self.check_features(x)
        settings, anchors = self.settings_on(graph), self.anchors_on(graph)
        method = find_method(settings.method)
        inputs = method.inputs(graph, x if settings.features else None, settings, Clock(), anchors)
        return np.concatenate(list(inputs.blocks(self.model.encoder)))

    def check_features(self, x: NDArray[np.float32] | None) -> None:
        """Refuse a graph without the features that the model was trained with."""
        width = getattr(self.model.encoder, "in_channels", 0)
        if self.settings.features and width and x is None and self.settings.method == "graphreach":
            raise InputError(f"features of {width} columns must be given, as the run was trained with them, got none")

    def anchors_on(self, graph: Graph) -> NDArray[np.int64] | None:
        """Positions of the run's anchors, or None if the graph lacks one of them."""
        if self.anchors is None or not set(self.anchors) <= set(graph.ids.tolist()):
            return None
        return np.asarray(graph.index_of(np.array(self.anchors, dtype=graph.ids.dtype)), np.int64)

    def settings_on(self, graph: Graph) -> Settings:
        """The run's settings; on a graph without the run's anchors, with as many of its own.

        A run on several graphs keeps no anchors: each graph has its own, no more than it has nodes, as in training.
        """
        wanted = self.settings.num_anchors if self.anchors is None else len(self.anchors)
        if not isinstance(wanted, int) or self.anchors_on(graph) is not None:
            return self.settings
        return self.settings.model_copy(update={"num_anchors": min(wanted, graph.num_nodes)})

    @torch.no_grad()
    @one_torch_thread()
    def score_pairs(
        self, z: NDArray[np.float32], pairs: NDArray[np.int64], graph: Graph | None = None
    ) -> NDArray[np.float32]:
        """The probability of each pair ``[2, m]`` of positions; with the graph, if the decoder reads its reachability.

        Links that are in the graph are left out of it for their own reachability, as they were in training.
        """
        reach = self.pair_reach(pairs, graph)
        scores = self.model.scores(torch.from_numpy(z), torch.from_numpy(np.ascontiguousarray(pairs)), reach)
        out: NDArray[np.float32] = scores.sigmoid().numpy()
        return out

    def pair_reach(self, pairs: NDArray[np.int64], graph: Graph | None) -> torch.Tensor | None:
        """The pairs' own reachability, if the decoder reads it; see :meth:`score_pairs`."""
        decoder = self.model.encoder.decoder
        if not isinstance(decoder, ReachDecoder):
            return None
        if graph is None:
            raise InputError("graph must be given to a run whose decoder reads the reachability of pairs, got None")
        seen = without_links(graph, pairs) if self.settings.task == "link" else graph
        return pair_features(seen, pairs, decoder.hops, decoder.epsilon == 1.0)

    @torch.no_grad()
    @one_torch_thread()
    def class_probabilities(self, z: NDArray[np.float32], nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """The probability of each class for some nodes, ``[m, classes]``."""
        if self.model.head is None:
            raise InputError(f"the run must be of task 'node' to predict classes, got task {self.settings.task!r}")
        out: NDArray[np.float32] = self.model.scores(torch.from_numpy(z), torch.from_numpy(nodes)).exp().numpy()
        return out


def _refuse_without_model(folder: Path, method: str) -> None:
    """One sentence for a run that has no model of its own, but those of its parts or none at all."""
    names = method.split("+")
    if method in SCORERS:
        raise InputError(f"folder must be of a run with a model, got {folder}, whose method {method} has none")
    if len(names) == 1:
        return
    stored = [name for name in names if (folder / name / MODEL / "config.json").exists()]
    first = "graphreach" if "graphreach" in stored else stored[0] if stored else None
    hint = "" if first is None else f"; give the folder of one of them instead: {folder / first}"
    raise InputError(
        f"folder must be of a run of one method, got {folder}, which adds the scores of {' and '.join(names)}{hint}"
    )
