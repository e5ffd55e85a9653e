"""A file of a data set: where it belongs, how it is known, and where it can be had."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

Pack = Callable[[list[bytes]], bytes]


def only(parts: list[bytes]) -> bytes:
    """The one part as it is.

    Example:
        >>> only([b"text"])
        b'text'
    """
    (part,) = parts
    return part


@dataclass(frozen=True)
class Source:
    """One place to download a file from.

    Attributes:
        urls: What to download; most files are one.
        pack: Makes the file from what the addresses give, where the source keeps it in another form.

    Example:
        >>> Source(("https://snap.stanford.edu/data/ca-AstroPh.txt.gz",)).label
        'snap.stanford.edu'
        >>> Source((github("kimiyoung/planetoid", "data/ind.cora.x"),)).label
        'github.com/kimiyoung/planetoid'
    """

    urls: tuple[str, ...]
    pack: Pack = only

    @property
    def label(self) -> str:
        """The server or the GitHub repository of the first address."""
        parts = urlsplit(self.urls[0])
        if parts.netloc not in ("raw.githubusercontent.com", "github.com"):
            return parts.netloc
        return f"github.com/{'/'.join(parts.path.split('/')[1:3])}"


@dataclass(frozen=True)
class DataFile:
    """One file.

    Attributes:
        path: Below the root, ``<dataset>/<file>``.
        open: Checks the file's bytes and returns what is inside; raises
            :class:`~graphreach.datasets.contents.ContentError` if they are not the expected ones.
        sources: Where to download it, tried in this order.
    """

    path: str
    open: Callable[[bytes], Any]
    sources: tuple[Source, ...]

    @property
    def folder(self) -> str:
        """The folder below the root."""
        return str(PurePosixPath(self.path).parent)

    @property
    def name(self) -> str:
        """The name without folders.

        Example:
            >>> DataFile("cora/ind.cora.x", bytes, ()).name
            'ind.cora.x'
        """
        return PurePosixPath(self.path).name


def github(repository: str, path: str, branch: str = "master") -> str:
    """The address of a file as it stands in a GitHub repository.

    Example:
        >>> github("kimiyoung/planetoid", "data/ind.cora.x")
        'https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/ind.cora.x'
    """
    return f"https://raw.githubusercontent.com/{repository}/{branch}/{path}"


def snap(path: str, pack: Pack = only) -> tuple[Source, Source]:
    """SNAP's file by either protocol: some networks let only one of them through.

    Example:
        >>> [source.urls[0] for source in snap("graphsage/ppi.zip")]
        ['https://snap.stanford.edu/graphsage/ppi.zip', 'http://snap.stanford.edu/graphsage/ppi.zip']
    """
    return Source((f"https://snap.stanford.edu/{path}",), pack), Source((f"http://snap.stanford.edu/{path}",), pack)
