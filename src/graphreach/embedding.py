"""Embeddings of a whole graph, with an honest figure of how well they find links."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_flag
from graphreach.datasets import Sample
from graphreach.errors import InputError
from graphreach.nn.presets import preset as find_preset
from graphreach.tasks.examples import check_sample
from graphreach.training.clock import Clock
from graphreach.training.engine import Engine
from graphreach.training.harness import run
from graphreach.training.inputs import WHOLE_GRAPH_NODES, Inputs
from graphreach.training.methods import METHODS
from graphreach.training.model import TaskModel
from graphreach.training.record import peak_memory, versions
from graphreach.training.settings import Settings

HELD_OUT_LINKS = 50_000
APART_NODES = 10_000
"""Nodes up to which the steps of exact reachability are kept apart."""

TOGETHER_LENGTH = 10
"""Jumps of a walk where steps are taken together; on validation links of Cora better than 4."""

MOST_ANCHORS = 128
"""Anchors, and width of the embedding, of graphs beyond that, unless asked for otherwise."""

COMPARED = ("common-neighbours", "node2vec")
COMPARED_EDGES = 1_000_000
"""Edges beyond which node2vec is run only if asked for."""


@dataclass
class GraphEmbedding:
    """Embeddings to be had block by block.

    Attributes:
        model: The trained model.
        inputs: What it reads of the whole graph.
        settings: Of the training.
        auc: Of the held-out links, by method.
        held_out_links: How many there were.
        clock: Times by phase.
        cluster: Workers, cores and nodes that trained it, or None.
    """

    model: TaskModel
    inputs: Inputs
    settings: Settings
    auc: dict[str, float]
    held_out_links: int
    clock: Clock
    cluster: dict[str, Any] | None = None

    @property
    def width(self) -> int:
        """Columns of the embedding."""
        encoder: Any = self.model.encoder
        return int(self.inputs.structure.width + encoder.local_channels)

    def blocks(self) -> Iterator[NDArray[np.float32]]:
        """Embeddings of all nodes in order, some rows at a time."""
        return self.inputs.blocks(self.model.encoder)

    def write_parts(self, folder: Path, ids: NDArray[Any], address: str | None = None) -> list[Path]:
        """Embed all nodes by :func:`graphreach.cluster.inference.write_embeddings`, which writes a data set."""
        from graphreach.cluster.inference import write_embeddings

        return write_embeddings(self.model.encoder, self.inputs, ids, folder, address=address)

    def record(self, name: str, reading: float, total: float) -> dict[str, Any]:
        """Everything worth keeping about it, as plain values."""
        found = {
            "graph": name,
            "nodes": self.inputs.num_nodes,
            "width": self.width,
            "auc": self.auc,
            "held_out_links": self.held_out_links,
            "seconds": {"reading": reading, **self.clock.seconds, "total": total},
            "peak_memory": peak_memory(),
            "settings": self.settings.model_dump(mode="json"),
            "versions": versions(),
        }
        return found if self.cluster is None else found | {"cluster": self.cluster}


def embed_graph(
    sample: Sample,
    config: Path | None = None,
    changes: list[str] | None = None,
    compare: bool | None = None,
    say: Callable[[str], None] = lambda text: None,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    **values: Any,
) -> GraphEmbedding:
    """Train GraphReach on the links of a graph and make it ready to embed the whole graph.

    Args:
        sample: Graph and features.
        config: A YAML file of settings.
        changes: Settings as ``key=value``.
        compare: Whether to score the held-out links by common neighbours and node2vec too; by default on graphs of up to
            a million edges.
        say: Told of each phase.
        engine, address, workers: Where it is trained, see :func:`graphreach.training.run`.
        values: Other settings.
    """
    graph = check_sample(sample).graph
    if compare is not None:
        check_flag("compare", compare)
    if graph.num_edges < 10:
        raise InputError(f"graph must have at least 10 edges to train and hold some out, got {graph.num_edges}")
    settings = _settings(graph.num_nodes, graph.num_edges, config, [] if changes is None else changes, values)
    if settings.method != "graphreach":
        raise InputError(f"method must be graphreach, as embed makes its embeddings, got {settings.method!r}")
    outcome = run(sample, settings, engine=engine, address=address, workers=workers)
    if outcome.model is None:
        raise RuntimeError("a trained method has a model")
    clock = Clock(outcome.record["seconds"])
    auc = {settings.method: outcome.test["auc"]}
    say(f"AUC of held-out links {auc[settings.method]:.4f}, chosen at epoch {outcome.record['best_epoch']}")
    if graph.num_edges <= COMPARED_EDGES if compare is None else compare:
        for name in COMPARED:
            with clock.phase(name):
                auc[name] = run(sample, settings.model_copy(update={"method": name, "model": {}})).test["auc"]
    anchors = outcome.inputs[0].anchors
    held_out = int((outcome.record["test_examples"]) // 2)
    outcome.inputs.clear()
    with clock.phase("whole graph"):
        x = sample.x if settings.features else None
        place = Engine.make(engine, address, workers).place
        inputs = METHODS[settings.method].inputs(graph, x, settings, Clock(), anchors, **place)
    return GraphEmbedding(outcome.model, inputs, settings, auc, held_out, clock, outcome.record.get("cluster"))


def standalone(num_nodes: int, preset: str = "best") -> dict[str, Any]:
    """Settings for embeddings that say all there is to say: pairs are scored by them alone.

    Beyond :data:`APART_NODES` nodes reachability is sampled and its steps are taken together, as exact steps of every node
    and anchor take long and much memory; beyond :data:`WHOLE_GRAPH_NODES` training is in pieces.

    Example:
        >>> standalone(100)
        {'model': {'decoder': 'scaled'}}
    """
    chosen = find_preset(preset)
    model = {"decoder": chosen.model.get("decoder", "dot")}
    settings: dict[str, Any] = {"model": model}
    if num_nodes > APART_NODES:
        settings |= {"num_anchors": MOST_ANCHORS, "epochs": 200, "patience": 50, "evaluate_every": 5}
        if chosen.model.get("hops"):
            large = num_nodes > WHOLE_GRAPH_NODES
            length, scale = (chosen.model["hops"], "log") if large else (TOGETHER_LENGTH, "counts")
            settings |= {"reachability": {"method": "walks", "hops": None, "walk_length": length}, "scale": scale}
            model["hops"] = None
    if num_nodes > WHOLE_GRAPH_NODES:
        settings |= {"epochs": 30, "patience": 8, "evaluate_every": 1, "drop_after": 20, "pairs_per_epoch": 1 << 18}
    return settings


def _settings(
    num_nodes: int, num_edges: int, config: Path | None, changes: list[str], values: dict[str, Any]
) -> Settings:
    given = Settings.read(config, changes, **values)
    chosen = {name: getattr(given, name) for name in given.model_fields_set}
    share = min(0.1, HELD_OUT_LINKS / num_edges)
    defaults: dict[str, Any] = {
        "task": "link", "protocol": "clean", "fractions": (1 - 2 * share, share, share), "epochs": 300, "patience": 100,
    }  # fmt: skip
    defaults |= standalone(num_nodes, given.preset)
    for group in ("model", "reachability"):
        if group in chosen:
            chosen[group] = {**defaults.get(group, {}), **chosen[group]}
    return Settings.make(**{**defaults, **chosen})
