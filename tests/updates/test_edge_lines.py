"""Lines of edges whose columns are found once."""

import pytest

import graphreach as gr
from graphreach import InputError
from graphreach.updates.edge_lines import Columns, EdgeLines

NUMBERS = gr.Graph.from_edge_list([(0, 1)])
TEXT = gr.Graph.from_edge_list([("a", "b")])
USUAL = Columns()
WEIGHTED = gr.Graph.from_edge_list([("a", "b", 2.0)])


def read(first, lines, graph=NUMBERS, asked=USUAL, before=0):
    events, numbers = EdgeLines.of(first, graph, asked, "new.csv").read(lines, before)
    weights = None if events.weights is None else events.weights.tolist()
    return events.source.tolist(), events.target.tolist(), weights, events.added.tolist(), numbers.tolist()


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", " "])
def test_separators(separator):
    first, lines = (text.replace(",", separator).encode() for text in ("1,2", "1,2\n3,4\n"))
    assert read(first, lines) == ([1, 3], [2, 4], None, [True, True], [1, 2])


def test_columns_by_usual_names_and_by_asked_ones():
    assert read(b"t,target,source", b"9,1,2\n", before=5) == ([2], [1], None, [True], [6])
    assert read(b"x,y,z", b"9,1,2\n", asked=Columns("z", "y")) == ([2], [1], None, [True], [1])
    assert read(b"7,1,2", b"9,1,2\n", asked=Columns(2, 1)) == ([2], [1], None, [True], [1])


def test_ops_and_weights():
    lines = b"add,a,c,2.5\nremove,a,b,\n,b,c,1\n-,a,c,x\n"
    found = read(b"op,source,target,weight", lines, WEIGHTED)
    assert found == (
        ["a", "a", "b", "a"],
        ["c", "b", "c", "c"],
        [2.5, 1, 1, 1],
        [True, False, True, False],
        [1, 2, 3, 4],
    )
    assert read(b"1 2 +", b"1 2 +\n3 4 -\n")[3] == [True, False]
    assert read(b"a,b,2", b"a,c,2\n", WEIGHTED)[2] == [2.0]


def test_comments_blank_lines_and_returns_are_passed_over_and_counted():
    lines = b"\n# one\r\n1,2\r\n   \n % two\n 3 , 4 \n"
    assert read(b"source,target", lines, before=10) == ([1, 3], [2, 4], None, [True, True], [13, 16])
    assert read(b"source,target", b"\n\n") == ([], [], None, [], [])


def test_quotes():
    assert read(b"source,target", b'"New York, NY",b\n', TEXT)[:2] == (["New York, NY"], ["b"])


@pytest.mark.parametrize(
    ("first", "lines", "graph", "sentence"),
    [
        (b"source,target", b"1,2\n1,x\n", NUMBERS, r"must have an integer in column 2 \(ids='int'\), got 'x' in line 2"),
        (b"source,target", b"1,2\n1\n", NUMBERS, "new.csv must have 2 fields in every line, got 1 in line 2"),
        (b"source,target", b"1,2\n1,\n", NUMBERS, "new.csv has nothing in column 2 in line 2"),
        (b"source,target,op", b"1,2,\n1,2\n", NUMBERS, "new.csv must have 3 fields in every line, got 2 in line 2"),
        (b"source,target,op", b"1,2,\n1,2,add,3\n", NUMBERS, "new.csv must have 3 fields per line, got 4 in line 2"),
        (b"source,target", b"1,2\n1,2,3\n", NUMBERS, "new.csv must have 2 fields per line, got 3 in line 2"),
        (b"source,target,op", b"1,2,add\n1,2,drop\n", NUMBERS, "add or remove in column op, got 'drop' in line 2"),
        (b"a,b,1", b"a,b,1\na,b,-1\n", WEIGHTED, "must have finite weights from 0 on, got -1.0 in line 2"),
        (b"a,b,1", b"a,b,1\na,b,\n", WEIGHTED, "has nothing in column 3 in line 2"),
        (b"source,target", b"\xff,2\n", TEXT, "new.csv is not text in UTF-8"),
    ],
)  # fmt: skip
def test_bad_lines_are_named(first, lines, graph, sentence):
    with pytest.raises(InputError, match=sentence):
        read(first, lines, graph)


@pytest.mark.parametrize(
    ("first", "graph", "asked", "sentence"),
    [
        (b"alone", TEXT, Columns(), "must have at least two columns, got one: 'alone'"),
        (b"source,target", WEIGHTED, Columns(), "must have a column of weights, as the graph has weights"),
        (b"source,target", TEXT, Columns("from"), "must have the column 'from' of sources"),
        (b"source,target", TEXT, Columns("target", "target"), "must have sources and targets in two columns"),
    ],
)
def test_first_lines_that_do_not_fit_are_refused(first, graph, asked, sentence):
    with pytest.raises(InputError, match=sentence):
        EdgeLines.of(first, graph, asked, "new.csv")


def test_ids_of_other_kinds_cannot_be_read_from_lines():
    with pytest.raises(InputError, match="ids of the graph must be integers or text to be read from lines"):
        EdgeLines.of(b"1,2", gr.Graph.from_edge_list([((1, 2), (3, 4))]), Columns(), "new.csv")
