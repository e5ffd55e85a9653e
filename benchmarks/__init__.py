"""Benchmarks of graphreach: every figure is a ratio of two sides measured in one run."""
