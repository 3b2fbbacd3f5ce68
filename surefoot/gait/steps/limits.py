"""How far a biped may step: `StepLimits`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, hypot, sin, sqrt
from typing import Any

import numpy as np

from surefoot.errors import ShapeError, one_of
from surefoot.gait.legs import feet_of, leg_bodies, stance_of
from surefoot.gait.steps.planar import Pose, compose, pose_of, relative
from surefoot.robot import Foot, Robot

_SHARES = {"forward": 0.35, "backward": 0.20, "outward": 0.15, "inward": 0.10, "rise": 0.15}  # of the length of a leg
_TURNS = {"turn_out": 0.35, "turn_in": 0.15}  # [rad]
_GAP = 0.02  # least gap between the soles, as a share of the length of a leg
_ROUNDING = 1e-9


@dataclass(frozen=True)
class StepLimits:
    """Where the swinging foot may land, seen from the foot that stands. All steps of this room keep these limits.

    A step is `dx` ahead, `out` further outward than the nominal stance, and turned outward by `turn`. Each has its
    limits, and together they lie in the ellipsoid (dx/forward)² + (out/outward)² + (turn/turn_out)² ≤ 1 (backward and
    turn_in for negative ones). Inward, out ≥ −inward, and the soles keep their distance, so that neither soles nor legs
    cross: width + out ≥ w + l |sin turn| + w cos turn + gap with the half length l and half width w of the soles.

    Args:
        left: Name of the left foot.
        right: Name of the right foot.
        leg: Length of a leg, hip to sole at home [m].
        width: Distance of the feet in the nominal stance [m].
        sole: Half length and half width of the soles [m].
        gap: Least distance between the soles [m].
        forward: Furthest step ahead of the standing foot [m].
        backward: Furthest step behind it [m].
        outward: Furthest step outward, beyond the nominal width [m].
        inward: Furthest step inward, within the nominal width [m].
        turn_out: Largest turn outward, against the standing foot [rad].
        turn_in: Largest turn inward [rad].
        rise: Largest difference of height [m].
    """

    left: str
    right: str
    leg: float
    width: float
    sole: tuple[float, float]
    gap: float
    forward: float
    backward: float
    outward: float
    inward: float
    turn_out: float
    turn_in: float
    rise: float

    def __post_init__(self) -> None:
        for name in ("leg", "width", "forward", "backward", "outward", "inward", "turn_out", "turn_in", "rise"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ShapeError(f"`{name}` of step limits is {getattr(self, name)}, expected a positive number")
        if self.width < self.least(0.0) - _ROUNDING:
            raise ShapeError(
                "the nominal stance is narrower than the soles and their gap",
                evidence={"width": self.width, "least": self.least(0.0)},
            )

    @classmethod
    def of(cls, robot: Robot, **changes: Any) -> StepLimits:
        """Limits of a robot: nominal stance as at home, reaches as cautious shares of the length of a leg.

        Args:
            robot: With a left and a right foot.
            **changes: Fields to give instead, e.g. `forward=0.4`.

        Raises:
            NotSupportedError: The robot does not have two feet, left and right.
        """
        left, right = feet_of(robot)
        stance = stance_of(robot, robot.home)
        leg = float(np.mean([_leg_length(robot, foot) for foot in (left, right)]))
        half = [0.5 * np.ptp(foot.sole, axis=0) for foot in (left, right)]
        sole = float(max(size[0] for size in half)), float(max(size[1] for size in half))
        apart = abs(relative(pose_of(stance[0]), pose_of(stance[1]))[1])
        gap = min(_GAP * leg, max(0.5 * (apart - 2.0 * sole[1]), 0.25 * _GAP * leg))
        found = cls(
            left.name, right.name, leg, max(apart, 2.0 * sole[1] + gap), sole, gap,
            **{name: share * leg for name, share in _SHARES.items()}, **_TURNS,
        )  # fmt: skip
        for name in changes:
            if name not in found.__dict__:
                raise one_of("step limit", name, found.__dict__)
        return replace(found, **changes)

    def side(self, foot: str) -> float:
        """1 for the left foot, −1 for the right one.

        Raises:
            UnknownNameError: There is no such foot.
        """
        if foot not in (self.left, self.right):
            raise one_of("foot", foot, (self.left, self.right))
        return 1.0 if foot == self.left else -1.0

    def other(self, foot: str) -> str:
        """The other foot."""
        return self.right if self.side(foot) > 0.0 else self.left

    def least(self, turn: float) -> float:
        """Least distance of the feet across [m], such that neither soles nor legs meet.

        Args:
            turn: Of the swinging foot against the standing one [rad].
        """
        length, width = self.sole
        soles = width + length * abs(sin(turn)) + width * cos(turn) + self.gap
        return max(soles, self.width - self.inward)

    def body(self, foot: str, pose: Pose) -> Pose:
        """The middle of the nominal stance that a standing foot belongs to.

        Args:
            foot: Its name.
            pose: Where it stands.
        """
        return compose(pose, (0.0, -0.5 * self.side(foot) * self.width, 0.0))

    def place(self, foot: str, body: Pose) -> Pose:
        """Where a foot stands in the nominal stance.

        Args:
            foot: Its name.
            body: Middle of the stance.
        """
        return compose(body, (0.0, 0.5 * self.side(foot) * self.width, 0.0))

    def offset(self, foot: str, support: Pose, pose: Pose) -> tuple[float, float, float]:
        """`dx` [m], `out` [m] and `turn` [rad] of a step.

        Args:
            foot: The swinging foot.
            support: Where the other one stands.
            pose: Where it lands.
        """
        sign, (x, y, yaw) = self.side(foot), relative(support, pose)
        return x, sign * y - self.width, sign * yaw

    def landing(self, foot: str, support: Pose, dx: float, out: float, turn: float) -> Pose:
        """The pose of a step; the inverse of `offset`.

        Args:
            foot: The swinging foot.
            support: Where the other one stands.
            dx: Ahead [m].
            out: Outward, beyond the nominal width [m].
            turn: Outward [rad].
        """
        sign = self.side(foot)
        return compose(support, (dx, sign * (self.width + out), sign * turn))

    def strain(self, dx: float, out: float, turn: float) -> float:
        """How much of its reach a step takes: 1 on the ellipsoid, more outside.

        Args:
            dx: Ahead [m].
            out: Outward, beyond the nominal width [m].
            turn: Outward [rad].
        """
        x, y, yaw = self._shares(dx, out, turn)
        return sqrt(x * x + y * y + yaw * yaw)

    def _shares(self, dx: float, out: float, turn: float) -> tuple[float, float, float]:
        return (
            dx / (self.forward if dx > 0.0 else self.backward),
            max(out, 0.0) / self.outward,
            turn / (self.turn_out if turn > 0.0 else self.turn_in),
        )

    def trouble(self, foot: str, support: Pose, pose: Pose, rise: float = 0.0) -> str:
        """Why a step is not possible; "" if it is.

        Args:
            foot: The swinging foot.
            support: Where the other one stands.
            pose: Where it lands.
            rise: How much higher [m].
        """
        dx, out, turn = self.offset(foot, support, pose)
        if self.width + out < self.least(turn) - _ROUNDING:
            across, least = self.width + out, self.least(turn)
            return f"the feet are {across:.3f} m apart across, less than {least:.3f} m: they would cross"
        if abs(rise) > self.rise + _ROUNDING:
            return f"a step of {rise:+.3f} m in height is above {self.rise:.3f} m"
        if self.strain(dx, out, turn) <= 1.0 + _ROUNDING:
            return ""
        longest = self.forward if dx > 0.0 else self.backward
        return (
            f"{dx:+.3f} m ahead, {out:+.3f} m outward and {turn:+.3f} rad turned are beyond the reach of a step "
            f"({longest:.3f} m, {self.outward:.3f} m, {self.turn_out if turn > 0.0 else self.turn_in:.3f} rad)"
        )

    def clipped(self, foot: str, support: Pose, pose: Pose) -> Pose:
        """The pose nearest in direction that a step reaches; a possible one is returned as it is.

        Args:
            foot: The swinging foot.
            support: Where the other one stands.
            pose: Where it should land.
        """
        dx, out, turn = self.offset(foot, support, pose)
        strain = self.strain(dx, out, turn)
        if strain <= 1.0 and self.width + out >= self.least(turn):
            return pose
        dx = min(max(dx, -self.backward), self.forward)
        out = min(max(out, self.least(0.0) - self.width), self.outward)
        turn = min(max(turn, -self.turn_in), self.turn_out)
        scale = 1.0 / max(1.0, self.strain(dx, out, turn))
        dx, out, turn = scale * dx, scale * out, scale * turn
        out = min(max(out, self.least(turn) - self.width), self.outward)
        x, y, yaw = self._shares(dx, out, turn)
        rest, wanted = sqrt(max(1.0 - y * y, 0.0)), hypot(x, yaw)
        shrink = min(1.0, rest / wanted) if wanted > 0.0 else 1.0  # a smaller turn leaves the soles further apart
        return self.landing(foot, support, shrink * dx, out, shrink * turn)


def _leg_length(robot: Robot, foot: Foot) -> float:
    """From the first joint of the leg to the middle of the sole, at home [m]."""
    frames, hip = robot.placements(robot.home), min(leg_bodies(robot, foot.link))
    sole = (frames[foot.link] @ foot.placement)[:3, 3]
    return float(np.linalg.norm(frames[robot.tree.body_names[hip]][:3, 3] - sole))
