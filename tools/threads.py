"""Whether training gives the same bits on any number of threads: ``python -m tools.threads``.

Every case is trained in processes that differ in their numbers of torch and numba threads alone, or have
``OMP_NUM_THREADS=1`` in their environment. Scores, metrics, embeddings and weights are compared bit for bit with those of
one thread each, and counted into ``results/robustness/threads.json``.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESULT = Path(__file__).parent.parent / "results" / "robustness" / "threads.json"
COUNTS = (1, 2, 4)
"""Threads of torch and of numba; all pairs are tried."""

Arrays = dict[str, NDArray[Any]]

CASES: dict[str, dict[str, Any]] = {
    **{
        f"{task}-graphreach-{preset}{'-features' if features else ''}": {
            "task": task, "preset": preset, "features": features,
        }
        for task, preset, features in itertools.product(
            ("link", "pair", "node"), ("best", "paper", "authors"), (False, True)
        )
    },
    **{
        f"{task}-{method}": {"task": task, "method": method}
        for task, method in itertools.product(
            ("link", "pair", "node"), ("gcn", "sage", "gat", "gin", "pgnn-e", "pgnn-f", "mlp", "gcn-rw", "gcn-laplacian")
        )
    },
    **{
        f"{task}-reach{'-features' if features else ''}": {
            "task": task, "method": "reach", "features": features,
            "model": {"num_anchors": 64} | ({} if task == "node" else {"num_links": 500, "num_members": 1}),
        }
        for task, features in itertools.product(("link", "pair", "node"), (False, True))
    },
    "link-node2vec": {"task": "link", "method": "node2vec", "model": {"epochs": 1}},
    "link-graphreach+gcn": {"task": "link", "method": "graphreach+gcn"},
    "link-identity": {"task": "link", "identity": True, "features": False},
    "link-steps": {"task": "link", "features": False, "pairs_per_step": 4096},
}  # fmt: skip
"""Settings of each case, over those of :func:`train`."""


def sample(num_nodes: int = 3000, num_features: int = 96, num_classes: int = 6, seed: int = 0) -> Any:
    """A graph with classes whose members are linked oftener, and features that tell them apart.

    Example:
        >>> sample(60).graph.num_nodes
        60
    """
    import graphreach as gr

    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(num_classes, size=num_nodes))
    y[:num_classes] = np.sort(np.arange(num_classes))
    y.sort()
    source = rng.integers(num_nodes, size=5 * num_nodes)
    near = np.clip(source + rng.integers(-40, 41, size=5 * num_nodes), 0, num_nodes - 1)
    target = np.where(rng.random(5 * num_nodes) < 0.9, near, rng.integers(num_nodes, size=5 * num_nodes))
    graph = gr.Graph.from_edges(np.stack([source, target]), num_nodes)
    x = rng.standard_normal((num_nodes, num_features)) + rng.standard_normal((num_classes, num_features))[y]
    return gr.datasets.Sample(graph, x.astype(np.float32), y)


def train(name: str, data: Any, epochs: int = 6) -> Arrays:
    """All numbers that a case's training gives."""
    import graphreach as gr

    settings = gr.training.Settings(
        **{"epochs": epochs, "evaluate_every": 2, "max_pairs": 40_000 if CASES[name]["task"] == "pair" else None}
        | CASES[name]
    )
    with tempfile.TemporaryDirectory() as folder:
        outcome = gr.training.run(data, settings, folder, check=False)
        found: Arrays = {
            part: np.concatenate([np.asarray(own).ravel() for own in each if own is not None])
            for part, each in outcome.scores.items()
        }
        found["metrics"] = np.array([value for each in outcome.record["metrics"].values() for value in each.values()])
        if outcome.model is not None:
            weights = outcome.model.state_dict().values()
            found["weights"] = np.concatenate([np.asarray(each, np.float64).ravel() for each in weights])
            found["loss"] = np.array(outcome.record["training_loss"])
        if outcome.model is not None or settings.method == "reach":
            found |= predicted(gr.training.load_run(folder), data, settings)
    return found


def predicted(run: Any, data: Any, settings: Any) -> Arrays:
    """What the stored model says of the whole graph."""
    z, nodes = run.embed(data.graph, data.x if settings.features else None), np.arange(data.graph.num_nodes)
    found: Arrays = {"embedding": z} if isinstance(z, np.ndarray) else {}
    if settings.task == "node":
        return found | {"classes": run.class_probabilities(z, nodes)}
    return found | {"pairs": run.score_pairs(z, np.stack([nodes, np.roll(nodes, 7)]), data.graph)}


