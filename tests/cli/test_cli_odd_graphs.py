"""Graphs that are hardly any: a result or one sentence, never a traceback."""

import pytest
import scipy.sparse as sp


def text(edges, weight=None):
    head = "source,target" if weight is None else "source,target,weight"
    end = "" if weight is None else f",{weight}"
    return "\n".join([head, *(f"{a},{b}{end}" for a, b in edges)]) + "\n"


RING = [(i, (i + step) % 15) for i in range(15) for step in (1, 2)]
GRAPHS = {
    "header": text([]),
    "loop": text([(1, 1)]),
    "loops": text([(i, i) for i in range(12)]),
    "two nodes": text([(1, 2)]),
    "three nodes": text([(1, 2), (2, 3)]),
    "star": text([(0, i) for i in range(1, 15)]),
    "pairs": text([(2 * i, 2 * i + 1) for i in range(12)]),
    "clique": text([(i, j) for i in range(8) for j in range(i)]),
    "huge weights": text(RING, "1e300"),
    "one edge many times": text([(1, 2)] * 20),
    "no edges": sp.csr_array((6, 6)),
    "one node": sp.csr_array((1, 1)),
    "no nodes": sp.csr_array((0, 0)),
}
TRAINED = ["star", "pairs", "huge weights"]


@pytest.fixture
def graph(request, tmp_path):
    content = GRAPHS[request.param]
    path = tmp_path / ("graph.csv" if isinstance(content, str) else "graph.npz")
    if isinstance(content, str):
        path.write_text(content)
    else:
        sp.save_npz(path, content)
    return path


def check(result, codes=(0, 2)):
    assert result.exit_code in codes
    errors = [line for line in result.stderr.splitlines() if line.startswith("graphreach: error: ")]
    assert len(errors) == (result.exit_code == 2)


@pytest.mark.parametrize("graph", GRAPHS, indirect=True)
def test_positions_of_odd_graphs(run, graph, tmp_path):
    codes = (2,) if graph.suffix == ".csv" and len(graph.read_text().splitlines()) == 1 else (0, 2)
    check(run("info", graph), codes)
    check(run("anchors", graph), codes)
    check(run("anchors", graph, "--directed"), codes)
    check(run("reach", graph, "-o", tmp_path / "r.npz"), codes)
    check(run("reach", graph, "-o", tmp_path / "r.parquet", "--method", "exact", "--hops", "2"), codes)


@pytest.mark.parametrize("graph", [name for name in GRAPHS if name not in TRAINED], indirect=True)
def test_graphs_that_are_too_small_to_train_on(run, graph, tmp_path):
    before = set(tmp_path.iterdir())
    check(run("embed", graph, "-o", tmp_path / "z.npy", "--method", "paper"), (2,))
    check(run("train", graph, "-o", tmp_path / "run"), (2,))
    check(run("compare", graph, "-o", tmp_path / "runs", "--seeds", "1", "-m", "graphreach,common-neighbours"), (2,))
    assert {path.name for path in set(tmp_path.iterdir()) - before} <= {"run", "runs"}


@pytest.mark.parametrize("graph", TRAINED, indirect=True)
def test_odd_graphs_that_can_be_trained_on(run, graph, tmp_path):
    quick = ("--epochs", "1", "--set", "num_anchors=3")
    check(run("embed", graph, "-o", tmp_path / "z.npy", "--no-compare", *quick))
    check(run("train", graph, "--model", "graphreach", "-o", tmp_path / "run", *quick))
