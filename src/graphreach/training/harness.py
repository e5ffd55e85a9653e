"""A run from data and settings to metrics, on disk if a folder is given."""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from graphreach.arguments import check_flag
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.matching import check_saved_ids
from graphreach.io.model_folder import MODEL
from graphreach.io.records import peak_memory, versions
from graphreach.progress import Clock
from graphreach.tasks import Split, check_leaks, label_weights, split_dataset
from graphreach.tasks.dataset import Dataset, Sample
from graphreach.threads import one_torch_thread
from graphreach.training.inputs import Batch, Inputs, PairReach, make_batches, side_by_side
from graphreach.training.methods import METHODS, SCORERS, Method, Scorer
from graphreach.training.model import Scores, TaskModel, evaluate, measure
from graphreach.training.outcome import Outcome, fuse
from graphreach.training.plan import Plan, check_labels, check_run, resolve, shared
from graphreach.training.run_folder import HEAD, RunFolder, describe_content, ids_hash
from graphreach.training.settings import FITTED, Settings, SplitSettings
from graphreach.training.trainer import Trainer
from graphreach.walks.engine import Engine, Local, find_engine


def run(
    data: Dataset | Sample, settings: Settings, folder: str | Path | None = None, *, tensorboard: bool = False,
    check: bool = True, walk_graph: Callable[[Split], Graph] | None = None,
    engine: Engine | str = "local", source: dict[str, Any] | None = None,
) -> Outcome:  # fmt: skip
    """Split, train, choose by validation, score the test examples once.

    Args:
        data: A data set, or one graph with features and labels.
        settings: All that decides the result. Methods joined by ``+`` are trained separately, and their scores are
            added with a weight chosen on validation (:class:`graphreach.nn.LateFusion`).
        folder: Where checkpoint, model and ``record.json`` go. A finished run there is not repeated, and an interrupted
            one continues and ends with the same metrics. A run with other settings or other data is refused before anything
            is written, and so is a folder that another process trains in.
        tensorboard: Whether to write curves for TensorBoard to the folder.
        check: Whether to check the split for leaks and refuse it if there are any.
        walk_graph: A function from a split to the graph that the model reads instead of ``split.graph``, for example with
            other edge weights. This graph is not checked for leaks.
        engine: ``"local"``, ``"ray"``, or an engine such as :class:`graphreach.cluster.Ray`, whose workers share the steps.
            The losses are the same up to rounding, and a run may continue with the other engine. The folder must be on
            storage that all nodes share.
        source: How to read the data again: plain values, which are kept as ``source.json`` in the folder.

    Example:
        >>> import graphreach as gr
        >>> grid = gr.datasets.load("grid")
        >>> outcome = run(grid, Settings(method="common-neighbours"))
        >>> sorted(outcome.test)[:2]
        ['ap', 'auc']
    """
    dataset = data if isinstance(data, Dataset) else Dataset("graph", (data,))
    home = None if folder is None else RunFolder(folder)
    if not isinstance(settings, Settings):
        raise InputError(f"settings must be Settings, got {type(settings).__name__}")
    for name, flag in (("tensorboard", tensorboard), ("check", check)):
        check_flag(name, flag)
    check_run(settings, len(dataset.samples))
    check_labels(settings, dataset.several_labels)
    where = find_engine(engine)
    if home is not None:
        home.check_same_settings(settings)
    trains = settings.method in METHODS and not (home is not None and home.finished)
    with where.ready() if trains else nullcontext():
        cut = _Cut.make(dataset, settings, walk_graph)

        def go() -> Outcome:
            if "+" not in settings.method:
                return _Run(cut, settings, home, tensorboard, check, where).outcome()
            places = {name: None if home is None else home.path / name for name in settings.method.split("+")}
            options: dict[str, Any] = {"check": check, "walk_graph": walk_graph, "engine": where}
            outcomes = {name: run(dataset, settings.part(name), place, **options) for name, place in places.items()}
            return fuse(settings, cut.splits, outcomes)

        return go() if home is None else _run_in_folder(home, settings, cut.content, source, go)


