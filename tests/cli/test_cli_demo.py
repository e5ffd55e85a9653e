import csv

import numpy as np
import pytest

import graphreach as gr
from graphreach.demo import ring_of_communities


def test_demo_prints_coverage_and_saves_a_picture(run, tmp_path):
    result = run("demo", "--output", tmp_path / "new" / "demo")
    assert result.exit_code == 0
    assert "greedy" in result.stdout
    assert "Upper bound" in result.stdout
    picture = tmp_path / "new" / "demo" / "anchors.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 200_000


def test_demo_repeats(run, tmp_path):
    outputs = [run("demo", "-o", tmp_path / name, "--seed", 3).stdout for name in ("one", "two")]
    assert outputs[0] == outputs[1]
    numbers = [(tmp_path / name / "anchors.csv").read_text() for name in ("one", "two")]
    assert numbers[0] == numbers[1]
    rows = list(csv.DictReader(numbers[0].splitlines()))
    assert sum(int(row["anchor"]) for row in rows) == 12
    assert sum(float(row["reachability"]) for row in rows) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_communities_hang_together(seed):
    graph = ring_of_communities(seed=seed)
    hops = gr.random_walks(graph, starts=[0], num_walks=2000, walk_length=100)
    assert len(np.unique(hops)) > graph.num_nodes // 2
    assert graph.num_nodes == 12 * 24
