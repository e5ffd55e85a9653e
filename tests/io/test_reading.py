"""What a reader says about how it read a file."""

import json

from graphreach.graph.reading import Reading
from graphreach.io import read_graph


def test_columns_used_and_ignored(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("from,to,weight,kind\na,b,1,x\nb,c,2,y\n")
    reading = read_graph(path).reading
    assert reading.columns == {"source": "from", "target": "to", "weight": "weight"}
    assert reading.ignored == ("kind",)
    assert reading.header is True
    assert (reading.path, reading.format) == (str(path), "text")


def test_one_line_and_json():
    reading = Reading("a/edges.txt", "text", {"source": 0, "target": 1}, (2,), False, ("one thing", "another"))
    line = "read edges.txt as text without a header: source column 0, target column 1, no weight, ignored column 2; "
    assert str(reading) == line + "one thing; another"
    assert Reading(**json.loads(json.dumps(reading.as_dict()))).as_dict() == reading.as_dict()


def test_many_ignored_columns_are_cut():
    assert str(Reading(None, "frame", {}, tuple(range(12)))).endswith("column 7 and 4 more")
