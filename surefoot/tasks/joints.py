"""Joint positions, limits and couplings as tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.arrays import number
from surefoot.errors import ShapeError
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.joint_task import JointRows, JointTask, joint_rows, measures_of, one_axis


@dataclass(frozen=True, eq=False)
class Posture(JointTask):
    """Bring joints to positions; by default with the freedom that the other tasks leave.

        e = q_target − q        [tasks.posture]

    Args:
        robot: The robot.
        target: (nq,) configuration; home if omitted. Its base does not count.
        joints: Joints that count; all if omitted.
        name: Unique among the tasks; "posture" if omitted.
        priority: 1 if omitted; see `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
    """

    target: ArrayLike | None = None
    joints: Sequence[str] | None = None
    priority: int = field(default=1, kw_only=True)

    def numbers_of(self, target: Any) -> Numbers:
        """Configuration (nq,)."""
        return self.robot.checked_q(self.robot.home if target is None else target)

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Target − position of the joints."""
        return self.joint_rows.difference(q, target)


@dataclass(frozen=True, eq=False)
class JointLimits(JointTask):
    """Keep joints inside their position limits, less a margin.

        lower + margin ≤ q ≤ upper − margin        [tasks.limits]

    Args:
        robot: The robot.
        margin: [rad] or [m].
        joints: Joints that count; all with limits if omitted.
        name: Unique among the tasks; "joint_limits" if omitted.
        priority: See `Task`, and so for weight and gain.
        weight: See `Task`.
        gain: See `Task`.
        below: Follows from the limits.
        above: Follows from the limits.
        activation: See `Task`.
    """

    margin: float = 0.0
    joints: Sequence[str] | None = None

    def _check(self) -> None:
        lower, upper = self._ends
        if (lower > upper).any():
            raise ShapeError(f"margin of task `{self.name}` is wider than the range of a joint")
        centre = self.numbers
        object.__setattr__(self, "below", np.where(np.isfinite(lower), centre - lower, np.inf))
        object.__setattr__(self, "above", np.where(np.isfinite(upper), upper - centre, np.inf))
        super()._check()

    @cached_property
    def joint_rows(self) -> JointRows:
        """The joints with limits, or those that were named."""
        names = self.joints
        if names is None:
            kinds, low, high = self.robot.tree.kinds, self.robot.limits.lower, self.robot.limits.upper
            entry = self.robot.tree.q_index
            names = [
                name
                for i, name in enumerate(self.robot.joint_names)
                if kinds[i] in ("revolute", "prismatic", "helical")
                and self.robot.tree.nv_of(i)
                and (np.isfinite(low[entry[i]]) or np.isfinite(high[entry[i]]))
            ]
        for name in names:
            one_axis(self.robot, name)
        return joint_rows(self.robot, names)

    @cached_property
    def _ends(self) -> tuple[Numbers, Numbers]:
        at = [part.start for part in self.joint_rows.q]
        margin = number(self.margin, f"margin of task `{self.name}`")
        return self.robot.limits.lower[at] + margin, self.robot.limits.upper[at] - margin

    def numbers_of(self, target: Any) -> Numbers:
        """Middle of the limits (rows,)."""
        if target is not None:
            raise ShapeError(f"task `{self.name}` has no target", next_step="make another JointLimits")
        lower, upper = self._ends
        low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
        return 0.5 * (low + np.where(np.isfinite(upper), upper, low))

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Middle − position."""
        return ops.array([middle - q[part.start] for middle, part in zip(target, self.joint_rows.q, strict=True)])


@dataclass(frozen=True, eq=False)
class JointCoupling(JointTask):
    """Tie one joint to another: q_joint − ratio q_source = target.        [tasks.coupling].

    Args:
        robot: The robot.
        joint: The joint that follows.
        source: The joint that leads.
        ratio: How far it follows.
        target: The offset [rad] or [m].
        name: Unique among the tasks; the joint if omitted.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
    """

    joint: str
    source: str
    ratio: float = 1.0
    target: float = 0.0

    @property
    def default_name(self) -> str:
        """The joint that follows."""
        return self.joint

    @cached_property
    def _entries(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return one_axis(self.robot, self.joint), one_axis(self.robot, self.source)

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """The unit of the joint that follows."""
        return measures_of(joint_rows(self.robot, [self.joint]).units)

    def numbers_of(self, target: Any) -> Numbers:
        """The offset (1,)."""
        return self.checked_target([target], (1,))

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Offset − (q_joint − ratio q_source)."""
        (follower, _), (leader, _) = self._entries
        return ops.array([target[0] - (q[follower] - self.ratio * q[leader])])

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """One row with two entries."""
        J = np.zeros((1, robot.nv))
        (_, follower), (_, leader) = self._entries
        J[0, follower] += 1.0
        J[0, leader] -= self.ratio
        return J
