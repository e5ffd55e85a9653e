"""A trained model that scores pairs on a graph that has changed."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn.decoders import ReachDecoder
from graphreach.reachability.reachability import cheaper_method
from graphreach.tasks import Split, label_weights
from graphreach.tasks.examples import check_split
from graphreach.threads import one_torch_thread
from graphreach.training.inputs import pair_features
from graphreach.training.methods import Clock, find_method
from graphreach.training.model import TaskModel
from graphreach.training.outcome import Outcome
from graphreach.training.plan import Plan, resolve
from graphreach.training.settings import Settings
from graphreach.training.trained_run import TrainedRun, match_ids
from graphreach.walks.walk_length import resolve_walk_length


@dataclass(frozen=True, eq=False)
class Victim:
    """A pre-trained model with its anchors, which stay what they were whatever happens to the graph.

    Reachability, distances and adjacency are computed anew on the changed graph by the run's own settings. What a setting
    measured on the graph before, the walk length that is its diameter, is part of the model and stays. P-GNN's sets
    depend on the seed and the number of nodes alone, so they stay by themselves.

    Attributes:
        model: The model, in evaluation mode.
        settings: Settings of its run.
        plan: What the run does on a graph.
        anchors: Positions of its anchors, or None.
        split: The run's split.
    """

    model: TaskModel
    settings: Settings
    plan: Plan
    anchors: NDArray[np.int64] | None
    split: Split

    @classmethod
    def of(cls, run: Outcome | TrainedRun, split: Split) -> "Victim":
        """The model of a run that has just ended, or of a run's folder."""
        if not isinstance(run, TrainedRun | Outcome):
            raise InputError(f"run must be an Outcome or a TrainedRun, got {describe(run)}")
        check_split(split)
        if isinstance(run, TrainedRun):
            model, settings, anchors = run.model, run.settings, _positions(run.anchors, split.graph)
        else:
            if run.model is None or len(run.inputs) != 1:
                graphs = run.record.get("data", {}).get("graphs", 1)
                got = (
                    f"one of {graphs} graphs" if graphs != 1 else "one without its model; read its folder by TrainedRun"
                )
                raise InputError(f"run must be a trained model of one graph, got {got}")
            model, settings, anchors = run.model, Settings(**run.record["settings"]), run.inputs[0].anchors
            if run.inputs[0].num_nodes != split.graph.num_nodes:
                raise InputError(
                    f"split must be the run's, on {run.inputs[0].num_nodes} nodes, got {split.graph.num_nodes} nodes"
                )
        if settings.task == "node":
            raise InputError("run must score pairs (task link or pair), got one of task node")
        if settings.task != split.task:
            raise InputError(f"split must be of the run's task {settings.task!r}, got {split.task!r}")
        model.eval()
        return cls(model, settings, _as_trained(settings, split, anchors), anchors, split)

    @torch.no_grad()
    @one_torch_thread()
    def scores(self, graph: Graph) -> NDArray[np.float32]:
        """Logits of the split's test pairs with this graph to look at, ``[m]``."""
        split, settings, encoder = replace(self.split, graph=graph), self.settings, self.model.encoder
        seen = label_weights(split) if settings.walk_weights == "train-labels" else graph
        x = split.x if settings.features else None
        inputs = find_method(settings.method).inputs(seen, x, self.plan, Clock(), self.anchors)
        nodes, pairs = np.unique(split.test.index, return_inverse=True)
        z = inputs.embed_some(encoder, torch.from_numpy(nodes))
        decoder, reach = encoder.decoder, None
        if isinstance(decoder, ReachDecoder):
            reach = pair_features(graph, split.test.index, decoder.hops, decoder.epsilon == 1.0)
        index = torch.from_numpy(pairs.reshape(split.test.index.shape))
        out: NDArray[np.float32] = self.model.scores(z, index, reach).float().numpy()
        return out


def _positions(ids: list[Any] | None, graph: Graph) -> NDArray[np.int64] | None:
    if ids is None:
        return None
    found = match_ids(ids, graph.ids)
    if (found < 0).any():
        missing = ids[int(np.argmax(found < 0))]
        raise InputError(f"split must be on the run's graph, got one without the anchor {missing!r}")
    return found


def _as_trained(settings: Settings, split: Split, anchors: NDArray[np.int64] | None) -> Plan:
    """The plan of the run with what it leaves to the graph filled in as it was in training."""
    attributes = settings.features and split.x is not None
    plan = resolve(settings, split.graph.num_nodes, attributes, None if anchors is None else len(anchors))
    reach = plan.reachability
    if reach is None or anchors is None:
        return plan
    length = reach.hops or resolve_walk_length(split.graph, reach.walk_length)
    found: dict[str, Any] = {} if reach.hops else {"walk_length": length}
    if reach.method == "auto":
        found["method"] = cheaper_method(split.graph, len(anchors), reach.similarity, reach.num_walks, length)
    return plan.model_copy(update={"reachability": reach.model_copy(update=found)})
