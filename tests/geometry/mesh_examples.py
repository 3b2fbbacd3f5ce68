"""Meshes that tests of several rooms share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

# A block of 1 m × 0.5 m × 1 m with a slot of 0.4 m × 0.5 m × 0.8 m from above: profile in x and z, and its triangles.
_PROFILE = np.array([[0, 0], [1, 0], [1, 1], [0.7, 1], [0.7, 0.2], [0.3, 0.2], [0.3, 1], [0, 1]])
_CAP = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]]
SLOTTED_VOLUME, SLOT_FLOOR = 0.34, 0.2


def slotted_block() -> tuple[np.ndarray, np.ndarray]:
    """Vertices [m], with the middle of the ground face in the origin, and triangles that look outwards."""
    n = len(_PROFILE)
    points = np.vstack([np.insert(_PROFILE - [0.5, 0.0], 1, y, axis=1) for y in (-0.25, 0.25)])
    sides = [t for i in range(n) for j in [(i + 1) % n] for t in ([j, i, j + n], [j + n, i, i + n])]
    return points, np.array([*_CAP, *([c + n, b + n, a + n] for a, b, c in _CAP), *sides])


def write_obj(path: Path, points: np.ndarray, faces: np.ndarray) -> str:
    rows = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def write_stl(path: Path, points: np.ndarray, faces: np.ndarray) -> str:
    rows = ["solid mesh"]
    for corners in points[faces]:
        rows += ["facet normal 0 0 0", "outer loop"]
        rows += [f"vertex {x} {y} {z}" for x, y, z in corners] + ["endloop", "endfacet"]
    path.write_text("\n".join([*rows, "endsolid mesh"]) + "\n")
    return str(path)
