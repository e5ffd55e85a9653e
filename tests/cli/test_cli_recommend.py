"""graphreach recommend."""

import json

import polars as pl
import pytest

import graphreach as gr
from graphreach.cli.output import show_rows


@pytest.fixture
def quick(monkeypatch):
    """A predictor that is learned in no time."""
    fit = gr.LinkPredictor.fit
    monkeypatch.setattr(
        gr.LinkPredictor, "fit", lambda self, *given: fit(self.set_params(num_members=1, steps=3), *given)
    )


@pytest.fixture
def saved(streets, tmp_path):
    gr.LinkPredictor(num_members=1, steps=3).fit(streets["graph"]).save(tmp_path / "links")
    return tmp_path / "links"


def test_listed_nodes(run, streets, quick):
    done = run("recommend", streets["graph"], "--node", "street 1", "--node", "street 30", "--top", 3)
    assert done.exit_code == 0, done.output
    frame = pl.read_csv(done.stdout.encode())
    assert frame.columns == ["node", "partner", "probability", "rank", "why"]
    assert frame["node"].to_list() == ["street 1"] * 3 + ["street 30"] * 3
    assert frame["rank"].to_list() == [1, 2, 3] * 2
    assert done.stderr.startswith("graphreach: scored by the model that ships with the package")
    graph = gr.read_graph(streets["graph"])
    weights = graph.to_scipy().toarray()
    ends = zip(graph.index_of(frame["node"]), graph.index_of(frame["partner"]), strict=True)
    assert all(weights[u, v] == 0 for u, v in ends)


def test_the_best_links_of_the_whole_graph(run, streets, tmp_path):
    done = run("recommend", streets["graph"], "--top", 4)
    assert done.exit_code == 0, done.output
    frame = pl.read_csv(done.stdout.encode())
    expected = gr.LinkPredictor.pretrained().new_links(4, gr.read_graph(streets["graph"]))
    assert frame["node"].to_list() == expected.node.tolist()
    assert frame["partner"].to_list() == expected.partner.tolist()
    assert frame["rank"].to_list() == [1, 2, 3, 4]
    assert frame["why"].to_list() == expected.why.tolist()
    assert "without candidates" not in done.stderr
    run("recommend", streets["graph"], "--top", 4, "--no-why", "-o", tmp_path / "links.csv")
    assert pl.read_csv(tmp_path / "links.csv").equals(frame.drop("why"))


