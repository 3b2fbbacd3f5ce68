"""Figures on linear axes as SVG, and the page of the balance regions of a robot."""

from surefoot.report.figures.figure import Area, Line, figure_svg
from surefoot.report.figures.regions import BalanceRegions, balance_regions, regions_page

__all__ = ["Area", "BalanceRegions", "Line", "balance_regions", "figure_svg", "regions_page"]
