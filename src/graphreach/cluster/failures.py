"""Ray's errors as sentences."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from graphreach.errors import InputError

DISK_FULL = (
    "the disk of a node of the cluster is full: Ray keeps there what does not fit into memory;"
    " make room on it, or use more or larger nodes"
)


@contextmanager
def explained() -> Iterator[None]:
    """Turn what a user can mend into one sentence; everything else stays as Ray raises it."""
    from ray import exceptions

    try:
        yield
    except exceptions.OutOfDiskError:
        raise InputError(DISK_FULL) from None
    except exceptions.ObjectStoreFullError as error:
        raise InputError(
            "the object store of a node of the cluster is full: start Ray with a larger object_store_memory,"
            " or use more partitions"
        ) from error
    except exceptions.RayTaskError as error:
        cause = error.cause
        while isinstance(cause, exceptions.RayTaskError):  # a task whose argument is the failed result of another
            cause = cause.cause
        sentence = _sentence(cause)
        if sentence is None:
            raise
        raise InputError(sentence) from error


def _sentence(cause: BaseException | None) -> str | None:
    if isinstance(cause, InputError):
        return str(cause)
    if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    if isinstance(cause, ModuleNotFoundError):
        return f"every node of the cluster must have graphreach installed, but one of them says: {cause}"
    return None
