"""Text files that look like something else than they are: each was once read wrongly without a word."""

import contextlib

import numpy as np
import pytest

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io import read_graph


@pytest.fixture
def read(tmp_path):
    def read(content, name="edges.csv", **arguments):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_graph(path, **arguments)

    return read


def said(graph):
    return "; ".join(graph.reading.assumed)


# Headers whose words are in no list.


@pytest.mark.parametrize(
    "content",
    [
        "Quelle,Ziel\n1,2\n2,3\n",
        "a,b\n1,2\n2,3\n",
        "Quelle,Ziel\nn1,n2\nn2,n3\n",
        "a;b\nx1;x2\nx2;x3\nx1;x3\n",
        "follower,followee\nann,bob\nbob,cid\ncid,ann\n",
        "follower,followee\nAnn,Bob\nCid,Dan\nEve,Fay\n",
        "von nach\nann bob\nbob cid\ncid dan\n",
        "user,item\nann,apple\nbob,pear\n",
        "author,paper\nann,10.1/x\nbob,10.1/y\n",
        "a,b,c\nx,y,red\ny,z,blue\nz,x,red\n",
        "mail1,mail2\nann@x,bob@x\nbob@x,cid@x\n",
        "a,b,time\nx,y,soon\n",
        "level_0,level_1,0\n1,2,0.5\n2,3,0.7\n",
    ],
)
def test_header_of_unknown_words(read, content):
    graph = read(content)
    assert graph.reading.header is True
    words = set(content.split("\n")[0].replace(";", ",").replace(" ", ",").split(","))
    assert not words & set(map(str, graph.ids.tolist()))


@pytest.mark.parametrize(
    "content",
    [
        "ann,bob\nbob,cid\n",
        "ann,bob\ncid,ann\n",
        "ann,bob\ncid,dan\n",
        "x1,2\n3,4\n5,6\n",
        "ann,bob,red\nbob,cid,blue\n",
        "ann,ann\nbob,cid\ncid,dan\n",
        "".join(f"{a}x,{a}y\n" for a in "abcdefghijkl"),
        "nan,inf\ninf,nan\n",
    ],
)
def test_first_edge_is_no_header(read, content):
    graph = read(content, self_loops=True)
    assert graph.reading.header is False
    assert set(content.split("\n")[0].split(",")[:2]) <= set(map(str, graph.ids.tolist()))


def test_doubtful_header_is_said(read):
    graph = read("follower,followee\nann,bob\nbob,cid\ncid,ann\n")
    assert "'follower' and 'followee', whose words occur nowhere else, was read as a header" in said(graph)
    assert "--no-header" in said(graph)
    graph = read("ann,bob\ncid,dan\neve,fay\n")
    assert "was read as an edge; header=True (--header)" in said(graph)
    assert graph.num_nodes == 6


def test_words_that_recur_after_the_first_rows_make_no_header(read):
    rows = "".join(f"n{i} m{i}\nm{i} n{i + 1}\n" for i in range(400))
    assert read("ann bob\n" + rows, "edges.txt").reading.header is True
    assert read("ann bob\n" + rows + "ann bob\n", "edges.txt").reading.header is False
    far = "".join(f"p{chr(97 + i % 26)}{'q' * (i // 26)} z{chr(97 + i % 26)}{'q' * (i // 26)}\n" for i in range(400))
    graph = read("ann bob\n" + far + "bob ann\n", "edges.txt")
    assert graph.reading.header is False
    assert "ann" in graph.ids


# An index, weights before ids, a matrix.


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_index_of_pandas_is_ignored(read, name):
    graph = read(f"{name},s,t\n0,7,8\n1,8,9\n2,7,9\n")
    assert graph.ids.tolist() == [7, 8, 9]
    assert graph.reading.columns == {"source": "s", "target": "t"}
    assert graph.reading.ignored == (name,)
    assert "index" in said(graph)
    graph = read(f"{name},a,b,weight\n5,ann,bob,2\n9,bob,cid,3\n")
    assert graph.ids.tolist() == ["ann", "bob", "cid"]
    assert graph.weights.tolist() == [2, 2, 3, 3]


