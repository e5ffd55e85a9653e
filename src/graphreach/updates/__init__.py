"""Graphs that change behind a run: folders that hold their graph, and followers of edges that arrive."""
