"""`swing_over`: a foot swings past obstacles that are not in its plan while the robot balances on the other foot.

Buschmann 2014, section 5.4.3 (reactive collision avoidance on a walking machine). There the step is part of a walk;
here it is slow: the weight is shifted over the stance sole, stays there while the other foot swings, and goes back to
the middle. Obstacles are known by one swept volume each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision import CollisionModel
from surefoot.collision.volumes import stored_fit
from surefoot.compiler import compile_robot
from surefoot.contact import zero_moment_point
from surefoot.errors import NotSupportedError, ScenarioError
from surefoot.gait import foot_contacts, leg_bodies, other_foot
from surefoot.gait.swings import SwingHistory, SwingStep, swing_twice
from surefoot.geometry import SweptVolume, convex_hull, distance_inside
from surefoot.geometry.fit import DEFAULT_GAIN
from surefoot.motion import ContactSchedule, Log, Spot, Stance, Trajectory, World
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable
from surefoot.words import side_pairs

_CYCLE = 0.002  # [s]: Buschmann 2014, section 5.4.3
_LINE = 1e-3  # corners that lie within this of one line span no area [m]


def swing_over(table: MotionTable, robot: Robot, world: World) -> Plan:
    """One step past the obstacles of the world, planned with and without giving way to them.

    Args:
        table: frame: link of the foot that swings, the first foot if omitted; duration [s] of the swing; cycle [s];
            step.
        robot: A floating robot with two feet.
        world: Its obstacles; level ground.

    Raises:
        ScenarioError: The world has no obstacles.
        NotSupportedError: The robot has no two feet to step with, or comes to a posture where it cannot do the step.
        ShapeError: Its legs do not reach to where the step begins.
    """
    step = _step(table, robot)
    _require_biped(robot, step)
    found, blind = swing_twice(robot, _volumes(world), step)
    judge = SwingJudge(robot, world, step, found, blind)
    trajectory = Trajectory.of(robot, found.t, found.q, found.v, schedule=_schedule(robot, world, step, found))
    return Plan(trajectory, judge.metrics(), judge.trouble(), judge.curves(), judge.judge)


def _require_biped(robot: Robot, step: SwingStep) -> None:
    """Refuse robots that do not stand on two soles."""
    if robot.base != "floating":
        raise NotSupportedError(f"`{robot.name}` has no free base: it cannot step", next_step="use a biped")
    if robot.couplings:
        raise NotSupportedError(
            f"`{robot.name}` has coupled joints, which this motion does not support",
            evidence={"couplings": len(robot.couplings)},
            next_step='set robot.mimic="reduce"',
        )
    stance, swung = (foot_contacts(robot, foot) for foot in (other_foot(robot, step.swing), step.swing))
    if others := set(robot.contacts) - {*stance, *swung}:
        raise NotSupportedError(
            f"`{robot.name}` does not stand on exactly two feet", evidence={"others": sorted(others)[:4]}
        )
    corners = robot.contact_corners(robot.home)
    if len(convex_hull(np.vstack([corners[name] for name in stance])[:, :2], tolerance=_LINE)) < 3:
        raise NotSupportedError(f"`{robot.name}` has no soles: it cannot rest on one foot", next_step="use a biped")


def _step(table: MotionTable, robot: Robot) -> SwingStep:
    """The step that the table describes."""
    if table.step is None or table.duration is None:
        raise ScenarioError("`swing_over` needs `step` and `duration`")
    given = table.step.model_dump(exclude={"gives_way"})
    return SwingStep(
        swing=_first_foot(robot) if table.frame is None else table.frame,
        duration=table.duration,
        cycle=_CYCLE if table.cycle is None else table.cycle,
        gives_way=tuple("xyz".index(axis) for axis in table.step.gives_way),
        **given,
    )


def _first_foot(robot: Robot) -> str:
    """The link of the first contact surface that has another one on the other side."""
    sides = side_pairs(robot.link_names)
    frames = [surface.frame for surface in robot.contacts.values()]
    found = next((frame for frame in frames if sides.get(frame, frame) != frame), None)
    if found is None:
        raise NotSupportedError(
            f"`{robot.name}` has no left and right contact surfaces by name",
            next_step="name the link with motion.frame",
        )
    return found


def _volumes(world: World) -> list[SweptVolume]:
    """One swept volume round each obstacle, in world."""
    if not world.obstacles:
        raise ScenarioError("there is nothing to swing over", next_step="add [[world.obstacles]]")
    fits = [stored_fit([(x.shape, np.eye(4))], 1, DEFAULT_GAIN, x.name) for x in world.obstacles]
    return [volume.placed(x.pose) for x, fit in zip(world.obstacles, fits, strict=True) for volume in fit.volumes]


def _schedule(robot: Robot, world: World, step: SwingStep, found: SwingHistory) -> ContactSchedule:
    """Both feet, the stance foot, both feet."""
    stance, swung = (foot_contacts(robot, foot) for foot in (other_foot(robot, step.swing), step.swing))
    first, last = (robot.placements(q) for q in (found.q[0], found.q[-1]))

    def standing(placements: dict[str, np.ndarray], names: tuple[str, ...]) -> Stance:
        surfaces = {name: robot.contacts[name] for name in names}
        friction = {name: min(world.friction, surface.friction) for name, surface in surfaces.items()}
        return Stance({k: Spot(placements[x.frame] @ x.placement, friction[k]) for k, x in surfaces.items()})

    stances = [standing(first, stance + swung), standing(first, stance), standing(last, stance + swung)]
    return ContactSchedule.of(stances, [0.0, step.shift, step.shift + step.duration, found.t[-1]])


LARGEST_SLIP = 0.005
"""How far the stance foot may slide in the run [m]."""
LARGEST_LANDING_ERROR = 0.01
"""How far from its plan the foot may land in the run [m]."""
_TASK_ERROR = 0.005  # how far the feet may be from where they are led to, in the plan [m]
_AT_TOUCHDOWN = 1e-6  # deviation that may be left at touchdown [m]
_OVERSHOOT = 1e-9  # [m]
_UNEVEN = 0.005  # how far the ground may be from the soles [m]
_BEYOND = 1e-3  # how far joints may be beyond their limits [rad]


class SwingJudge:
    """A planned step, and how to judge it.

    Args:
        robot: The robot.
        world: Where it is.
        step: The step.
        found: With avoidance.
        blind: Without.
    """

    def __init__(self, robot: Robot, world: World, step: SwingStep, found: SwingHistory, blind: SwingHistory) -> None:
        self.robot, self.world, self.step, self.found, self.blind = robot, world, step, found, blind
        self.kernels = compile_robot(robot)
        self.stance, self.swing = (foot_contacts(robot, x) for x in (other_foot(robot, step.swing), step.swing))
        self._model = CollisionModel(robot, World(ground=(), obstacles=world.obstacles))
        self._of_leg = self._columns_of_leg()
        self._sole = self._corners(found.q[0], self.stance)[:, :2]
        self.gaps, self.blind_gaps = self._gaps(found.q), self._gaps(blind.q)
        self.com_margin = self._inside(self._com(found.q))
        self.zmp_margin = self._inside(self._zero_moment_points())

    # -- the plan -------------------------------------------------------------------------------------------------

    def metrics(self) -> dict[str, Any]:
        """Metrics of the plan."""
        found, off = self.found, np.abs(self.found.deviation)
        swinging = self._swinging(found.t)
        return {
            "swing_duration_s": self.step.duration,
            "blind_clearance_m": float(self.blind_gaps.min()),
            "planned_clearance_m": float(self.gaps.min()),
            "blind_volume_distance_m": float(self.blind.distance.min()),
            "planned_volume_distance_m": float(found.distance.min()),
            "planned_legs_apart_m": float(found.legs_apart.min()),
            "peak_deviation_m": float(np.linalg.norm(found.deviation, axis=1).max()),
            "peak_deviation_by_axis_m": {axis: float(off[:, i].max()) for i, axis in enumerate("xyz")},
            "return_overshoot_m": self._overshoot(),
            "deviation_at_touchdown_m": float(off[np.searchsorted(found.t, self._touchdown - 1e-9)].max()),
            "planned_com_margin_m": float(self.com_margin[swinging].min()),
            "planned_zmp_margin_m": float(self.zmp_margin[swinging].min()),
            "planned_task_error_m": self._task_error(),
            "planned_joint_rate_rad_s": float(np.abs(np.delete(found.v, self.robot.base_rows, axis=1)).max()),
        }

    def trouble(self) -> str | None:
        """The first problem of the plan, or None."""
        m = self.metrics()
        checks = [
            (m["planned_clearance_m"] <= 0.0, f"the plan touches an obstacle: {m['planned_clearance_m']:.2g} m"),
            (m["planned_legs_apart_m"] <= 0.0, f"the legs touch in the plan: {m['planned_legs_apart_m']:.2g} m"),
            (m["planned_task_error_m"] > _TASK_ERROR, f"the feet miss the plan by {m['planned_task_error_m']:.2g} m"),
            (m["return_overshoot_m"] > _OVERSHOOT, f"the return overshoots by {m['return_overshoot_m']:.2g} m"),
            (m["deviation_at_touchdown_m"] > _AT_TOUCHDOWN, "the foot is off its plan at touchdown"),
            (m["planned_com_margin_m"] <= 0.0, "the centre of mass leaves the stance sole in the plan"),
            (m["planned_zmp_margin_m"] <= 0.0, "the plan is too fast: its zero-moment point leaves the stance sole"),
        ]
        troubles = [text for wrong, text in checks if wrong]
        return next((text for text in (self._uneven(), self._beyond_limits(), *troubles) if text), None)

    def _uneven(self) -> str | None:
        """Whether there is no level ground under the feet where the step begins and ends."""
        corners = np.vstack([self._corners(q, self.stance + self.swing) for q in self.found.q[[0, -1]]])
        apart = np.abs(corners[:, 2] - self.world.height(corners[:, 0], corners[:, 1])).max()
        return None if apart <= _UNEVEN else f"the ground is {apart:.2g} m away from the planned footholds"

    def _beyond_limits(self) -> str | None:
        """Which joint leaves its range, or is faster than it can."""
        tree, limits = self.robot.tree, self.robot.limits
        for i in (i for i in range(tree.n) if tree.nq_of(i) == 1 and tree.nv_of(i) == 1):
            at, row = int(tree.q_index[i]), int(tree.v_index[i])
            angle, rate = self.found.q[:, at], float(np.abs(self.found.v[:, row]).max())
            if not np.max([limits.lower[at] - angle, angle - limits.upper[at]]) <= _BEYOND:
                return f"joint `{tree.joint_names[i]}` leaves its range in the plan"
            if limits.velocity[row] > 0.0 and rate > limits.velocity[row]:
                return f"joint `{tree.joint_names[i]}` moves at {rate:.3g} in the plan, above its velocity limit"
        return None

    def _overshoot(self) -> float:
        """How far the deviation goes beyond zero after the potentials are off [m]."""
        since = self.step.shift + self.step.off * self.step.duration
        back = self.found.deviation[self.found.t >= since - 1e-9]
        return float(np.maximum(-back * np.sign(back[0]), 0.0).max())

    def _task_error(self) -> float:
        """How far the feet are from where they are led to [m]."""
        stance = self.kernels.frames(self.found.q, [other_foot(self.robot, self.step.swing)])[:, 0, :3, 3]
        swing = self.found.foot - self.found.plan - self.found.deviation
        return float(max(np.abs(stance - stance[0]).max(), np.abs(swing).max()))

    def curves(self) -> tuple[Plot, ...]:
        """Plots of the plan."""
        f, b = self.found, self.blind
        ground = f.plan[0, 2]
        return (
            Plot(
                "plan: height of the foot", "m", {"blind": f.plan[:, 2] - ground, "giving way": f.foot[:, 2] - ground}
            ),
            Plot("plan: lateral position of the foot", "m", {"blind": f.plan[:, 1], "giving way": f.foot[:, 1]}),
            Plot("plan: deviation of the foot", "m", dict(zip("xyz", f.deviation.T, strict=True))),
            Plot("plan: distance from obstacles", "m", {"blind": self.blind_gaps, "giving way": self.gaps}),
            Plot("plan: distance from their bounding volumes", "m", {"blind": b.distance, "giving way": f.distance}),
            Plot(
                "plan: margin inside the stance sole", "m", {"centre of mass": self.com_margin, "zmp": self.zmp_margin}
            ),
        )

    # -- the run --------------------------------------------------------------------------------------------------

    def judge(self, robot: Robot, log: Log) -> Findings:
        """What the run showed."""
        q, step = np.array(log["q"]), self.step
        swinging = self._swinging(log.time)
        foot = self.kernels.frames(q, [step.swing])[:, 0, :3, 3]
        slips = {name: float(log[f"contact.{name}.slip"][-1]) for name in robot.contacts}
        load = np.sum([log[f"contact.{name}.wrench"][:, 2] for name in self.swing], axis=0)
        metrics = {
            "run_clearance_m": float(self._gaps(q).min()),
            "run_clearance_of_all_m": float(self._gaps(q, of_all=True).min()),
            "run_stance_slip_m": max(slips[name] for name in self.stance),
            "run_landing_error_m": float(np.linalg.norm((foot[-1] - self.found.foot[-1])[:2])),
            "run_landing_slip_m": max(slips[name] for name in self.swing),
            "run_com_margin_m": float(self._inside(self._com(q))[swinging].min(initial=np.inf)),
            "run_swing_foot_in_air_s": float(np.sum(load[1:] <= 0.0) * np.mean(np.diff(log.time))),
        }
        return Findings(metrics, self._run_trouble(log, metrics))

    def _run_trouble(self, log: Log, m: dict[str, float]) -> str | None:
        if log.time[-1] < self.found.t[-1] - 1e-9:
            return f"the run ends at {log.time[-1]:.3g} s, before the motion ends at {self.found.t[-1]:.3g} s"
        checks = [
            (m["run_clearance_of_all_m"] <= 0.0, f"it touches an obstacle: {m['run_clearance_of_all_m']:.2g} m"),
            (m["run_com_margin_m"] <= 0.0, "the centre of mass left the stance sole"),
            (m["run_stance_slip_m"] > LARGEST_SLIP, f"the stance foot slid by {m['run_stance_slip_m']:.2g} m"),
            (
                m["run_landing_error_m"] > LARGEST_LANDING_ERROR,
                f"the foot landed {m['run_landing_error_m']:.2g} m off its plan",
            ),
        ]
        return next((text for wrong, text in checks if wrong), None)

    # -- measures -------------------------------------------------------------------------------------------------

    @property
    def _touchdown(self) -> float:
        return self.step.shift + self.step.duration

    def _swinging(self, time: Array) -> NDArray[np.bool_]:
        """Which times are in the swing."""
        return np.asarray((time >= self.step.shift) & (time <= self._touchdown))

    def _columns_of_leg(self) -> NDArray[np.bool_]:
        """Which of the pairs of a volume and an obstacle are of the leg that swings."""
        leg = leg_bodies(self.robot, self.step.swing)
        names = self._model.names[len(self._model.self_pairs) :]
        return np.array([self.robot.body_of(link) in leg for link, _ in names])

    def _gaps(self, q: Array, of_all: bool = False) -> Array:
        """(n,) distance of the volumes of the swing leg, or of all, from the nearest obstacle, as it is [m]."""
        distances = self._model.distances(q)[:, len(self._model.self_pairs) :]
        return np.asarray(distances[:, np.ones_like(self._of_leg) if of_all else self._of_leg].min(axis=1))

    def _com(self, q: Array) -> Array:
        return np.asarray(self.kernels.com(q))[:, :2]

    def _corners(self, q: Array, names: tuple[str, ...]) -> Array:
        corners = self.robot.contact_corners(q)
        return np.vstack([corners[name] for name in names])

    def _zero_moment_points(self) -> Array:
        """(n, 2) where on z = 0 the ground must push, without moments about x and y, for the planned motion [m]."""
        q, v, base = self.found.q, self.found.v, self.robot.tree.body_names[self.robot.base_joint or 0]
        load = self.kernels.rnea(q, v, np.gradient(v, self.found.t, axis=0))[:, self.robot.base_rows]
        T = self.kernels.frames(q, [base])[:, 0]
        force, turning = ((T[:, :3, :3] @ x[:, :, None])[:, :, 0] for x in (load[:, :3], load[:, 3:]))
        return zero_moment_point(np.hstack([force, turning]), about=T[:, :3, 3])[:, :2]

    def _inside(self, points: Array) -> Array:
        """(n,) distance of points (n, 2) from the edge of the stance sole, negative outside [m]."""
        return distance_inside(points, convex_hull(self._sole))
