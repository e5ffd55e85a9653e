import numpy as np
import pytest

import graphreach as gr
from graphreach import plot


@pytest.fixture
def square():
    return gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])


def test_layout_of_a_square_is_a_square(square):
    at = plot.stress_layout(square)
    sides = np.linalg.norm(at - np.roll(at, 1, axis=0), axis=1)
    assert sides == pytest.approx(sides.mean(), rel=1e-3)


def test_layout_repeats(square):
    np.testing.assert_array_equal(plot.stress_layout(square), plot.stress_layout(square))


@pytest.mark.parametrize(
    "graph",
    [
        gr.Graph.from_edges([[0], [1]], num_nodes=5),
        gr.Graph.from_edges([[0, 1], [1, 2]], directed=True),
        gr.Graph.from_edges(np.empty((2, 0), int), num_nodes=1),
        gr.Graph.from_edges([[0, 0, 0, 0], [1, 2, 3, 4]]),
    ],
    ids=["parts", "directed", "single", "star"],
)
def test_layout_is_finite_and_nodes_are_apart(graph):
    at = plot.stress_layout(graph)
    assert at.shape == (graph.num_nodes, 2)
    assert np.isfinite(at).all()
    assert len(np.unique(at.round(3), axis=0)) == graph.num_nodes


def test_functions_draw_on_the_axes_given(square):
    _, ax = plot.new_figure()
    assert plot.plot_anchors(square, gr.select_anchors(square, 1), ax=ax) is ax
    assert plot.plot_reachability(square, 0, [0.0, 0.5, 0.0, 0.5], ax=ax) is ax


def test_unreached_nodes_alone(square):
    assert plot.plot_reachability(square, 0, np.zeros(4)).get_title() == "Reachability"


def test_wrong_shapes_and_sizes(square, monkeypatch):
    with pytest.raises(gr.InputError, match="values must hold one number for each of 4 nodes"):
        plot.plot_reachability(square, 0, [1.0])
    with pytest.raises(gr.InputError, match=r"positions must be an array of shape \[4, 2\]"):
        plot.plot_anchors(square, [0], positions=np.zeros((3, 2)))
    monkeypatch.setattr(plot, "MAX_NODES", 3)
    with pytest.raises(gr.InputError, match="positions must be given for graphs of more than 3 nodes, got 4"):
        plot.stress_layout(square)


def test_missing_matplotlib_is_one_sentence(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(gr.InputError, match="plots need matplotlib"):
        plot.require_matplotlib()


def test_classes_have_colours_circles_and_links(square):
    ax = plot.plot_classes(square, ["b", "a", "b", "a"], known=[1], links=[[0], [2]], show_ids=True)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["a", "b", "known", "new link"]
    (dashes,) = [each for each in ax.collections if each.get_label() == "new link"]
    at = plot.stress_layout(square)
    np.testing.assert_array_equal(dashes.get_segments(), [at[[0, 2]]])
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2", "3"]
    first = next(each for each in ax.collections if each.get_label() == "a")
    np.testing.assert_array_equal(first.get_offsets(), at[[1, 3]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": ["a"]}, "classes must hold one class for each of 4 nodes"),
        ({"classes": np.zeros((4, 2))}, "classes must hold one class for each of 4 nodes"),
        ({"classes": list("abab"), "known": [4]}, "known must be a list of positions from 0 to 3"),
        ({"classes": list("abab"), "links": [0, 1]}, r"links must be an array \[2, m\] of positions from 0 to 3"),
        ({"classes": list("abab"), "links": [[0], [1], [2]]}, r"links must be an array \[2, m\] of positions"),
    ],
)
def test_classes_that_do_not_fit(square, arguments, message):
    with pytest.raises(gr.InputError, match=message):
        plot.plot_classes(square, **arguments)
