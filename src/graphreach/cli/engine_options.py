"""The options that say where work is done, and the engine that they mean."""

from typing import Annotated

import typer

from graphreach.errors import InputError
from graphreach.walks.engine import Engine, find_engine

Name = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="local, or ray: the work is shared by a Ray cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", metavar="HOST:PORT", help="Address of the Ray cluster.", show_default="a Ray of this machine"
    ),
]
Partitions = Annotated[
    int | None,
    typer.Option(
        "--partitions",
        min=1,
        metavar="N",
        help="Number of parts to split the graph into, one for each Ray worker.",
        show_default="the whole graph on every node",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Processes of engine ray that share a step.", show_default="2"),
]


def make_engine(name: str, address: str | None, *, partitions: int | None = None, workers: int | None = None) -> Engine:
    """The engine that the options mean, or one sentence that says what is wrong.

    Example:
        >>> make_engine("local", None, workers=3)
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: --workers must go with --engine ray, got 3 with --engine local
    """
    if name == "ray":
        from graphreach.cluster import Ray

        return Ray(address, partitions, workers)
    engine = find_engine(name)
    for option, value in (("address", address), ("partitions", partitions), ("workers", workers)):
        if value is not None:
            raise InputError(f"--{option} must go with --engine ray, got {value} with --engine {name}")
    return engine