def test_a_terminal_gets_a_table(streets, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    frames = [pl.DataFrame({"node": ["ann"], "probability": [0.123456]})]
    show_rows(frames, None, False)
    assert "│ ann  │       0.123 │" in capsys.readouterr().out
    show_rows(frames, None, True)
    assert json.loads(capsys.readouterr().out) == [{"node": "ann", "probability": 0.123456}]
    show_rows([pl.DataFrame({"node": ["bob"] * 300})], None, False)
    assert capsys.readouterr().out.splitlines()[:2] == ["node", "bob"]


def test_all_nodes_to_files(run, streets, quick, tmp_path):
    written = []
    for suffix in ("csv", "parquet", "json"):
        path = tmp_path / f"links.{suffix}"
        done = run("recommend", streets["graph"], "--all", "--top", 2, "-o", path)
        assert done.exit_code == 0, done.output
        assert done.stdout == ""
        assert f"80 rows are in {path}" in done.stderr
        written.append(getattr(pl, f"read_{suffix}")(path))
    assert written[0].equals(written[1])
    assert written[0].equals(written[2].select(written[0].columns))
    assert written[0]["node"].n_unique() == 40
    printed = json.loads(run("recommend", streets["graph"], "--all", "--top", 2, "--json").stdout)
    assert pl.DataFrame(printed).equals(written[0])
    alone = run("recommend", streets["graph"], "--node", "street 7", "--top", 2, "--no-why", "--json").stdout
    assert json.loads(alone) == [row for row in printed if row["node"] == "street 7"]


def test_it_says_where_positions_are_not_compared(run, streets, quick, monkeypatch):
    sentence = "positions are not compared for so many nodes"
    assert sentence not in run("recommend", streets["graph"], "--all").stderr
    monkeypatch.setattr("graphreach.pairs.candidates.COMPARED", 200)
    assert sentence in run("recommend", streets["graph"], "--all").stderr
    assert sentence not in run("recommend", streets["graph"], "--node", "street 1").stderr


def test_nothing_is_left_of_a_file_that_fails(run, streets, quick, monkeypatch, tmp_path):
    def broken(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("graphreach.pairs.recommendations.candidates", broken)
    before = sorted(tmp_path.iterdir())
    for suffix in ("csv", "json", "parquet"):
        assert run("recommend", streets["graph"], "--all", "-o", tmp_path / f"out.{suffix}").exit_code == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_saved_predictor(run, saved, streets):
    done = run("recommend", saved, "--graph", streets["graph"], "--node", "street 1", "--top", 3, "--json")
    assert done.exit_code == 0, done.output
    expected = gr.LinkPredictor.load(saved).recommend("street 1", 3, streets["graph"])
    assert [row["partner"] for row in json.loads(done.stdout)] == expected.partner.tolist()


def test_a_data_set_and_nodes_without_candidates(run, tmp_path, quick):
    done = run("recommend", "communities", "--node", 0, "--top", 1)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[1].startswith("0,")
    (tmp_path / "nodes.txt").write_text("lonely\n")
    ring = "".join(f"n{i},n{(i + 1) % 20}\nn{i},n{(i + 3) % 20}\n" for i in range(20))
    (tmp_path / "ring.csv").write_text(f"from,to\n{ring}")
    done = run("recommend", tmp_path / "ring.csv", "--nodes", tmp_path / "nodes.txt", "--node", "lonely")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == ["node,partner,probability,rank,why"]
    assert "there is no link to recommend: nodes without an edge have no candidates" in done.stderr
    done = run(
        "recommend", tmp_path / "ring.csv", "--nodes", tmp_path / "nodes.txt", "--node", "lonely", "--node", "n3"
    )
    assert "1 node without candidates" in done.stderr


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        ([("a", "b")], "linked to every node that they reach"),
        ([("a", "b"), ("b", "c"), ("c", "a")], "linked to every node that they reach"),
        ([("a", "b"), ("b", "c"), ("c", "a"), ("x", "y")], "linked to every node that they reach"),
        ([("a", "a"), ("b", "b")], "the graph has no edges"),
    ],
)
def test_a_graph_where_nothing_can_be_recommended_says_so(run, tmp_path, edges, reason):
    """A header and silence were the whole answer."""
    path = tmp_path / "edges.csv"
    path.write_text("from,to\n" + "".join(f"{u},{v}\n" for u, v in edges))
    for words in ((), ("--all", "--why")):
        done = run("recommend", path, *words)
        assert (done.exit_code, done.stdout.splitlines()) == (0, ["node,partner,probability,rank,why"])
        assert f"there is no link to recommend: {'' if reason[:3] == 'the' else 'nodes without'}" in done.stderr
        assert reason in done.stderr


def test_a_directed_graph_is_learned_from_and_says_so(run, streets, quick):
    done = run("recommend", streets["graph"], "--directed", "--top", 1)
    assert done.exit_code == 0, done.output
    assert (
        "learned from the graph itself, as the model that ships with the package is one of undirected graphs"
        in done.stderr
    )
    assert "learned from the graph itself" not in run("recommend", streets["graph"], "--top", 1).stderr


def test_mistakes_are_one_line(run, streets, saved, tmp_path):
    graph = streets["graph"]
    for words, sentence in (
        ((graph, "--all", "--node", "street 1"), "at most one of --node and --all must be given, got both"),
        ((graph, "--node", "nowhere"), "--node must be the id of a node (such as 'street 0', "),
        ((graph, "--node", "Street 12"), "got 'Street 12'; did you mean 'street 12'?"),
        ((graph, "--all", "-o", tmp_path / "out.xlsx"), "--output must end in .csv, .parquet or .json, got out.xlsx"),
        ((graph, "--all", "--graph", graph), "--graph must go with the folder of a run"),
        ((saved, "--all"), "--graph must be given with a folder"),
        ((tmp_path, "--all", "--graph", graph), str(tmp_path)),
        ((tmp_path / "none.csv", "--all"), "none.csv"),
    ):
        done = run("recommend", *words)
        assert done.exit_code == 2, (words, done.output)
        assert sentence in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out.xlsx").exists()


def test_partners_in_a_graph_with_two_kinds_of_nodes_are_of_the_other_kind(run, quick, tmp_path):
    likes = tmp_path / "likes.csv"
    likes.write_text(
        "user,item\n" + "".join(f"u{i},i{j}\n" for i in range(16) for j in range(9) if (i * j + i) % 4 == 0)
    )
    graph = gr.read_graph(likes)
    for words in ((), ("--fit",)):
        done = run("recommend", likes, "--all", *words)
        assert done.exit_code == 0, done.output
        rows = pl.read_csv(done.stdout.encode())
        assert len(rows) > 50
        assert (rows["node"].str.head(1) != rows["partner"].str.head(1)).all()
        rate = 100 * graph.num_edges / (16 * 9)
        assert f"probabilities assume that {rate:.3g}% of all pairs asked about are links" in done.stderr
