"""What a periodic step looks like: its figures, and the walk that it makes when it is repeated."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import ContactSchedule, Spot, Stance, Trajectory
from surefoot.ocp.solution import Solution
from surefoot.robot import Robot


@dataclass(frozen=True)
class StepFigures:
    """Figures of one step of a periodic walk.

    Args:
        step_length: How far a foot lands ahead of the other [m].
        step_width: Distance of the soles' middles across [m].
        gap: Between the inner edges of the soles [m].
        speed: Mean speed [m/s].
        duty: Share of two steps for which a foot is on the ground.
        duration: Of the step [s].
        single: Of its single support [s].
        pelvis_height: Mean height of the base [m].
        pelvis_rise: Highest less lowest base [m].
        pelvis_sway: Way of the base across, to and fro [m].
        pelvis_pitch: Mean pitch of the base, forward positive [rad].
        pelvis_yaw: Range of its yaw [rad].
        pelvis_roll: Range of its roll [rad].
        foot_lift: Highest point of the swing sole's middle [m].
        foot_sideways: Range of the swing foot across [m].
        knee_range: Range of the knees [rad].
        knee_mean: Mean bend of the knees from their straight end [rad].
        impact: Norm of the impulse on the landing foot [N s].
        torque_square: Mean of Σ τ² [(N m)²].
        cost_of_transport: ∫ Σ |τ q̇| dt over weight and way.
        zmp_offset: Largest distance of the zero-moment point from the middle of the sole in single support [m].
        zmp_radius: What it may be [m].
        zmp_roughness: Mean second difference of its path from node to node [m].
    """

    step_length: float
    step_width: float
    gap: float
    speed: float
    duty: float
    duration: float
    single: float
    pelvis_height: float
    pelvis_rise: float
    pelvis_sway: float
    pelvis_pitch: float
    pelvis_yaw: float
    pelvis_roll: float
    foot_lift: float
    foot_sideways: float
    knee_range: float
    knee_mean: float
    impact: float
    torque_square: float
    cost_of_transport: float
    zmp_offset: float
    zmp_radius: float
    zmp_roughness: float

    def to_dict(self) -> dict[str, float]:
        """As numbers by name."""
        return asdict(self)


def step_figures(solution: Solution) -> StepFigures:
    """Figures of a solution of `walk_step`.

    Args:
        solution: The solution.
    """
    robot, nodes, stages = solution.problem.robot, solution.nodes, solution.transcription.stages
    stance, swing = solution.problem.phases[1].contacts
    moving = np.array([stage.structure.kind == "interval" for stage in stages])
    single = moving & np.array([stage.phase == 0 for stage in stages])
    lengths = list(solution.durations.values())
    steps = np.array([lengths[stage.phase] * stage.share for stage in stages])[moving]
    total = float(sum(lengths))
    y = np.array([solution.problem.chart.coordinates(q) for q in nodes["q"]])[moving]
    sole = np.array([_middle(robot, q, swing) for q in nodes["q"][single]])
    rates = nodes["v"][moving][:, robot.driven]
    tau, length = nodes["tau"][moving], solution.parameters["step_length"]
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
    names = list(robot.contacts)
    zmp = _pressure(robot, stance, nodes["wrenches"][single, names.index(stance)])
    knees = np.column_stack([_knee(robot, name, nodes["q"][moving]) for name in (stance, swing)])
    impact = next(k for k, stage in enumerate(stages) if stage.structure.kind == "impact")
    width = abs(solution.parameters["step_width"])
    return StepFigures(
        step_length=length,
        step_width=width,
        gap=width - float(np.ptp(np.asarray(robot.contacts[swing].corners)[:, 1])),
        speed=length / total,
        duty=1.0 - lengths[0] / (2.0 * total),
        duration=total,
        single=lengths[0],
        pelvis_height=float(y[:, 2] @ steps / total),
        pelvis_rise=float(np.ptp(y[:, 2])),
        pelvis_sway=_sway(y[:, 1], float(_middle(robot, nodes["q"][0], stance)[1]), width),
        pelvis_pitch=float(y[:, 4] @ steps / total),
        pelvis_yaw=2.0 * float(np.abs(y[:, 3]).max()),
        pelvis_roll=2.0 * float(np.abs(y[:, 5]).max()),
        foot_lift=float(sole[:, 2].max()),
        foot_sideways=float(np.ptp(sole[:, 1])),
        knee_range=float(np.ptp(knees, axis=0).mean()),
        knee_mean=float((knees.T @ steps).mean() / total),
        impact=float(np.linalg.norm(nodes["wrenches"][impact, names.index(swing), :3])),
        torque_square=float((tau**2).sum(axis=1) @ steps / total),
        cost_of_transport=float(np.abs(tau * rates).sum(axis=1) @ steps / (weight * length)),
        zmp_offset=float(np.linalg.norm(zmp, axis=1).max()),
        zmp_radius=float(np.asarray(solution.problem.references["zmp single"], dtype=float).ravel()[0]),
        zmp_roughness=float(np.linalg.norm(np.diff(zmp, 2, axis=0), axis=1).mean()),
    )


def _middle(robot: Robot, q: Array, name: str) -> Array:
    """Middle (3,) of a sole in world."""
    surface = robot.contacts[name]
    T = robot.placements(q)[surface.frame] @ surface.placement
    return np.asarray(T[:3, :3] @ np.asarray(surface.corners).mean(axis=0) + T[:3, 3])


def _sway(y: Array, stance: float, width: float) -> float:
    """Way of the base across in two steps: nearest to the stance foot, and its mirror image about the line of walk."""
    line = stance - np.sign(stance) * 0.5 * width
    return 2.0 * float(np.abs(y - line).max())


def _knee(robot: Robot, contact: str, q: Array) -> Array:
    """Bend (n,) of the knee from the end of its range where the leg is straight: the joint that shortens a leg most."""
    tree, foot = robot.tree, robot.contacts[contact].frame
    body = robot.body_of(foot)
    others = set(tree.ancestors(robot.body_of(next(c.frame for c in robot.contacts.values() if c.frame != foot))))
    leg = [i for i in (body, *tree.ancestors(body)) if i not in others and tree.nq_of(i) == 1]
    hip, home = tree.body_names[leg[-1]], np.array(robot.home)

    def length(q: Array) -> float:
        places = robot.placements(q)
        return float(np.linalg.norm(places[foot][:3, 3] - places[hip][:3, 3]))

    slopes = []
    for i in leg:
        bent = home.copy()
        bent[int(tree.q_index[i])] += 0.01
        slopes.append(length(bent) - length(home))
    k = int(np.argmax(np.abs(slopes)))
    at = int(tree.q_index[leg[k]])
    straight = float((robot.limits.upper if slopes[k] > 0.0 else robot.limits.lower)[at])
    return np.abs(q[:, at] - straight)


def _pressure(robot: Robot, name: str, wrenches: Array) -> Array:
    """Centre of pressure (n, 2) against the middle of a sole, in its axes [m]."""
    x, y, _ = np.asarray(robot.contacts[name].corners).mean(axis=0)
    f = np.maximum(wrenches[:, 2], 1e-6)
    return np.column_stack([-wrenches[:, 4] / f - x, wrenches[:, 3] / f - y])


def walk_on(robot: Robot, step: Trajectory, count: int) -> Trajectory:
    """A walk of several steps: the step, its mirror image from where it ends, and so on.

    Args:
        robot: The robot.
        step: A step whose end is the mirror image of its beginning, as `walk_step` makes it, with a schedule.
        count: Number of steps.
    """
    other, parts = step.mirrored(robot), [step]
    for k in range(1, count):
        nxt = other if k % 2 else step
        shift = parts[-1].q[-1, :3] - nxt.q[0, :3]
        shift[2] = 0.0
        parts.append(_moved(nxt, shift, parts[-1].end - nxt.start))
    kept = [slice(0, -1)] * (count - 1) + [slice(None)]

    def joined(values: list[Array]) -> Array:
        return np.concatenate([x[keep] for x, keep in zip(values, kept, strict=True)])

    phases = [phase for part in parts for phase in part.schedule.phases]  # type: ignore[union-attr]
    return replace(
        step,
        time=joined([part.time for part in parts]),
        q=joined([part.q for part in parts]),
        v=joined([np.asarray(part.v) for part in parts]),
        a=joined([np.asarray(part.a) for part in parts]),
        tau=joined([np.asarray(part.tau) for part in parts]),
        wrenches={name: joined([part.wrenches[name] for part in parts]) for name in step.wrenches},
        schedule=ContactSchedule(tuple(phases)),
    )


def _moved(motion: Trajectory, shift: Array, later: float) -> Trajectory:
    """A motion at another place (3,), later [s]."""
    q = np.array(motion.q)
    q[:, :3] += shift
    T = np.eye(4)
    T[:3, 3] = shift
    phases = motion.schedule.shifted(later).phases  # type: ignore[union-attr]
    stances = [Stance({n: Spot(T @ s.pose, s.friction) for n, s in phase.stance.spots.items()}) for phase in phases]
    schedule = ContactSchedule(tuple(replace(p, stance=s) for p, s in zip(phases, stances, strict=True)))
    return replace(motion, time=motion.time + later, q=q, schedule=schedule)