def test_index_of_pandas_with_numbered_columns(read):
    assert read(",0,1\n0,7,8\n1,8,9\n").ids.tolist() == [7, 8, 9]


def test_named_index_that_counts(read):
    assert read("index,a,b\n0,7,8\n1,8,9\n2,9,7\n").ids.tolist() == [7, 8, 9]
    assert read("id,a,b\n1,7,8\n2,8,9\n3,9,7\n").ids.tolist() == [7, 8, 9]
    assert read("id,friend,since\n7,8,2001\n8,9,2002\n9,7,2003\n").ids.tolist() == [7, 8, 9]


def test_index_can_be_asked_for(read):
    assert read(",s,t\n0,7,8\n1,8,9\n", source=0, target="s").ids.tolist() == [0, 1, 7, 8]


def test_index_without_header_is_hinted_at(read):
    graph = read("0,7,8\n1,8,9\n2,9,7\n")
    assert "counts as an index does" in said(graph)
    assert "--source 1 --target 2" in said(graph)


@pytest.mark.parametrize(
    "content",
    [
        "weight,a,b\n2.5,1,2\n3.5,2,3\n",
        "weight,a,b\n2,1,2\n3,2,3\n",
        "w,a,b\n2,1,2\n3,2,3\n",
        "a,weight,b\n1,2,2\n2,3,3\n",
    ],
)
def test_named_columns_decide(read, content):
    graph = read(content)
    assert graph.ids.tolist() == [1, 2, 3]
    assert graph.weighted


def test_v_and_w_are_nodes(read):
    assert read("v,w\n1,2\n2,3\n").ids.tolist() == [1, 2, 3]
    assert read("v,w,weight\n1,2,5\n2,3,6\n").reading.columns == {"source": "v", "target": "w", "weight": "weight"}


def test_fractions_are_no_ids(read):
    graph = read("0.5 1 2\n0.7 2 3\n", "edges.txt")
    assert graph.ids.tolist() == [1, 2, 3]
    assert graph.weights.tolist() == [0.5, 0.5, 0.7, 0.7]
    assert "ids were read from column 1 and column 2" in said(graph)
    assert read("1.5 2.5\n2.5 3.5\n", "edges.txt").ids.tolist() == ["1.5", "2.5", "3.5"]


MATRIX = np.array([[0, 1, 0, 2], [1, 0, 1, 0], [0, 1, 0, 3], [2, 0, 3, 0]])


def rows(matrix, names=None, separator=","):
    lines = [[*([] if names is None else [names[i]]), *row] for i, row in enumerate(matrix.tolist())]
    return "".join(separator.join(map(str, line)) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        (rows(MATRIX), [0, 1, 2, 3]),
        (rows(MATRIX, separator=" "), [0, 1, 2, 3]),
        ("a,b,c,d\n" + rows(MATRIX), ["a", "b", "c", "d"]),
        (",a,b,c,d\n" + rows(MATRIX, "abcd"), ["a", "b", "c", "d"]),
        (",0,1,2,3\n" + rows(MATRIX, "0123"), [0, 1, 2, 3]),
        ("0,1,2,3\n" + rows(MATRIX), [0, 1, 2, 3]),
        ("name,a,b,c,d\n" + rows(MATRIX, "abcd"), ["a", "b", "c", "d"]),
        (rows(MATRIX, "abcd"), ["a", "b", "c", "d"]),
    ],
)
def test_adjacency_matrix(read, content, ids):
    graph = read(content)
    expected = Graph.from_edges(np.stack(np.nonzero(MATRIX)), 4, MATRIX[MATRIX > 0], ids=ids)
    assert graph.content_hash == expected.content_hash
    assert (graph.directed, graph.reading.format) == (False, "matrix")
    assert "--format edgelist" in said(graph)


def test_large_asymmetric_matrix(read):
    matrix = np.random.default_rng(0).integers(0, 3, (100, 100))
    graph = read(rows(matrix), self_loops=True)
    assert (graph.num_nodes, graph.num_edges, graph.directed) == (100, np.count_nonzero(matrix), True)
    assert read(rows(matrix), format="edgelist").num_nodes == 3
    assert not read(rows(matrix), weight=False).weighted


