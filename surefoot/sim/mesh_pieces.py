"""Convex pieces of the meshes of a scene, cut once and kept in surefoot's cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from surefoot.arrays import Array
from surefoot.compiler import cache
from surefoot.compiler.batches import thread_count
from surefoot.geometry import Mesh, convex_pieces, is_nearly_convex
from surefoot.geometry.convex_pieces import method_version, pack_pieces, unpack_pieces

__all__ = ["MeshKey", "Pieces", "Progress", "cut_meshes", "mesh_key"]

MeshKey = tuple[object, ...]
Pieces = dict[MeshKey, list[Array]]
Progress = Callable[[float], None]
_TOLERANCE, _MOST = 0.05, 16


def mesh_key(mesh: Mesh) -> MeshKey:
    """What equal meshes have in common."""
    if mesh.points is None:
        return mesh.path, mesh.scale
    return mesh.points.tobytes(), mesh.triangles().tobytes()


def cut_meshes(meshes: Iterable[Mesh], progress: Progress | None = None) -> Pieces:
    """The convex pieces of meshes by their keys, several meshes at a time.

    Args:
        meshes: The meshes; equal ones are cut once.
        progress: Called with the share that is done, 0…1, after each mesh.

    Raises:
        ModelError: A mesh cannot be cut.
    """
    distinct = {mesh_key(mesh): mesh for mesh in meshes}
    with ThreadPoolExecutor(thread_count("all")) as pool:
        futures = {key: pool.submit(_kept_pieces, mesh) for key, mesh in distinct.items()}
        try:
            for done, future in enumerate(as_completed(futures.values()), 1):
                future.result()
                if progress is not None:
                    progress(done / len(futures))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {key: future.result() for key, future in futures.items()}


def _kept_pieces(mesh: Mesh) -> list[Array]:
    """The pieces from the cache, else new ones, which are then kept."""
    if not len(mesh.triangles()) or is_nearly_convex(mesh):
        return convex_pieces(mesh, _TOLERANCE, _MOST)
    key = cache.key("convex pieces", method_version(), mesh.vertices(), mesh.triangles(), f"{_TOLERANCE!r} {_MOST}")
    content = cache.load(key)
    if content is not None:
        return unpack_pieces(content)
    pieces = convex_pieces(mesh, _TOLERANCE, _MOST)
    name = Path(mesh.path).name or "mesh without a file"
    cache.store(key, pack_pieces(pieces), {"robot": name, "algorithm": "convex pieces", "build": f"{len(pieces)}"})
    return pieces
