"""All entry points."""

from functools import cache

from tests.fuzz import arguments, fitted_files, graph_files, planted, run_files, settings_files, table_files
from tests.fuzz.entry import Entry

ROOMS = (graph_files, table_files, planted, run_files, fitted_files, settings_files, arguments)


@cache
def all_entries() -> tuple[Entry, ...]:
    """Every entry point, in a fixed order."""
    return tuple(entry for room in ROOMS for entry in room.entries())
