"""Valid files of every kind, which cases damage; made once per campaign."""

import io
import json
import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

_folder: Path | None = None
RUNS = ("link", "node", "pair")
SETTINGS = [
    "--model", "graphreach", "--protocol", "published", "--set", "hidden_channels=8", "--set", "num_anchors=4",
    "--set", "evaluate_every=1", "--epochs", "2",
]  # fmt: skip
REACH = ["--set", "model={steps: 3, lengths: [3], num_anchors: 4, num_members: 2, hidden_channels: 8}"]
CLASSES = ["--set", "model={num_anchors: 4}"]
FEATURES, LABELS = ["--features", "features.csv"], ["--labels", "labels.csv"]
FITTED = {
    "reach": REACH,
    "reach-features": [*FEATURES, *REACH],
    "pairs": ["--task", "pair", *LABELS, *REACH],
    "pairs-features": ["--task", "pair", *LABELS, *FEATURES, *REACH],
    "classes": ["--task", "node", *LABELS, *CLASSES],
    "classes-features": ["--task", "node", *LABELS, *FEATURES, *CLASSES],
}
"""Runs of method ``reach``, with the options of ``graphreach train``."""


def use(folder: Path) -> None:
    """Set the folder of samples; they are made if it does not exist."""
    global _folder
    _folder = folder
    if not folder.exists():
        make(folder)


def folder() -> Path:
    """The folder of samples."""
    assert _folder is not None, "samples.use was not called"
    return _folder


@cache
def read(name: str) -> bytes:
    """The bytes of a sample."""
    return (folder() / name).read_bytes()


def names(prefix: str) -> list[str]:
    """The samples in a folder of samples, sorted."""
    base = folder() / prefix
    return sorted(str(path.relative_to(base)) for path in base.rglob("*") if path.is_file())


def copy(name: str, to: str | None = None) -> Path:
    """A folder of samples, copied into the working folder."""
    return Path(shutil.copytree(folder() / name, to or name))


@cache
def graph(kind: str = "int") -> Any:
    """A graph of 30 nodes (``int``, ``str``), directed and weighted (``directed``), or of 8 (``small``)."""
    import graphreach as gr

    edges = [(u, v) for u, v in _grid() if v is not None]
    if kind == "str":
        return gr.Graph.from_edge_list([(f"n{u}", f"n{v}") for u, v in edges])
    if kind == "directed":
        return gr.Graph.from_edge_list([(u, v, 1.0 + u % 3) for u, v in edges], directed=True)
    if kind == "small":
        return gr.Graph.from_edges([[0, 1, 2, 3, 4, 5, 6, 7, 0], [1, 2, 3, 4, 5, 6, 7, 0, 4]])
    return gr.Graph.from_edge_list(edges)


def features() -> Any:
    """Features of the 30 nodes, in the order of the graph's ids."""
    return np.array([[i / 7, float(i % 3), -i * 1e-3] for i in range(30)], np.float32)


def _grid() -> list[tuple[int, int]]:
    """A grid of 5 x 6 with numbers that are no positions."""
    across = [(r * 6 + c, r * 6 + c + 1) for r in range(5) for c in range(5)]
    down = [(r * 6 + c, r * 6 + c + 6) for r in range(4) for c in range(6)]
    return [(3 * u + 1, 3 * v + 1) for u, v in across + down]


def make(folder: Path) -> None:
    """Write all samples."""
    folder.mkdir(parents=True)
    before = Path.cwd()
    os.chdir(folder)
    try:
        _make_graphs()
        _make_tables()
        _make_runs()
    finally:
        os.chdir(before)


