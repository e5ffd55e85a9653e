"""Graphs and files for the tests of tables."""

import gzip

import polars as pl
import pytest

import graphreach as gr

TOWNS = gr.Graph.from_edge_list([("oslo", "bergen"), ("bergen", "voss"), ("oslo", "ås")])  # bergen, oslo, voss, ås
NUMBERS = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]], ids=[7, 5, 30, -2])  # -2, 5, 7, 30


def write_text(folder, text, name="table.csv"):
    path = folder / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if name.lower().endswith(".gz") else data)
    return path


def write_columns(folder, columns, name="table.parquet"):
    pl.DataFrame(columns).write_parquet(folder / name)
    return folder / name


def message(function, *arguments, **settings):
    """The one line with which a function refuses its arguments."""
    with pytest.raises(gr.InputError) as caught:
        function(*arguments, **settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)
