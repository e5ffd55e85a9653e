"""What scores pairs of graphs: features, the trained network, and what is kept of both. Only attributes need torch."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_number
from graphreach.errors import InputError, needed_packages
from graphreach.graph import Graph
from graphreach.graph.ids import ids_array
from graphreach.graph.matching import check_anchor_ids, check_saved_ids, match_ids
from graphreach.io.model_folder import saved_model
from graphreach.pairs import PairAttributes, PairFeatures, PairRecipe, check_attributes
from graphreach.pairs.attributes import AttributeScaling
from graphreach.pairs.features import PairFacts, both_isolated
from graphreach.pairs.pair_network import MODEL, PairNetwork, best_calibration
from graphreach.progress import track
from graphreach.threads import one_blas_thread, one_torch_thread
from graphreach.training.base_rate import density
from graphreach.training.link_folds import link_features

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from graphreach.nn.attributed_pair_head import AttributedPairHead
    from graphreach.nn.pair_head import PairHead
    from graphreach.training.attributed_pairs import AttributedPairs

SCORED = 1 << 18
"""Pairs that are described and scored at a time."""

SCORED_ATTRIBUTES = 1 << 15
"""The same where attributes are read, which take hundreds of columns."""

CALIBRATED = 100
"""Pairs of a kind at least by which a trained head is calibrated again."""

Pairs = NDArray[np.int64]


class PairExamples(NamedTuple):
    """Pairs of one graph to learn from.

    Attributes:
        graph: The graph, with the links among the pairs.
        pairs: Positions of the nodes, ``[2, m]``.
        y: 1 for links, or pairs of the relation, else 0, ``[m]``.
        x: Attributes of the nodes as :func:`graphreach.pairs.check_attributes` gives them, or None.
    """

    graph: Graph
    pairs: Pairs
    y: NDArray[np.int64]
    x: "csr_array | None" = None


class KnownGraph:
    """A graph and what describes its pairs; anchors are chosen at once, positions computed at first use.

    Args:
        graph: The graph.
        recipe: Which features describe a pair.
        anchors: Positions of the anchors, or None for some of its own.
        seed: Random seed of anchors and walks.
        attributes: What attributes of nodes say of pairs; None where a head does not read them, or is not trained yet.
    """

    def __init__(
        self, graph: Graph, recipe: PairRecipe, anchors: NDArray[np.int64] | None, seed: int,
        attributes: "AttributedPairs | None" = None,
    ) -> None:  # fmt: skip
        self.graph, self.attributes = graph, attributes
        with one_blas_thread():
            self.features = PairFeatures(graph, recipe, anchors, seed)

    def describe(self, pairs: Pairs) -> NDArray[np.float32]:
        """Features of pairs ``[2, m]``, those of a link by the graph without it unless the recipe reads the own edge."""
        with one_blas_thread():
            found = self.features.describe(pairs, exclude_own_edge=not self.features.recipe.own_edge)
            if self.attributes is None:
                return found
            return np.concatenate([found, self.attributes.describe(pairs)], axis=1)

    def facts(self, pairs: Pairs) -> tuple[NDArray[np.float32], PairFacts]:
        """Features of pairs as :meth:`describe` gives them, and what stands behind them."""
        with one_blas_thread():
            found, facts = self.features.facts(pairs, exclude_own_edge=not self.features.recipe.own_edge)
            if self.attributes is not None:
                found = np.concatenate([found, self.attributes.describe(pairs)], axis=1)
            return found, facts

    def parts(self, pairs: Pairs) -> list[Pairs]:
        """The pairs, as many at a time as are described at once."""
        size = SCORED if self.attributes is None else SCORED_ATTRIBUTES
        return [pairs[:, begin : begin + size] for begin in range(0, pairs.shape[1], size)]

    def describe_examples(self, examples: PairExamples, scaling: AttributeScaling | None = None) -> NDArray[np.float32]:
        """Features of pairs to learn from: links by folds without them, other relations as they are.

        Args:
            examples: The pairs.
            scaling: How their attributes are scaled, if they are read.
        """
        recipe, seed = self.features.recipe, self.features.seed
        x = None if scaling is None else scaling.apply(examples.x)
        if not recipe.own_edge:
            with one_blas_thread():
                return link_features(self.graph, recipe, self.features.anchors, examples.pairs, examples.y, seed, x)
        found = np.concatenate([self.describe(part) for part in self.parts(examples.pairs)])
        if x is None:
            return found
        with one_blas_thread():
            cosines = PairAttributes(self.graph, x).describe(examples.pairs, exclude_own_edge=False)
        return np.concatenate([found, cosines], axis=1)


@dataclass
class PairScorer:
    """A network that was trained on pairs, with all that is needed to score others of any graph.

    Attributes:
        network: The trained network: arrays, or a module that reads attributes too.
        recipe: Which features describe a pair.
        anchors: Ids of the anchors; None if every graph has anchors of its own.
        prior: The base rate of the pairs that were learned from, or the one that was asked for.
        links: Whether links were learned, or another relation of pairs.
        auc: AUC of training pairs, each scored by a network that was trained without it.
        background: Features of some training pairs, ``[b, f]``.
        seed: Random seed of anchors and walks.
        needs_edges: Whether the logit of two nodes that have no edge to others is 0, the base rate, whatever the head says:
            structure says nothing of them, and it was trained on no such pair or on links alone.
        relative_degrees: Whether degrees are counted in the mean weight of an edge, as they are since version 0.2.0.
    """

    network: "PairNetwork | AttributedPairHead"
    recipe: PairRecipe
    anchors: list[Any] | None
    prior: float
    links: bool
    auc: float
    background: NDArray[np.float32]
    seed: int
    needs_edges: bool = False
    relative_degrees: bool = True

    @property
    def head(self) -> "PairHead | AttributedPairHead":
        """The trained network as a torch module; the same memory."""
        if not isinstance(self.network, PairNetwork):
            return self.network
        with needed_packages("The network as a torch module"):
            from graphreach.nn.pair_head import PairHead

            return PairHead.of(self.network)

    @property
    def node_channels(self) -> int | None:
        """Number of attributes of nodes that it reads; None if it reads none."""
        return None if isinstance(self.network, PairNetwork) else self.network.node_channels

    @property
    def names(self) -> list[str]:
        """Names of all columns that the network reads."""
        own = PairFeatures.names_of(self.recipe)
        if isinstance(self.network, PairNetwork):
            return own
        from graphreach.training.attributed_pairs import attribute_names

        return own + attribute_names(self.network)

    def on(self, graph: Graph, new_anchors: bool = False, x: Any = None) -> KnownGraph:
        """What is known of a graph: with the anchors of training if it has them all, else with anchors of its own.

        Args:
            graph: The graph.
            new_anchors: Whether it gets anchors of its own in any case.
            x: Attributes of its nodes, where the head was trained with attributes.
        """
        if graph.weighted and not self.relative_degrees:
            raise InputError(
                f"graph must be without weights, got {graph}: the model was saved by graphreach 0.1.0, which counted"
                " degrees in the unit of the weights; learn it again"
            )
        attributes = self._attributes(graph, x)
        return KnownGraph(graph, self.recipe, None if new_anchors else self._anchors(graph), self.seed, attributes)

    def _anchors(self, graph: Graph) -> NDArray[np.int64] | None:
        """Positions of the anchors of training in a graph that has them all."""
        at = None if self.anchors is None else match_ids(self.anchors, graph.ids)
        return at if at is not None and (at >= 0).all() else None

    def _attributes(self, graph: Graph, x: Any) -> "AttributedPairs | None":
        head = self.network
        if isinstance(head, PairNetwork):
            if x is not None:
                raise InputError("x must be None, as the predictor was fitted without attributes of nodes")
            return None
        if x is None:
            raise InputError(
                f"x must be given, as the predictor was fitted with {head.node_channels} attributes, got None"
            )
        from graphreach.training.attributed_pairs import AttributedPairs

        own = check_attributes(x, graph.num_nodes, head.node_channels)
        return AttributedPairs(graph, own, head, own_edge=self.recipe.own_edge)

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Logits of described pairs where half of them are links."""
        logits = self.network.logits(features) if isinstance(self.network, PairNetwork) else self._read(features)
        if self.needs_edges:
            logits[both_isolated(features, self.names)] = 0.0
        return logits

    def _read(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """What a module says."""
        import torch

        from graphreach.nn.perceptron_layers import read_in_blocks

        with one_torch_thread(), torch.no_grad():
            logits: NDArray[np.float64] = read_in_blocks(self.head, torch.from_numpy(features)).double().numpy()
        return logits

    def score(self, known: KnownGraph, pairs: Pairs) -> NDArray[np.float64]:
        """Logits of pairs ``[2, m]`` of a graph where half of them are links, some at a time."""
        parts = known.parts(pairs)
        out = [self.logits(known.describe(part)) for part in track(parts, len(parts), "scoring pairs")]
        return np.concatenate(out) if out else np.empty(0)

    def calibrate_again(
        self, logits: Sequence[NDArray[Any] | None], y: Sequence[NDArray[Any]]
    ) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Calibrate on pairs that are described by the graph as it is used, which folds of it are not quite.

        Args:
            logits: Logits of pairs of each graph that nothing was learned from.
            y: Their kinds.

        Returns:
            What turns logits from before into those that the scorer gives from now on; if there are fewer than
            :data:`CALIBRATED` pairs of a kind, nothing changes.
        """
        known = [each for each in zip(logits, y, strict=True) if each[0] is not None]
        truth = np.concatenate([kinds for _, kinds in known]) if known else np.empty(0)
        if min(np.count_nonzero(truth == kind) for kind in (0, 1)) < CALIBRATED:
            return lambda values: values
        scale, shift = best_calibration(np.concatenate([values for values, _ in known]), truth)
        before = np.asarray(self.network.calibration)  # of a module it shares the memory
        before[:] = scale * before[0], scale * before[1] + shift
        return lambda values: scale * values + shift

    def rate(self, graph: Graph, prior: float | str = "density") -> float:
        """The base rate that probabilities of a graph's pairs assume.

        Args:
            graph: The graph that the pairs are asked in.
            prior: ``"density"`` for that of this graph where links were learned; of another relation, or where a number was
                asked for, it is that of training.
        """
        return density([graph]) if self.links and prior == "density" else self.prior

    def probabilities(self, logits: NDArray[np.float64], prior: float | None = None) -> NDArray[np.float64]:
        """Probabilities where the share of links among the pairs is ``prior``, by default that of training."""
        rate = self.prior if prior is None else prior
        shifted = np.clip(logits + math.log(rate / (1 - rate)), -700, 700)
        out: NDArray[np.float64] = 1 / (1 + np.exp(-shifted))
        return out

    def save(self, folder: str | Path, **metadata: Any) -> None:
        """Write the network, its recipe and the anchors' ids to a folder; nothing is pickled."""
        anchors = None if self.anchors is None else check_saved_ids(ids_array(self.anchors))
        save = self.network.save if isinstance(self.network, PairNetwork) else self.network.save_pretrained
        save(
            folder, anchors=anchors, recipe=self.recipe.as_dict(), prior=self.prior, auc=self.auc,
            links=self.links, seed=self.seed, background=[[float(value) for value in row] for row in self.background],
            needs_edges=self.needs_edges, relative_degrees=self.relative_degrees, **metadata,
        )  # fmt: skip

    @classmethod
    def load(cls, folder: Path, what: str = "model of pairs") -> tuple[Self, dict[str, Any]]:
        """What :meth:`save` wrote, and all metadata.

        Args:
            folder: The folder.
            what: What the folder should hold, for messages.
        """
        network, found = _load_network(folder)
        try:
            recipe = PairRecipe(**{**found["recipe"], "lengths": tuple(found["recipe"]["lengths"])})
            scorer = cls(
                network, recipe, check_anchor_ids(found["anchors"], folder),
                check_number("prior", found["prior"], 0, 1, above=True), bool(found["links"]), float(found["auc"]),
                np.array(found["background"], np.float32), int(found["seed"]), bool(found.get("needs_edges", False)),
                bool(found.get("relative_degrees", False)),
            )  # fmt: skip
        except (InputError, TypeError, ValueError, KeyError, AttributeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{folder} must hold a saved {what}, but {reason}") from None
        width = network.in_channels if isinstance(network, PairNetwork) else network.width
        if len(scorer.names) != width:
            raise InputError(f"{folder} must hold a network of {len(scorer.names)} features, got one of {width}")
        return scorer, found


def _load_network(folder: Path) -> "tuple[PairNetwork | AttributedPairHead, dict[str, Any]]":
    """A saved network and its metadata."""
    if saved_model(folder) in (None, MODEL):
        return PairNetwork.load(folder)
    with needed_packages("A model that reads attributes of nodes"):
        from graphreach.nn.attributed_pair_head import AttributedPairHead
        from graphreach.nn.pair_head import PairHead

    if saved_model(folder) != AttributedPairHead.__name__:
        PairHead.from_pretrained(folder)  # which says what is wrong
    head: Any = AttributedPairHead.from_pretrained(folder)
    return head, head.metadata
