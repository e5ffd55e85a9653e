"""A trained model on the graph it knows, grown or changed: its anchors stay, or it says so."""

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError, datasets, training
from graphreach.graph.matching import match_ids
from graphreach.training import Settings
from graphreach.training.trained_run import match_anchors

SIZE, GROUPS = 15, 4
QUICK = {"epochs": 150, "evaluate_every": 50, "num_anchors": 12}


def edges():
    """Four groups of nodes with ids 100, 101, ..., few edges between."""
    rng = np.random.default_rng(0)
    inside = [rng.integers(0, SIZE, (2, 5 * SIZE)) + SIZE * group for group in range(GROUPS)]
    return np.concatenate([*inside, rng.integers(0, SIZE * GROUPS, (2, 8))], 1).T + 100


Y = np.repeat(np.arange(GROUPS), SIZE)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    graph = gr.Graph.from_edge_list(edges().tolist())
    assert graph.num_nodes == SIZE * GROUPS
    out = {}
    for task in ("node", "link"):
        out[task] = tmp_path_factory.mktemp(task) / "run"
        training.run(datasets.Sample(graph, y=Y), Settings(task=task, protocol="published", **QUICK), out[task])
    return out


def grown(extra=(), without=()):
    """The same graph with text ids, as a file with one id that is no number has them."""
    pairs = [(str(a), str(b)) for a, b in edges().tolist() if a not in without and b not in without]
    return gr.Graph.from_edge_list([*pairs, *extra])


def accuracy(run, graph):
    z = run.embed(graph)
    known = np.array([each != "new" for each in graph.ids.tolist()])
    found = run.class_probabilities(z, np.flatnonzero(known)).argmax(1)
    truth = Y[[int(each) - 100 for each in graph.ids[known]]]
    return float((found == truth).mean())


def test_one_more_node_whose_id_is_text_leaves_the_accuracy_what_it_was(folders):
    run = training.TrainedRun(folders["node"])
    before = accuracy(run, gr.Graph.from_edge_list(edges().tolist()))
    assert before > 0.9
    assert accuracy(run, grown([("100", "new")])) > before - 0.03


def test_ids_that_became_text_give_the_same_embedding(folders):
    run = training.TrainedRun(folders["link"])
    graph = gr.Graph.from_edge_list(edges().tolist())
    same = grown()
    np.testing.assert_allclose(
        run.embed(same)[same.index_of([str(each) for each in graph.ids])], run.embed(graph), atol=1e-5
    )


def test_an_anchor_that_is_gone_is_named_and_its_column_is_zero(folders):
    run = training.TrainedRun(folders["link"])
    gone = run.anchors[3]
    graph = grown(without=[gone])
    with pytest.warns(UserWarning, match=f"lacks 1 of 12 anchors that the model was trained with: {gone};"):
        z = run.embed(graph)
    assert z.shape[1] == run.embed(grown()).shape[1]
    assert (z[:, 3] == 0).all()
    assert (np.delete(z, 3, axis=1)[:, :11] != 0).any(0).all()
    whole = grown()
    kept = np.delete(run.embed(whole), 3, axis=1)[whole.index_of(graph.ids)]
    pair = np.corrcoef((np.delete(z, 3, axis=1) @ np.delete(z, 3, axis=1).T).ravel(), (kept @ kept.T).ravel())
    assert pair[0, 1] > 0.95


def test_many_anchors_gone_are_refused_unless_new_ones_are_asked_for(folders):
    run = training.TrainedRun(folders["link"])
    graph = grown(without=run.anchors[:2])
    with pytest.raises(InputError, match=r"without 2 of 12: .*; new_anchors=True \(--new-anchors\) chooses") as caught:
        run.embed(graph)
    assert "\n" not in str(caught.value)
    other = gr.Graph.from_edge_list([(f"n{i}", f"n{(i * 7 + j) % 30}") for i in range(30) for j in (1, 2)])
    with pytest.raises(InputError, match="without 12 of 12"):
        run.embed(other)
    assert run.embed(other, new_anchors=True).shape == (30, run.embed(grown()).shape[1])
    np.testing.assert_array_equal(
        training.TrainedRun(folders["link"], new_anchors=True).embed(other), run.embed(other, new_anchors=True)
    )


def test_classes_of_nodes_need_every_anchor(folders):
    run = training.TrainedRun(folders["node"])
    with pytest.raises(
        InputError, match=f"all 12 anchors that the classes were learned from, .* 1 of them: {run.anchors[0]}"
    ):
        run.embed(grown(without=run.anchors[:1]))
    with pytest.raises(InputError, match="new_anchors must be False for classes of nodes"):
        run.embed(grown(), new_anchors=True)


def test_vectors_of_nodes_are_for_the_same_nodes_alone(tmp_path):
    """identity=True learns a vector for each node by its place: other ids would get vectors of others."""
    graph = gr.Graph.from_edge_list(edges().tolist())
    training.run(datasets.Sample(graph), Settings(identity=True, epochs=2, num_anchors=4), tmp_path)
    run = training.TrainedRun(tmp_path)
    assert len(run.embed(graph)) == 60
    other = gr.Graph.from_edge_list([(a + 1, b + 1) for a, b in edges().tolist()])
    with pytest.raises(InputError, match="must have the nodes that the run learned vectors of"):
        run.embed(other)


@pytest.mark.parametrize(
    ("wanted", "ids", "found"),
    [
        ([7, 5], np.array([5, 6, 7]), [2, 0]),
        (["7", "x", "5"], np.array([5, 6, 7]), [2, -1, 0]),
        ([7, 5, 8], np.array(["5", "7", "x"]), [1, 0, -1]),
        (["7"], np.array(["07", "7"]), [1]),
        ([7], np.array(["07", "7.0"]), [-1]),
        ([7.0, 7.5], np.array([5, 7]), [1, -1]),
        ([7, "7"], np.array([7, "7", "x"], object), [0, 1]),
        ([8, "9"], np.array([7, 9, "8"], object), [2, 1]),
        ([1.5], np.array([0.5, 1.5]), [1]),
        ([2**63, "9" * 30, -(2**63)], np.array([-(2**63), 0]), [-1, -1, 0]),
        (["\u0667", "--7", "-", ""], np.array([7]), [-1, -1, -1, -1]),
        ([1], np.array([], np.int64), [-1]),
        (["07"], np.array([7]), [-1]),
        ([], np.array([1]), []),
    ],
)  # fmt: skip
def test_ids_are_matched_across_integers_and_text(wanted, ids, found):
    assert match_ids(wanted, ids).tolist() == found


def test_how_many_may_be_missing():
    path = gr.Graph.from_edges([range(99), range(1, 100)])
    with pytest.warns(UserWarning, match="lacks 2 of 20"):
        match = match_anchors([*range(18), "a", "b"], path)
    assert match.missing == ["a", "b"]
    np.testing.assert_array_equal(match.columns, range(18))
    for anchors in ([*range(17), "a", "b", "c"], [0, "a"], ["a"]):
        with pytest.raises(InputError, match="graph must have the anchors"):
            match_anchors(anchors, path)


def test_columns_of_a_neighbourhood_branch_stay_behind_those_of_the_anchors():
    path = gr.Graph.from_edges([range(9), range(1, 10)])
    with pytest.warns(UserWarning, match="lacks 1 of 3"):
        match = match_anchors([4, "a", 2], path)
    assert match.widen(np.array([[1, 2, 8, 9]], np.float32)).tolist() == [[1, 0, 2, 8, 9]]
