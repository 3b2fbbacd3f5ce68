"""Comparison of several runs on one page."""

from surefoot.report.compare.page import compare_page, number_text
from surefoot.report.compare.tables import Comparison, DifferenceRow, compare_runs

__all__ = ["Comparison", "DifferenceRow", "compare_page", "compare_runs", "number_text"]
