"""Motions, logs and states of other programs as columns in files."""

from surefoot.motion.storage.columns_of_records import export_csv, log_columns, trajectory_columns
from surefoot.motion.storage.states import StateTable, read_states, write_states

__all__ = ["StateTable", "export_csv", "log_columns", "read_states", "trajectory_columns", "write_states"]
