"""`pair_kernel`: compiled distances of many pairs of swept-sphere volumes of the same kinds.

Nearest points of many generators (points, lines, triangles), whatever their order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.codegen import Kernel, compile_function
from surefoot.collision.volumes import source_text
from surefoot.errors import one_of
from surefoot.geometry import generator_gradient, smooth_distance, swept_distance
from surefoot.ops import Array

_VERTICES = {"point": 1, "line": 2, "triangle": 3}


@functools.cache
def pair_kernel(kind_a: str, kind_b: str, what: str = "distance") -> Kernel:
    """Machine code of a distance, for one pair or many: built once, with one pair in every SIMD lane of a batch.

        gaps = pair_kernel("line", "line")(A, radii_a, B, radii_b)     # (n, 2, 3), (n,), (n, 2, 3), (n,) -> (n,)

    | what | arguments | results |
    |---|---|---|
    | "distance" | a, radius_a, b, radius_b | distance |
    | "nearest" | a, radius_a, b, radius_b | distance, point_a (3,), point_b (3,) on the surfaces |
    | "gradient" | a, radius_a, b, radius_b | distance, gradient_a (k, 3), gradient_b (l, 3) |
    | "smooth" | a, radius_a, b, radius_b, blur | the same of the smooth distance |

    Vertices are (k, 3) and (l, 3) [m], radii and blur [m] single numbers; a batch has an axis before these.

    Args:
        kind_a: "point", "line" or "triangle".
        kind_b: The same for the second volume.
        what: What to compute.

    Raises:
        UnknownNameError: There is no such kind, or nothing that is called so.
    """
    for kind in (kind_a, kind_b):
        if kind not in _VERTICES:
            raise one_of("kind of a swept volume", kind, tuple(_VERTICES))
    if what not in _FUNCTIONS:
        raise one_of("result of a pair of volumes", what, tuple(_FUNCTIONS))
    shapes: dict[str, tuple[int, ...]] = {
        "a": (_VERTICES[kind_a], 3),
        "radius_a": (),
        "b": (_VERTICES[kind_b], 3),
        "radius_b": (),
    }
    if what == "smooth":
        shapes["blur"] = ()
    name = f"{what} {kind_a} {kind_b}"
    return compile_function(name, _FUNCTIONS[what], shapes, identity=(name, source_text()))


def _distance(a: Array, radius_a: Any, b: Array, radius_b: Any) -> Any:
    return swept_distance(a, radius_a, b, radius_b).distance


def _gradient(a: Array, radius_a: Any, b: Array, radius_b: Any) -> tuple[Any, Array, Array]:
    found = generator_gradient(a, b)
    return found.distance - radius_a - radius_b, found.gradient_a, found.gradient_b


def _smooth(a: Array, radius_a: Any, b: Array, radius_b: Any, blur: Any) -> tuple[Any, Array, Array]:
    found = smooth_distance(a, b, ops.array(blur)[()])
    return found.distance - radius_a - radius_b, found.gradient_a, found.gradient_b


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "distance": _distance,
    "nearest": swept_distance,
    "gradient": _gradient,
    "smooth": _smooth,
}


_TOUCH = 1e-12  # [m]
KINDS = {1: "point", 2: "line", 3: "triangle"}


@dataclass(frozen=True, eq=False)
class Nearest:
    """Distances of n pairs of generators.

    Args:
        distance: (n,) [m].
        point_a: (n, 3) the nearest point of the first.
        point_b: (n, 3) the nearest point of the second.
    """

    distance: Array
    point_a: Array
    point_b: Array

    @property
    def direction(self) -> Array:
        """(n, 3) unit vectors from the first to the second; shorter, and zero in the end, where they all but meet."""
        return (self.point_b - self.point_a) / np.maximum(self.distance, _TOUCH)[:, None]


def generator_distances(A: Array, B: Array) -> Array:
    """Distances (n,) of generators [m].

    Args:
        A: (n, k, 3) vertices [m].
        B: (n, l, 3) vertices [m].
    """
    if A.shape[1] > B.shape[1]:
        A, B = B, A
    radii = np.zeros(len(A))
    found: Array = pair_kernel(KINDS[A.shape[1]], KINDS[B.shape[1]])(A, radii, B, radii)
    return found


def generator_nearest(A: Array, B: Array) -> Nearest:
    """Distances of generators and their nearest points.

    Args:
        A: (n, k, 3) vertices [m].
        B: (n, l, 3) vertices [m].
    """
    if A.shape[1] > B.shape[1]:
        x = generator_nearest(B, A)
        return Nearest(x.distance, x.point_b, x.point_a)
    radii = np.zeros(len(A))
    return Nearest(*pair_kernel(KINDS[A.shape[1]], KINDS[B.shape[1]], "nearest")(A, radii, B, radii))
