"""The page on the cost of a cluster says what the benchmark measured, and the model does what the page says."""

import json
import math

import pytest

from benchmarks.cluster_cost import BILLION, MARKERS, PAGE, Constants, Job, figures
from benchmarks.harness import RESULTS

CONSTANTS = Constants(((2**20, 10e-9), (2**30, 20e-9)), 0.5, 1e-9, 5.0, 100e-9, 2**21, 10e-3, 2e-3)
JOB = Job(nodes=2**20, graph_bytes=2**27, moving=0.5, walks=10, length=20, result_bytes=2**28)


def test_the_page_has_the_figures_of_the_results():
    text = PAGE.read_text(encoding="utf-8")
    found = text.split(MARKERS[0])[1].split(MARKERS[1])[0].strip()
    assert found == figures(json.loads((RESULTS / "cluster-cost.json").read_text(encoding="utf-8")))


def test_the_formulas_of_the_page():
    steps = 2**20 * 0.5 * 10 * 20
    assert JOB.steps == steps
    assert CONSTANTS.replicated(JOB, 2, 3) == pytest.approx(0.5 + (steps * 17e-9 + (3 * 2**27 + 2**28) * 1e-9) / 2)
    moved = 2**27 + 2**28
    walker = 100e-9 + 1e-9 * (math.log2(2**25 / 2**20) - 1)
    waves = math.ceil(2**20 / (7 * 2**20 // 200))
    assert JOB.tasks(4) == waves * 81
    assert CONSTANTS.partitioned(JOB, 4, 2) == pytest.approx(
        5 + (steps * walker + waves * 81 * 10e-3 + moved * 1e-9) / 2
    )
    walkers = 8 * steps * 19 / 20 / 2
    assert CONSTANTS.bytes_moved(JOB, 2) == pytest.approx(2**27 + walkers + 2 * 4.25 * 2**20 + 2**28)


def test_a_step_beyond_the_measured_sizes():
    assert CONSTANTS.step_on(2**10) == pytest.approx(10e-9)
    assert CONSTANTS.step_on(2**25) == pytest.approx(15e-9)
    assert CONSTANTS.step_on(2**32) == pytest.approx(22e-9)


def test_the_large_graph_is_the_one_of_the_page():
    assert BILLION.graph_bytes == 808e9
    assert BILLION.steps == 1e12
