"""Two points that keep their distance, as the ends of a rod without mass do.

    r = |p| - l,    J = uᵀ J_p,    J̇ v = uᵀ J̇_p v + (|ṗ|² - (uᵀ ṗ)²) / |p|,    u = p / |p|        [dyn.distance]

with p the way from the first point to the second in the axes of the first frame, and J_p its Jacobian. It is one more
part of `Constraints`, beside ties and couplings. Buschmann 2014, section 3.4.1 (the pendulum in Cartesian coordinates).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.dynamics.checked_arguments import checked_frame, checked_robot, checked_text, checked_vector
from surefoot.errors import ModelError
from surefoot.kinematics import Frame, relative_jacobian
from surefoot.kinematics.frames import relative_bias, relative_placement
from surefoot.ops import Array
from surefoot.robot import Robot, Tree


@dataclass(frozen=True, eq=False)
class Distance:
    """Origins of two frames at a fixed distance.

    Args:
        name: Its name.
        first: One frame.
        second: The other one, on which the multiplier acts: along the way from the first, outwards.
        length: l > 0 [m].
        tree: The tree in which the frames were found; None where that is not known.
    """

    name: str
    first: Frame
    second: Frame
    length: float
    tree: Tree | None = field(default=None, repr=False)

    @property
    def rows(self) -> tuple[str, ...]:
        """The name of its row."""
        return (f"{self.name}.distance",)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """As `ConstraintPart.numbers`."""
        ends = (self.first, self.second)
        return (f"distance {[end.body for end in ends]} {self.length!r}", *(x for end in ends for x in (end.R, end.p)))

    def residual(self, tree: Tree, q: Array) -> Array:
        """|p| - l (1,), m."""
        p = relative_placement(tree, self.first, self.second, q)[:3, 3]
        return ops.stack([ops.norm(p) - self.length])

    def jacobian(self, tree: Tree, q: Array) -> Array:
        """J (1, nv)."""
        u = self._way(tree, q)[0]
        return (u @ relative_jacobian(tree, self.first, self.second, q)[:3])[None]

    def bias(self, tree: Tree, q: Array, v: Array) -> Array:
        """J̇ v (1,)."""
        u, length = self._way(tree, q)
        rate = relative_jacobian(tree, self.first, self.second, q)[:3] @ v
        along = u @ rate
        drift = relative_bias(tree, self.first, self.second, q, v)[:3]
        return ops.stack([u @ drift + (rate @ rate - along * along) / length])

    def _way(self, tree: Tree, q: Array) -> tuple[Array, Array]:
        """Direction u (3,) and length of the way from the first point to the second."""
        p = relative_placement(tree, self.first, self.second, q)[:3, 3]
        length = ops.norm(p)
        if not ops.is_symbolic(length) and length == 0.0:
            raise ModelError(
                f"the ends of rod `{self.name}` coincide, so that it has no direction",
                next_step="start where they are apart, or tie them as points",
            )
        return p / length, length


def distance(
    robot: Robot,
    name: str,
    frame: str,
    length: float,
    to: str = "universe",
    at: ArrayLike = (0.0, 0.0, 0.0),
) -> Distance:
    """A rod without mass between a frame and a point.

    Args:
        robot: The robot.
        name: Of the constraint.
        frame: Link, joint, frame or contact surface at the one end.
        length: [m].
        to: What carries the other end; "universe" for the world.
        at: (3,) the other end, in the frame of `to` [m].

    Raises:
        UnknownNameError: The robot has no frame of that name.
        ModelError: The length is not positive.
        ShapeError: `at` is not three finite numbers.
        NotSupportedError: The robot is not a Robot, or a name is not text.
    """
    checked_robot(robot)
    checked_text("the name of a rod", name)
    if not (isinstance(length, Real) and np.isfinite(length) and length > 0.0):
        raise ModelError(f"rod `{name}` has length {length!r}", next_step="pass a positive length in m")
    base, other = (checked_frame(robot, f"an end of rod `{name}`", end) for end in (to, frame))
    end = base.p + base.R @ checked_vector("at", at, 3)
    return Distance(name, Frame(base.body, base.R, end), other, float(length), robot.tree)
