"""The page that compares constraint methods."""

from surefoot.report.methods.data import MethodRun, MethodsComparison
from surefoot.report.methods.page import COLUMNS, cell_text, methods_page

__all__ = ["COLUMNS", "MethodRun", "MethodsComparison", "cell_text", "methods_page"]
