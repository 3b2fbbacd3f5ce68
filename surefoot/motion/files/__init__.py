"""Files of columns (CSV, Parquet, npz), pickles of arrays, and bundles of arrays with facts."""

from surefoot.motion.files.bundle import (
    LOG_FORMAT,
    TRAJECTORY_FORMAT,
    Bundle,
    contradiction,
    entry_names,
    is_trajectory_file,
    read_bundle,
    write_bundle,
)
from surefoot.motion.files.columns import (
    SEPARATOR,
    Table,
    read_csv,
    read_npy,
    read_npz,
    read_parquet,
    write_csv,
    write_npz,
    write_parquet,
)
from surefoot.motion.files.pickles import read_pickle

__all__ = [
    "LOG_FORMAT",
    "SEPARATOR",
    "TRAJECTORY_FORMAT",
    "Bundle",
    "Table",
    "contradiction",
    "entry_names",
    "is_trajectory_file",
    "read_bundle",
    "read_csv",
    "read_npy",
    "read_npz",
    "read_parquet",
    "read_pickle",
    "write_bundle",
    "write_csv",
    "write_npz",
    "write_parquet",
]
