import numpy as np
import pytest

from graphreach.club import draw_club, save_club, split_club


@pytest.fixture(scope="module")
def split():
    return split_club()


def test_all_but_one_member_are_put_on_the_side_that_they_took(split):
    wrong = split.graph.ids[split.sides != split.truth]
    assert wrong.tolist() == [9]  # the member whom Zachary's own model puts on the other side, too
    assert (split.right, split.others.sum()) == (31, 32)


def test_one_side_for_all_is_right_for_half_of_them(split):
    names, counts = np.unique(split.truth[split.others], return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {"instructor": 16, "president": 16}
    assert split.baseline == 16


def test_new_links_are_none_of_the_clubs(split):
    dense = split.graph.to_scipy().toarray()
    ends = split.graph.index_of(split.new.node), split.graph.index_of(split.new.partner)
    assert len(split.new.node) == 5
    assert not dense[ends].any()
    for node, partner, why in zip(*ends, split.new.why, strict=True):
        assert why.startswith(f"{np.count_nonzero(dense[node] * dense[partner])} neighbours in common: ")


def test_picture_names_the_leaders_and_marks_what_is_wrong(split):
    left, right = draw_club(split).axes
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["instructor", "president", "known", "wrong"]
    assert [text.get_text() for text in right.get_legend().get_texts()][-1] == "new link"
    assert left.get_title() == "Who goes with whom? From two leaders, 31 of 32 right"


def test_files_are_saved(split, tmp_path):
    save_club(tmp_path, split)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["club.csv", "club.png", "sides.csv"]
    assert (tmp_path / "club.csv").read_text().splitlines()[0] == "member,friend,weight"
    assert (tmp_path / "club.png").stat().st_size < 150_000
