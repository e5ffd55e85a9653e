"""The version, read by the build and by results files."""

__version__ = "0.2.0"
