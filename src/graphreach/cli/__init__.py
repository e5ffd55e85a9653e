"""The command ``graphreach``."""

from graphreach.cli.app import app, main

__all__ = ["app", "main"]
