"""Changes of a scene while it runs: friction, ground and payloads, made in the specification and in the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import Ground, HeightField
from surefoot.sim.engine import refuse_moving
from surefoot.sim.mujoco.bodies import RobotBodies, set_inertia
from surefoot.sim.mujoco.inertia import with_points
from surefoot.sim.mujoco.model import MujocoScene
from surefoot.sim.mujoco.shapes import friction_settings
from surefoot.sim.mujoco.world import ground_name, ground_settings, shape_ground


def change_friction(scene: MujocoScene, friction: float, pieces: Sequence[int] | None) -> None:
    """Change the Coulomb coefficient of pieces of ground, in the specification and in the model.

    Args:
        scene: The scene.
        friction: ≥ 0; the slipperier of two surfaces decides.
        pieces: Their indices; None for all.
    """
    count = len(scene.world.ground) if scene.world is not None else 0
    chosen = range(count) if pieces is None else [int(k) for k in pieces]
    if count == 0:
        raise ShapeError("there is no ground whose friction could change")
    if wrong := [k for k in chosen if not 0 <= k < count]:
        raise ShapeError("there are no such pieces of ground", evidence={"pieces": wrong, "number of pieces": count})
    settings = friction_settings(number(friction, "friction of the ground"))
    for k in chosen:
        name = ground_name(k)
        _set_friction(scene.spec.geom(name), settings)
        geom = scene.mj.geom(name)
        geom.friction[:], geom.condim[:], geom.priority[:] = (settings[key] for key in _FRICTION_KEYS)


_FRICTION_KEYS = ("friction", "condim", "priority")


def _set_friction(geom: mujoco.MjsGeom, settings: dict[str, object]) -> None:
    for key in _FRICTION_KEYS:
        setattr(geom, key, settings[key])


def change_ground(scene: MujocoScene, ground: Sequence[Ground]) -> MujocoScene:
    """Replace the pieces of ground in the specification; their friction is that which they come with.

    Args:
        scene: The scene.
        ground: As many pieces of the same kinds as before, height fields with as many cells.

    Returns:
        The scene with the new world; its model is still the old one.
    """
    refuse_moving(scene.world, ground)
    before = () if scene.world is None else scene.world.ground
    if scene.world is None or [_kind(piece) for piece in before] != [_kind(piece) for piece in ground]:
        raise NotSupportedError(
            "ground can be replaced only by as many pieces of the same kinds",
            evidence={"before": [_kind(p) for p in before], "after": [_kind(p) for p in ground]},
            next_step="build the world with all pieces that will be needed; boxes can wait below the ground",
        )
    for k, piece in enumerate(ground):
        geom = scene.spec.geom(ground_name(k))
        shape_ground(scene.spec, geom, piece)
        _set_friction(geom, ground_settings(piece, scene.world.friction))
    return replace(scene, world=replace(scene.world, ground=tuple(ground)))


def _kind(piece: Ground) -> str:
    name = type(piece).__name__
    return f"{name} {piece.heights.shape}" if isinstance(piece, HeightField) else name


class Payloads:
    """Point masses on the links of a robot.

    Args:
        bodies: The robot in the specification.
    """

    def __init__(self, bodies: RobotBodies) -> None:
        self._bodies = bodies
        self._loads: dict[str, tuple[int, float, Array]] = {}

    def put(self, link: str, mass: float, position: ArrayLike) -> None:
        """Set the payload of a link in the specification.

        Args:
            link: The link.
            mass: [kg]; 0 takes it away.
            position: (3,) in the frame of the link [m].
        """
        body = self._bodies.robot.body_of(link)
        if body < 0:
            raise NotSupportedError(f"link `{link}` is fixed to the world; a payload does nothing there")
        place = finite_array(position, (3,), "position of a payload")
        T = self._bodies.place_of(link)[1]
        self._loads[link] = body, number(mass, "mass of a payload"), T[:3, :3] @ place + T[:3, 3]
        here = [(m, p) for i, m, p in self._loads.values() if i == body]
        masses, positions = np.array([m for m, _ in here]), np.array([p for _, p in here])
        set_inertia(self._bodies.bodies[body], with_points(self._bodies.inertias[body], masses, positions))

    def clear(self) -> bool:
        """Take all away; whether there were any."""
        bodies = {body for body, _, _ in self._loads.values()}
        for body in bodies:
            set_inertia(self._bodies.bodies[body], self._bodies.inertias[body])
        self._loads.clear()
        return bool(bodies)
