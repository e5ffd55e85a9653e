"""Runs that add scores of several methods have no page; their parts have."""

import pytest

import graphreach as gr

QUICK = {"epochs": 1, "evaluate_every": 1, "num_anchors": 4}


def test_the_part_of_graphreach_is_named_and_can_be_shown(quarters, tmp_path):
    gr.training.run(quarters.data, gr.training.Settings(method="gcn+graphreach", **QUICK), tmp_path)
    with pytest.raises(gr.InputError) as caught:
        gr.report.make_report(tmp_path, quarters.data)
    assert "adds the scores of gcn and graphreach" in str(caught.value)
    assert str(caught.value).endswith(f"instead: {tmp_path / 'graphreach'}")
    assert "graphreach report" in gr.report.make_report(tmp_path / "graphreach", quarters.data)


def test_without_a_model_no_folder_is_named(quarters, tmp_path):
    settings = gr.training.Settings(method="common-neighbours+closure", task="pair", **QUICK)
    gr.training.run(quarters.data, settings, tmp_path)
    with pytest.raises(gr.InputError, match=r"adds the scores of common-neighbours and closure$"):
        gr.training.TrainedRun(tmp_path)
