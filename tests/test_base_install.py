"""What the base install does: other packages are refused to a fresh process."""

import json
import subprocess
import sys

import pytest

import graphreach as gr

OTHERS = (
    "torch", "torch_geometric", "sklearn", "pandas", "networkx", "matplotlib", "pydantic", "yaml", "filelock", "pyarrow",
    "pooch", "pynndescent", "ray",
)  # fmt: skip

OURS = ("pydantic", "yaml")
"""Some of these, which a version of typer or numba may import for itself."""

REFUSE = f"""
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        package, frame = name.partition(".")[0], sys._getframe(1)
        while "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        ours = frame.f_globals["__name__"].startswith(("graphreach", "__main__"))
        if package in {OTHERS!r} and (ours or package not in {OURS!r}):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refused())
"""

FRIENDS = [
    ("ann", "bob"),
    ("bob", "cid"),
    ("ann", "dan"),
    ("dan", "cid"),
    ("cid", "eve"),
    ("eve", "fay"),
    ("fay", "dan"),
]


@pytest.fixture
def friends(tmp_path):
    path = tmp_path / "friends.csv"
    path.write_text("from,to\n" + "".join(f"{u},{v}\n" for u, v in FRIENDS))
    return path


def base(code, *words):
    """Run code in a process that finds no package but those of the base install."""
    done = subprocess.run([sys.executable, "-c", REFUSE + code, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def command(*words):
    return base("from graphreach.cli import main; main()", *words)


LIBRARY = """
import json
import graphreach as gr

graph = gr.read_graph(sys.argv[1])
anchors = gr.select_anchors(graph, 2)
reach = gr.reachability(graph, anchors)
features, names = gr.pair_features(graph, graph.index_of(["ann", "cid", "bob", "fay"]).reshape(2, 2), steps=3)
gr.random_walks(graph, num_walks=2)
index = gr.ReachIndex(graph, anchors)
index.update(add=[("ann", "gus")])
links = gr.LinkPredictor.pretrained()
found = links.new_links(3, graph)
links.save(sys.argv[2])
again = gr.LinkPredictor.load(sys.argv[2])
moved = again.update(graph=graph).update(add=[("ann", "eve")])
print(json.dumps({
    "reach": reach.to_anchors.shape, "features": features.shape, "index": len(index.graph.ids),
    "new": [found.node.tolist(), found.partner.tolist(), found.probability.tolist()],
    "partners": links.recommend("ann", 2, graph).partner.tolist(),
    "explained": links.explain(("ann", "cid"), graph).groups,
    "chance": again.predict_proba([("ann", "cid")], graph)[:, 1].tolist(),
    "moved": moved.predict_proba([("ann", "cid")])[:, 1].tolist(),
    "near": gr.NearestNodes(reach.to_anchors.astype("float32") + 1).of([0], 1)[0].shape,
}))
"""


def test_the_library_scores_links_with_the_bits_of_the_full_install(friends, tmp_path):
    code, out, err = base(LIBRARY, friends, tmp_path / "links")
    assert code == 0, err
    found, graph, links = json.loads(out), gr.read_graph(friends), gr.LinkPredictor.pretrained()
    expected = links.new_links(3, graph)
    assert found["new"] == [expected.node.tolist(), expected.partner.tolist(), expected.probability.tolist()]
    assert found["partners"] == links.recommend("ann", 2, graph).partner.tolist()
    assert found["explained"] == links.explain(("ann", "cid"), graph).groups
    assert found["chance"] == links.predict_proba([("ann", "cid")], graph)[:, 1].tolist()
    assert found["moved"] == links.predict_proba([("ann", "cid")], graph.updated(add=[("ann", "eve")]))[:, 1].tolist()
    assert gr.LinkPredictor.load(tmp_path / "links").head_.in_channels == 30


def test_the_command_answers(friends, tmp_path):
    for words in (
        ["recommend", friends, "--top", "2"],
        ["recommend", friends, "--node", "ann", "--json"],
        ["info", friends],
        ["info", friends, "--json"],
        ["anchors", friends, "-k", "2"],
        ["reach", friends, "-k", "2", "-o", tmp_path / "reach.npz"],
        ["--version"],
        ["--help"],
    ):
        code, _, err = command(*words)
        assert code == 0, (words, err)
    (tmp_path / "z.csv").write_text("id,a,b\nann,1,0\nbob,0,1\ncid,1,1\n")
    assert command("nearest", tmp_path / "z.csv", "--id", "ann")[0] == 0


NEEDS = 'needs {0}, which is not installed: pip install "graphreach[{1}]"'


@pytest.mark.parametrize(
    ("code", "package", "extra"),
    [
        ("gr.LinkPredictor().fit(graph)", "torch", "nn"),
        ("gr.LinkPredictor.pretrained().head_", "torch", "nn"),
        ("gr.nn.GraphReach", "torch", "nn"),
        ("gr.training.run", "torch", "nn"),
        ("gr.explain.Explainer", "torch", "nn"),
        ("gr.transforms", "torch", "nn"),
        ("gr.attacks", "torch", "nn"),
        ("gr.reachability(graph, [0]).to_torch()", "torch", "nn"),
        ("gr.GraphReachEmbedding", "sklearn", "nn"),
        ("gr.ReachClassifier", "sklearn", "nn"),
    ],
)
def test_what_needs_more_says_so_in_one_sentence(code, package, extra):
    prefix = "import graphreach as gr\ngraph = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])\n"
    caught = (
        f"try:\n    {code}\nexcept gr.InputError as error:\n    assert isinstance(error, ImportError)\n    print(error)"
    )
    status, out, err = base(prefix + caught)
    assert status == 0, err
    assert out.rstrip().endswith(NEEDS.format(package, extra)), out
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "packages", "extra"),
    [
        (["recommend", "FRIENDS", "--fit"], ["torch"], "nn"),
        (["train", "FRIENDS", "-o", "run"], ["torch", "pydantic"], "nn"),
        (["embed", "FRIENDS", "-o", "z.csv"], ["torch", "sklearn"], "nn"),
        (["demo"], ["torch", "sklearn"], "nn"),
    ],
)
def test_so_do_commands(friends, words, packages, extra):
    code, out, err = command(*(friends if word == "FRIENDS" else word for word in words))
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("graphreach: error: ")
    assert any(err.rstrip().endswith(NEEDS.format(each, extra)) for each in packages), err
    assert "Traceback" not in err
