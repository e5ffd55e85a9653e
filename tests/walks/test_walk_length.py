"""How long and how many walks (section 3.5)."""

import math
import warnings

import numpy as np
import pytest

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks import random_walks, recommended_num_walks
from graphreach.walks.walk_length import MAX_WALK_LENGTH, check_count, resolve_walk_length
from helpers import cycle, path, random_graph


def test_diameter():
    assert resolve_walk_length(path(12), "diameter") == 11
    assert resolve_walk_length(cycle(12), "diameter") == 6


def test_diameter_is_the_largest_over_components():
    graph = Graph.from_edges([[0, 1, 2, 4, 5], [1, 2, 3, 5, 6]])
    assert resolve_walk_length(graph, "diameter") == 3


def test_walks_jump_at_least_once():
    assert resolve_walk_length(Graph.from_edges(np.empty((2, 0), int), num_nodes=2), "diameter") == 1


def test_long_diameters_are_cut_with_a_warning():
    with pytest.warns(UserWarning, match="diameter is at least 299; walks are cut at 100 jumps: pass walk_length"):
        assert resolve_walk_length(path(300), "diameter") == MAX_WALK_LENGTH == 100


def test_the_warning_points_at_the_caller():
    with pytest.warns(UserWarning, match="diameter is at least") as caught:
        random_walks(path(300), starts=[0], num_walks=1, walk_length="diameter")
    assert caught[0].filename == __file__


def test_no_warning_at_the_cap_or_for_a_number():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resolve_walk_length(path(101), "diameter") == 100
        assert resolve_walk_length(path(300), 299) == 299


@pytest.mark.parametrize("n", [2, 10, 400, 2708, 19_717, 10**6])
def test_theorem_of_section_3_5(n):
    """n_w = (n^2 ln n)^(1/3), rounded up."""
    count = recommended_num_walks(n)
    assert count**3 >= n**2 * math.log(n) * (1 - 1e-12)
    assert (count - 1) ** 3 < n**2 * math.log(n)


def test_recommended_number_for_one_node():
    assert recommended_num_walks(1) == 1


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True, None])
def test_counts_are_positive_integers(value):
    with pytest.raises(InputError, match="num_nodes must be a positive integer, got"):
        recommended_num_walks(value)
    with pytest.raises(InputError, match="walks must be a positive integer, got"):
        check_count("walks", value)


def test_numpy_integers_are_integers():
    assert check_count("num_walks", np.uint8(3)) == 3
    assert resolve_walk_length(random_graph(5, 6), np.int64(4)) == 4


def test_unknown_word():
    with pytest.raises(InputError, match="walk_length must be a positive integer or \"diameter\", got 'radius'"):
        resolve_walk_length(path(3), "radius")


def test_a_walk_that_would_not_fit_is_refused():
    with pytest.raises(InputError, match="walk_length must be at most 1048575, got 1048576"):
        resolve_walk_length(Graph.from_edges([[0], [1]]), 2**20)