def _make_graphs() -> None:
    import networkx as nx
    import polars as pl
    import scipy.io
    import scipy.sparse

    plain = _grid()
    named = [(f"n{u}", f"n{v}", 0.5 + u % 4) for u, v in plain]
    texts = {
        "plain.csv": "source,target\n" + "".join(f"{u},{v}\n" for u, v in plain),
        "named.csv": "from,to,weight\n" + "".join(f"{u},{v},{w}\n" for u, v, w in named),
        "plain.tsv": "".join(f"{u}\t{v}\n" for u, v in plain),
        "weights.txt": "# a comment\n" + "".join(f"{u} {v} {w}\n" for u, v, w in named),
        "times.txt": "".join(f"{u} {v} {1600000000 + 60 * i}\n" for i, (u, v) in enumerate(plain)),
        "quoted.csv": '"a id","b id"\n' + "".join(f'"{u}, x","{v}"\n' for u, v, _ in named),
        "plain.edgelist": "".join(f"{u} {v} {{}}\n" for u, v in plain),
        "plain.ungraph": "# Nodes: 30\n" + "".join(f"{u}\t{v}\n" for u, v in plain),
        "bare": "".join(f"{u} {v}\n" for u, v in plain),
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    frame = pl.DataFrame(named, schema=["source", "target", "weight"], orient="row")
    frame.write_parquet("named.parquet")
    pl.DataFrame(plain, schema=["u", "v"], orient="row").write_parquet("plain.parquet", compression="uncompressed")
    size = 91
    index = np.array(plain).T
    matrix = scipy.sparse.coo_array((np.arange(1.0, index.shape[1] + 1), index), shape=(size, size))
    np.savez("plain.npz", edge_index=index)
    np.savez(
        "full.npz",
        edge_index=index,
        edge_weight=np.ones(index.shape[1]),
        ids=np.arange(size),
        num_nodes=size,
        directed=True,
    )
    scipy.sparse.save_npz("matrix.npz", matrix.tocsr())
    scipy.io.mmwrite("general.mtx", matrix)
    scipy.io.mmwrite("symmetric.mtx", matrix + matrix.T, symmetry="symmetric")
    Path("dense.mtx").write_text("%%MatrixMarket matrix array real general\n3 3\n0\n1\n0\n1\n0\n2\n0\n2\n0\n")
    graph = nx.Graph()
    graph.add_weighted_edges_from(named)
    directed = nx.DiGraph(plain)
    for name, each in (("named", graph), ("plain", directed)):
        nx.write_graphml(each, f"{name}.graphml")
        nx.write_gml(each, f"{name}.gml")
        nx.write_gexf(each, f"{name}.gexf")
        nx.write_adjlist(each, f"{name}.adjlist", comments="#")
        Path(f"{name}.json").write_text(json.dumps(nx.node_link_data(each, edges="edges")))
    text = Path("named.gexf").read_text()
    Path("named.gexf").write_text(text.replace(text[text.index("lastmodifieddate") :].split('"')[1], "2020-01-01"))


def _make_tables() -> None:
    import polars as pl

    ids = graph().ids.tolist()
    numbers = features().astype(float).tolist()
    pairs = list(zip(ids[::2], ids[1::2], strict=True))
    texts = {
        "labels.csv": "id,label\n" + "".join(f"{each},{'red' if i < 15 else 'blue'}\n" for i, each in enumerate(ids)),
        "labels.txt": "".join(f"{each} {i % 3}\n" for i, each in enumerate(ids)),
        "features.csv": "id,a,b,c\n" + "".join(f"{i},{a},{b},{c}\n" for i, (a, b, c) in zip(ids, numbers, strict=True)),
        "features.tsv": "".join(f"{i}\t{a}\t{b}\n" for i, (a, b, _) in zip(ids, numbers, strict=True)),
        "pairs.csv": "u,v\n" + "".join(f"{u},{v}\n" for u, v in pairs),
        "pairs.txt": "".join(f"{u} {v}\n" for u, v in pairs),
        "pair_labels.csv": "u,v,label\n" + "".join(f"{u},{v},{i % 2}\n" for i, (u, v) in enumerate(pairs)),
        "nodes.csv": "id\n" + "".join(f"{each}\n" for each in ids[:9]),
        "nodes.txt": "".join(f"{each}\n" for each in ids[:9]),
        "anchors.txt": "".join(f"{each}\n" for each in ids[:4]),
        "anchors.csv": "anchor\n" + "".join(f"{each}\n" for each in ids[:4]),
        "anchors.json": json.dumps({"anchors": ids[:4], "coverage": 0.5, "num_nodes": 30}),
    }
    base = Path("tables")
    base.mkdir()
    for name, text in texts.items():
        (base / name).write_text(text)
    frame = pl.DataFrame({"id": ids, "label": [i % 3 for i in range(30)], "u": ids, "v": ids[::-1]})
    frame.write_parquet(base / "labels.parquet")
    pl.DataFrame({"id": ids, "a": numbers}).write_parquet(base / "features.parquet")
    frame.select("u", "v", label=pl.col("label") % 2).write_parquet(base / "pair_labels.parquet")
    np.save(base / "features.npy", np.array(numbers))
    np.savez(base / "features.npz", x=np.array(numbers, np.float32))
    _make_embeddings(np.array(ids), np.array(numbers, np.float32))


def _make_embeddings(ids: Any, rows: Any) -> None:
    from graphreach.io.embeddings import write_embedding

    for suffix in (".csv", ".parquet", ".npy", ".npz", ".emb", ".tsv"):
        folder = Path("embeddings", suffix[1:])
        folder.mkdir(parents=True)
        write_embedding(folder / f"vectors{suffix}", ids, [rows], rows.shape[1])


def _make_runs() -> None:
    import graphreach as gr

    shutil.copy("plain.csv", "graph.csv")
    for name in ("labels.csv", "features.csv"):
        shutil.copy(Path("tables", name), name)
    for task in RUNS:
        labels = [] if task == "link" else ["--labels", "labels.csv"]
        with patch("time.perf_counter", lambda: 0.0):
            command("train", "graph.csv", "-o", task, "--task", task, *labels, *SETTINGS)
        _fix_paths(Path(task))
    for name, options in FITTED.items():
        with patch("time.perf_counter", lambda: 0.0):
            command("train", "graph.csv", "-o", name, *options)
        _fix_paths(Path(name))
    estimator = gr.GraphReachEmbedding(method="paper", num_anchors=4, hidden_channels=8, epochs=2)
    estimator.fit(graph())
    estimator.save("estimator")
    for method, x in (("reach", features()), ("position", None)):
        gr.GraphReachEmbedding(method, dim=8).fit(graph(), x=x).save(f"embedding-{method}")
    gr.reachability(graph(), [0, 5], cache="cache", num_walks=5, walk_length=3)
    gr.reachability(graph(), [0, 5], cache="cache-csr", num_walks=5, walk_length=3, layout="csr")


def command(*arguments: str) -> None:
    """Run the command line in this process; anything but success raises."""
    from graphreach.cli import app

    try:
        app(list(arguments))
    except SystemExit as error:
        if error.code:
            raise RuntimeError(f"graphreach {' '.join(arguments)} ended with {error.code}") from None


def _fix_paths(folder: Path) -> None:
    """Make the run the same bytes wherever and whenever it is made."""
    for path in folder.rglob("*.json"):
        content = path.read_text().replace(f"{Path.cwd()}{os.sep}", "")
        value = json.loads(content)
        if path.name == "record.json":
            value["peak_memory"] = 1
        path.write_text(json.dumps(value, indent=1) + "\n")


def npz(**arrays: Any) -> bytes:
    """The bytes of a .npz file."""
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


if __name__ == "__main__":
    use(Path(sys.argv[1]))
