"""Readers and writers of graphs, tables, ids and embeddings: the one place that knows file formats."""

from graphreach.io.read_graph import read_graph

__all__ = ["read_graph"]
