"""Links and the candidates that each of them is ranked among."""

import numpy as np
import pytest

from graphreach.io.candidate_tables import read_candidate_array, read_candidates
from table_helpers import NUMBERS, TOWNS, message

HEADER = "source,target,label\n"


def beside(graph, found):
    """For each link its candidates, as ids."""
    ids = [tuple(graph.ids[pair].tolist()) for pair in found.pairs.T]
    out = {ids[row]: [] for row in found.links}
    for candidate, link in zip(found.candidates, found.of, strict=True):
        out[ids[found.links[link]]].append(ids[candidate])
    return out


def test_candidates_of_a_link_are_those_with_its_source(write):
    rows = "oslo,voss,1\nbergen,ås,0\noslo,ås,0\noslo,bergen,1\nbergen,voss,1\noslo,oslo,0\n"
    found = beside(TOWNS, read_candidates(write(HEADER + rows), TOWNS))
    both = [("oslo", "ås"), ("oslo", "oslo")]
    assert found == {("oslo", "voss"): both, ("oslo", "bergen"): both, ("bergen", "voss"): [("bergen", "ås")]}


@pytest.mark.parametrize("names", ["label,group", "y,Query"])
@pytest.mark.parametrize("values", ["ab", "01"])
def test_candidates_of_a_link_are_those_of_its_group(write, names, values):
    a, b = values
    rows = f"oslo,voss,1,{a}\nbergen,ås,0,{a}\noslo,ås,0,{b}\noslo,bergen,1,{b}\nvoss,ås,0,{b}\n"
    said = []
    found = read_candidates(write(f"source,target,{names}\n{rows}"), TOWNS, said.append)
    assert beside(TOWNS, found) == {
        ("oslo", "voss"): [("bergen", "ås")],
        ("oslo", "bergen"): [("oslo", "ås"), ("voss", "ås")],
    }
    assert f"groups from column '{names.partition(',')[2]}'" in said[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEADER + "oslo,voss,0\n", "must have links, with label 1, got candidates alone"),
        (
            HEADER + "oslo,voss,1\nvoss,ås,0\n",
            "for each candidate with its source, got none for 'voss' and 'ås' in line 3",
        ),
        (
            HEADER + "oslo,voss,1\noslo,ås,0\nvoss,ås,1\n",
            "label 0, for each link with its source, got none for 'voss' and",
        ),
        (
            "source,target,label,group\noslo,voss,1,a\noslo,ås,0,a\nvoss,ås,1,a\n",
            "must have one link, with label 1, in each group, got another, 'voss' and 'ås' in line 4",
        ),
        (
            "source,target,label,group\noslo,voss,1,a\noslo,ås,0,b\n",
            "for each candidate in its group, got none for 'oslo'",
        ),
        (HEADER + "oslo,voss,2\n", "must have 0 or 1 in column 'label', got '2'"),
        (HEADER + "oslo,paris,1\n", "got 1 that are none: 'paris'"),
        ("source,target\noslo,voss\n", "must have a column named label"),
    ],
)
def test_tables_that_do_not_say_what_is_ranked(write, text, sentence):
    assert sentence in message(read_candidates, write(text), TOWNS)


@pytest.mark.parametrize("name", ["hard.npz", "hard.npy"])
def test_arrays_of_candidates(write, tmp_path, name):
    links = write("7\t5\n-2\t30\n", "links.txt")
    array = np.array([[[7, -2], [30, 5]], [[5, 30], [30, 30]]], np.int32)
    path = tmp_path / name
    np.save(path, array) if name.endswith("npy") else np.savez(path, pairs=array)
    found = beside(NUMBERS, read_candidate_array(path, links, NUMBERS))
    assert found == {(7, 5): [(7, -2), (30, 5)], (-2, 30): [(5, 30), (30, 30)]}


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"pairs": np.zeros((2, 3, 2), int) + 5}, "of shape [1, candidates, 2], one row for each link of"),
        ({"pairs": np.zeros((1, 0, 2), int)}, "got [1, 0, 2]"),
        ({"pairs": np.zeros((1, 3), int)}, "got [1, 3]"),
        (
            {"pairs": np.full((1, 1, 2), 99)},
            "must hold ids of nodes, but ids must be ids of nodes (such as -2, 5, 7), got 99",
        ),
        ({"others": np.zeros((1, 1, 2), int)}, "must hold the array pairs, got ['others']"),
        ({"pairs": np.full((1, 1, 2), None)}, "got Python objects in array pairs, which are not read"),
        (
            {"pairs": np.full((1, 1, 2), 5.5)},
            "must hold ids of nodes, but ids must be ids of nodes (such as -2, 5, 7), got 5.5",
        ),
        ({"pairs": np.full((1, 1, 2), True)}, "must hold numbers or text, got bool"),
    ],
)
def test_arrays_that_do_not_fit(write, tmp_path, arrays, sentence):
    np.savez(tmp_path / "hard.npz", **arrays)
    said = message(read_candidate_array, tmp_path / "hard.npz", write("7 5\n", "links.txt"), NUMBERS)
    assert sentence in said


def test_another_file_is_no_array(write):
    links = write("7 5\n", "links.txt")
    assert "must be a .npz file" in message(read_candidate_array, write("nothing", "hard.npz"), links, NUMBERS)
