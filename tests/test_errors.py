"""One sentence, whatever value is in it."""

import pickle

from graphreach import InputError
from graphreach.errors import LONGEST


def test_long_values_are_cut_from_the_middle():
    text = str(InputError(f"name must be short, got {'x' * 5000}, which is not"))
    assert len(text) <= LONGEST
    assert text.startswith("name must be short, got xxx")
    assert text.endswith("xxx, which is not")


def test_line_breaks_in_values_do_not_break_the_sentence():
    assert str(InputError("id must be a name, got a\nb")) == "id must be a name, got a b"


def test_error_survives_pickle():
    assert str(pickle.loads(pickle.dumps(InputError("k must be 1, got 2")))) == "k must be 1, got 2"
