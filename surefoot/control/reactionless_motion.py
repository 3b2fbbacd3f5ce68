"""Joints that move without moving the floating base, or without moving one frame while the base turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from surefoot.arrays import Array, finite_array, number
from surefoot.compiler import compile_robot
from surefoot.control.driven_joints import drive_index
from surefoot.control.joint_follower import JointFollower, JointGains, JointMotion, Posture, weightless
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.kinematics import frame_jacobian, frame_of
from surefoot.motion import Command, Quintic, State
from surefoot.robot import Robot
from surefoot.solvers import ode

__all__ = ["InversionMotion", "ReactionlessMotion"]

_PEAK = 1.875  # largest by mean speed of a quintic from rest to rest
_CURVE_TOLERANCE = 1e-11  # of one step along the curve [rad]
_LONGEST_STEP = 0.05  # [rad]
_MOST_STEPS = 5000
_DIFFERENCE = 1e-5  # of central differences of Jacobians [rad]
_RANK = 1e-9  # singular values below this share of the largest count as zero


class ReactionlessMotion(JointFollower):
    """Move joints of a floating robot, with nothing pulling it, along a path that leaves its base at rest.

        H θ' = 0,  H = H_BB or H_C        [control.reactionless]   Nenchev & Konno 2019, (4.102) and section 4.7.3

    The path is the integral curve of the reaction null space through the start posture. Where this space has more than
    one dimension the curve is the straightest one, which takes its direction along with it:

        dx/ds = n,  dn/ds = −H⁺ (dH/ds) n

    The joints go forth and back on it, from rest to rest along quintics. The torques are those of inverse dynamics on
    the path, and springs and dampers hold the joints on it. All other drives hold their joints.

    Args:
        robot: The robot; its base floats.
        joints: Driven joints that move: more than six, or more than three with `angular_only`, unless they are special.
        speed: Largest length of the vector of joint speeds [rad/s].
        angular_only: Keep the attitude of the base only; its position gives way, and the centre of mass rests.
        length: Of the path in joint space [rad].
        strokes: How often the path is run through: 1 ends at its end, 2 goes there and back.
        start: When it begins [s].
        direction: Rates of joints by name that the motion begins along, as nearly as it can; all alike if omitted.
        q0: Start posture: (nq,), or positions of joints by name, the others as at home; home if omitted.
        **gains: As in `JointGains`.

    Raises:
        NotSupportedError: The base does not float, the joints have no such motion, or the path ends early.
        ShapeError: A joint leaves its limits on the path.
        UnknownNameError: A joint has no drive, or does not exist.
    """

    def __init__(
        self,
        robot: Robot,
        joints: Sequence[str],
        speed: float,
        angular_only: bool = False,
        length: float = 1.0,
        strokes: int = 2,
        start: float = 0.0,
        direction: Mapping[str, float] | None = None,
        q0: Posture | None = None,
        **gains: Unpack[JointGains],
    ) -> None:
        _require_floating(robot)
        super().__init__(robot, q0, gravity=False, **gains)
        self._kernels = compile_robot(weightless(robot))
        self._centre = self._kernels.com(self.q0)
        drives = [drive_index(robot, joint) for joint in joints]
        self._columns, self._to_drives = self._motions[:, drives], np.eye(robot.nu)[:, drives]
        self._rows = slice(3, 6) if angular_only else slice(0, 6)
        if not isinstance(strokes, int) or strokes < 1:
            raise ShapeError(f"strokes of a reactionless motion are {strokes!r}, expected a whole number ≥ 1")
        self.start, self.strokes = number(start, "start of the motion"), strokes
        length = number(length, "length of the path", positive=True)
        self._timing = Quintic.at_rest(
            0.0, length, _PEAK * length / number(speed, "speed of the joints", positive=True)
        )
        self._curve = self._integral_curve(self._first_direction(joints, direction), length)
        self._require_inside_limits(
            [self._to_drives @ x[: len(joints)] for x in self._curve.x], "the reactionless path"
        )

    def motion(self, t: float) -> JointMotion:
        """How the driven joints shall move.

        Args:
            t: Time [s].
        """
        s, ds, dds = self._way(t - self.start)
        x, n = np.split(self._curve.sample(s)[0], 2)
        n, bend = self._direction_and_bend(x, n)
        parts = (x, ds * n, dds * n + ds**2 * bend)
        return JointMotion(*(self._to_drives @ part for part in parts))

    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """The whole robot: q (nq,), v (nv,), a (nv,); its centre of mass and the attitude of its base rest.

        Args:
            t: Time [s].
        """
        return self._reference_of(self.motion(t))

    def _reference_of(self, motion: JointMotion) -> tuple[Array, Array, Array]:
        q, v, a = super()._reference_of(motion)
        base, place = self.robot.base_rows[:3], int(self.robot.tree.q_index[self.robot.base_joint or 0])
        linear = self._kernels.centroidal(q, v)
        lift = np.linalg.inv(linear.matrix[:3, base])
        v[base] = -lift @ linear.momentum[:3]
        a[base] = -lift @ (linear.matrix[:3] @ a + linear.bias[:3])
        q[place : place + 3] += self._centre - self._kernels.com(q)
        return q, v, a

    def command(self, t: float, state: State) -> Command:
        """The command in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        motion = self.motion(t)
        torque = self._motions.T @ self._kernels.rnea(*self._reference_of(motion))
        return replace(self._command_of(motion, t, state), torque=torque)

    def _way(self, since: float) -> tuple[float, float, float]:
        """Way s along the path and its derivatives at a time since the start; every other stroke goes back."""
        stroke = min(max(int(since // self._timing.duration), 0), self.strokes - 1)
        s, ds, dds = (float(part) for part in self._timing.sample(since - stroke * self._timing.duration))
        length = float(self._curve.t[-1])
        s = min(max(s, 0.0), length)  # rounding
        return (s, ds, dds) if stroke % 2 == 0 else (length - s, -ds, -dds)

    def _integral_curve(self, n: Array, length: float) -> ode.OdeResult:
        """Displacements x of the joints and the direction n, (2 k,), over the way s."""

        def slope(s: float, y: Array) -> Array:
            x, n = np.split(y, 2)
            return np.concatenate([n, self._direction_and_bend(x, n)[1]])

        try:
            return ode.integrate(
                slope, np.concatenate([np.zeros_like(n), n]), 0.0, length, tol=_CURVE_TOLERANCE,
                max_step=min(_LONGEST_STEP, length), max_steps=_MOST_STEPS,
            )  # fmt: skip
        except ode.IntegrationError as error:
            raise NotSupportedError(
                "the reactionless path runs into a posture where the joints lose their hold on the momentum",
                evidence={"reason": error.message},
                next_step="ask for a shorter path, another direction, or other joints",
            ) from error

    def _first_direction(self, joints: Sequence[str], wanted: Mapping[str, float] | None) -> Array:
        """(k,) of length 1: the wanted rates without what moves the base."""
        if wanted is not None and (strange := set(wanted) - set(joints)):
            raise ShapeError("the direction names joints that do not move", evidence={"joints": sorted(strange)})
        rates = [1.0 if wanted is None else wanted.get(joint, 0.0) for joint in joints]
        given = finite_array(rates, (len(joints),), "direction of a reactionless motion")
        H, _ = self._coupling(np.zeros(len(joints)), given)
        out = given - _least_squares(H, H @ given)
        if np.linalg.norm(out) <= np.sqrt(_RANK) * np.linalg.norm(given):
            raise NotSupportedError(
                "these joints have no reactionless motion along the direction",
                evidence={"joints": len(joints), "rank of the coupling": int(np.linalg.matrix_rank(H, rtol=_RANK))},
                next_step="give more joints than the rank, or another direction",
            )
        return out / np.linalg.norm(out)

    def _direction_and_bend(self, x: Array, n: Array) -> tuple[Array, Array]:
        """The direction (k,) brought into the null space, of length 1, and dn/ds (k,)."""
        H, bias = self._coupling(x, n)
        aside, bend = _least_squares(H, np.column_stack([H @ n, -bias])).T
        return (n - aside) / np.linalg.norm(n - aside), bend

    def _coupling(self, x: Array, n: Array) -> tuple[Array, Array]:
        """H (6 or 3, k), momentum about the centre of mass for unit rates of the joints, and (dH/ds) n."""
        found = self._kernels.centroidal(self._moved(self._columns @ x), self._columns @ n)
        return found.matrix[self._rows] @ self._columns, found.bias[self._rows]


def _require_floating(robot: Robot) -> None:
    if robot.base_joint is None or robot.tree.kinds[robot.base_joint] != "free":
        raise NotSupportedError(
            f"`{robot.name}` has a {robot.base} base; only a base that floats feels reactions",
            next_step='load it with base="floating"',
        )


def _least_squares(H: Array, b: Array) -> Array:
    """The smallest x of those that bring H x nearest to b, column by column."""
    return np.array(np.linalg.lstsq(H, b, rcond=_RANK)[0])


class InversionMotion(ReactionlessMotion):
    """Move joints of a floating robot so that one of its frames rests in space while its base turns around it.

        Ĵ θ' = 0,  Ĵ = J_θ − J_B A_B⁻¹ A_θ        [control.inversion]   Nenchev & Konno 2019, section 4.7.2

    Ĵ is the generalised Jacobian of the frame (Umetani & Yoshida 1989): the base moves so that the momentum A v stays
    zero. The path, its timing and the torques are those of `ReactionlessMotion` with Ĵ in place of H.

    Args:
        robot: The robot; its base floats.
        joints: Driven joints that move: more than six, unless they are special.
        speed: Largest length of the vector of joint speeds [rad/s].
        frame: Link, joint or frame that rests.
        **rest: As for `ReactionlessMotion`, without `angular_only`.

    Raises:
        NotSupportedError: The base does not float, the joints have no such motion, or the path ends early.
        ShapeError: A joint leaves its limits on the path.
        UnknownNameError: A joint has no drive, or a joint or the frame does not exist.
    """

    def __init__(self, robot: Robot, joints: Sequence[str], speed: float, frame: str, **rest: Any) -> None:
        self._place = frame_of(robot, frame)
        super().__init__(robot, joints, speed, **rest)

    def _coupling(self, x: Array, n: Array) -> tuple[Array, Array]:
        """Ĵ (6, k) of the frame with the base where it began, which does not change its null space, and (dĴ/ds) n."""
        step = _DIFFERENCE / max(float(np.linalg.norm(n)), 1.0)
        ahead, behind = (self._generalised_jacobian(x + way * step * n) for way in (1.0, -1.0))
        return self._generalised_jacobian(x), (ahead - behind) @ n / (2.0 * step)

    def _generalised_jacobian(self, x: Array) -> Array:
        q, base = self._moved(self._columns @ x), self.robot.base_rows
        A = self._kernels.centroidal(q, np.zeros(self.robot.nv)).matrix
        J = np.asarray(frame_jacobian(self.robot.tree, self._place, q))
        return np.asarray(J @ self._columns - J[:, base] @ np.linalg.solve(A[:, base], A @ self._columns))

    def _reference_of(self, motion: JointMotion) -> tuple[Array, Array, Array]:
        """With the base where it began, on which no torque depends, and moving so that the momentum stays zero."""
        q, v, a = JointFollower._reference_of(self, motion)
        base = self.robot.base_rows
        A = self._kernels.centroidal(q, v).matrix
        v[base] = -np.linalg.solve(A[:, base], A @ v)
        a[base] = -np.linalg.solve(A[:, base], A @ a + self._kernels.centroidal(q, v).bias)
        return q, v, a
