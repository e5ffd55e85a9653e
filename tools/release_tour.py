"""Uses an installed graphreach as a new user would: what :mod:`tools.release_check` runs in each of its environments.

``python -P release_tour.py EXTRAS CHECKOUT`` in an empty folder; EXTRAS is ``base`` where none are installed. What works is
listed on stdout, what does not on stderr.
"""

import json
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

FRIENDS = "from,to\nann,bob\nbob,cid\ncid,ann\ncid,dan\ndan,eve\neve,fay\nfay,dan\n"
OTHER_VERBS = [
    ["recommend", "friends.csv", "--node", "ann"],
    ["embed", "friends.csv", "-o", "vectors.csv"],
    ["train", "friends.csv", "-o", "run"],
    ["nearest", "vectors.csv", "--node", "ann"],
    ["compare", "friends.csv", "--models", "common-neighbours", "--seeds", "1", "-o", "compared"],
    ["explain", "run", "--pair", "ann", "bob"],
    ["report", "run", "-o", "report.html"],
    ["reproduce", "list"],
    ["info", "friends.gml"],
    ["info", "grid"],
    ["datasets"],
    ["anchors", "friends.csv", "--engine", "ray"],
]
"""Commands in an order in which each finds what those before it wrote."""

INSTALL = re.compile(r"pip install ['\"]graphreach\[[\w,]+\]['\"]")
"""How a message says which packages are missing."""


def command(*words: str, code: int = 0) -> str:
    """The stdout of a command, which has to end with ``code``, and otherwise its stderr."""
    script = Path(sys.executable).parent / "graphreach"
    done = subprocess.run([str(script), *words], capture_output=True, text=True)
    assert done.returncode == code, f"graphreach {' '.join(words)}: {done.returncode}, expected {code}\n{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout if code == 0 else done.stderr


def failure(words: Sequence[str]) -> str | None:
    """What is wrong with a command that neither works nor says in one line what to install."""
    script = Path(sys.executable).parent / "graphreach"
    done = subprocess.run([str(script), *words], capture_output=True, text=True)
    if done.returncode == 0 or (done.returncode == 2 and INSTALL.search(done.stderr.strip().splitlines()[-1])):
        return None
    return f"graphreach {' '.join(words)}: exit code {done.returncode}, {done.stderr.strip().splitlines()[-1]}"


def imports() -> None:
    """The package is the installed one and says its version."""
    import graphreach as gr

    assert Path(gr.__file__).is_relative_to(sys.prefix), gr.__file__
    assert gr.__version__ == version("graphreach")
    assert command("--version").strip() == f"graphreach {gr.__version__}"
    assert (Path(gr.__file__).parent / "py.typed").exists()


def public_names() -> None:
    """Each public name is there, or says what to install."""
    import graphreach as gr

    wrong = []
    for name in gr.__all__:
        try:
            getattr(gr, name)
        except Exception as error:
            if not INSTALL.search(str(error)):
                wrong.append(f"gr.{name}: {error!r}")
    assert not wrong, "; ".join(wrong)


def helps() -> None:
    """Each verb has its page of help."""
    from graphreach.cli.app import VERBS

    assert all(verb in command("--help") for verb in VERBS)
    for verb in VERBS:
        assert f"Usage: graphreach {verb}" in command(verb, "--help")


def core_verbs() -> None:
    """The verbs that need no extra."""
    assert "nodes" in json.loads(command("info", "friends.csv", "--json"))
    assert len(command("anchors", "friends.csv", "--num-anchors", "2").split()) == 2
    command("reach", "friends.csv", "-o", "reach.parquet")
    assert Path("reach.parquet").stat().st_size
    assert "communities" in command("datasets")
    report = json.loads(command("doctor", "--json"))
    assert report["graphreach"] == version("graphreach")
    assert not report["problems"], report["problems"]
    assert "one of" in command("reach", "friends.csv", "-o", "r.npz", "--method", "guess", code=2)
    assert "--output" in command("reach", "friends.csv", code=2)


def core_python() -> None:
    """Walks, anchors, reachability, pairs and a changed graph in Python; with sums that are known."""
    import numpy as np

    import graphreach as gr

    graph = gr.read_graph("friends.csv")
    walks = gr.random_walks(graph, num_walks=5, walk_length=4)
    assert walks.shape == (6, 5, 5)
    anchors = gr.select_anchors(graph, num_anchors=6)
    for method in ("walks", "exact"):
        reach = gr.reachability(graph, anchors, method=method)
        assert np.allclose(reach.to_anchors.sum(1), 1, atol=1e-5)  # all nodes are anchors
    pair = gr.pair_reachability(graph, [[0], [1]], walk_length=1)  # ann and bob, each with two friends
    assert np.allclose(pair, 0.5)
    features, names = gr.pair_features(graph, [[0, 0], [1, 5]])
    assert features.shape == (2, len(names))
    assert graph.updated(add=[("ann", "dan")]).num_edges == graph.num_edges + 1


