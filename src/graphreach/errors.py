"""The exceptions that graphreach raises: for input that it cannot use, and for a package that is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

EXTRAS = {
    "torch": "nn", "torch_geometric": "nn", "sklearn": "nn", "pydantic": "nn", "yaml": "nn", "filelock": "nn",
    "matplotlib": "plot", "networkx": "networkx", "pandas": "pandas", "pyarrow": "pandas", "pooch": "datasets",
    "pynndescent": "nearest", "ray": "ray",
}  # fmt: skip
"""Packages that are not needed by all, and the extra of graphreach that installs each."""

LONGEST = 400
"""Characters of a message; of a longer one the middle is left out."""


class InputError(ValueError):
    """An argument or a file is not usable; the message is one sentence that says which, and what would be right.

    The command line prints the sentence alone and exits with code 2. A value in it that would make it longer than 400
    characters is shortened.

    Example:
        >>> raise InputError("num_walks must be at least 1, got 0")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: num_walks must be at least 1, got 0
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(_one_line(each) if isinstance(each, str) else each for each in arguments))


class MissingPackageError(InputError, ImportError):
    """A package is not installed that what was asked for needs; the message has the command that installs it.

    Example:
        >>> raise MissingPackageError("gr.nn.PGNN", "torch")
        Traceback (most recent call last):
        ...
        graphreach.errors.MissingPackageError: gr.nn.PGNN needs torch, which is not installed: pip install "graphreach[nn]"
    """

    def __init__(self, what: str, package: str) -> None:
        self.package = package
        super().__init__(f'{what} needs {package}, which is not installed: pip install "graphreach[{EXTRAS[package]}]"')


@contextmanager
def needed_packages(what: str) -> Iterator[None]:
    """Name the package that is missing, and how to install it, if an import within the block does not find it.

    Args:
        what: What needs it, which begins the message.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise name_missing(error, what) from None


def name_missing(error: Exception, what: str) -> Exception:
    """The error that names a package which an import did not find, if it is of an extra of graphreach; else the error.

    An error that names one already is raised for ``what`` instead, as a user of a command need not know which function it
    calls.
    """
    if isinstance(error, MissingPackageError):
        return MissingPackageError(what, error.package)
    package = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and package in EXTRAS:
        return MissingPackageError(what, package)
    return error


def _one_line(text: str) -> str:
    """The text without line breaks, and without its middle if a value in it was too long."""
    text = " ".join(text.splitlines())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[5 - LONGEST // 2 :]}"
