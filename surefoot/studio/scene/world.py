"""`WorldNodes`: ground, obstacles and objects of a world on the stage of a tab."""

from __future__ import annotations

import numpy as np
import viser

from surefoot.geometry import Box, Plane
from surefoot.motion import Ground, GroundBox, GroundPlane, HeightField, MovableObject, Obstacle, World
from surefoot.report.scene import Triangles, decimated, field_triangles, shape_triangles
from surefoot.spatial import so3
from surefoot.studio.scene.poses import wxyz_of
from surefoot.studio.scene.stage import Stage

_GROUND, _OBSTACLE, _OBJECT = (203, 210, 219), (214, 96, 77), (91, 143, 217)
_TOUCHABLE = (140, 201, 184)
_EDGE = 8.0
"""Of the piece of a tilted plane that is shown [m]."""
_MOST_TRIANGLES = 4000


class WorldNodes:
    """Ground, obstacles and objects around the robot."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._nodes: list[viser.SceneNodeHandle] = []

    def show(self, world: World | None) -> None:
        """Show another world.

        Args:
            world: None for the level ground of the studio alone.
        """
        for node in self._nodes:
            node.remove()
        self._nodes = []
        pieces = () if world is None else world.ground
        self._stage.grid.visible = world is None or any(_is_level(piece) for piece in pieces) or not pieces
        for number, piece in enumerate(pieces):
            if not _is_level(piece):
                self._add(f"/world/ground{number}", *_piece(piece), _GROUND)
        things: tuple[Obstacle | MovableObject, ...] = () if world is None else (*world.obstacles, *world.objects)
        for number, thing in enumerate(things):
            if not isinstance(thing.shape, Plane):
                colour = _colour(thing)
                mesh = decimated(shape_triangles(thing.shape), _MOST_TRIANGLES)
                self._add(f"/world/thing{number}", mesh, thing.pose, colour)

    def _add(self, name: str, mesh: Triangles, T: np.ndarray, colour: tuple[int, int, int]) -> None:
        node = self._stage.scene.add_mesh_simple(
            name, mesh[0], mesh[1], color=colour, flat_shading=True, side="double",
            wxyz=wxyz_of(T[:3, :3]), position=T[:3, 3],
        )  # fmt: skip
        self._nodes.append(node)


def _colour(thing: Obstacle | MovableObject) -> tuple[int, int, int]:
    if isinstance(thing, MovableObject):
        return _OBJECT
    return _TOUCHABLE if thing.touchable else _OBSTACLE


def _is_level(piece: Ground) -> bool:
    return isinstance(piece, GroundPlane) and bool(np.allclose(piece.normal, [0, 0, 1]) and abs(piece.point[2]) < 1e-9)


def _piece(piece: Ground) -> tuple[Triangles, np.ndarray]:
    """Triangles and pose of a piece of ground."""
    match piece:
        case GroundBox():
            return shape_triangles(Box(piece.size)), piece.pose
        case HeightField():
            return field_triangles(piece), np.eye(4)
        case GroundPlane():
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = so3.turn_to(piece.normal), piece.point
            half = 0.5 * _EDGE
            corners = np.array([[-half, -half, 0.0], [half, -half, 0.0], [half, half, 0.0], [-half, half, 0.0]])
            return (corners, np.array([[0, 1, 2], [0, 2, 3]])), T
