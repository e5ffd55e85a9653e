"""What a run cannot do, said before anything is trained."""

from graphreach.errors import InputError
from graphreach.tasks.split import PROTOCOLS
from graphreach.training.arguments import check_arguments
from graphreach.training.methods import METHODS
from graphreach.training.scorers import SCORERS
from graphreach.training.settings import Settings, nearest


def check_run(settings: Settings, num_graphs: int = 1) -> None:
    """Refuse settings that no run on so many graphs can have.

    Args:
        settings: Of the run.
        num_graphs: How many graphs its data set has.

    Example:
        >>> check_run(Settings(task="node", method="common-neighbours"))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: method must be one that classifies nodes for task 'node', got 'common-neighbours', \
which scores pairs
    """
    names = settings.method.split("+")
    for name in names:
        if name not in METHODS and name not in SCORERS:
            known = [*METHODS, *SCORERS]
            raise InputError(f"method must be one of {', '.join(known)}, got {name!r}{nearest(name, known)}")
        if settings.task == "node" and name in SCORERS:
            raise InputError(
                f"method must be one that classifies nodes for task 'node', got {name!r}, which scores pairs"
            )
    _check_task(settings, num_graphs)
    if len(names) > 1:
        _check_parts(settings, names)
    elif settings.parts:
        raise InputError(f"parts must go with methods joined by +, got {settings.method!r}")
    check_arguments(settings)


def _check_task(settings: Settings, num_graphs: int) -> None:
    task, protocol = settings.task, settings.protocol
    if settings.choose_by != "auc" and task != "node":
        raise InputError(f"choose_by must be 'auc' for task {task!r}, got {settings.choose_by!r}")
    if protocol not in PROTOCOLS[task]:
        raise InputError(f"protocol must be one of {', '.join(PROTOCOLS[task])} for task {task}, got {protocol!r}")
    if protocol == "graph-disjoint" and num_graphs == 1:
        raise InputError("protocol 'graph-disjoint' must have several graphs to deal out, got one")
    if settings.walk_weights is not None and task == "link":
        raise InputError(f"walk_weights must be None for task link, which has no labels, got {settings.walk_weights!r}")
    if task == "node" and num_graphs > 1 and "graphreach" in settings.method.split("+"):
        raise InputError(
            f"task 'node' must have one graph, whose anchors the classes are learned from, got {num_graphs}"
        )


def _check_parts(settings: Settings, names: list[str]) -> None:
    if settings.model:
        raise InputError(
            f"model must be given in parts, for one of {settings.method} at a time, got {settings.model!r}"
        )
    unknown = [name for name in settings.parts if name not in names]
    if unknown:
        raise InputError(
            f"parts must name methods of {settings.method}, got {unknown[0]!r}{nearest(unknown[0], names)}"
        )
