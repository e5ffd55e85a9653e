"""How an installation is: versions, threads, device, memory, caches; and caches emptied."""

from graphreach.doctor.caches import Cache, clear, find_caches
from graphreach.doctor.examine import as_text, examine

__all__ = ["Cache", "as_text", "clear", "examine", "find_caches"]
