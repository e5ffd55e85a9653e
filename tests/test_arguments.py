"""Arguments of wrong kinds are refused in one sentence, module by module; the tests are tables of (call, sentence)."""

import networkx as nx
import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach.arguments import check_choice, describe, few, nearest, pair_rows, to_array
from graphreach.datasets import Dataset, Sample

RING = gr.Graph.from_edges([range(20), [*range(1, 20), 0]])
Y = np.arange(20) % 2
SAMPLE = Sample(RING, y=Y)
MASKED = np.ma.masked_array(np.arange(20), [True] + [False] * 19)
PAIRS = gr.tasks.split(SAMPLE, "pair")
LINKS = gr.tasks.split(SAMPLE, "link")
SCORED = gr.tasks.Examples(np.array([[0, 1], [2, 3]]), np.array([1, 0]))
NODES = gr.tasks.Examples(np.array([0, 1]), np.array([1, 0]))
MATRIX = np.zeros((2, 3))


def sentence(call):
    with pytest.raises(gr.InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def check(cases):
    """All cases, so that one failure shows the others too."""
    said = [(sentence(call), expected) for call, expected in cases]
    assert [(text, expected) for text, expected in said if expected not in text] == []


def test_samples_of_wrong_kinds():
    check(
        [
            (lambda: Sample(nx.path_graph(3)), "got a networkx Graph; make one by Graph.from_networkx"),
            (lambda: Sample(RING.to_scipy()), "make one by Graph.from_scipy"),
            (lambda: Sample(None), "graph must be a Graph, got None"),
            (lambda: Sample("edges.csv"), "read it by graphreach.read_graph"),
            (lambda: Sample(RING, y=dict.fromkeys(range(20), 1)), "y must be an array [20] of classes"),
            (lambda: Sample(RING, y=["a"] * 20), "y must be an array [20] of classes (integers)"),
            (lambda: Sample(RING, y=Y + 0.5), "got shape [20] of float64"),
            (lambda: Sample(RING, y=Y[:, None]), "y must have shape [20], got [20, 1]"),
            (lambda: Sample(RING, y=(each for each in Y)), "got a generator; make a list of it"),
            (lambda: Sample(RING, y=MASKED), "without gaps, got a masked array with 1 entries masked"),
            (lambda: Sample(RING, y=np.array([2**63] * 20, np.uint64)), "below 2**63"),
            (lambda: Sample(RING, x=np.ones((20, 2), object)), "one row per node in the order of graph.ids"),
            (lambda: Sample(RING, x=np.full((20, 1), np.nan)), "x must be finite, got 20 that are not"),
            (lambda: Sample(RING, x=np.full((20, 1), 1e300)), "fit 32 bits"),
            (lambda: Sample(RING, x=np.ones(20)), "x must have shape [20, features], got [20]"),
            (lambda: Sample(RING, x="features.csv"), "got 'features.csv'"),
            (lambda: Dataset(3, (SAMPLE,)), "name must be text, got 3"),
            (
                lambda: Dataset("a", SAMPLE),
                "samples must be a tuple of samples, such as (Sample(graph),), got a Sample",
            ),
            (lambda: Dataset("a", (RING,)), "got a Graph"),
            (lambda: Dataset("a", ()), "got none"),
            (lambda: Dataset("a", (SAMPLE,), {}), "classes must be"),
        ]
    )


def test_samples_of_kinds_that_can_be_read():
    sample = Sample(RING, x=torch.ones(20, 2, dtype=torch.float64), y=Y.tolist())
    assert (sample.x.dtype, sample.y.dtype, sample.y.tolist()) == (np.float32, np.int64, Y.tolist())
    assert len(Dataset("a", [sample, sample]).samples) == 2
    same = np.ones((20, 2), np.float32)
    assert Sample(RING, x=same).x is same


def test_splits():
    split, many = gr.tasks.split, gr.tasks.split_dataset
    check(
        [
            (lambda: split(RING, "link"), "sample must have graph, x and y, got a Graph; wrap it by Sample(graph)"),
            (lambda: split(None, "link"), "got None"),
            (lambda: split(SAMPLE, None), "task must be link, pair or node"),
            (lambda: split(SAMPLE, MATRIX), "task must be link, pair or node"),
            (lambda: split(SAMPLE, "pair", "publishd"), "did you mean 'published'?"),
            (lambda: split(SAMPLE, "pair", MATRIX), "got an array of shape [2, 3] of float64"),
            (lambda: split(SAMPLE, "link", negatives=["uniform"]), "negatives must be one of"),
            (lambda: split(SAMPLE, "link", seed="7"), "seed must be an integer from 0 to 2**63 - 1, got '7'"),
            (lambda: split(SAMPLE, "link", fractions=(-0.2, 1.1, 0.1)), "fractions must be three shares"),
            (lambda: split(SAMPLE, "link", fractions="abc"), "fractions must be three shares"),
            (lambda: split(SAMPLE, "link", candidates="3"), "candidates must be an integer of at least 0, got '3'"),
            (lambda: split(SAMPLE, "pair", max_pairs=0.5), "max_pairs must be a positive integer"),
            (lambda: split(SAMPLE, "node", num_classes="2"), "num_classes must be a positive integer"),
            (lambda: many(None, "link"), "dataset must be a Dataset or a list of samples, got None"),
            (lambda: many([SAMPLE, None], "node"), "sample 1 of dataset must have graph, x and y"),
            (lambda: many(np.array(3), "link"), "dataset must be"),
        ]
    )


def test_examples_metrics_and_what_needs_a_split():
    tasks = gr.tasks
    check(
        [
            (lambda: tasks.Examples([[0.5], [1.5]], [1]), "index must be a list or array of integers"),
            (lambda: tasks.Examples(None, [1]), "index must be a list or array of integers, got None"),
            (lambda: tasks.Examples([[0], [1]], ["1"]), "label must be a list or array of integers"),
            (
                lambda: tasks.Examples([[0], [1]], [1], [3]),
                "one row for each of 1 positives, [1, c] targets or [1, c, 2] pairs, got shape [1]",
            ),
            (lambda: tasks.metrics("link", [0.5, np.nan], SCORED), "scores must be finite, got 1 that are not"),
            (lambda: tasks.metrics("link", None, SCORED), "scores must be a list or array of numbers, got None"),
            (lambda: tasks.metrics("link", [0.5], SCORED), "scores must have shape [2], one per pair, got [1]"),
            (lambda: tasks.metrics("link", [0.5, 1], [1, 0]), "examples must be Examples, such as split.test"),
            (lambda: tasks.metrics("link", [0.5, 1], tasks.Examples([0, 1], [2, 3])), "labels 0 and 1"),
            (lambda: tasks.metrics("node", [[1, 0]] * 2, tasks.Examples([0, 1], [-1, 0])), "classes of at least 0"),
            (lambda: tasks.metrics("node", [0.5, 0.5], NODES), "scores must have shape [2, classes]"),
            (lambda: tasks.mean_metrics([None]), "each must be a list of dictionaries of metrics, got None"),
            (lambda: tasks.mean_metrics([{"auc": "high"}]), "metric auc must be"),
            (lambda: tasks.closure(None), "split must be a Split, as graphreach.tasks.split returns, got None"),
            (lambda: tasks.closure(PAIRS, "tset"), "did you mean 'test'?"),
            (lambda: tasks.closure_scores(PAIRS, [[0, 1], [2]]), "pairs must be an integer array of shape [2, m]"),
            (lambda: tasks.closure_scores(PAIRS, (each for each in [[0], [1]])), "got a generator"),
            (lambda: tasks.label_weights(PAIRS, same="1"), "same must be a positive number, got '1'"),
            (lambda: tasks.label_weights(PAIRS, other=np.inf), "other must be a positive number"),
            (lambda: tasks.label_weights(RING), "split must be a Split"),
            (lambda: tasks.check_leaks(graph=RING, test=[[0, 1], [2]]), "test must be"),
            (lambda: tasks.check_leaks(graph=RING, test=[[0], [5]], strict="no"), "strict must be True or False"),
            (lambda: tasks.check_leaks(graph=RING, test=[[0], [5]], task=MATRIX), "task must be link, pair or node"),
            (lambda: tasks.score("kats", RING, [[0], [1]]), "did you mean 'katz'?"),
            (lambda: tasks.score("katz", nx.path_graph(3), [[0], [1]]), "graph must be a Graph, got a networkx Graph"),
            (lambda: tasks.score("katz", RING, None), "pairs must be an integer array of shape [2, m], got None"),
            (lambda: tasks.join_pairs(None, [[0], [1]]), "positives must be"),
        ]
    )


def test_anchor_selection():
    def select(**arguments):
        return gr.select_anchors(RING, **{"num_anchors": 2, "num_walks": 2, "walk_length": 2} | arguments)

    check(
        [
            (lambda: gr.select_anchors(nx.path_graph(3)), "graph must be a Graph, got a networkx Graph"),
            (lambda: gr.select_anchors(None), "graph must be a Graph, got None"),
            (lambda: select(num_anchors=None), "num_anchors must be a number, a share or"),
            (lambda: select(num_anchors=float("nan")), "num_anchors as a share must be above 0 and at most 1"),
            (lambda: select(num_anchors=10**30), "num_anchors must be between 1 and 20"),
            (lambda: select(num_anchors=True), "got True"),
            (lambda: select(num_anchors="many"), "got 'many'"),
            (lambda: select(num_anchors=MATRIX), "got an array of shape [2, 3] of float64"),
            (lambda: select(strategy="greddy"), "did you mean 'greedy'?"),
            (lambda: select(strategy=["greedy"]), "strategy must be one of greedy, random"),
            (lambda: select(strategy=len), "strategy len must be a function of graph, num_anchors and seed"),
            (lambda: select(num_walks="50"), "num_walks must be a positive integer, got '50'"),
            (lambda: select(num_walks=10**15), "lower num_walks"),
            (lambda: select(walk_length=[3]), "walk_length must be a positive integer"),
            (lambda: select(num_starts=-1), "num_starts must be a positive integer"),
            (lambda: select(engine=MATRIX), "engine must be one of local, ray"),
            (lambda: gr.transforms.AddReachability(layout="dens"), "did you mean 'dense'?"),
            (lambda: gr.transforms.AddReachability(anchors=[[1], [2, 3]]), "anchors must be"),
            (lambda: gr.transforms.AddReachability(anchors=["a"]), "anchors must be a list or array of integers"),
            (lambda: gr.transforms.AddReachability(2)(nx.path_graph(3)), "data must be a PyG Data, got a Graph"),
            (lambda: gr.transforms.AddReachability(2)(None), "data must be a PyG Data, got None"),
        ]
    )


def test_attacks_and_explanations():
    attacks = gr.attacks
    attack = attacks.clique(RING, 0.2)
    check(
        [
            (lambda: attacks.clique(nx.path_graph(3)), "graph must be a Graph"),
            (lambda: attacks.clique(RING, "0.1"), "fraction must be above 0 and at most 1, got '0.1'"),
            (lambda: attacks.clique(RING, float("nan")), "fraction must be above 0 and at most 1"),
            (lambda: attacks.noise(RING, None), "fraction must be a number of at least 0, got None"),
            (lambda: attacks.hubs(RING, [[0, 1], [2]]), "candidates must be"),
            (lambda: attacks.add_edges(RING, [[0], [99]], [0]), "pairs must hold positions between 0 and 19, got 99"),
            (lambda: attacks.add_edges(RING, [[0], [5]], [0.5]), "colluders must be"),
            (lambda: attacks.add_edges(RING, [[0], [5]], [99]), "colluders must be positions between 0 and 19"),
            (lambda: attack.involves([0, 1]), "pairs must be an integer array of shape [2, m]"),
            (lambda: attack.involves([[0], [5]], MATRIX), 'ends must be "any" or "both"'),
            (lambda: attacks.interval(None, None), "first must be a list of assessments, got None"),
            (lambda: attacks.interval([1], [2]), "first must be a list of assessments, got 1 among them"),
            (lambda: attacks.assess(None, LINKS), "run must be an Outcome or what load_run gives, got None"),
            (lambda: gr.explain.Explainer(None, RING), "run must be a TrainedRun, got None"),
            (lambda: gr.explain.likely_paths(RING, 0, "ab", 2), "targets must be a list or array of integers"),
            (lambda: gr.explain.likely_paths(None, 0, [1], 2), "graph must be a Graph, got None"),
        ]
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        ("a" * 200, "'" + "a" * 79),
        (np.zeros((2, 3)), "an array of shape [2, 3] of float64"),
        (torch.zeros(2), "an array of shape [2] of torch.float32"),
        (nx.Graph(), "a Graph"),
        (iter([]), "a list_iterator"),
        (object(), "an object"),
    ],
)
def test_values_in_messages_are_short(value, text):
    assert describe(value) == text


def test_arrays_keep_what_they_hold():
    assert to_array("x", torch.ones(2, requires_grad=True)).tolist() == [1, 1]
    assert to_array("x", np.ma.masked_array([1, 2], [False, False])).tolist() == [1, 2]
    assert to_array("x", [], "iu").shape == (0,)


def test_words_of_messages():
    assert few(["a", "b", "c"], 2) == "a, b and 1 more"
    assert few(["a", "b"], 2) == "a, b"
    assert nearest("epoch", ["epochs", "seed"]) == "; did you mean 'epochs'?"
    assert describe("a") == "'a'"
    assert describe(np.zeros((2, 3))) == "an array of shape [2, 3] of float64"
    with pytest.raises(gr.InputError, match=r"layout must be .dense. or .csr., got 'dens'; did you mean 'dense'"):
        check_choice("layout", "dens", ["dense", "csr"])


def test_rows_of_pairs():
    assert pair_rows([("a", "b"), ("a", "c")]) == (["a", "a"], ["b", "c"])