def estimate(data: Any) -> Arrays:
    """The numbers of the estimators."""
    import graphreach as gr

    graph, ids = data.graph, data.graph.ids
    embedding = gr.GraphReachEmbedding(method="paper", num_anchors=32, epochs=6).fit(graph)
    found: Arrays = {"estimator/fit": embedding.embedding_, "estimator/transform": embedding.transform(graph)}
    labels = np.where(np.arange(len(ids)) % 10 == 0, data.y, -1)
    for name, x in (("", None), ("-features", data.x)):
        links = gr.LinkPredictor(num_links=500, num_anchors=64, num_members=1).fit(graph, x)
        found[f"link-predictor{name}/described"] = links.background_
        found[f"link-predictor{name}/pairs"] = links.predict_proba(np.stack([ids, np.roll(ids, 7)], axis=1))
        found[f"link-predictor{name}/recommended"] = np.asarray(links.recommend(ids[:20], top=5).probability)
        classes = gr.ReachClassifier(64).fit(graph, labels, x)
        found[f"reach-classifier{name}/classes"] = classes.predict_proba()
    return found


def differing_bits(one: Arrays, other: Arrays) -> int:
    """Bits that differ between the arrays of two runs.

    Example:
        >>> differing_bits({"z": np.array([1.0])}, {"z": np.array([np.nextafter(1.0, 2.0)])})
        1
    """
    if one.keys() != other.keys() or any(one[name].shape != other[name].shape for name in one):
        raise ValueError("runs must give the same arrays")
    return sum(int(np.bitwise_count(_bytes(one[name]) ^ _bytes(other[name])).sum()) for name in one)


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.frombuffer(array.tobytes(), np.uint8)


def environments() -> Iterator[tuple[str, dict[str, str], int | None]]:
    """Name, environment and number of torch threads of each process; the first is what others are compared with."""
    for torch_threads, numba_threads in itertools.product(COUNTS, COUNTS):
        name = f"torch {torch_threads}, numba {numba_threads}"
        yield name, {"NUMBA_NUM_THREADS": str(numba_threads)}, torch_threads
    yield "OMP_NUM_THREADS=1", {"OMP_NUM_THREADS": "1"}, None
    yield "as it comes", {}, None


def _in_process(file: Path, names: list[str], torch_threads: int | None) -> None:
    if torch_threads is not None:
        import torch

        torch.set_num_threads(torch_threads)
    from graphreach import jit

    jit.SHORT = 0.0  # small work is shared too
    data = sample()
    found = {f"{name}/{key}": value for name in names for key, value in train(name, data).items()}
    found |= estimate(data)
    np.savez(file, allow_pickle=False, **found)  # type: ignore[arg-type]


def measure(names: list[str]) -> dict[str, Any]:
    """Bits that differ, by process and case."""
    reference: Arrays | None = None
    bits: dict[str, dict[str, int]] = {}
    numbers = 0
    with tempfile.TemporaryDirectory() as folder:
        for title, environment, torch_threads in environments():
            file = Path(folder) / "found.npz"
            command = [sys.executable, "-m", "tools.threads", "--into", str(file), "--cases", ",".join(names)]
            command += [] if torch_threads is None else ["--torch-threads", str(torch_threads)]
            subprocess.run(command, check=True, env={**_bare_environment(), **environment})
            with np.load(file) as stored:
                found = dict(stored)
            reference = reference or found
            numbers = sum(each.size for each in found.values())
            bits[title] = _by_case(reference, found)
            print(title, sum(bits[title].values()), "bits differ", file=sys.stderr)
    return {
        "command": "python -m tools.threads" + ("" if names == list(CASES) else f" --cases {','.join(names)}"),
        "compared": numbers,
        "cases": sorted({key.split("/")[0] for key in reference or {}}),
        "differing_bits": {title: sum(each.values()) for title, each in bits.items()},
        "differing_cases": {title: [name for name, n in each.items() if n] for title, each in bits.items()},
    }


def _by_case(reference: Arrays, found: Arrays) -> dict[str, int]:
    cases: dict[str, int] = {}
    for key in reference:
        case = key.split("/")[0]
        cases[case] = cases.get(case, 0) + differing_bits({"": reference[key]}, {"": found[key]})
    return cases


def _bare_environment() -> dict[str, str]:
    """The environment without choices of threads."""
    return {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}


def main() -> None:
    """Measure, or be one of the measured processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(CASES), help="Names of cases, with commas between them.")
    parser.add_argument("--output", type=Path, default=RESULT)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--torch-threads", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.cases.split(",")
    if options.into is not None:
        _in_process(options.into, names, options.torch_threads)
        return
    result = measure(names)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if any(result["differing_bits"].values()):
        raise SystemExit("bits differ")


if __name__ == "__main__":
    main()