def _run_in_folder(
    home: RunFolder,
    settings: Settings,
    content: dict[str, Any],
    source: dict[str, Any] | None,
    go: Callable[[], Outcome],
) -> Outcome:
    """The run that is there if it has ended, else what ``go`` finds, with no other process in the folder."""
    home.check_same_content(content, source)
    if home.finished and not home.has_other_source(source):
        return home.outcome()
    with home.locked():
        home.check_same_settings(settings)  # another process may have been in the folder until now
        home.check_same_content(content, source)
        home.start(settings, content, source)
        if home.finished:
            return home.outcome()
        outcome = go()
        home.save(outcome)
        return outcome


class _Cut(NamedTuple):
    """A data set cut for its task.

    Attributes:
        dataset: The data set.
        splits: One for each graph.
        walked: The graphs that a model reads instead of the splits' own, or None.
        content: Hashes and sizes of all of it.
        seconds: What it took.
    """

    dataset: Dataset
    splits: list[Split]
    walked: list[Graph] | None
    content: dict[str, Any]
    seconds: dict[str, float]

    @classmethod
    def make(cls, dataset: Dataset, settings: Settings, walk_graph: Callable[[Split], Graph] | None) -> "_Cut":
        clock = Clock()
        with clock.phase("split"):
            splits = make_splits(dataset, settings)
        if settings.walk_weights == "train-labels":
            walk_graph = label_weights
        walked = None
        if walk_graph is not None and settings.method in METHODS:
            walked = [walk_graph(split) for split in splits]
        return cls(dataset, splits, walked, describe_content(dataset, splits, walked), clock.seconds)