def other_verbs() -> None:
    """Verbs that may need an extra: they work, or say which."""
    wrong = []
    for words in OTHER_VERBS:
        made_before = {"vectors.csv", "run"} & set(words)
        if all(Path(each).exists() for each in made_before):
            wrong.append(failure(words))
    assert not any(wrong), "\n".join(filter(None, wrong))


def torch_python() -> None:
    """Fits with torch."""
    import numpy as np

    import graphreach as gr

    rng = np.random.default_rng(0)
    half = np.arange(60) < 30
    edges = rng.integers(0, 60, (2, 600))
    graph = gr.Graph.from_edges(edges[:, half[edges[0]] == half[edges[1]]], num_nodes=60)
    links = gr.LinkPredictor().fit(graph)
    apart, together = links.predict_proba([(0, 59), (0, 29)])[:, 1]
    assert apart < together, (apart, together)
    labels = {node: str(half[node]) for node in range(0, 60, 6)}
    assert list(gr.ReachClassifier().fit(graph, labels).predict([1, 58])) == ["True", "False"]
    assert gr.GraphReachEmbedding(dim=8).fit(graph).embedding_.shape == (60, 8)
    for method in ("graphreach", "gcn"):
        outcome = gr.training.run(gr.datasets.Sample(graph), gr.training.Settings(method=method, epochs=3))
        assert 0 <= outcome.test["auc"] <= 1


def optional_packages() -> None:
    """Frames, networkx graphs, pictures, and the packages behind the other extras, those that are installed."""
    import numpy as np

    import graphreach as gr

    graph = gr.read_graph("friends.csv")
    if find_spec("networkx"):
        import networkx

        assert gr.Graph.from_networkx(networkx.path_graph(4)).num_edges == 3
        assert gr.read_graph("friends.gml").num_nodes == 3
    if find_spec("pandas"):
        import pandas

        assert gr.Graph.from_edge_list(pandas.read_csv("friends.csv")).num_edges == graph.num_edges
    if find_spec("matplotlib"):
        from graphreach import plot

        figure, _ = plot.new_figure()
        figure.savefig("figure.png")
    if find_spec("pynndescent"):
        import graphreach.nearest as nearest

        vectors = np.repeat(np.eye(8, dtype=np.float32), 50, 0) + np.random.default_rng(0).normal(size=(400, 8)) / 10
        nearest.EXACT_NODES = 100
        found, exact = (gr.NearestNodes(vectors).all(5, exact=each)[0] for each in (False, True))
        assert np.mean([len(set(a) & set(b)) for a, b in zip(found, exact, strict=True)]) > 4
    if find_spec("ray"):
        walks = gr.random_walks(graph, num_walks=3, walk_length=4, engine="ray")
        assert np.array_equal(walks, gr.random_walks(graph, num_walks=3, walk_length=4))


def readme(checkout: Path) -> None:
    """The blocks of the README, in order, as the tests run them."""
    sys.path.insert(0, str(checkout / "tests"))
    import doc_blocks

    page = checkout / "README.md"
    namespace = {"__name__": "page"}
    for block in doc_blocks.blocks(page):
        if block.mark not in ("data", "output"):
            doc_blocks.run(block, namespace, page)


def main(arguments: Sequence[str]) -> int:
    """Do all of it; the number of parts that do not work."""
    failed = 0
    extras, checkout = arguments[0], Path(arguments[1])
    Path("friends.csv").write_text(FRIENDS)
    nodes = "".join(f'node [ id {i} label "{name}" ] ' for i, name in enumerate(("ann", "bob", "cid")))
    Path("friends.gml").write_text(f"graph [ {nodes}edge [ source 0 target 1 ] edge [ source 1 target 2 ] ]")
    checks: list[Callable[[], None]] = [imports, public_names, helps, core_verbs, core_python, other_verbs]
    if extras == "base":
        assert find_spec("torch") is None
    else:
        checks += [optional_packages]
    if find_spec("torch"):
        checks += [torch_python]
    if extras == "all":
        checks.append(lambda: readme(checkout))
    for check in checks:
        began = time.monotonic()
        try:
            check()
        except Exception:
            traceback.print_exc(limit=-2)
            failed += 1
            continue
        name = (check.__doc__ or "The README's blocks run.").splitlines()[0]
        print(f"  {name} ({time.monotonic() - began:.1f} s)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