def test_matrix_beyond_the_first_rows(read):
    matrix = np.eye(300, k=1, dtype=int)
    assert read(rows(matrix)).num_edges == 299


def test_square_list_of_edges_is_no_matrix(read):
    assert read("1 2 5\n2 3 6\n3 1 7\n").weights.tolist() == [5, 7, 5, 6, 7, 6]
    assert read("u,v,weight\n0,1,1\n1,0,1\n1,1,0\n").reading.format == "text"
    assert read("1 2 5 1600000000\n2 3 6 1600000001\n3 4 7 1600000002\n4 1 8 1600000003\n").reading.format == "text"


def test_matrix_can_be_asked_for(read):
    assert read("1 2\n3 4\n", format="matrix", self_loops=True).weights.tolist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match="as many rows as columns of numbers to be a matrix, got 3 and 2"):
        read("1 2\n3 4\n5 6\n", format="matrix")
    with pytest.raises(InputError, match="must have a number in column"):
        read("1 x\n3 4\n", format="matrix")


# Times and columns that are not used.


def test_unix_times_are_no_weights(read):
    content = "1 2 1600000000\n2 3 1500000000\n1 2 1600000005\n"
    graph = read(content, "edges.txt")
    assert not graph.weighted
    assert graph.time.tolist() == [1600000005, 1600000005, 1500000000, 1500000000]
    assert graph.reading.columns == {"source": 0, "target": 1, "time": 2}
    assert "holds times and is no weight" in said(graph)
    assert read(content, "edges.txt", weight=2).weighted
    assert read(content, "edges.txt", time=False, weight=False).time is None
    assert graph.content_hash == read("1 2\n2 3\n", "edges.txt").content_hash


def test_times_from_zero_on_are_known_by_their_growth(read):
    content = "".join(f"{i % 17} {i % 13 + 20} {7 * i}\n" for i in range(300))
    graph = read(content, "edges.txt", directed=True)
    assert not graph.weighted
    assert graph.time.max() == 7 * 299
    assert "never falls from row to row" in said(graph)
    graph = read("".join(f"{i} {i + 1} {1 + i % 7}\n" for i in range(300)), "edges.txt")
    assert (graph.weighted, graph.time) == (True, None)


@pytest.mark.parametrize(
    ("header", "values", "first"),
    [
        ("time", ["5", "7"], 5),
        ("Timestamp", ["1600000000", "1600000001"], 1600000000),
        ("date", ["1970-01-02", "1970-01-03"], 86400),
        ("when", ["1970-01-02T00:00:01", "1970-01-02T00:00:02"], 86401),
        ("when", ["1970-01-02 01:00:00+01:00", "1970-01-03 00:00:00Z"], 86400),
        ("created", ["1600000000123", "1600000000124"], 1600000000123),
    ],
)
def test_columns_of_times(read, header, values, first):
    graph = read(f"a,b,{header}\n1,2,{values[0]}\n2,3,{values[1]}\n")
    assert graph.time[0] == first
    assert graph.reading.columns["time"] == header
    assert not graph.weighted


def test_time_before_the_ids(read):
    graph = read("timestamp,a,b\n5,1,2\n6,2,3\n")
    assert graph.ids.tolist() == [1, 2, 3]
    assert graph.time.tolist() == [5, 5, 6, 6]


def test_a_log_without_a_header_begins_with_times(read):
    lines = [f"{1500000000 + 37 * i} {i % 5} {i % 7 + 5}" for i in range(20)]
    graph = read("\n".join(lines) + "\n", "log.txt")
    assert graph.reading.columns == {"source": 1, "target": 2, "time": 0}
    assert "ids were read from column 1 and column 2" in said(graph)
    # Ids in the same range, in one column or in two, are ids.
    users = [f"{1500000000 + 37 * (i * 7 % 20)} {i % 7} {i % 5}" for i in range(20)]
    assert read("\n".join(users) + "\n", "ratings.txt").reading.columns["source"] == 0
    pairs = [f"{1500000000 + 37 * i} {1500000000 + i} 1" for i in range(20)]
    assert read("\n".join(pairs) + "\n", "pairs.txt").reading.columns["source"] == 0


