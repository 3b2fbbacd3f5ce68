"""CoACD in a process of its own: a mesh comes in, its convex pieces go out, both as arrays.

The library brings a C++ runtime of its own that it shares with what is loaded after it: where it is loaded before
CasADi, CasADi prints no numbers any more. It also ends the process where a mesh is beyond it. Hence it is loaded here
only, and `surefoot.geometry.convex_pieces` runs this file as a program. Nothing of surefoot is imported.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import numpy as np

__all__: list[str] = []

# A search of fewer and shorter tries and a coarser repair than CoACD's defaults: ten times as fast on meshes from CAD.
_SEARCH = {"mcts_iterations": 15, "mcts_nodes": 10, "mcts_max_depth": 2, "resolution": 1000}
_REPAIR = {"preprocess_mode": "auto", "preprocess_resolution": 30}
_SEED = 0


def _main() -> None:
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library prints must not mix with the answer
    with np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False) as task:
        pieces = _decompose(task["vertices"], task["triangles"], float(task["tolerance"]), int(task["most"]))
    with answer:
        np.savez(answer, points=np.vstack(pieces), counts=np.array([len(piece) for piece in pieces], dtype=np.int64))


def _decompose(vertices: Any, triangles: Any, tolerance: float, most: int) -> list[Any]:
    import coacd

    coacd.set_log_level("error")
    mesh = coacd.Mesh(vertices, triangles)
    found = coacd.run_coacd(mesh, tolerance, most, seed=_SEED, **_SEARCH, **_REPAIR)
    return [points for points, _ in found]


if __name__ == "__main__":
    _main()
