"""The chart of a stance: base pose and places of the feet, from which all joint angles follow in closed form.

A state is x = (base position, roll, pitch, yaw, foot 0, foot 1, …), (6 + 3 L,), in world, with the centres of the feet.
A stance holds some feet fixed; what is left, 6 + 3 (L − contacts) numbers, is a chart of its configurations. Straight
lines in x keep all contacts exactly, so nothing has to be projected.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from surefoot import kinematics, ops
from surefoot.arrays import Array
from surefoot.codegen import Kernel, compile_function
from surefoot.collision.volumes import source_text, tree_identity
from surefoot.errors import NotSupportedError
from surefoot.planning.limbs import limbs_of
from surefoot.robot import Robot

_TURN = 0.15  # [m]: what one radian of the base counts as


class Lifted(NamedTuple):
    """States as configurations.

    Args:
        q: (n, nq).
        reach: (n, L) positive where a limb reaches its foot.
        limits: (n, L) room to the nearest joint limit of each limb [rad]; negative beyond it.
        com: (n, 3) centre of mass in world [m].
    """

    q: Array
    reach: Array
    limits: Array
    com: Array


class LimbChart:
    """Configurations of a robot from base pose and feet: limbs of three joints in closed form, others by iteration.

        chart = LimbChart(sf.load("hexapod"))
        chart.lift(X).q                             # (n, nq) of states (n, 24)

    Args:
        robot: The robot; joints that belong to no limb stay at home.

    Raises:
        NotSupportedError: A limb of the robot has too few joints.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot, self.limbs = robot, limbs_of(robot)
        self.names = tuple(limb.contact for limb in self.limbs)
        base = int(robot.base_joint or 0)
        if base != 0 or not np.allclose(robot.tree.placements[base], np.eye(4)):
            raise NotSupportedError(f"the base of `{robot.name}` must be its first joint, at the origin of the world")
        self._home_places = np.array([limb.forward(limb.home) for limb in self.limbs])
        self.home = self.state_of(np.array(robot.home))

    @property
    def dimension(self) -> int:
        """Numbers of a state."""
        return 6 + 3 * len(self.limbs)

    def state_of(self, q: Array) -> Array:
        """(6 + 3 L,) the state of a configuration (nq,); feet are where the limbs put them."""
        T = pin.XYZQUATToSE3(np.array(q[:7], dtype=float))
        feet = [T.act(limb.forward(q[list(limb.rows)])) for limb in self.limbs]
        return np.concatenate([T.translation, pin.rpy.matrixToRpy(T.rotation), *feet])

    def parked(self, bases: Array) -> Array:
        """(n, L, 3) where feet and hands are that keep their joints at home [m].

        Args:
            bases: (n, 6) base poses.
        """
        turn, _ = _attitude(bases[:, 3:6].T)
        out: Array = np.einsum("ijn,kj->nki", turn, self._home_places) + bases[:, None, :3]
        return out

    def lift(self, states: Array) -> Lifted:
        """Configurations of states.

        Args:
            states: (n, 6 + 3 L).
        """
        return Lifted(*self._kernel(np.ascontiguousarray(states, dtype=float)))

    def distance(self, a: Array, b: Array) -> Array:
        """(…) length of the way between states [m]: the farthest that the base or a foot goes; a radian counts 0.15 m.

        Args:
            a: (…, 6 + 3 L).
            b: (…, 6 + 3 L).
        """
        step = np.asarray(b - a)
        step = step.reshape(*step.shape[:-1], -1, 3)
        lengths = np.sqrt((step * step).sum(axis=-1))
        lengths[..., 1] *= _TURN
        out: Array = lengths.max(axis=-1)
        return out

    @cached_property
    def _kernel(self) -> Kernel:
        tree, limbs = self.robot.tree, self.limbs
        own = (
            Path(__file__).with_name(name).read_text(encoding="utf-8")
            for name in ("chart.py", "limbs.py", "iterated.py")
        )
        numbers = (value for limb in limbs for value in limb.numbers)
        identity = ("chart", source_text(), *own, *tree_identity(tree), *numbers, np.array(self.robot.home))

        def lifted(state: Array) -> tuple[Any, ...]:
            turn, quaternion = _attitude(state[3:6])
            q = ops.zeros(self.robot.nq, like=state)
            q[:] = self.robot.home
            q[:3], q[3:7] = state[:3], quaternion
            reach, room = [], []
            for k, limb in enumerate(limbs):
                foot = state[6 + 3 * k : 9 + 3 * k]
                angles, inside = limb.angles(turn, turn.T @ (foot - state[:3]))
                sides = [
                    x for i in range(len(limb.rows)) for x in (angles[i] - limb.lower[i], limb.upper[i] - angles[i])
                ]
                q[list(limb.rows)] = angles
                reach.append(inside)
                room.append(_smallest(sides))
            return q, ops.array(reach), ops.array(room), kinematics.com(tree, q)

        return compile_function("stance chart", lifted, {"state": (self.dimension,)}, identity=identity)


def _attitude(rpy: Array) -> tuple[Array, Array]:
    """R_world_base (3, 3) and its quaternion (4,), x y z w, of roll, pitch and yaw: R_z R_y R_x."""
    sr, sp, sy = (ops.sin(0.5 * angle) for angle in rpy)
    cr, cp, cy = (ops.cos(0.5 * angle) for angle in rpy)
    x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
    z, w = cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return ops.array(rows), ops.array([x, y, z, w])


def _smallest(values: list[Any]) -> Any:
    out = values[0]
    for value in values[1:]:
        out = ops.minimum(out, value)
    return out
