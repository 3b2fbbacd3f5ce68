"""What the contacts of a step carry, and how far the loaded ones slide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import one_of
from surefoot.sim.measured import OBJECT, WORLD, Touches, row_cross
from surefoot.sim.mujoco.model import MujocoModel
from surefoot.sim.mujoco.physics import Physics

Indices = NDArray[np.int64]
_SIX = np.arange(6)
_LOADED = 0.01  # share of the robot's weight from which on a contact counts as loaded
_LONGEST_HOP = 0.02  # [s], and at least as many steps as follow
_HOP_STEPS = 30
_TINY = 1e-12  # [N]
_NOTHING = np.zeros(0)


def contact_forces(data: mujoco.MjData) -> Array:
    """(ncon, 6) force and moment of each contact in its frame on its second geom, as `mj_contactForce` of each.

    With elliptic cones these are the rows of `efc_force` of the contact themselves: normal, two tangents, and as many
    of the three moments as it has.

    Args:
        data: MuJoCo's data after a step or a forward.
    """
    force, first = data.efc_force, data.contact.efc_address
    if not len(force):
        return np.zeros((len(first), 6))
    rows = first[:, None] + _SIX
    used = (data.contact.dim[:, None] > _SIX) & (first >= 0)[:, None]
    return np.where(used, force.take(rows, mode="clip"), 0.0)


@dataclass(frozen=True, eq=False)
class _Hop:
    """Points of a surface where it touched last: where, how loaded, on which bodies; its way and time since."""

    point: Array
    normal: Array
    load: Array
    bodies: Indices
    way: float = 0.0
    time: float = 0.0


class _Surfaces:
    """The contact surfaces of one robot.

    Args:
        model: The robot in MuJoCo.
        first: Number of its first surface among those of all robots.
    """

    def __init__(self, model: MujocoModel, first: int) -> None:
        self.names, self.first = tuple(model.contact_geoms), first
        places = [_placement_on_body(model, name) for name in self.names]
        self.bodies = np.array([body for body, _ in places], dtype=np.int64)
        T = np.array([T for _, T in places]).reshape(-1, 4, 4)
        self._positions, self._axes = T[:, :3, 3:].copy(), T[:, :3, :3].copy()

    def index(self, name: str) -> int:
        if name not in self.names:
            raise one_of("contact", name, self.names)
        return self.names.index(name)

    def frames(self, data: mujoco.MjData) -> tuple[Array, Array]:
        """Origins (n, 3) and axes (n, 3, 3) in world at the start of the step."""
        turn = data.xmat[self.bodies].reshape(-1, 3, 3)
        return data.xpos[self.bodies] + (turn @ self._positions)[:, :, 0], turn @ self._axes


@dataclass(frozen=True, eq=False)
class _Rows:
    """The contacts of one robot: which, on which side, and what is known of their geoms."""

    contact: Indices
    sign: Array
    surface: Indices
    body: Indices
    against: Indices
    of_surface: Array


class _Pairs:
    """What is known of the contacts by their geoms alone; good for all steps in which the same geoms touch.

    Args:
        geom: (n, 2).
        key: The bytes of `geom`.
        dims: (n,) directions of each contact.
        surfaces: Surface of each geom, counted from 1 over all robots, 0 for none.
        count: Number of surfaces, that of 0 included.
    """

    def __init__(self, geom: Indices, key: bytes, dims: Indices, surfaces: Indices, count: int) -> None:
        self.key, self.geom = key, geom.astype(np.int64)
        self.surface = surfaces[self.geom]
        self.share = (self.surface[None] == np.arange(count)[:, None, None]).any(axis=2).astype(float)
        self.all_slide = bool((dims >= 3).all())
        self.rows: dict[int, _Rows] = {}


@dataclass(frozen=True, eq=False)
class _Record:
    """What hops need of the contacts of a step."""

    point: Array
    frame: Array
    load: Array
    pairs: _Pairs
    loaded: NDArray[np.bool_]

    def of_surface(self, k: int, body_of: Indices) -> _Hop:
        rows = self.pairs.share[k] > 0.0
        return _Hop(self.point[rows], self.frame[rows, :3], self.load[rows], body_of[self.pairs.geom[rows]])


class ContactBook:
    """Touches of each robot, wrench of each contact surface, and its slip. Read when asked for; slip every step.

    Slip is the way of the touching material points along the ground while the surface carries more than 1 % of the
    robot's weight (so a rolling ball does not slip); several points of one surface count by their normal force. A fast
    sliding body hops in steps of some milliseconds; the way between two touches counts if they are at most 20 ms apart.
    """

    def __init__(self, physics: Physics) -> None:
        self._physics, mj, models = physics, physics.mj, physics.scene.models
        self._robots: list[_Surfaces] = []
        self._surface_of = np.zeros(mj.ngeom, dtype=np.int64)  # counted from 1 over all robots; 0 for none
        self._robot_of = np.full(mj.ngeom, WORLD, dtype=np.int64)  # of what moves
        self._against = np.where(mj.body_weldid[mj.geom_bodyid] > 0, OBJECT, WORLD).astype(np.int64)
        self._against[np.isin(mj.geom_bodyid, physics.ground.bodies)] = WORLD
        self._tree_body = np.full(mj.nbody, -1, dtype=np.int64)
        self._body_of = mj.geom_bodyid.astype(np.int64)
        for k, model in enumerate(models):
            self._add_robot(k, model)
        weights = [model.robot.mass * float(np.linalg.norm(mj.opt.gravity)) for model in models]
        sizes = [len(robot.names) for robot in self._robots]
        self._least_load = np.concatenate([[np.inf], np.maximum(_LOADED * np.repeat(weights, sizes), _TINY)])
        self.reset()

    def _add_robot(self, k: int, model: MujocoModel) -> None:
        first = 1 + sum(len(robot.names) for robot in self._robots)
        self._robots.append(_Surfaces(model, first))
        for i, geoms in enumerate(model.contact_geoms.values()):
            self._surface_of[list(geoms)] = first + i
        self._tree_body[model.tree_bodies] = np.arange(len(model.tree_bodies))
        own = np.array(model.geoms, dtype=np.int64)
        self._against[own] = k
        self._robot_of[own] = np.where(self._tree_body[self._body_of[own]] >= 0, k, WORLD)

    def reset(self) -> None:
        """Nothing has slipped yet."""
        count = len(self._least_load)
        self._slip, self._hops = np.zeros(count), dict[int, _Hop]()
        self._record: _Record | None = None
        self.model_changed()

    def model_changed(self) -> None:
        """The geoms may touch otherwise than before."""
        self._known: _Pairs | None = None
        self.read()

    def read(self) -> None:
        """Contacts have changed."""
        self._forces: Array | None = None
        self._touches: dict[int, Touches] = {}
        self._wrenches: dict[int, Array] = {}

    def _pairs(self, contact: Any) -> _Pairs:
        """What is known of the contacts by their geoms."""
        geom = contact.geom
        key = geom.tobytes()
        if self._known is None or self._known.key != key:
            self._known = _Pairs(geom, key, contact.dim, self._surface_of, len(self._least_load))
        return self._known

    def _rows(self, pairs: _Pairs, k: int) -> _Rows:
        if k not in pairs.rows:
            surfaces = self._robots[k]
            rows, side = np.nonzero(self._robot_of[pairs.geom] == k)
            own, other = pairs.geom[rows, side], pairs.geom[rows, 1 - side]
            surface = np.maximum(self._surface_of[own] - surfaces.first, -1)
            pairs.rows[k] = _Rows(
                contact=rows,
                sign=np.where(side == 1, 1.0, -1.0)[:, None],  # forces act on the second geom of each pair
                surface=surface,
                body=self._tree_body[self._body_of[own]],
                against=self._against[other],
                of_surface=(surface == np.arange(len(surfaces.names))[:, None]).astype(float),
            )
        return pairs.rows[k]

    def touches(self, k: int) -> Touches:
        """Where a robot touches something; where it touches itself, each of its two bodies has a row."""
        if k not in self._touches:
            self._touches[k] = self._found_touches(k)
        return self._touches[k]

    def _found_touches(self, k: int) -> Touches:
        data = self._physics.data
        contact = data.contact
        rows, frame = self._rows(self._pairs(contact), k), contact.frame
        if self._forces is None:  # force and moment (n, 2, 3) in world, on the second geoms
            self._forces = contact_forces(data).reshape(-1, 2, 3) @ frame.reshape(-1, 3, 3)
        mine = rows.sign[:, None] * self._forces[rows.contact]
        return Touches(
            point=contact.pos[rows.contact],
            normal=rows.sign * frame[rows.contact, :3],
            force=mine[:, 0],
            moment=mine[:, 1],
            surface=rows.surface.copy(),
            body=rows.body.copy(),
            against=rows.against.copy(),
        )

    def wrench(self, k: int, name: str) -> Array:
        """(6,) on a robot, in the frame of a contact surface, linear first [N], [N m]."""
        if k not in self._wrenches:
            self._wrenches[k] = self._found_wrenches(k)
        return self._wrenches[k][self._robots[k].index(name)].copy()

    def _found_wrenches(self, k: int) -> Array:
        """(n, 6) of all contact surfaces."""
        touches, data = self.touches(k), self._physics.data
        if not len(self._robots[k].names):
            return np.zeros((0, 6))
        origin, axes = self._robots[k].frames(data)
        both = np.empty((len(touches.point), 2, 3))
        both[:, 0] = touches.force
        both[:, 1] = touches.moment + row_cross(touches.point - origin[touches.surface], touches.force)
        share = self._rows(self._pairs(data.contact), k).of_surface
        total = share @ both.reshape(-1, 6)
        return np.asarray(total.reshape(-1, 2, 3) @ axes).reshape(-1, 6)

    def slip(self, k: int, name: str) -> float:
        """Way [m] that a loaded contact surface slid since the reset."""
        surfaces = self._robots[k]
        return float(self._slip[surfaces.first + surfaces.index(name)])

    def after_step(self) -> None:
        """Take the contacts of a step that is done, and add their slip."""
        self.read()
        contact = self._physics.data.contact
        pairs = self._pairs(contact)
        load, speed = self._loads_and_speeds(contact, pairs)
        total, way = pairs.share @ load, pairs.share @ (load * speed)
        loaded = total > self._least_load
        way *= loaded
        way /= np.maximum(total, _TINY)
        way *= self._physics.dt
        self._slip += way
        if self._hops or (self._record is not None and loaded.tobytes() != self._record.loaded.tobytes()):
            self._count_hops(loaded)
        self._record = _Record(contact.pos.copy(), contact.frame.copy(), load, pairs, loaded)

    def _loads_and_speeds(self, contact: Any, pairs: _Pairs) -> tuple[Array, Array]:
        """Normal forces (n,) [N] of all contacts and how fast they slide at the end of the step (n,) [m/s]."""
        data, first = self._physics.data, contact.efc_address
        if not len(first):
            return _NOTHING, _NOTHING
        if not pairs.all_slide or min(first.tolist()) < 0:
            bodies = self._body_of[pairs.geom]
            return contact_forces(data)[:, 0], self._speeds(contact.pos, contact.frame[:, :3], bodies)
        rate = np.empty(data.nefc)
        mujoco.mj_mulJacVec(self._physics.mj, data, rate, self._physics.qvel)
        return data.efc_force[first], np.hypot(rate[first + 1], rate[first + 2])

    def _speeds(self, point: Array, normal: Array, bodies: Indices) -> Array:
        """How fast the second bodies (n, 2) slide over the first at points, across the normals, (n,) [m/s]."""
        mujoco.mj_comVel(self._physics.mj, self._physics.data)  # with the velocities at the end of the step
        slide = self._velocities(point, bodies[:, 1]) - self._velocities(point, bodies[:, 0])
        return np.linalg.norm(slide - normal * np.sum(normal * slide, axis=1, keepdims=True), axis=1)

    def _velocities(self, point: Array, bodies: Indices) -> Array:
        """Velocities of the material points of bodies, (n, 3) in world [m/s]."""
        spatial = self._physics.data.cvel[bodies]  # angular first, about the centre of mass of the body's tree
        centre = self._physics.data.subtree_com[self._physics.mj.body_rootid[bodies]]
        return spatial[:, 3:] + row_cross(spatial[:, :3], point - centre)

    def _count_hops(self, loaded: NDArray[np.bool_]) -> None:
        """Surfaces that carry nothing for a while, and where they come down again."""
        for k in [k for k in self._hops if loaded[k]]:
            self._slip[k] += self._hops.pop(k).way
        if self._record is not None:
            for k in np.flatnonzero(self._record.loaded & ~loaded).tolist():
                self._hops[k] = self._record.of_surface(k, self._body_of)
        for k, hop in list(self._hops.items()):
            speed = self._speeds(hop.point, hop.normal, hop.bodies)
            way = hop.way + self._physics.dt * float(hop.load @ speed) / float(hop.load.sum())
            time = hop.time + self._physics.dt
            if time > max(_LONGEST_HOP, _HOP_STEPS * self._physics.dt):
                del self._hops[k]
            else:
                self._hops[k] = replace(hop, way=way, time=time)


def _placement_on_body(model: MujocoModel, name: str) -> tuple[int, Array]:
    """MuJoCo body of a contact surface, and T_body_contact (4, 4)."""
    contact = model.robot.contacts[name]
    i, frame = model.robot.body_of(contact.frame), model.robot.model.frames[model.robot.frame_id(contact.frame)]
    return int(model.tree_bodies[i]) if i >= 0 else 0, frame.placement.homogeneous @ contact.placement
