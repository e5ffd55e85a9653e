"""A run as one page that needs nothing but a browser."""

from graphreach.report.figures import auc_interval
from graphreach.report.layout import communities, layout
from graphreach.report.write_report import make_report, write_report

__all__ = ["auc_interval", "communities", "layout", "make_report", "write_report"]
