"""`ReplannedSteps`: planned steps that are planned anew where a push has brought the robot."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from surefoot.errors import NotSupportedError
from surefoot.gait.steps.limits import StepLimits
from surefoot.gait.steps.planar import Pose, pose_of, way
from surefoot.gait.steps.search import flat_step, plan_steps
from surefoot.motion import Footstep, World
from surefoot.robot import Robot

_MARGINS = (1.0, 0.3, 0.0)  # shares of the gap to obstacles: where a push has brought the robot, there may be less room
_SAME = 0.02  # a search from places nearer than this to one that failed would fail as well [m]


class ReplannedSteps:
    """Steps around obstacles to a goal, from `plan_steps`; anew from a foot that stands half a step off the plan.

    A foot that is nearer steps straight back to the plan (`PlannedSteps`). If the search from the new place fails, the
    plan stays as it is, and `failed` counts it.

    Args:
        robot: A biped.
        world: Ground, obstacles, objects.
        goal: Middle between the feet and where the robot looks: (x [m], y [m], yaw [rad]).
        stance: The left and the right foot at the start.
        limits: Of the steps.
        margin: Gap to obstacles [m].
        budget: How many steps a search on the way looks onward from; the first one has that of `plan_steps`.

    Raises:
        NotSupportedError: As in `plan_steps`, for the first plan.
    """

    def __init__(
        self,
        robot: Robot,
        world: World,
        goal: ArrayLike,
        stance: Sequence[Footstep],
        limits: StepLimits,
        margin: float = 0.03,
        budget: int = 1000,
    ) -> None:
        self.limits, self.plan = limits, plan_steps(robot, world, goal, stance, limits, margin)
        self._robot, self._world, self._goal, self._margin, self._budget = robot, world, goal, margin, budget
        self.replanned, self.failed = 0, 0
        self._no_way: list[Pose] = []

    def upcoming(self, t: float, support: Footstep, count: int) -> tuple[Footstep, ...]:
        """As in `surefoot.motion.StepSource`.

        Args:
            t: Now [s].
            support: The foot that stands.
            count: Most steps to return.
        """
        here = pose_of(support)
        is_off = self.plan.distance(support) > 0.5 * self.limits.forward
        if is_off and all(way(here, place) > _SAME for place in self._no_way):
            self._replan(support.foot, here)
        return self.plan.upcoming(t, support, count)

    def _replan(self, foot: str, here: Pose) -> None:
        """Plan from a foot; the other one is taken to be beside it."""
        limits, body = self.limits, self.limits.body(foot, here)
        stance = [flat_step(x, here if x == foot else limits.place(x, body)) for x in (limits.left, limits.right)]
        for share in _MARGINS:
            try:
                margin = share * self._margin
                self.plan = plan_steps(self._robot, self._world, self._goal, stance, limits, margin, self._budget)
            except NotSupportedError:
                continue
            self.replanned += 1
            return
        self.failed += 1
        self._no_way.append(here)
