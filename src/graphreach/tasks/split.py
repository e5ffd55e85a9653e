"""Training, validation and test of a task on a graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_choice, check_flag, check_whole, to_finite, to_integers, to_list
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.progress import stage, track
from graphreach.tasks.examples import (
    DEFAULT_PROTOCOLS,
    PROTOCOLS,
    Examples,
    GivenPairs,
    SampleLike,
    Split,
    SplitRequest,
    check_fractions,
    check_sample,
    cut,
    empty_pairs,
    find_task,
    is_label_matrix,
    stream,
)
from graphreach.tasks.leaks import check_leaks
from graphreach.tasks.link_split import split_links
from graphreach.tasks.pair_split import pairs_within, split_nodes_then_pairs, split_pairs
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count

NEGATIVES = ("uniform", "same-distance", "common-neighbour", "degree")


def split(
    sample: SampleLike,
    task: str,
    protocol: str | None = None,
    *,
    seed: int = 0,
    negatives: str = "uniform",
    fractions: Sequence[float] = (0.8, 0.1, 0.1),
    candidates: int = 0,
    max_pairs: int | None = None,
    num_classes: int | None = None,
    keep_connected: bool = False,
    bipartite: bool | None = None,
) -> Split:
    r"""Cut a task on one graph into training, validation and test.

    **Links** (``"link"``): edges are the positives. They are cut at random, and the split's graph holds the training
    edges only, with all nodes, weights and directions; self-loops are no links and stay. In a directed graph a link is an
    ordered pair, but both directions of a reciprocal pair fall into one part, and negatives are linked in neither
    direction: nothing can be read off the reverse of a hidden edge.

    **Pairs** (``"pair"``): all pairs of nodes with one label are the positives. All edges are seen.

    **Nodes** (``"node"``): labelled nodes are cut at random. All edges are seen.

    A negative label means no label; such nodes are in no example. A part has at least one item even if there are fewer than
    ten. There is one negative per positive, drawn once, and no pair occurs twice in a part. If too few pairs are left, all
    of them are used. The order of the nodes in undirected pairs is random.

    Protocols:

    - ``"published"``: as in the paper. Validation and test negatives avoid all positives, in both directions; training
      negatives avoid training positives only, so some of them are validation or test positives. The pair task is then
      solved by transitive closure (:func:`closure`).
    - ``"clean"`` (links, pairs): training negatives also avoid validation and test pairs, and no pair is in two parts.
    - ``"node-disjoint"`` (pairs, nodes): nodes are split, and pairs lie within a part, so no training example contains
      a test node. A part that lacks pairs of the same label or of different labels is empty. For nodes this is
      ``"published"``.
    - ``"graph-disjoint"``: whole graphs; see :func:`split_dataset`.
    - ``"time"`` (links): the earliest links are for training, the next for validation, the last for the test; otherwise
      as ``"clean"``. A pair that is linked again counts by its first time, so no test link was seen in training. Links with
      the same time are in the same part. The graph needs :attr:`~graphreach.Graph.time`. Nodes of test links may have no
      edge in training.
    - ``"given"`` (links): the pairs that ``sample.given`` lists; see :func:`split_given`.

    Args:
        sample: Anything with ``graph``, ``x`` and ``y``.
        task: ``"link"``, ``"pair"`` or ``"node"`` (or ``"lp"``, ``"pnc"``, ``"nc"``).
        protocol: See above; by default ``"clean"`` for links and ``"node-disjoint"`` for pairs and nodes.
        seed: Random seed. The same seed gives the same split; the positives of a seed do not depend on ``negatives`` or
            ``candidates``.
        negatives: For links. ``"uniform"``: all unlinked pairs are equally likely. For validation and test,
            ``"same-distance"``: as many hops apart in the split's graph as the positives are without their edge; or
            ``"common-neighbour"``: pairs that share a neighbour there. For all three parts, ``"degree"``: both ends are
            drawn in proportion to their degree in the split's graph (in a directed graph, the first by out-degree and the
            second by in-degree). So popular nodes are about as frequent among negatives as among links, and popularity
            alone says little (`Implicit degree bias in the link prediction task
            <https://arxiv.org/abs/2405.14985>`_). Where too few such pairs are found, there are fewer negatives than
            positives.
        fractions: Shares of training, validation and test.
        candidates: For links, how many wrong targets to draw for each positive of validation and test: different nodes
            that its source is not linked to in either direction.
        max_pairs: For pairs, the maximum number of positives, drawn at random; each part has its share of them.
            Large graphs have more pairs of one label than fit in memory.
        num_classes: For nodes; by default one more than the largest label.
        keep_connected: For links, whether a random spanning forest (one tree for each component, directions aside) stays in
            training, so that no node loses all its edges and no component falls apart.
        bipartite: For links, whether negatives and candidates are between the two sides of a bipartite graph only.
            ``None``: if the graph was read as one with two kinds of nodes (:attr:`~graphreach.Graph.sides`). ``True``:
            always; where the graph has no such sides, they are found by colouring the nodes, and the first node of each
            component is on the first side.

    Example:
        >>> from types import SimpleNamespace
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([range(20), [*range(1, 20), 0]])
        >>> sample = SimpleNamespace(graph=ring, x=None, y=None)
        >>> parts = gr.tasks.split(sample, "link", "clean", candidates=5)
        >>> parts.graph.num_edges, parts.train, parts.test
        (16, Examples(32 pairs, 16 positive), Examples(4 pairs, 2 positive, 5 candidates each))
        >>> parts = gr.tasks.split(sample, "link", negatives="degree", fractions=(0.95, 0, 0.05), keep_connected=True)
        >>> parts.graph.num_edges, parts.test
        (19, Examples(2 pairs, 1 positive))
    """
    request = _check(
        task, protocol, seed, negatives, fractions, candidates, max_pairs, num_classes, keep_connected, bipartite
    )
    if request.protocol == "graph-disjoint":
        raise InputError('protocol "graph-disjoint" needs several graphs: use split_dataset')
    check_sample(sample)
    with stage("splitting"):
        return _split_graph(sample, request)


def split_dataset(
    dataset: Any,
    task: str,
    protocol: str | None = None,
    *,
    seed: int = 0,
    negatives: str = "uniform",
    fractions: Sequence[float] = (0.8, 0.1, 0.1),
    candidates: int = 0,
    max_pairs: int | None = None,
    keep_connected: bool = False,
    bipartite: bool | None = None,
) -> list[Split]:
    """Cut a task on each of several graphs, one split per graph.

    Each graph is split on its own, with a seed of its own, which its split carries. With ``"graph-disjoint"`` each whole
    graph belongs to one part, and the other parts of its split are empty. In a validation or test graph, links are
    predicted from the training share of its edges, and the other edges are the positives. A training graph is seen whole.

    Args:
        dataset: Something with ``samples``, or a sequence of samples.
        task: See :func:`split`, as for the other arguments.
        protocol: See :func:`split`.
        seed: See :func:`split`.
        negatives: See :func:`split`.
        fractions: See :func:`split`; of the graphs with ``"graph-disjoint"``.
        candidates: See :func:`split`.
        max_pairs: See :func:`split`; of each graph.
        keep_connected: See :func:`split`.
        bipartite: See :func:`split`.

    Example:
        >>> from types import SimpleNamespace
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([range(20), [*range(1, 20), 0]])
        >>> samples = [SimpleNamespace(graph=ring, x=None, y=np.arange(20) % 2)] * 10
        >>> parts = gr.tasks.split_dataset(samples, "pair", "graph-disjoint")
        >>> sum(len(part.train) > 0 for part in parts), sum(len(part.test) > 0 for part in parts)
        (8, 1)
    """
    samples = to_list("dataset", getattr(dataset, "samples", dataset), "a Dataset or a list of samples")
    if not samples:
        raise InputError("dataset must hold at least one graph, got none")
    for number, sample in enumerate(samples):
        check_sample(sample, f"sample {number} of dataset")
    classes = None
    if find_task(task) == "node":
        classes = 1 + max(_largest_class(_check_labels(sample)) for sample in samples)
    request = _check(
        task, protocol, seed, negatives, fractions, candidates, max_pairs, classes, keep_connected, bipartite
    )
    part_of: dict[int, int] = {}
    if request.protocol == "graph-disjoint":
        order = stream(request.seed, "graphs").permutation(len(samples))
        for part, chosen in enumerate(cut(order, request.fractions, "graphs")):
            part_of |= dict.fromkeys(chosen.tolist(), part)
    out = []
    for number, sample in enumerate(track(samples, len(samples), "splitting graphs")):
        own = request._replace(seed=graph_seed(request.seed, number))
        try:
            out.append(_split_graph(sample, own, part_of.get(number)))
        except InputError as error:
            where = f"graph {number} of {len(samples)}: " if len(samples) > 1 else ""
            raise InputError(f"{where}{error}") from None
    return out


def split_given(
    sample: SampleLike | Graph,
    test_pairs: ArrayLike,
    val_pairs: ArrayLike | None = None,
    *,
    test_negatives: ArrayLike | None = None,
    val_negatives: ArrayLike | None = None,
    test_candidates: ArrayLike | None = None,
    val_candidates: ArrayLike | None = None,
    seed: int = 0,
    negatives: str = "uniform",
    fractions: Sequence[float] = (0.8, 0.1, 0.1),
    keep_connected: bool = False,
    bipartite: bool | None = None,
) -> Split:
    """Split links with given test links, as in published benchmarks or in a user's own evaluation.

    Validation and test have exactly the given pairs, in their order. Their links are removed from the graph, in both
    directions, and the rest is the training graph. What is not given is drawn as in :func:`split` with ``"clean"``.

    Args:
        sample: A graph, or anything with ``graph``, ``x`` and ``y``. It may hold the links of validation and test or not.
        test_pairs: Links for the test, positions ``[2, m]``.
        val_pairs: Links for choosing a model; by default drawn from the links that are left.
        test_negatives: Pairs that are no links, ``[2, any]``; by default drawn, one for each link.
        val_negatives: Likewise.
        test_candidates: The candidates that each link is ranked against: other targets of its first node, ``[m, c]``,
            or other pairs, ``[m, c, 2]``, such as HeaRT's 500 hard negatives per link. A candidate may be a link of the
            test.
        val_candidates: Likewise.
        seed: Random seed for what is drawn.
        negatives: How negatives are drawn that are not given; see :func:`split`.
        fractions: Without ``val_pairs`` the first two are the shares of training and validation in the links left.
        keep_connected: Whether links of validation that are drawn leave a spanning forest; see :func:`split`.
        bipartite: See :func:`split`.

    Raises:
        LeakError: If a link is in validation and test, if a negative is a link, or if a candidate is an edge of the graph.

    Example:
        >>> ring = Graph.from_edges([range(20), [*range(1, 20), 0]])
        >>> parts = split_given(ring, [[0, 7], [1, 6]], test_candidates=[[[0, 5], [1, 9]], [[7, 3], [6, 12]]])
        >>> parts.graph.num_edges, parts.test
        (16, Examples(4 pairs, 2 positive, 2 candidates each))
        >>> split_given(ring, [[0], [1]], test_negatives=[[3], [4]])
        Traceback (most recent call last):
        ...
        graphreach.tasks.leaks.LeakError: 1 of 1 test negatives are edges of the graph, such as (3, 4)
    """
    from graphreach.tasks.dataset import Sample

    given = GivenPairs(test_pairs, val_pairs, test_negatives, val_negatives, test_candidates, val_candidates)
    own = Sample(sample) if isinstance(sample, Graph) else check_sample(sample)
    return split(
        Sample(own.graph, own.x, own.y, given), "link", "given", seed=seed, negatives=negatives, fractions=fractions,
        keep_connected=keep_connected, bipartite=bipartite,
    )  # fmt: skip


def graph_seed(seed: int, number: int) -> int:
    """The seed of one of several graphs; the first has the seed itself."""
    return seed if number == 0 else int(np.random.default_rng([seed, number]).integers(2**63))


def _split_graph(sample: SampleLike, request: SplitRequest, whole: int | None = None) -> Split:
    """Cut the examples of one graph; ``whole`` is the part that a graph belongs to under ``"graph-disjoint"``."""
    if request.protocol == "given":
        return _split_given(sample, request)
    if request.task == "link":
        return _result(sample, request, *split_links(sample.graph, request, whole))
    y = _check_labels(sample)
    nodes = np.flatnonzero(y.any(axis=1) if y.ndim == 2 else y >= 0)
    if request.task == "node":
        if whole is None:
            order = nodes[stream(request.seed, "partition").permutation(len(nodes))]
            chosen = list(cut(order, request.fractions, "labelled nodes"))
        else:
            chosen = [nodes if part == whole else nodes[:0] for part in range(3)]
        parts = [Examples(each, y[each]) for each in chosen]
        return _result(sample, request, sample.graph, parts, _count_classes(y, request))
    if y.ndim == 2:
        raise InputError("y must be one class per node for task pair, got nodes with several labels")
    if whole is not None:
        parts = [empty_pairs() for _ in range(3)]
        parts[whole] = pairs_within(nodes, y[nodes], request.max_pairs, request.seed, whole)
    else:
        function = split_nodes_then_pairs if request.protocol == "node-disjoint" else split_pairs
        parts = function(nodes, y[nodes], request)
    return _result(sample, request, sample.graph, parts)


def _split_given(sample: SampleLike, request: SplitRequest) -> Split:
    given = getattr(sample, "given", None)
    if given is None:
        raise InputError(
            "protocol 'given' must have the links of the test, got a sample without; use split_given, or --test-pairs"
        )
    from graphreach.tasks.given_split import split_given_links

    found = _result(sample, request, *split_given_links(sample.graph, given, request))
    check_leaks(found)
    return found


def _result(
    sample: SampleLike, request: SplitRequest, graph: Graph, parts: list[Examples], num_classes: int | None = None
) -> Split:
    x = sample.x
    if x is not None:
        x = np.asarray(to_finite("x", x), np.float32)
        if x.ndim != 2 or len(x) != graph.num_nodes:
            raise InputError(f"x must have shape [{graph.num_nodes}, features], got {list(x.shape)}")
    bipartite = request.task == "link" and request.bipartite is not False
    return Split(
        request.task, graph, x, parts[0], parts[1], parts[2], num_classes, request.protocol, request.seed,
        request.negatives, bipartite and (request.bipartite is True or sample.graph.sides is not None),
    )  # fmt: skip


def _check(
    task: str,
    protocol: str | None,
    seed: int,
    negatives: str,
    fractions: Sequence[float],
    candidates: int,
    max_pairs: int | None,
    num_classes: int | None,
    keep_connected: bool,
    bipartite: bool | None,
) -> SplitRequest:
    task = find_task(task)
    protocol = DEFAULT_PROTOCOLS[task] if protocol is None else protocol
    check_choice("protocol", protocol, PROTOCOLS[task], f" for task {task}")
    check_choice("negatives", negatives, NEGATIVES)
    if negatives != "uniform" and task != "link":
        raise InputError(f"negatives must be 'uniform' for task {task}, got {negatives!r}: hard ones are for links")
    candidates = check_whole("candidates", candidates, 0)
    if candidates and task != "link":
        raise InputError(f"candidates must be 0 for task {task}, got {candidates}: ranking is for links")
    if max_pairs is not None:
        max_pairs = check_count("max_pairs", max_pairs)
        if task != "pair":
            raise InputError(f"max_pairs must be None for task {task}, got {max_pairs}: it is for pairs of one label")
    if candidates and protocol == "given":
        raise InputError(f"candidates must be 0 for protocol 'given', got {candidates}: give them with the pairs")
    _check_links_only(task, protocol, keep_connected, bipartite)
    shares = check_fractions(fractions)
    return SplitRequest(
        task, protocol, check_seed(seed), negatives, shares, int(candidates), max_pairs, num_classes, keep_connected,
        bipartite,
    )  # fmt: skip


def _check_links_only(task: str, protocol: str, keep_connected: bool, bipartite: bool | None) -> None:
    check_flag("keep_connected", keep_connected)
    if keep_connected and task != "link":
        raise InputError(f"keep_connected must be False for task {task}, got True: all edges are seen")
    if keep_connected and protocol == "time":
        raise InputError("keep_connected must be False for protocol 'time', got True: time says which links are seen")
    if not (bipartite is None or isinstance(bipartite, bool | np.bool_)):
        raise InputError(f"bipartite must be True, False or None, got {bipartite!r:.80}")
    if bipartite and task != "link":
        raise InputError(f"bipartite must be None for task {task}, got True: it is for negatives of links")


def _check_labels(sample: SampleLike) -> NDArray[Any]:
    n = sample.graph.num_nodes
    if sample.y is None:
        raise InputError("the sample must have labels y for this task, got None")
    if is_label_matrix(sample.y) and len(sample.y) == n:
        return sample.y
    y = to_integers("y", sample.y, f"one integer per node, shape [{n}]")
    if y.shape != (n,):
        raise InputError(f"y must be one integer per node, shape [{n}], got shape {list(y.shape)} of {y.dtype}")
    return y


def _largest_class(y: NDArray[Any]) -> int:
    return y.shape[1] - 1 if y.ndim == 2 else int(y.max(initial=-1))


def _count_classes(y: NDArray[Any], request: SplitRequest) -> int:
    largest = _largest_class(y)
    count = largest + 1 if request.num_classes is None else check_count("num_classes", request.num_classes)
    if count < 2:
        raise InputError("labels (y) must be of at least two classes, got labels of one class only")
    if largest >= count:
        raise InputError(f"y must hold classes below num_classes={count}, got {largest}")
    if y.ndim == 2 and y.shape[1] != count:
        raise InputError(f"y must have one column for each of {count} labels, got {y.shape[1]}")
    return count
