"""Other walk engines, each in an environment of its own, measured in turn with graphreach."""
