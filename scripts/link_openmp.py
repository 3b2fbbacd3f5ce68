"""Give Pinocchio an OpenMP runtime on machines that have none.

Pinocchio's wheel needs `libgomp.so.1` from the system; a bare Debian or Ubuntu has none (apt: libgomp1). The wheels of
CoACD and CasADi bring one under another name. Where the system has none, this links it into the folder in which
Pinocchio looks. Run by `make install` in the virtual environment; does nothing where there is a libgomp.
"""

from __future__ import annotations

import ctypes
import sysconfig
from pathlib import Path


def main() -> None:
    """Link the libgomp of another wheel for Pinocchio if the system has none."""
    packages = Path(sysconfig.get_paths()["purelib"])
    link = packages / "cmeel.prefix" / "lib" / "libgomp.so.1"
    try:
        ctypes.CDLL("libgomp.so.1")
        return
    except OSError:
        pass
    brought = sorted([*packages.glob("*.libs/libgomp*.so*"), *(packages / "casadi").glob("libgomp*.so*")])
    if not link.parent.is_dir() or not brought:
        return
    link.unlink(missing_ok=True)
    link.symlink_to(brought[0])
    print("this machine has no OpenMP runtime (libgomp1): using the one that comes with another package")


if __name__ == "__main__":
    main()
