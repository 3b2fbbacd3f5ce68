"""CoACD in a process of its own: a mesh comes in, its convex pieces go out, both as arrays.

The library carries a C++ runtime of its own that it shares with what is loaded after it: where it is loaded before
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
    found = coacd.run_coacd(
        coacd.Mesh(vertices, triangles), threshold=tolerance, max_convex_hull=most, seed=0,
        resolution=int(os.environ.get("RES",2000)), preprocess_resolution=int(os.environ.get("PRE",50)), mcts_iterations=int(os.environ.get("ITER",150)), mcts_nodes=int(os.environ.get("NOD",20)), mcts_max_depth=int(os.environ.get("DEP",3)), preprocess_mode=os.environ.get("MODE","auto"),
    )  # fmt: skip
    return [points for points, _ in found]


if __name__ == "__main__":
    _main()
