"""Data sets: the paper's eight, and larger graphs."""

from graphreach.datasets.registry import fetch, find, load, names
from graphreach.datasets.store import DownloadError
from graphreach.tasks.dataset import Dataset, Sample

__all__ = ["Dataset", "DownloadError", "Sample", "fetch", "find", "load", "names"]