def test_time_can_be_asked_for(read):
    assert read("a,b,year\n1,2,1999\n2,3,2001\n", time="year").time.tolist() == [1999, 1999, 2001, 2001]
    with pytest.raises(InputError, match="time='year' must be a column of times"):
        read("a,b,year\n1,2,old\n2,3,2001\n", time="year")
    with pytest.raises(InputError, match=r"time='yaer' is not a column of .*; did you mean 'year'"):
        read("a,b,year\n1,2,1999\n", time="yaer")


def test_times_with_gaps_are_ignored_and_said(read):
    content = "a,b,time\n" + "1,2,5\n" * 300 + "2,3,never\n"
    graph = read(content)
    assert graph.time is None
    assert graph.reading.ignored == ("time",)
    assert "not read as times" in said(graph)


def test_time_of_directed_symmetric_and_dropped_edges(read):
    graph = read("1 2 1600000000\n2 1 1600000001\n3 3 1600000009\n", "e.txt", directed=True)
    assert graph.time.tolist() == [1600000000, 1600000001]
    graph = read("u,v,w,time\n1,2,0,9\n1,2,5,3\n")
    assert graph.time.tolist() == [3, 3] or graph.time.tolist() == [9, 9]


@pytest.mark.parametrize("name", ["rating", "Gewicht", "km"])
def test_other_columns_of_numbers_are_named(read, name):
    graph = read(f"from,to,{name}\n1,2,5\n2,3,4\n")
    assert graph.reading.ignored == (name,)
    assert f"--weight {name}" in said(graph)
    assert not graph.weighted


def test_four_columns(read):
    graph = read("6,2,4,1289241911.72\n6,5,2,1289241941.53\n1,15,1,1289243140.39\n", directed=True)
    assert graph.reading.columns == {"source": 0, "target": 1, "weight": 2, "time": 3}
    graph = read("1 2 0.5 7\n2 3 2 8\n", "edges.txt")
    assert graph.reading.ignored == (2, 3)
    assert "column 2 holds numbers (as do 1 more columns)" in said(graph)
    with pytest.raises(InputError, match=r"weight=False or --unweighted ignores them\), got -10.0 in line 2"):
        read("6,2,4,1289241911\n6,5,-10,1289241941\n")


# Rows that are too short or too long.


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("1 2 0.5\n2 3 0.7\n3 4\n", 3),
        ("1 2 0.5\n3 4\n2 3 0.7\n", 2),
        ("1 2 0.5\n" * 300 + "3 4\n" + "1 2 0.5\n" * 3, 301),
        ("# c\n\n1,2,0.5\n2,3,\n", 4),
        ("1,2,0.5\n2,3\n", 2),
        ("a b 0.5\nb c 0.7\nc d\n", 3),
    ],
)
def test_missing_weight(read, content, line):
    with pytest.raises(InputError, match=f"has nothing in column 3 in line {line}$"):
        read(content, "edges.txt")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1 2\n2 3 0.5\n", "must have 2 fields per line, got 3 in line 2"),
        ("1 2 0.5\n2 3 0.5 9\n", "must have 3 fields per line, got 4 in line 2"),
        ("1 2 0.5\n2 3 x\n", "must have a number in column 3, got 'x' in line 2"),
        ("1,2\n2,3\n1,3\n4,5\n5\n", "has nothing in column 2 in line 5"),
        ("New York,Oslo\nOslo,Rome\nRome,Bern\nBern,Ulm\nUlm,Oslo\nLa Paz\n", "has nothing in column 2 in line 6"),
        ("1,2\n" * 300 + "1,2,3\n", "must have 2 fields per line, got 3 in line 301"),
    ],
)
def test_uneven_rows(read, content, sentence):
    with pytest.raises(InputError, match=sentence):
        read(content, "edges.txt")


