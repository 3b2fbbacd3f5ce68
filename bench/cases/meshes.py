"""Large meshes cut into convex pieces: seven shapes as scans and CAD systems give them, of 150,000 to 700,000 vertices.

Each is one sheet of quadrilaterals bent into its shape. What is measured: CPU time, that of CoACD's process included;
and how far the farthest vertex of the mesh is outside of all pieces.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, print_table
from bench.timing import tell
from surefoot.geometry import Mesh, convex_pieces

__all__ = ["SHAPES", "made", "run", "show"]

Array = NDArray[np.float64]
_MOST_VERTICES = 100  # of a piece
_LOOKED = 4000  # vertices of a mesh at which the pieces are judged
_OUTSIDE = 0.06  # of the size: farther out is a wrong answer
_QUICK = 10  # times fewer rows and columns


def run(
    seed: Annotated[int, typer.Option(help="Random seed of rough surfaces.", min=0)] = 0,
    only: Annotated[str, typer.Option(help="One of the shapes.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Meshes of a hundredth of the size.")] = False,
) -> Json:
    """Cut each shape; pieces of too many vertices, or far from the mesh, are refused."""
    shapes = [name for name in SHAPES if only in ("", name)]
    rows = {}
    for k, name in enumerate(shapes):
        tell(k / len(shapes), name)
        mesh = made(name, seed, _QUICK if quick else 1)
        before = _cpu()
        pieces = convex_pieces(mesh)
        rows[name] = {"vertices": len(mesh.vertices()), "seconds_cpu": _cpu() - before, **_judged(mesh, pieces)}
        if rows[name]["most_vertices"] > _MOST_VERTICES or rows[name]["outside"] > _OUTSIDE:
            raise WrongAnswerError(f"the pieces of shape {name} are wrong", evidence=rows[name])
    return header("meshes", seed) | {"quick": quick, "shapes": rows}


def show(result: Json) -> None:
    """Print one line for each shape."""
    headings = ("shape", "vertices", "CPU [s]", "pieces", "most vertices", "farthest outside [% of size]")
    print_table(
        headings,
        [
            (name, f"{row['vertices']:,}", f"{row['seconds_cpu']:.1f}", str(row["pieces"]), str(row["most_vertices"]),
             f"{100.0 * row['outside']:.1f}")
            for name, row in result["shapes"].items()
        ],
    )  # fmt: skip


def made(name: str, seed: int = 0, coarser: int = 1) -> Mesh:
    """A shape as a mesh.

    Args:
        name: One of `SHAPES`.
        seed: Of rough surfaces.
        coarser: How many times fewer rows and columns.
    """
    rows, columns, closed, surface = SHAPES[name]
    rows, columns = rows // coarser, columns // coarser
    u = 2.0 * np.pi * np.arange(rows) / rows
    v = np.arange(columns) / columns * 2.0 * np.pi if closed else np.linspace(0.0, np.pi, columns)
    points = surface(*np.meshgrid(u, v, indexing="ij"), np.random.default_rng(seed))
    a = np.arange(rows * columns).reshape(rows, columns)
    b, d = np.roll(a, -1, axis=0), np.roll(a, -1, axis=1)
    corners = [x if closed else x[:, :-1] for x in (a, b, np.roll(b, -1, axis=1), d)]
    quads = [np.stack([corners[k] for k in three], axis=-1).reshape(-1, 3) for three in ((0, 1, 2), (0, 2, 3))]
    return Mesh(points=points.reshape(-1, 3), faces=np.concatenate(quads))


def _cpu() -> float:
    """CPU time of this process and of those that it started [s]."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _judged(mesh: Mesh, pieces: list[Array]) -> Json:
    """How many pieces, of how many vertices, and how far the mesh is outside of them, as a share of its size."""
    vertices = mesh.vertices()
    some = vertices[:: max(len(vertices) // _LOOKED, 1)]
    planes = [ConvexHull(piece).equations for piece in pieces]
    outside = np.min([(some @ face[:, :3].T + face[:, 3]).max(axis=1) for face in planes], axis=0)
    size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    most = max(len(piece) for piece in pieces)
    return {"pieces": len(pieces), "most_vertices": most, "outside": max(float(outside.max()), 0.0) / size}


def _ring(u: Array, reach: Array, height: Array) -> Array:
    return np.stack([reach * np.cos(u), reach * np.sin(u), height], axis=-1)


def _torus(u: Array, v: Array, _: np.random.Generator) -> Array:
    r = 0.1 + 0.002 * np.sin(9.0 * u) * np.cos(5.0 * v)
    return _ring(u, 0.3 + r * np.cos(v), r * np.sin(v))


def _gear(u: Array, v: Array, _: np.random.Generator) -> Array:
    tooth = 0.03 * np.tanh(8.0 * np.sin(20.0 * u)) * (np.cos(v) > 0.0)
    return _ring(u, 0.2 + (0.08 + tooth) * np.cos(v), 0.04 * np.tanh(3.0 * np.sin(v)))


def _tube(u: Array, v: Array, _: np.random.Generator) -> Array:
    """A thin wall around a wide hole."""
    return _ring(u, 0.1 + 0.005 * np.tanh(3.0 * np.cos(v)), 0.12 * np.tanh(3.0 * np.sin(v)))


def _bone(u: Array, v: Array, _: np.random.Generator) -> Array:
    """Two knobs with a shaft between them."""
    return _ring(u, np.sin(v) ** 0.7 * (0.03 + 0.05 * np.cos(v) ** 2), 0.3 * np.cos(v))


def _scan(u: Array, v: Array, rng: np.random.Generator) -> Array:
    """A bent limb with the noise of a scanner."""
    r = 0.08 * np.sin(v) ** 0.5 + 2e-4 * rng.standard_normal(u.shape)
    return _ring(u, r, 0.3 * np.cos(v)) + np.stack([0.15 * np.sin(v) ** 2, 0.0 * u, 0.0 * u], axis=-1)


def _bowl(u: Array, v: Array, _: np.random.Generator) -> Array:
    """Not closed: a sheet without thickness."""
    return _ring(u, 0.2 * np.sin(0.5 * v), -0.2 * np.cos(0.5 * v))


def _crowded(u: Array, v: Array, _: np.random.Generator) -> Array:
    """A torus whose triangles are tiny on one side, as where a CAD system rounds an edge."""
    return _torus(u + 0.98 * np.sin(u), v + 0.98 * np.sin(v), _)


SHAPES: dict[str, tuple[int, int, bool, Callable[[Array, Array, np.random.Generator], Array]]] = {
    "torus": (1000, 700, True, _torus),
    "gear": (2000, 150, True, _gear),
    "tube": (800, 400, True, _tube),
    "bone": (500, 400, False, _bone),
    "scan": (700, 500, False, _scan),
    "bowl": (600, 250, False, _bowl),
    "crowded torus": (800, 500, True, _crowded),
}
"""Rows, columns, whether the sheet is closed along both, and its places for angles u, v."""
