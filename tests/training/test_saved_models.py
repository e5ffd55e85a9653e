"""Folders of other estimators and of runs are told apart by name."""

import networkx as nx
import numpy as np
import pytest

import graphreach as gr


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder, club = tmp_path_factory.mktemp("models"), nx.karate_club_graph()
    gr.LinkPredictor(num_members=1, steps=3, start=None).fit(club).save(folder / "links")
    y = np.array([club.nodes[node]["club"] == "Officer" for node in club]).astype(int)
    gr.ReachClassifier().fit(club, y).save(folder / "classes")
    sample = gr.datasets.Sample(gr.Graph.from_networkx(club))
    settings = gr.training.Settings(method="reach", model={"steps": 3, "num_members": 1})
    gr.training.run(sample, settings, folder / "run")
    return folder


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        (gr.LinkPredictor, "classes", "LinkPredictor, but .*classes holds a ReachClassifier$"),
        (gr.ReachClassifier, "links", "ReachClassifier, but .*links holds a LinkPredictor$"),
        (gr.GraphReachEmbedding, "links", "GraphReachEmbedding, but .*links holds a LinkPredictor$"),
        (gr.LinkPredictor, "run", "LinkPredictor, got .*run, the folder of a run; its model is in .*run/model$"),
        (gr.ReachClassifier, "run", "ReachClassifier, but .*run/model holds a LinkPredictor$"),
        (gr.LinkPredictor, "none", "folder must hold config.json"),
    ],
)
def test_the_folder_of_something_else_is_named(folders, kind, name, sentence):
    with pytest.raises(gr.InputError, match=sentence):
        kind.load(folders / name)


def test_the_right_folders_are_read(folders):
    assert gr.LinkPredictor.load(folders / "run" / "model").links_
    assert gr.LinkPredictor.load(folders / "links").links_
    assert len(gr.ReachClassifier.load(folders / "classes").classes_) == 2


def test_a_start_must_be_a_predictor(folders):
    with pytest.raises(gr.InputError, match=r"start must hold a saved LinkPredictor, but .* holds a ReachClassifier"):
        gr.LinkPredictor(start=folders / "classes").fit(nx.karate_club_graph())