# Ids that begin as comments do.


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ("#love,#peace\n#peace,#joy\n", ["#joy", "#love", "#peace"]),
        ("# tags\n#love,#peace\n#peace,#joy\n", ["#joy", "#love", "#peace"]),
        ("tag,other\n#love,#peace\n#peace,#joy\n", ["#joy", "#love", "#peace"]),
        ("tag,user\n#love,ann\n#peace,bob\n", ["#love", "#peace", "ann", "bob"]),
        ("#love,ann\n#peace,bob\n", ["#love", "#peace", "ann", "bob"]),
        ("love,ann\n#peace,ann\n", ["#peace", "ann", "love"]),
        ("#love #peace\n#peace joy\n", ["#love", "#peace", "joy"]),
        ("%a\t%b\n%b\tc\n", ["%a", "%b", "c"]),
        ("x,y\n" * 300 + "#love,#peace\n", ["#love", "#peace", "x", "y"]),
    ],
)
def test_ids_that_begin_as_comments(read, content, ids):
    assert read(content, "edges.txt", header=None).ids.tolist() == ids


def test_comments_within_the_data_are_counted(read):
    graph = read("# head\n1,2\n# one\n2,3\n#4,5\n")
    assert graph.ids.tolist() == [1, 2, 3]
    assert "2 lines within the data skipped as comments" in said(graph)
    assert "comments" not in said(read("# head\n# more\n1,2\n2,3\n"))


def test_comments_that_are_named_stay_comments(read):
    assert read("x,y\n#love,#peace\ny,z\n", comments="#").ids.tolist() == ["x", "y", "z"]


def test_commented_header_above_text(read):
    assert read("#source,target\nann,bob\nbob,cid\n").ids.tolist() == ["ann", "bob", "cid"]


# Two kinds of nodes.


def test_users_and_items_are_two_kinds(read):
    graph = read("user_id,item_id\n3,3\n4,3\n")
    assert graph.ids.tolist() == ["item_id:3", "user_id:3", "user_id:4"]
    assert "'user_id:3' and 'item_id:3'" in said(graph)
    assert read("user_id,item_id\n3,3\n4,3\n", bipartite=False).ids.tolist() == [3, 4]
    assert read("userId,movieId,rating,timestamp\n1,1,5,978300760\n").ids.tolist() == ["movieId:1", "userId:1"]
    assert read("user,item\nann,apple\nbob,pear\n").ids.tolist() == ["ann", "apple", "bob", "pear"]
    assert read("user,item\nann,mint\nmint,pear\n").num_nodes == 4


def test_bipartite_can_be_asked_for(read):
    assert read("1 1\n2 1\n", "e.txt", bipartite=True).ids.tolist() == ["source:1", "source:2", "target:1"]
    assert read("a,b\n1,1\n2,1\n", bipartite=True, nodes=["a:9"]).ids.tolist() == ["a:1", "a:2", "a:9", "b:1"]
    with pytest.raises(InputError, match="bipartite must be True, False or None, got 1"):
        read("1 1\n", bipartite=1)


def test_numbering_from_both_sides_is_noticed(read):
    rng = np.random.default_rng(0)
    users, items = rng.integers(1, 200, 1000), rng.integers(1, 60, 1000)
    content = "".join(f"{u},{i}\n" for u, i in zip(users, items, strict=True))
    assert "bipartite=True (--bipartite) keeps them apart" in said(read(content))
    assert "bipartite" not in said(read(content, bipartite=False))
    # Who cites whom, with older papers numbered first: one column has fewer ids, but no self-loops.
    cites = "".join(f"{u},{int(u * x * 0.5)}\n" for u, x in zip(range(1, 500), rng.random(499), strict=True))
    assert "bipartite" not in said(read(cites))


# What is no text.


def test_nul_byte_late_in_the_file(read):
    content = b"1 2\n" * 5000 + b"1 \x002\n"
    with pytest.raises(InputError, match=r"it holds a NUL byte in line 5001$"):
        read(content, "edges.txt")


@pytest.mark.parametrize("code", [*range(1, 9), 11, 12, *range(14, 32), 127])
@pytest.mark.parametrize("separator", [",", " "])
def test_control_characters_are_no_crash(read, code, separator):
    with contextlib.suppress(InputError):
        read(f"1{separator}2\n2{separator}3{chr(code)}\n{chr(code)}3{separator}4\n")


