"""Fixtures of the tests of tables."""

from functools import partial

import pytest

from table_helpers import write_columns, write_text


@pytest.fixture
def write(tmp_path):
    """Writes text to a file and returns its path."""
    return partial(write_text, tmp_path)


@pytest.fixture
def write_frame(tmp_path):
    """Writes columns to a Parquet file and returns its path."""
    return partial(write_columns, tmp_path)
