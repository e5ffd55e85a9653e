"""The files of a data set on disk: found, downloaded if missing, and never opened unchecked."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphreach.datasets.contents import ContentError
from graphreach.datasets.data_file import DataFile
from graphreach.datasets.download import DownloadError, download
from graphreach.errors import InputError
from graphreach.io.files import replacing

VARIABLE = "GRAPHREACH_DATA"


def find_root(root: str | os.PathLike[str] | None = None) -> Path:
    """The folder that holds ``<dataset>/<file>``: ``root``, else ``GRAPHREACH_DATA``, else the user's cache.

    Example:
        >>> find_root("/data").as_posix()
        '/data'
    """
    chosen = root if root is not None else os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    try:
        from pooch import os_cache
    except ModuleNotFoundError:
        raise InputError(
            f"root must be a folder, or {VARIABLE} must name one, as pooch is not installed "
            "(pip install 'graphreach[datasets]'), got neither"
        ) from None
    return Path(os_cache("graphreach"))


class Store:
    """The files of one data set below a root.

    Args:
        name: The data set.
        files: Its files.
        root: See :func:`find_root`; looked for only when a file is asked for.

    Example:
        >>> Store("grid", (), "/data").missing()
        []
    """

    def __init__(self, name: str, files: Sequence[DataFile], root: str | os.PathLike[str] | None = None) -> None:
        self.name, self.files, self._root = name, tuple(files), root

    def path(self, file: DataFile) -> Path:
        """Where ``file`` belongs."""
        return find_root(self._root) / file.path

    def missing(self) -> list[DataFile]:
        """Files that are not there."""
        return [file for file in self.files if not self.path(file).exists()]

    def fetch(self) -> list[Path]:
        """Download what is missing, check what is there, and return the paths."""
        for file in self.files:
            self.open(file)
        return [self.path(file) for file in self.files]

    def open(self, file: DataFile) -> Any:
        """What is inside ``file``, checked; downloaded first if it is missing."""
        path = self.path(file)
        if not path.exists():
            self._download(file, path)
        try:
            return file.open(path.read_bytes())
        except ContentError as error:
            raise InputError(
                f"{path} must be the file that {self.name} is known by, but {error}; "
                "without it the right one is downloaded"
            ) from None

    def _download(self, file: DataFile, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            data = download(file)
            with replacing(path) as partial:
                partial.write_bytes(data)
        except DownloadError as error:
            raise DownloadError(self._what_to_do(file, str(error))) from None
        except OSError as error:
            raise DownloadError(self._what_to_do(file, error.strerror or str(error))) from None

    def _what_to_do(self, file: DataFile, reason: str) -> str:
        """One sentence: files of a data set are in one folder."""
        missing = self.missing()
        names = ", ".join(each.name for each in missing)
        return (
            f"{self.name} needs {names} in {self.path(file).parent}, and {file.name} could not be downloaded ({reason}): "
            f"put {'it' if len(missing) == 1 else 'them'} there, or set {VARIABLE} to a folder that has {file.folder}/"
        )
