"""`Arena`: addresses kept free, so that the parts of machine code that are loaded lie near each other.

Instructions reach their constants by offsets of 32 bits. LLVM maps code and constants one by one, wherever the system
has room: in a process with gigabytes of arrays, they may end up farther apart than that, and LLVM aborts the process.
"""

from __future__ import annotations

import ctypes
import mmap
import sys

__all__ = ["Arena"]

_SIZE = 3 << 28
_FAILED = ctypes.c_void_p(-1).value


class Arena:
    """Reserves addresses, no memory. Linux maps what follows at the highest free addresses, so here or above.

    Args:
        size: How much [B].
    """

    def __init__(self, size: int = _SIZE) -> None:
        self._start = self._end = 0
        if not sys.platform.startswith("linux"):
            return
        self._libc = ctypes.CDLL(None, use_errno=True)
        whole = ctypes.c_int
        self._libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, whole, whole, whole, ctypes.c_long]
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        start = self._libc.mmap(None, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)  # no access, no memory
        if start not in (None, _FAILED):
            self._start, self._end = start, start + size

    def make_room(self, count: int) -> bool:
        """Give back addresses at the upper end, for what is loaded next; returns whether there were enough.

        Args:
            count: Size of an object file [B]; its parts take whole pages.
        """
        if not self._end:
            return True  # nothing is kept on this system
        wanted = (count // mmap.PAGESIZE + 16) * mmap.PAGESIZE
        if self._end - wanted <= self._start:
            return False
        self._end -= wanted
        self._libc.munmap(self._end, wanted)
        return True
