"""Experiments: the paper's tables and figures as configuration."""

from graphreach.experiments.definition import ORDER, Experiment, load_experiment
from graphreach.experiments.figures import write_figures
from graphreach.experiments.reproduce import chosen, reproduce, works
from graphreach.experiments.summary import Summary, summarise
from graphreach.experiments.tables import write_tables

__all__ = [
    "ORDER",
    "Experiment",
    "Summary",
    "chosen",
    "load_experiment",
    "reproduce",
    "summarise",
    "works",
    "write_figures",
    "write_tables",
]
