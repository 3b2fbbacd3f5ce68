"""Motions and logs in files, and plain tables of columns."""

from surefoot.motion.files.columns import SEPARATOR, Table, read_csv, read_npz, read_parquet, write_csv, write_parquet
from surefoot.motion.files.states import StateTable, read_states, write_states
from surefoot.motion.files.storage import (
    LOG_FORMAT,
    TRAJECTORY_FORMAT,
    export_csv,
    is_trajectory_file,
    load_log,
    load_trajectory,
    log_columns,
    save_log,
    save_trajectory,
    trajectory_columns,
)

__all__ = [
    "LOG_FORMAT",
    "SEPARATOR",
    "TRAJECTORY_FORMAT",
    "StateTable",
    "Table",
    "export_csv",
    "is_trajectory_file",
    "load_log",
    "load_trajectory",
    "log_columns",
    "read_csv",
    "read_npz",
    "read_parquet",
    "read_states",
    "save_log",
    "save_trajectory",
    "trajectory_columns",
    "write_csv",
    "write_parquet",
    "write_states",
]
