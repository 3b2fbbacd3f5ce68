"""Machine code and its constants lie near each other, also in a process that is full of arrays."""

from __future__ import annotations

import subprocess
import sys

CROWDED = """
import ctypes, sys
from surefoot.codegen.llvm import arena, native

libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_size_t, [ctypes.c_size_t] * 2 + [ctypes.c_int] * 3 + [ctypes.c_long]
PRIVATE_ANONYMOUS, PAGES = 0x22, 1 << 14
if sys.argv[1] == "without":
    native._FIRST = arena.Arena(0)
    native.Arena = lambda: arena.Arena(0)

def crowd():  # gigabytes, then all that is free above them
    low = libc.mmap(0, 3 << 30, 0, PRIVATE_ANONYMOUS, -1, 0)
    while libc.mmap(0, PAGES, 0, PRIVATE_ANONYMOUS, -1, 0) > low:
        pass

for k in range(3):  # few constants stay in pages that are begun, long code needs new ones
    constants = [1.5 + 0.001 * (100 * k + i % 3) for i in range(10 + 2000 * k)]
    lines = [f"%x{i + 1} = fadd double %x{i}, {c!r}" for i, c in enumerate(constants)]
    text = f"define double @f{k}(double %x0) {{ {chr(10).join(lines)} ret double %x{len(lines)} }}"
    address = native.load_object(native.compile_text(text), (f"f{k}",))[f"f{k}"]
    value = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)(2.0)
    assert abs(value - 2.0 - sum(constants)) < 1e-6 * value, (k, value)
    crowd()
print("fine")
"""


def _run(way: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CROWDED, way], capture_output=True, text=True, check=False)


def test_constants_are_within_reach_among_gigabytes_of_arrays():
    done = _run("with")
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr


def test_without_kept_addresses_they_are_not():
    assert _run("without").returncode != 0
