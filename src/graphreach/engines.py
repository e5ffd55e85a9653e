"""Engines by name: where their classes are, beside the rooms, since no room knows a later one."""

ENGINES = {"local": "graphreach.walks.engine:Local", "ray": "graphreach.cluster:Ray"}
