"""Runs as CSV, Parquet, YAML and MCAP."""

from surefoot.report.export.columns import column_files, read_column_files, write_column_files
from surefoot.report.export.mcap import write_mcap
from surefoot.report.export.tables import COLUMNS, FILMS, format_of, write_table
from surefoot.report.export.yaml import write_joint_trajectory

__all__ = [
    "COLUMNS",
    "FILMS",
    "column_files",
    "format_of",
    "read_column_files",
    "write_column_files",
    "write_joint_trajectory",
    "write_mcap",
    "write_table",
]
