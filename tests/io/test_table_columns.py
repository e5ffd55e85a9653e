import warnings

import pytest

import graphreach as gr
from graphreach.io.tables import (
    read_features,
    read_labels,
    read_nodes,
    read_pair_labels,
    read_pairs,
)
from table_helpers import NUMBERS, TOWNS, message

PATH = gr.Graph.from_edges([range(4), range(1, 5)])


def said(function, *arguments, **settings):
    """The one line that a reader reports."""
    lines = []
    function(*arguments, **settings, report=lines.append)
    assert len(lines) == 1
    assert "\n" not in lines[0]
    return lines[0]


def test_readers_say_which_columns_they_took(write):
    path = write("size,id,team\n3,oslo,red\n4,voss,blue\n")
    line = said(read_labels, path, TOWNS, label="team")
    assert line == (
        f"{path}: ids from column 'id', labels from column 'team'; ignored 'size'; with a header; "
        "2 classes of 2 of 4 nodes"
    )
    assert "ids from column 1, labels from column 2; without a header" in said(read_labels, write("oslo,a\n"), TOWNS)
    path = write("u,v,score\noslo,voss,1\n")
    for strict in (True, False):
        assert "pairs from columns 'u', 'v'; ignored 'score'" in said(read_pairs, path, TOWNS, strict=strict)
    assert "labels from column 'score'" in said(read_pair_labels, path, TOWNS)
    for strict in (True, False):
        assert "ids from column 'node'; ignored 'n'" in said(
            read_nodes, write("n,node\n1,oslo\n"), TOWNS, strict=strict
        )
    text = "id,a,b\n" + "".join(f"{town},1,2\n" for town in TOWNS.ids)
    assert "ids from column 'id', features from columns 'a', 'b'; with a header" in said(
        read_features, write(text), TOWNS
    )


@pytest.mark.parametrize("header", ["Ort,Gruppe", "a,b", "Stadt,team"])
def test_headers_of_unknown_words_are_told_by_the_nodes_below(write, header):
    path = write(f"{header}\noslo,red\nvoss,blue\nbergen,red\n")
    with pytest.warns(UserWarning, match=f"the first line, '{header}', is taken for a header"):
        y, classes = read_labels(path, TOWNS)
    assert (y.tolist(), classes) == ([1, 1, 0, -1], ["blue", "red"])
    assert f"'{header}', is taken for a header" in said(read_labels, path, TOWNS)


def test_headers_of_unknown_words_above_pairs(write):
    path = write("follower,followee\noslo,voss\nvoss,bergen\n")
    with pytest.warns(UserWarning, match="taken for a header"):
        assert read_pairs(path, TOWNS).positions.tolist() == [[1, 2], [2, 0]]
    # One end that is a node makes a row of it, and so does a word that comes again.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_pairs(write("rome,oslo\noslo,voss\nvoss,bergen\n"), TOWNS, strict=False).unknown == ["rome"]
        assert read_pairs(write("rome,lima\noslo,voss\nvoss,lima\n"), TOWNS, strict=False).unknown == ["rome", "lima"]
        assert read_nodes(write("rome\noslo\nvoss\n"), TOWNS, strict=False).unknown == ["rome"]


def test_the_index_of_pandas_is_no_column_of_ids(write):
    # Its numbers are ids of nodes here, but the named columns are meant.
    assert read_pairs(write(",s,t\n0,3,4\n1,2,3\n"), PATH).positions.tolist() == [[3, 2], [4, 3]]
    assert read_pairs(write("Unnamed: 0,s,t\n0,3,4\n1,2,3\n"), PATH).positions.tolist() == [[3, 2], [4, 3]]
    assert read_pair_labels(write(",s,t,hit\n0,3,4,1\n1,2,3,0\n"), PATH)[1].tolist() == [1, 0]
    y, classes = read_labels(write(",town,team\n0,oslo,red\n1,voss,blue\n"), TOWNS)
    assert (y.tolist(), classes) == ([-1, 1, 0, -1], ["blue", "red"])
    assert read_labels(write(",id,label\n0,4,red\n1,2,blue\n"), PATH)[0].tolist() == [-1, -1, 0, -1, 1]


def test_the_index_of_pandas_may_hold_the_ids(write, write_frame):
    assert read_labels(write(",label\n0,b\n1,a\n"), PATH)[0].tolist() == [1, 0, -1, -1, -1]
    x = read_features(write(",a,b\n" + "".join(f"{i},{i % 2},5\n" for i in range(5))), PATH)
    assert x.tolist() == [[0, 5], [1, 5], [0, 5], [1, 5], [0, 5]]
    frame = write_frame({"a": [4, 3, 2, 1, 9], "__index_level_0__": [4, 3, 2, 1, 0]})
    assert read_features(frame, PATH).reshape(-1).tolist() == [9, 1, 2, 3, 4]


def test_two_columns_that_could_be_ids_raise_a_question(write):
    path = write(",person,team\n0,4,a\n1,3,b\n2,2,a\n")
    assert "the unnamed column and 'person' both hold ids of nodes: pass id=0 or id=1" in message(
        read_labels, path, PATH, label="team"
    )
    assert read_labels(path, PATH, id=1, label="team")[0].tolist() == [-1, -1, 0, 1, 0]


def test_the_index_of_pandas_is_no_feature(write):
    path = write(",id,a\n" + "".join(f"{i},{4 - i},{i}.5\n" for i in range(5)))
    assert read_features(path, PATH).reshape(-1).tolist() == [4.5, 3.5, 2.5, 1.5, 0.5]
    assert "ignored ''" in said(read_features, path, PATH)


def test_weights_and_labels_are_no_ends_of_pairs(write):
    assert read_pairs(write("weight,a,b\n1,oslo,voss\n2,voss,bergen\n"), TOWNS).positions.tolist() == [[1, 2], [2, 0]]
    index, label = read_pair_labels(write("label,a,b\n1,oslo,voss\n0,voss,bergen\n"), TOWNS)
    assert (index.tolist(), label.tolist()) == ([[1, 2], [2, 0]], [1, 0])
    assert "two columns of ids" in message(read_pairs, write("weight,a\n1,oslo\n2,voss\n"), TOWNS)


def test_names_of_columns_that_are_wrong(write):
    path = write("town,team,team\noslo,red,a\n")
    assert "must name one column" in message(read_labels, path, TOWNS, label="team")
    assert "did you mean 'team'?" in message(read_labels, write("town,team\noslo,red\n"), TOWNS, label="taem")
    for wrong in (1.5, None.__class__, ["label"], -1, float("nan")):
        assert "is not a column" in message(read_labels, write("5,a\n7,b\n"), NUMBERS, label=wrong)


def test_a_line_of_very_many_fields_is_refused_in_one_look(write):
    wide = write("1 01 " + "1 " * 60_000 + "\n" + "2 01 " + "1 " * 60_000 + "\n", "wide.txt")
    assert "label must say which column of" in message(read_labels, wide, PATH)