class _Run:
    """One method on one data set."""

    def __init__(
        self, cut: _Cut, settings: Settings, home: RunFolder | None, tensorboard: bool, check: bool, engine: Engine
    ) -> None:
        self.engine, self.folder = engine, None if home is None else home.path
        self.cut, self.dataset, self.splits = cut, cut.dataset, cut.splits
        self.settings, self.tensorboard = settings, tensorboard
        self.clock = Clock(cut.seconds)
        self.leaks = [str(check_leaks(split)) for split in self.splits] if check else []

    @one_torch_thread()
    def outcome(self) -> Outcome:
        name = self.settings.method
        if name in FITTED:
            return self._fit()
        return self._score() if name in SCORERS else self._train(METHODS[name])

    def _score(self) -> Outcome:
        with self.clock.phase("scoring"):
            found, scores = self._judge(self._scorer(split) for split in self.splits)
        return Outcome(self._record(found, self.clock.seconds), scores)

    def _scorer(self, split: Split) -> Scorer:
        scorer = SCORERS[self.settings.method](split, self.settings)
        if self.folder is not None and len(self.splits) == 1:
            from graphreach.training.loaded_run import save_vectors

            save_vectors(scorer, split.graph, self.folder)
        return scorer

    def _judge(
        self, scorers: Iterable[Scorer], parts: Sequence[str] = ("val", "test")
    ) -> tuple[dict[str, dict[str, float]], dict[str, Scores]]:
        """Metrics and scores of validation and test by one function per graph that scores its pairs."""
        scores: dict[str, Scores] = {part: [] for part in parts}
        ranked: dict[str, Scores] = {part: [] for part in parts}
        for split, scorer in zip(self.splits, scorers, strict=True):
            for part, own in scores.items():
                examples = getattr(split, part)
                pairs = examples.candidate_pairs
                own.append(scorer(examples.index) if len(examples.label) else None)
                ranked[part].append(None if pairs is None else scorer(pairs).reshape(examples.candidates.shape[:2]))
        return {part: measure(self.splits, own, part, ranked[part]) for part, own in scores.items()}, scores

    def _fit(self) -> Outcome:
        """What is computed of the graphs, and one head on all pairs or a linear model of the nodes' classes."""
        return self._fit_nodes() if self.settings.task == "node" else self._fit_pairs()

    def _fit_nodes(self) -> Outcome:
        from graphreach.training.class_run import fit_nodes, save_classes

        scorer, chances = fit_nodes(self.splits[0], self.settings, self.clock)
        found, scores = self._judge([chances.__getitem__])
        if self.folder is not None:
            save_classes(scorer, self.settings, self.folder)
        record = self._record(found, self.clock.seconds) | {
            "losses": scorer.losses,
            "shares": scorer.shares,
            "parameters": sum(scorer.model.weight(name).numel() for name in scorer.model.config["widths"])
            + scorer.model.bias.numel(),
        }
        return Outcome(record, scores)

    def _fit_pairs(self) -> Outcome:
        from graphreach.training.reach_run import calibration, fit_splits, save_scorer

        scorer, known = fit_splits(self.splits, self.settings, self.clock)
        with self.clock.phase("scoring"):
            score = [partial(scorer.score, own) for own in known]
            found, scores = self._judge(score, ("val",))
            change = scorer.calibrate_again(scores["val"], [split.val.label for split in self.splits])
            scores["val"] = [None if own is None else change(own) for own in scores["val"]]
            test, tested = self._judge(score, ("test",))
        if self.folder is not None:
            save_scorer(scorer, self.settings, self.folder)
        record = self._record(found | test, self.clock.seconds) | {
            "recipe": scorer.recipe.as_dict(),
            "prior": scorer.prior,
            "calibration": calibration(scorer, self.splits, scores | tested),
            "training_auc": scorer.auc,
            "parameters": sum(each.numel() for each in scorer.head.parameters()),
        }
        return Outcome(record, scores | tested)

    def _train(self, method: Method) -> Outcome:
        settings = self.settings
        graphs = [split.graph for split in self.splits] if self.cut.walked is None else self.cut.walked
        inputs = [self._inputs(method, *pair) for pair in zip(self.splits, graphs, strict=True)]
        model = self._model(method, inputs)
        batches = self._batches(model, inputs)
        trainer = Trainer(model, batches, settings, self.folder, _refresh(method, settings), self._writer())
        try:
            cluster = self.engine.train(trainer)
        except KeyboardInterrupt:
            self._save(model, inputs)
            raise
        progress = trainer.progress
        with trainer.clock.phase("evaluation"):
            val, val_scores = evaluate(model, batches, "val")
        with trainer.clock.phase("inference"):
            test, test_scores = evaluate(model, batches, "test")
        self._save(model, inputs)
        seconds = {**self.clock.seconds, **trainer.clock.seconds}
        record = self._record({"val": val, "test": test}, seconds) | {
            "best_epoch": progress.best_epoch or progress.epoch,
            "epochs": progress.epoch,
            "training_loss": progress.losses[(progress.best_epoch or progress.epoch) - 1],
            "history": progress.history,
            "parameters": sum(each.numel() for each in model.parameters()),
        }
        if cluster is not None:
            record["cluster"] = cluster
        place = {id(split): i for i, split in enumerate(split for batch in batches for split in batch.splits)}
        order = [place[id(split)] for split in self.splits]
        scores = {part: [own[i] for i in order] for part, own in (("val", val_scores), ("test", test_scores))}
        return Outcome(record, scores, model, inputs, progress.losses)

    def _plan(self, split: Split) -> Plan:
        wanted, num_nodes = self.settings.num_anchors, split.graph.num_nodes
        # Of several graphs, a small one has no more anchors than nodes.
        count = min(wanted, num_nodes) if len(self.splits) > 1 and isinstance(wanted, int) else None
        return resolve(self.settings, num_nodes, self.settings.features and split.x is not None, count)

    def _inputs(self, method: Method, split: Split, graph: Graph) -> Inputs:
        x = split.x if self.settings.features else None
        # Of many small graphs each would wait for the cluster.
        engine = self.engine if len(self.splits) == 1 else Local()
        return method.inputs(graph, x, self._plan(split), self.clock, engine=engine)

    def _batches(self, model: TaskModel, inputs: list[Inputs]) -> list[Batch]:
        reader = PairReach.for_decoder(model.encoder.decoder)
        with self.clock.phase("reachability of pairs"):
            return make_batches(self.splits, inputs, self.settings.graphs_per_batch, reader)

    def _model(self, method: Method, inputs: list[Inputs]) -> TaskModel:
        settings, first = self.settings, inputs[0]
        if settings.identity and len(inputs) > settings.graphs_per_batch:
            raise InputError(f"identity must go with graphs of one batch, got {len(self.splits)} graphs")
        in_channels = 0 if first.x is None else first.x.size(1)
        num_nodes = sum(each.num_nodes for each in inputs) if settings.identity else None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            encoder = method.build(in_channels, num_nodes, self._plan(self.splits[0]))
            if getattr(encoder, "scaler", None) is not None:
                encoder.scaler.fit(torch.cat([each.x for each in inputs if each.x is not None]))  # type: ignore[union-attr,operator]
            if settings.task != "node":
                return TaskModel(encoder, settings.task)
            width = first.embed_some(encoder.eval(), torch.zeros(1, dtype=torch.long)).size(1)
            return TaskModel(encoder, settings.task, width, self.splits[0].num_classes or 0)

    def _writer(self) -> Any:
        if not self.tensorboard:
            return None
        if self.folder is None:
            raise InputError("tensorboard must go with a folder to write to, got none")
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise InputError("tensorboard is not installed: pip install tensorboard") from None
        return SummaryWriter(str(self.folder / "tensorboard"))

    def _save(self, model: TaskModel, inputs: list[Inputs]) -> None:
        if self.folder is None:
            return
        anchors = inputs[0].anchors if len(inputs) == 1 else None
        ids = None if anchors is None else check_saved_ids(self.splits[0].graph.ids[anchors])
        known = {"ids": ids_hash(self.splits[0].graph)} if self.settings.identity and len(inputs) == 1 else {}
        model.encoder.save_pretrained(self.folder / MODEL, anchors=ids, **known)  # type: ignore[operator]
        if model.head is not None:
            model.head.save_pretrained(self.folder / HEAD)

    def _record(self, found: dict[str, Any], seconds: dict[str, float]) -> dict[str, Any]:
        return {
            "format": 1,
            "settings": self.settings.model_dump(mode="json"),
            "plan": self._plan(self.splits[0]).model_dump(mode="json"),
            "data": {"name": self.dataset.name, **self.cut.content["sizes"]["graph"]},
            "metrics": found,
            "seconds": seconds,
            "peak_memory": peak_memory(),
            "test_examples": sum(len(split.test.label) for split in self.splits),
            "leaks": self.leaks[:3],
            "content": self.cut.content["hashes"],
            "reading": _reading(self.dataset),
            "versions": versions(),
        }


def make_splits(dataset: Dataset, settings: Settings) -> list[Split]:
    """The splits of a data set that the settings describe."""
    return split_dataset(dataset, seed=settings.seed, **shared(settings, SplitSettings))


def _reading(dataset: Dataset) -> Any:
    """How the graph was read, if it came from a file."""
    found = [getattr(sample.graph, "reading", None) for sample in dataset.samples]
    if len(found) != 1 or found[0] is None:
        return None
    return json.loads(json.dumps(found[0].as_dict(), default=str))


def _refresh(method: Method, settings: Settings) -> Any:
    """From batches and a seed to the batches of an epoch, if something is drawn again in each."""
    if not settings.resample or method.epoch_inputs is None:
        return None
    fresh = method.epoch_inputs

    def draw(batch: Batch, seed: int) -> Batch:
        x, nodes = batch.inputs.x, zip(batch.splits, batch.first, batch.first[1:], strict=False)
        parts = [
            fresh(split.graph, Inputs(None if x is None else x[begin:end], None, split.graph.num_nodes), seed)
            for split, begin, end in nodes
        ]
        return replace(batch, inputs=side_by_side(parts))

    return lambda batches, seed: [draw(batch, seed) if len(batch.train) else batch for batch in batches]
