"""The figure of the page on splits."""

import itertools

import numpy as np
import pytest

from graphreach.tasks.pair_keys import encode
from tools import split_questions
from tools.split_questions import MODELS, QUESTIONS, SEEDS, arrivals, ask, draw, growing_town, read_rows, summary


def test_every_model_has_an_answer_to_every_question_that_a_graph_can_be_asked():
    found = {(row["graph"], row["question"], row["model"], row["seed"]) for row in read_rows()}
    wanted = set(itertools.product(split_questions.GRAPHS, QUESTIONS, MODELS, range(SEEDS)))
    assert {key[:2] for key in wanted - found} == {("email-complete", "time")}
    assert found <= wanted


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("model", ["degrees", "common-neighbours"])
def test_the_table_is_what_the_command_finds(question, model):
    rows = {(row["question"], row["model"], row["seed"]): row["auc"] for row in read_rows() if "town" in row["graph"]}
    again = ask(growing_town(), question, model, 0)
    assert again == pytest.approx(rows[question, model, 0], abs=1e-4), "run python -m tools.split_questions"


def test_the_figure_shows_what_the_page_says():
    found = {key: mean for key, (mean, _) in summary(read_rows()).items()}
    for graph, model in itertools.product(split_questions.GRAPHS, MODELS):
        assert found[graph, "degree", model] < found[graph, "uniform", model]
        assert abs(found[graph, "degree", "degrees"] - 0.5) < 0.06
        if "town" in graph:
            assert found[graph, "time", model] < found[graph, "uniform", model]


def test_new_nodes_come_with_half_of_their_links_and_the_others_are_hidden():
    graph = growing_town(500)
    before, after, links, others = arrivals(graph, seed=3)
    old, n = before.num_nodes, graph.num_nodes
    assert (after.num_nodes, old) == (n, n - round(0.1 * n))
    hidden, seen, drawn = (set(encode(each).tolist()) for each in (links, after.edge_index, others))
    assert not hidden & seen
    assert not drawn & (hidden | seen)
    assert len(hidden | seen) == graph.num_edges
    assert (links[0] >= old).all()
    assert (others[0] >= old).all()
    assert links.shape == others.shape
    known = after.edge_index[:, (after.edge_index >= old).any(axis=0)].shape[1] // 2
    assert 0 <= links.shape[1] - known <= 1
    inside = before.edge_index
    assert set(encode(inside).tolist()) == {key for key in seen if key in set(encode(inside).tolist())}


def test_the_town_grows():
    graph = growing_town(500)
    times = graph.first_time
    assert times is not None
    assert times.min() >= 0
    assert times.max() < 500
    assert np.array_equal(growing_town(500).edge_index, graph.edge_index)
    early = np.unique(graph.edge_index[:, times < 100])
    assert len(early) < graph.num_nodes


def test_the_picture_can_be_drawn_again(tmp_path):
    draw(read_rows(), tmp_path / "splits.png")
    assert (tmp_path / "splits.png").read_bytes().startswith(b"\x89PNG")
