"""Data sets: the paper's eight, and larger graphs beside them."""

from graphreach.datasets.dataset import Dataset, Sample
from graphreach.datasets.download import DownloadError
from graphreach.datasets.load import fetch, load
from graphreach.datasets.registry import find, names

__all__ = ["Dataset", "DownloadError", "Sample", "fetch", "find", "load", "names"]
