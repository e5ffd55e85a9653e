"""The record of what a call took of a cluster."""

import pytest

import graphreach as gr
from graphreach.cluster import ClusterUse, last_use, use


def test_there_is_none_before_the_first_call(monkeypatch):
    monkeypatch.setattr(use, "_last", [])
    with pytest.raises(gr.InputError, match="last_use must come after a call with engine='ray'"):
        last_use()
    use.begin_use(ClusterUse(nodes=3))
    assert last_use().nodes == 3
