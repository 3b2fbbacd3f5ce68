"""Step sources: to a goal, at a velocity, along a path, or as planned. All keep `StepLimits` and alternate feet.

A source sees only the foot that stands, where it really stands, and holds no state: what was pushed away or slipped is
planned anew from there. Sources that go to a place end with the feet side by side on it. Which of the feet comes last
is fixed beforehand (`last`): this foot on its place means that the walk is over.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from math import atan2, cos, hypot, sin

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import finite_array, number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.gait.steps.footing import Footing
from surefoot.gait.steps.limits import StepLimits
from surefoot.gait.steps.planar import Pose, compose, pose_of, relative, way, wrapped
from surefoot.motion import Footstep, StepSource, World

_POSITION = 0.03  # a foot nearer than this share of a leg is on its place
_YAW = 0.05  # … and turned by less than this [rad]
_TURN_FIRST = 0.8  # turn in place towards ways that are further off [rad]
_WINDOW = 1.05  # for so many step times after a command ended, the feet may still be apart
_MOST = 1000  # steps of a whole walk
_Follow = Callable[[str, Pose], Pose | None]  # from the foot that stands to where the other one goes; None: stop


class _Source:
    """What all sources share.

    Args:
        limits: Of the steps.
        world: The ground; None for level ground.
    """

    def __init__(self, limits: StepLimits, world: World | None = None) -> None:
        self.limits = limits
        self._footing = Footing(world, limits.sole)

    def _chained(self, follow: _Follow, support: Footstep, count: int) -> tuple[Footstep, ...]:
        """Steps one after the other, each from the one before."""
        steps: list[Footstep] = []
        pose = pose_of(support)
        while len(steps) < count:
            landing = follow(support.foot, pose)
            if landing is None:
                break
            support = self._footing.footstep(self.limits.other(support.foot), landing, support, pose)
            pose = landing
            steps.append(support)
        return tuple(steps)


class GoalSteps(_Source):
    """To a pose of the robot: the middle between its feet, and where it looks.

    It goes straight to near goals (forward, sideways, backward); for far ones it turns, walks and turns.

    Args:
        limits: Of the steps.
        goal: (x [m], y [m], yaw [rad]).
        last: The foot that comes last; None for the right one.
        world: The ground; None for level ground.
    """

    def __init__(
        self, limits: StepLimits, goal: ArrayLike, last: str | None = None, world: World | None = None
    ) -> None:
        super().__init__(limits, world)
        x, y, yaw = finite_array(goal, (3,), "goal of a walk").tolist()
        self.goal: Pose = (x, y, wrapped(yaw))
        self.last = limits.right if last is None else last
        self._places = {foot: limits.place(foot, self.goal) for foot in (limits.left, limits.right)}
        self._near = _POSITION * limits.leg
        limits.side(self.last)

    @classmethod
    def from_stance(
        cls, limits: StepLimits, stance: Sequence[Footstep], goal: ArrayLike, world: World | None = None
    ) -> GoalSteps:
        """The walk of fewest steps from a stance.

        Args:
            limits: Of the steps.
            stance: The left and the right foot.
            goal: (x [m], y [m], yaw [rad]).
            world: The ground; None for level ground.
        """
        both = [cls(limits, goal, last, world) for last in (limits.right, limits.left)]
        return min(both, key=lambda source: _effort(source, limits, stance, first_support(source, limits, stance)))

    def upcoming(self, t: float, support: Footstep, count: int) -> tuple[Footstep, ...]:
        """As in `surefoot.motion.StepSource`.

        Args:
            t: Now [s].
            support: The foot that stands.
            count: Most steps to return.
        """
        return self._chained(self._next, support, count)

    def is_there(self, foot: str, pose: Pose) -> bool:
        """Whether a foot is on its place.

        Args:
            foot: Its name.
            pose: Where it stands.
        """
        place = self._places[foot]
        return way(pose, place) <= self._near and abs(wrapped(pose[2] - place[2])) <= _YAW

    def _next(self, foot: str, pose: Pose) -> Pose | None:
        swing, is_there = self.limits.other(foot), self.is_there(foot, pose)
        if is_there and foot == self.last:
            return None
        place = self._places[swing]
        if (swing != self.last or is_there) and self.limits.clipped(swing, pose, place) is place:
            return place
        landing = self.toward(swing, pose, self.goal)
        return self._aside(swing, pose) if self.is_there(swing, landing) else landing

    def _aside(self, swing: str, support: Pose) -> Pose:
        """A landing beside its place, for a foot that cannot come there exactly, or not before the other one has."""
        back, turn = 1.5 * self._near, 1.5 * _YAW
        for shift in ((-back, 0.0, 0.0), (back, 0.0, 0.0), (0.0, 0.0, turn), (0.0, 0.0, -turn)):
            landing = compose(self._places[swing], shift)
            if not self.limits.trouble(swing, support, landing):
                return landing
        return self.limits.landing(swing, support, 0.0, 0.0, 0.0)

    def toward(self, swing: str, support: Pose, goal: Pose) -> Pose:
        """One step towards a pose of the robot.

        Args:
            swing: The foot that steps.
            support: Where the other one stands.
            goal: The pose.
        """
        limits = self.limits
        body = limits.body(limits.other(swing), support)
        x, y, yaw = relative(body, goal)
        heading, distance = atan2(y, x), hypot(x, y)
        turn = 0.5 * limits.turn_out  # every second step turns outward
        direct = limits.strain(x, 0.0, 0.0) + 2.0 * abs(y) / limits.outward + abs(yaw) / turn
        ahead = abs(heading) / turn + distance / limits.forward + abs(wrapped(yaw - heading)) / turn
        if distance > self._near and ahead < direct:
            x, y, yaw = distance * cos(heading) if abs(heading) < _TURN_FIRST else 0.0, 0.0, heading
        return limits.clipped(swing, support, limits.place(swing, compose(body, (x, y, yaw))))


class PathSteps(GoalSteps):
    """Along a path; where the robot has left it, back to it.

    A path that comes near itself may be cut short there, because only the place tells how far the robot is.

    Args:
        limits: Of the steps.
        path: (n, 2) points, the robot looks along the path; or (n, 3) poses with yaw [rad].
        last: As in `GoalSteps`.
        world: As in `GoalSteps`.
    """

    def __init__(
        self, limits: StepLimits, path: ArrayLike, last: str | None = None, world: World | None = None
    ) -> None:
        points = np.asarray(path, dtype=float)
        wide = points.shape[1] if points.ndim == 2 else 0
        points = finite_array(points, (None, 3 if wide == 3 else 2), "path of a walk")
        if len(points) < 2:
            raise ShapeError(f"a path needs two points or more, got {len(points)}")
        steps = np.linalg.norm(np.diff(points[:, :2], axis=0), axis=1)
        keep = np.append(True, steps > 1e-9) if wide == 2 else np.ones(len(points), dtype=bool)
        points, self._at = points[keep], np.append(0.0, np.cumsum(steps[keep[1:]]))
        if self._at[-1] == 0.0:
            raise ShapeError("all points of the path are the same")
        self._xy = points[:, :2]
        self._yaws = np.unwrap(points[:, 2]) if wide == 3 else None
        self._ahead = limits.forward
        super().__init__(limits, self.pose_at(float(self._at[-1])), last, world)

    def pose_at(self, s: float) -> Pose:
        """The pose of the robot on the path.

        Args:
            s: Way along the path [m].
        """
        x, y = self._point(s)
        if self._yaws is not None:
            return x, y, wrapped(float(np.interp(s, self._at, self._yaws)))
        (ax, ay), (bx, by) = self._point(s - self._ahead), self._point(s + self._ahead)
        if s >= self._at[-1]:
            (ax, ay), (bx, by) = self._xy[-2], self._xy[-1]
        return x, y, atan2(by - ay, bx - ax)

    def _point(self, s: float) -> tuple[float, float]:
        return float(np.interp(s, self._at, self._xy[:, 0])), float(np.interp(s, self._at, self._xy[:, 1]))

    def _nearest(self, body: Pose) -> float:
        """Way along the path to its point nearest to the robot [m]."""
        starts, edges = self._xy[:-1], np.diff(self._xy, axis=0)
        lengths = np.maximum((edges**2).sum(axis=1), 1e-18)
        share = np.clip(((np.array(body[:2]) - starts) * edges).sum(axis=1) / lengths, 0.0, 1.0)
        gaps = np.linalg.norm(starts + share[:, None] * edges - body[:2], axis=1)
        k = int(np.argmin(gaps))
        return float(self._at[k] + share[k] * (self._at[k + 1] - self._at[k]))

    def _next(self, foot: str, pose: Pose) -> Pose | None:
        body = self.limits.body(foot, pose)
        s = self._nearest(body) + self._ahead
        if s >= self._at[-1]:
            return super()._next(foot, pose)
        swing = self.limits.other(foot)
        return self.limits.clipped(swing, pose, self.limits.place(swing, self.pose_at(s)))


class VelocitySteps(_Source):
    """At commanded velocities, as from a joystick. A zero command brings the feet side by side with the next step.

    Args:
        limits: Of the steps.
        commands: (n, 4) rows of time [s], velocity forward and to the left [m/s], yaw rate [rad/s], each holding until
            the next; before the first one the robot stands.
        step_time: Duration of a step [s]. Feet that were told to stop longer ago than that are taken as closed up.
        world: The ground; None for level ground.
    """

    def __init__(self, limits: StepLimits, commands: ArrayLike, step_time: float, world: World | None = None) -> None:
        super().__init__(limits, world)
        rows = finite_array(commands, (None, 4), "velocity commands")
        if (np.diff(rows[:, 0]) <= 0.0).any():
            raise ShapeError("times of the velocity commands do not increase")
        self.step_time = number(step_time, "step time", positive=True)
        self._times: list[float] = rows[:, 0].tolist()
        self._rates: list[Pose] = [tuple(row) for row in rows[:, 1:].tolist()]

    def command(self, t: float, vx: float, vy: float, yaw_rate: float) -> None:
        """Take a further command.

        Args:
            t: When it begins to hold, after all others [s].
            vx: Velocity forward [m/s].
            vy: Velocity to the left [m/s].
            yaw_rate: [rad/s].
        """
        t, *rates = finite_array((t, vx, vy, yaw_rate), (4,), "velocity command").tolist()
        if self._times and t <= self._times[-1]:
            raise ShapeError(f"a command at {t} s does not come after the last one at {self._times[-1]} s")
        self._times.append(t)
        self._rates.append((rates[0], rates[1], rates[2]))

    def upcoming(self, t: float, support: Footstep, count: int) -> tuple[Footstep, ...]:
        """As in `surefoot.motion.StepSource`; the command that holds now counts for all steps.

        Args:
            t: Now [s].
            support: The foot that stands.
            count: Most steps to return.
        """
        k = bisect_right(self._times, t) - 1
        if k >= 0 and any(self._rates[k]):
            return self._chained(partial(self._next, self._rates[k]), support, count)
        if not self._ended_within(k, t):
            return ()
        return self._chained(partial(self._next, (0.0, 0.0, 0.0)), support, min(count, 1))

    def _next(self, rate: Pose, foot: str, pose: Pose) -> Pose:
        """A step at a velocity; the foot on the side of the way makes the way of two steps, the other one closes up."""
        swing = self.limits.other(foot)
        side, (x, y, yaw) = 2.0 * self.limits.side(swing), (self.step_time * part for part in rate)
        landing = self.limits.landing(swing, pose, x, max(side * y, 0.0), max(side * yaw, 0.0))
        return self.limits.clipped(swing, pose, landing)

    def _ended_within(self, k: int, t: float) -> bool:
        """Whether the robot was told to walk a short time ago, so that its feet may be apart."""
        while k >= 0 and not any(self._rates[k]):
            if self._times[k] <= t - _WINDOW * self.step_time:
                return False
            k -= 1
        return k >= 0


class PlannedSteps(_Source):
    """Given steps. Each begins where the foot before really stands, and leads back to the plan as far as it reaches.

    The plan ends with the feet side by side; if it does not, the other foot closes up.

    Args:
        limits: Of the steps.
        stance: The left and the right foot at the start.
        steps: Alternating.
        world: The ground; None to take heights and normals from the plan.

    Raises:
        NotSupportedError: A step is out of reach, or the plan comes to the same place twice.
        ShapeError: The feet do not alternate.
    """

    def __init__(
        self, limits: StepLimits, stance: Sequence[Footstep], steps: Sequence[Footstep], world: World | None = None
    ) -> None:
        super().__init__(limits, world)
        if not steps:
            raise ShapeError("a plan needs a step")
        feet = {step.foot: step for step in stance}
        self.steps = tuple(steps)
        self._chain = (feet[steps[0].foot], feet[limits.other(steps[0].foot)], *steps)
        self._poses = [pose_of(step) for step in self._chain]
        self._require_possible()
        final, pose = self._chain[-1].foot, self._poses[-1]
        goal = limits.body(final, pose)
        closed = GoalSteps(limits, goal).is_there(self._chain[-2].foot, self._poses[-2])
        self._end = GoalSteps(limits, goal, final if closed else limits.other(final), world)

    def _require_possible(self) -> None:
        for k in range(2, len(self._chain)):
            step, before = self._chain[k], self._chain[k - 1]
            if step.foot == before.foot:
                raise ShapeError(f"steps {k - 2} and {k - 1} of the plan are both of `{step.foot}`")
            rise = float(step.T[2, 3] - before.T[2, 3])
            if trouble := self.limits.trouble(step.foot, self._poses[k - 1], self._poses[k], rise):
                raise NotSupportedError(
                    f"step {k - 1} of the plan (`{step.foot}`) is not possible: {trouble}",
                    next_step="take more and shorter steps",
                )
        for k, pose in enumerate(self._poses[1:], 1):
            for i in range(k + 2, len(self._poses), 2):
                if i > k + 2 and self._miss(pose, self._poses[i]) < 0.25 * self.limits.forward:
                    raise NotSupportedError(
                        f"steps {k - 1} and {i - 1} of the plan are at the same place; only the place of a foot tells "
                        "how far the plan is",
                        next_step="give the way there and the way back as two plans",
                    )

    def _miss(self, a: Pose, b: Pose) -> float:
        return way(a, b) + self.limits.leg * abs(wrapped(a[2] - b[2]))

    def _next(self, foot: str, pose: Pose) -> Pose | None:
        k = self._done(foot, pose)
        if k >= len(self._chain) - 2:
            return self._end._next(foot, pose)
        return self.limits.clipped(self.limits.other(foot), pose, self._poses[k + 1])

    def distance(self, support: Footstep) -> float:
        """How far a foot stands from the nearest of its planned places [m].

        Args:
            support: The foot.
        """
        pose = pose_of(support)
        return way(pose, self._poses[self._done(support.foot, pose)])

    def _done(self, foot: str, pose: Pose) -> int:
        """Index of the planned step nearest to where a foot stands; of equal ones the last."""
        own = range(0 if self._chain[0].foot == foot else 1, len(self._chain), 2)
        return min(own, key=lambda k: (round(self._miss(pose, self._poses[k]), 6), -k))

    def upcoming(self, t: float, support: Footstep, count: int) -> tuple[Footstep, ...]:
        """As in `surefoot.motion.StepSource`.

        Args:
            t: Now [s].
            support: The foot that stands.
            count: Most steps to return.
        """
        found = self._chained(self._next, support, count)
        if self._footing.world is not None:
            return found
        k = self._done(support.foot, pose_of(support))
        drift = float(support.T[2, 3] - self._chain[k].T[2, 3])
        return tuple(self._on_plan(step, k + 1 + i, drift) for i, step in enumerate(found))

    def _on_plan(self, step: Footstep, k: int, drift: float) -> Footstep:
        """A step with the height and the tilt of the plan."""
        planned = self._chain[min(k, len(self._chain) - 1)]
        turn, T = step.yaw - planned.yaw, np.array(step.T)
        T[:3, :3] = [[cos(turn), -sin(turn), 0.0], [sin(turn), cos(turn), 0.0], [0.0, 0.0, 1.0]] @ planned.T[:3, :3]
        T[2, 3] = planned.T[2, 3] + drift
        return Footstep(step.foot, T)


def all_steps(source: StepSource, support: Footstep, t: float = 0.0, most: int = _MOST) -> tuple[Footstep, ...]:
    """The whole walk of a source from a foot, if nothing happens on the way.

    Args:
        source: The source.
        support: The foot that stands.
        t: When [s].
        most: Most steps.

    Raises:
        NotSupportedError: The walk does not end.
    """
    steps = source.upcoming(t, support, most)
    if len(steps) == most:
        raise NotSupportedError(f"the walk does not end within {most} steps")
    return steps


def first_support(source: StepSource, limits: StepLimits, stance: Sequence[Footstep], t: float = 0.0) -> Footstep:
    """The foot that stands first, such that the walk has the fewest steps, and the first step makes most way.

    Args:
        source: The source.
        limits: Of the steps.
        stance: The left and the right foot.
        t: When [s].
    """
    return min(stance, key=lambda support: _effort(source, limits, stance, support, t))


def _effort(
    source: StepSource, limits: StepLimits, stance: Sequence[Footstep], support: Footstep, t: float = 0.0
) -> tuple[bool, int, float]:
    """Whether feet end apart, number of steps, and minus the way of the first step [m]: less is better."""
    steps = source.upcoming(t, support, _MOST)
    places = {step.foot: pose_of(step) for step in (*stance, *steps)}
    dx, out, turn = limits.offset(limits.left, places[limits.right], places[limits.left])
    ends_apart = len(steps) < _MOST and max(abs(dx), abs(out), limits.leg * abs(turn)) > _POSITION * limits.leg
    before = {step.foot: pose_of(step) for step in stance}
    return ends_apart, len(steps), -way(before[steps[0].foot], pose_of(steps[0])) if steps else 0.0