def test_utf16_is_said(read):
    with pytest.raises(InputError, match="UTF-16"):
        read("1,2\n".encode("utf-16"))


def test_weight_that_is_the_source(read):
    with pytest.raises(InputError, match="weight='source' is the column of sources"):
        read("source,target\nann,bob\n", weight="source")
    with pytest.raises(InputError, match="weight='to' is the column of targets"):
        read("from,to,km\nann,bob,3\n", weight="to")
    with pytest.raises(InputError, match="weight=0 is the column of sources"):
        read("1 2\n", source=0, weight=0)


def test_name_of_two_columns(read):
    assert read("a,a\n1,2\n2,3\n").ids.tolist() == [1, 2, 3]
    with pytest.raises(InputError, match="weight='w' is the name of 2 columns"):
        read("u,v,w,w\n1,2,3,4\n", weight="w")


# Other things that look like lists of edges.


def test_arrows_are_no_ids(read):
    graph = read("a -> b\nb -> c\n", "e.txt")
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert "ids were read from column 0 and column 2" in said(graph)


def test_relations_are_no_ids(read):
    graph = read("ann\tknows\tbob\nbob\tlikes\tcid\ncid\tknows\tdan\n")
    assert graph.ids.tolist() == ["ann", "bob", "cid", "dan"]
    assert graph.reading.ignored == (1,)
    many = "".join(f"p{chr(97 + i)} at q{chr(97 + i)}\n" for i in range(20))
    assert "at" not in read(many, "e.txt").ids
    assert read("ann bob friend\nbob cid foe\n", "e.txt").ids.tolist() == ["ann", "bob", "cid"]


def test_header_that_repeats_is_refused(read):
    with pytest.raises(InputError, match=r"must have its header once, got it again in line 4$"):
        read("u,v\n1,2\n# part two\nu,v\n2,3\n")


def test_decimal_commas_are_said(read):
    assert "column 'km' holds numbers with a decimal comma" in said(read("a;b;km\n1;2;0,5\n2;3;0,7\n"))
    assert "column 2 holds numbers with a decimal comma" in said(read("1;2;0,5\n2;3;0,7\n"))


def test_text_among_numbers_is_said(read):
    rows = "".join(f"{i} {i + 1}\n" for i in range(400))
    assert "ids are text, as 'x' in line 401 is not a plain integer" in said(read(rows + "5 x\n", "e.txt"))
    assert "ids are text, as '1.0' in line 1" in said(read("1.0,2.0\n2.0,3.0\n"))
    assert "ids are text" not in said(read("ann,bob\nbob,7\n"))
    assert "ids are text" not in said(read(rows, "e.txt", ids="str"))


def test_rows_of_r_are_counted_with_their_quotes(read):
    with pytest.raises(InputError, match="must have 2 fields per line, got 3 in line 2"):
        read('"s" "t"\n"1" "a" "b"\n"2" "b" "c"\n', "e.txt")


def test_pointers_and_pages_are_no_edges(read):
    with pytest.raises(InputError, match="is a pointer of Git LFS"):
        read("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n")
    with pytest.raises(InputError, match="is a web page"):
        read("<!DOCTYPE html>\n<html> 404 </html>\n")


def test_columns_without_a_common_id_are_noticed(read):
    rows = "".join(f"u{i},i{j}\n" for i in range(5) for j in range(4))
    said_of = (
        "no id is in both columns; if they hold two kinds of nodes, such as users and items, bipartite=True (--bip"
    )
    graph = read("source,target\n" + rows)
    assert said_of in said(graph)
    assert graph.sides is None
    assert said_of in said(read("source,target\n" + "".join(f"{i},{j}\n" for i in range(5) for j in range(10, 14))))
    for text, words in (
        ("user,item\n" + rows, {}),
        ("source,target\n" + rows, {"bipartite": True}),
        ("source,target\n" + rows, {"bipartite": False}),
        ("source,target\n" + rows + "i1,i2\n", {}),
        ("source,target\n" + "".join(f"hub,leaf{i}\n" for i in range(30)), {}),
        ("source,target\na,x\na,y\nb,x\nb,y\n", {}),
    ):
        assert said_of not in said(read(text, **words))
