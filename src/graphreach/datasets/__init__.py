"""Data sets: the paper's eight, and larger graphs."""

from graphreach.datasets.dataset import Dataset, Sample
from graphreach.datasets.registry import fetch, find, load, names
from graphreach.datasets.store import DownloadError

__all__ = ["Dataset", "DownloadError", "Sample", "fetch", "find", "load", "names"]
