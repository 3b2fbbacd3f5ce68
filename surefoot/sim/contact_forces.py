"""What the contacts of a step carry, and how far the loaded ones slide."""

from __future__ import annotations

from dataclasses import dataclass, fields

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.sim.mujoco_engine import MujocoEngine

__all__ = ["ContactBook", "Touches"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]
_LOADED = 0.01  # share of the robot's weight from which on a contact counts as loaded
_LONGEST_HOP = 0.02  # [s]


@dataclass(frozen=True, eq=False)
class Touches:
    """The n points where the robot touches something.

    Args:
        point: (n, 3) in world [m].
        normal: (n, 3) unit vectors in world, towards the robot.
        force: (n, 3) on the robot, in world [N].
        moment: (n, 3) on the robot about the points, in world [N m].
        geom: (n,) the robot's geoms.
        other: (n,) the other geoms.
        surface: (n,) index of the contact surface, −1 for none.
    """

    point: Array
    normal: Array
    force: Array
    moment: Array
    geom: Indices
    other: Indices
    surface: Indices

    @property
    def load(self) -> Array:
        """(n,) normal forces [N]."""
        return np.sum(self.normal * self.force, axis=1)

    def of_surface(self, k: int) -> Touches:
        """Those of one contact surface."""
        rows = self.surface == k
        return Touches(**{item.name: getattr(self, item.name)[rows] for item in fields(self)})


class ContactBook:
    """Wrench of each contact surface, and its slip.

    Slip is the way of the touching material points along the ground while the surface carries more than 1 % of the
    robot's weight (so a rolling ball does not slip); several points of one surface count by their normal force. A fast
    sliding body hops in steps of some milliseconds; the way between two touches counts if they are at most 20 ms apart.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: MujocoEngine) -> None:
        self._engine, mj, model = engine, engine.mj, engine.model
        self._names = tuple(model.contact_geoms)
        self._surface_of = np.full(mj.ngeom, -1, dtype=np.int64)
        for k, geoms in enumerate(model.contact_geoms.values()):
            self._surface_of[list(geoms)] = k
        self._is_robot = np.isin(mj.geom_bodyid, model.tree_bodies)
        self._places = {name: _placement_on_body(engine, name) for name in self._names}
        self._least_load = _LOADED * engine.robot.mass * float(np.linalg.norm(mj.opt.gravity))
        self.slip = dict.fromkeys(self._names, 0.0)
        self._last_touch: dict[str, Touches] = {}
        self._hop = dict.fromkeys(self._names, (0.0, 0.0))  # way and time since the last touch
        self.read()

    def after_step(self) -> None:
        """Read the contacts of the last step and add their slip."""
        self.read()
        mujoco.mj_comVel(self._engine.mj, self._engine.data)  # velocities after the step, which moved the positions
        for k, name in enumerate(self._names):
            self._add_slip(k, name)

    def read(self) -> None:
        """Read the contacts."""
        mj, data = self._engine.mj, self._engine.data
        wrench = np.zeros((data.ncon, 6))
        for k in range(data.ncon):
            mujoco.mj_contactForce(mj, data, k, wrench[k])
        geom, frame = np.array(data.contact.geom).reshape(-1, 2), np.array(data.contact.frame).reshape(-1, 3, 3)
        force, moment = (np.einsum("ni,nij->nj", part, frame) for part in (wrench[:, :3], wrench[:, 3:]))
        is_second = self._is_robot[geom[:, 1]]
        own, other = np.where(is_second, geom[:, 1], geom[:, 0]), np.where(is_second, geom[:, 0], geom[:, 1])
        keep = self._is_robot[own]
        sign = np.where(is_second, 1.0, -1.0)[keep, None]  # forces act on the second geom of each pair
        self.touches = Touches(
            point=np.array(data.contact.pos).reshape(-1, 3)[keep],
            normal=sign * frame[keep, 0],
            force=sign * force[keep],
            moment=sign * moment[keep],
            geom=own[keep],
            other=other[keep],
            surface=self._surface_of[own[keep]],
        )

    def wrench(self, name: str) -> Array:
        """(6,) on the robot, in the frame of a contact surface, linear first [N], [N m].

        Args:
            name: The contact surface.
        """
        body, T_body_contact = self._places[name]
        data, touches = self._engine.data, self.touches
        turn = data.xmat[body].reshape(3, 3)
        origin, axes = data.xpos[body] + turn @ T_body_contact[:3, 3], turn @ T_body_contact[:3, :3]
        rows = touches.surface == self._names.index(name)
        force = touches.force[rows]
        moment = touches.moment[rows] + _cross(touches.point[rows] - origin, force)
        return np.concatenate([force.sum(axis=0) @ axes, moment.sum(axis=0) @ axes])

    def _add_slip(self, k: int, name: str) -> None:
        """Add the way of one surface in this step."""
        touches = self.touches.of_surface(k)
        if float(touches.load.sum()) > self._least_load:
            self.slip[name] += self._hop[name][0] + self._way(touches)
            self._last_touch[name], self._hop[name] = touches, (0.0, 0.0)
        elif name in self._last_touch:
            way, time = self._hop[name]
            self._hop[name] = way + self._way(self._last_touch[name]), time + self._engine.dt
            if self._hop[name][1] > _LONGEST_HOP:
                del self._last_touch[name]
                self._hop[name] = (0.0, 0.0)

    def _way(self, touches: Touches) -> float:
        """Way of the touching points along the ground in a step, mean by load [m]."""
        slide = self._velocities(touches, touches.geom) - self._velocities(touches, touches.other)
        along = slide - touches.normal * np.sum(touches.normal * slide, axis=1, keepdims=True)
        load = touches.load
        return self._engine.dt * float(load @ np.linalg.norm(along, axis=1)) / float(load.sum())

    def _velocities(self, touches: Touches, geoms: Indices) -> Array:
        """Velocities of the material points of the geoms' bodies at the touching points, (n, 3) in world [m/s]."""
        mj, data = self._engine.mj, self._engine.data
        bodies = mj.geom_bodyid[geoms]
        spatial = data.cvel[bodies]  # angular first, about the centre of mass of the body's tree; zero for the world
        return spatial[:, 3:] + _cross(spatial[:, :3], touches.point - data.subtree_com[mj.body_rootid[bodies]])


def _cross(a: Array, b: Array) -> Array:
    """Row by row a × b, (n, 3); several times faster than numpy's for few rows."""
    return a[:, _NEXT] * b[:, _LAST] - a[:, _LAST] * b[:, _NEXT]


def _placement_on_body(engine: MujocoEngine, name: str) -> tuple[int, Array]:
    """MuJoCo body of a contact surface, and T_body_contact (4, 4)."""
    contact = engine.robot.contacts[name]
    i, frame = engine.robot.body_of(contact.frame), engine.robot.model.frames[engine.robot.frame_id(contact.frame)]
    return int(engine.model.tree_bodies[i]) if i >= 0 else 0, frame.placement.homogeneous @ contact.placement
