"""Edges become CSR rows by numpy or by kernels, with the same bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import build


def outcome(monkeypatch, few_edges, *arguments, **options):
    monkeypatch.setattr(build, "FEW_EDGES", few_edges)
    try:
        return [
            None if part is None else (part.dtype, part.tolist()) for part in build.build_csr(*arguments, **options)
        ]
    except InputError as error:
        return str(error)


@settings(deadline=None, max_examples=200)
@given(
    edges=st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from([0.0, 0.1, 0.2, 0.3, 1e9])), max_size=40
    ),
    weighted=st.booleans(),
    directed=st.booleans(),
    self_loops=st.booleans(),
    reduce=st.sampled_from([None, "sum", "mean", "max", "min"]),
)
def test_numpy_and_kernels_build_the_same_bits(edges, weighted, directed, self_loops, reduce):
    table = np.array(edges).reshape(-1, 3)
    ends = table[:, :2].astype(np.uint32)
    weights = table[:, 2].copy() if weighted else None
    options = {"directed": directed, "self_loops": self_loops, "reduce": reduce}
    with pytest.MonkeyPatch.context() as monkeypatch:
        edges = build.Edges(ends[:, 0].copy(), ends[:, 1].copy(), weights, np.arange(9))
        by_numpy = outcome(monkeypatch, 10**6, edges, **options)
        assert by_numpy == outcome(monkeypatch, -1, edges, **options)
