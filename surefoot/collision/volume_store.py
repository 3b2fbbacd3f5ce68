"""Swept volumes of shapes, fitted once and kept in surefoot's cache (`surefoot.compiler.cache`)."""

from __future__ import annotations

import functools
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy

import surefoot.geometry
from surefoot.arrays import Array
from surefoot.collision.shape_content import shape_content
from surefoot.compiler import cache
from surefoot.geometry import Shape, SweptVolume
from surefoot.geometry.fit_shapes import fit_shapes
from surefoot.geometry.fit_swept import SweptFit

__all__ = ["stored_fit"]

_GEOMETRY = Path(surefoot.geometry.__file__).parent
_SOURCES = ("fit_*.py", "meshes.py", "polygon.py", "shapes.py", "swept.py")


def stored_fit(shapes: Sequence[tuple[Shape, Array]], most: int, gain: float, name: str) -> SweptFit:
    """As `fit_shapes`, from the cache where the same was fitted before.

    Args:
        shapes: Shapes, each with its placement T (4, 4).
        most: Most volumes.
        gain: As for `fit_shapes`.
        name: What `surefoot cache` shows beside it.

    Raises:
        SurefootError: As `fit_shapes`.
    """
    parts = [part for shape, T in shapes for part in (*shape_content(shape), np.asarray(T, dtype=float))]
    key = cache.key("swept volumes", _method_version(), f"{most} {gain!r}", *parts)
    content = cache.load(key)
    if content is not None:
        return _unpacked(content)
    fit = fit_shapes(shapes, most, gain)
    cache.store(key, _packed(fit), {"robot": name, "algorithm": "swept volumes", "build": f"{len(fit.volumes)}"})
    return fit


@functools.cache
def _method_version() -> str:
    """Hash of what decides about volumes beside the shapes: our code, and the libraries that read and compute."""
    import coal

    files = sorted(path for pattern in _SOURCES for path in _GEOMETRY.glob(pattern))
    versions = f"numpy {np.__version__} scipy {scipy.__version__} coal {coal.__version__}"
    return cache.key(versions, *(part for path in files for part in (path.name, path.read_bytes())))


def _packed(fit: SweptFit) -> bytes:
    """A fit as bytes, numbers only."""
    out = io.BytesIO()
    np.savez(
        out,
        vertices=np.vstack([volume.vertices for volume in fit.volumes]),
        counts=np.array([len(volume.vertices) for volume in fit.volumes]),
        radii=np.array([volume.radius for volume in fit.volumes]),
        bounds=np.array([fit.outside, fit.excess]),
    )
    return out.getvalue()


def _unpacked(content: bytes) -> SweptFit:
    """The fit from `_packed`."""
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        vertices = np.split(data["vertices"], np.cumsum(data["counts"])[:-1])
        radii, (outside, excess) = data["radii"], data["bounds"]
    volumes = tuple(SweptVolume(v, float(r)) for v, r in zip(vertices, radii, strict=True))
    return SweptFit(volumes, float(outside), float(excess))
