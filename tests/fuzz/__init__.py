"""Damaged files, odd arguments and planted misreadings for every entry point of graphreach.

``python -m tests.fuzz`` runs a campaign in worker processes, ``python -m tests.fuzz --case ENTRY:NUMBER`` one case again.
Case i of an entry point under a seed is always the same case.
"""
