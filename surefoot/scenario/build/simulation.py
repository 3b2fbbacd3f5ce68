"""Build a simulation from a scenario, its initial state included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.dynamics import close
from surefoot.errors import NotSupportedError, ScenarioError, one_of
from surefoot.estimation import BaseEstimator, EstimatorSettings
from surefoot.geometry import Plane
from surefoot.motion import Controller, State, World
from surefoot.motion.world import NOWHERE, contact_planes
from surefoot.robot import ContactSurface, Robot, anatomy, bend_straight_legs, load
from surefoot.robot.build import lowest_points
from surefoot.robot.model import placement, under_gravity
from surefoot.scenario.blame import blaming
from surefoot.scenario.build.events import build_event, repeat_push, without_margin
from surefoot.scenario.build.hands import hand_of
from surefoot.scenario.build.world import build_world, missing_ground
from surefoot.scenario.motions import Plan, plan_footfalls, plan_of, planner_of
from surefoot.scenario.registry import imported
from surefoot.scenario.schema import (
    ControllerTable,
    EventTable,
    InitialTable,
    MpcTable,
    RobotTable,
    Scenario,
    SensorsTable,
    SimulationTable,
    TouchTable,
)
from surefoot.sim import Event, SensorSettings, Settings, Simulation
from surefoot.spatial import so3

_TOUCH = 1e-4  # how far soles that stand begin below the ground [m]
_WEAK = 0.05  # share of the torque of the strongest joint of an arm below which a joint is that of a finger
DURATION = 5.0
"""Simulated time of scenarios that do not give one [s]."""


def build_simulation(scenario: Scenario) -> Simulation:
    """The simulation that a scenario describes, not yet run."""
    with blaming("robot"):
        robot, bent = _on_bent_legs(scenario, load_robot(scenario.robot))
        if robot.tree.n == 0:
            raise NotSupportedError(f"`{robot.name}` has no moving joint, so there is nothing to simulate")
    if scenario.walk is not None:
        from surefoot.gait import feet_of

        with blaming("robot", "name"):
            feet_of(robot)
    world = build_world(scenario.world, robot, scenario.simulation.seed)
    robot = under_gravity(robot, world.gravity)
    with blaming("motion"):
        plan = None if scenario.motion is None else planner_of(scenario.motion.kind)(scenario.motion, robot, world)
    with blaming("initial"):
        initial = _pressed(robot, build_initial(scenario.initial, robot, world), world)
        rest = build_initial(scenario.initial.model_copy(update={"lift": 0.0}), robot, world).q
    if scenario.planner is not None:
        with blaming("planner"):
            plan = plan_footfalls(scenario.planner, robot, world, rest, scenario.simulation.seed)
    if plan is not None:
        initial, world = plan.start, plan.world or world
    with blaming("controller"):
        controller = build_controller(scenario, robot, world, rest, plan)
    settings = _settings(scenario, _duration(scenario, controller))
    return Simulation(
        robot,
        controller,
        world,
        settings,
        [
            event
            for k, table in enumerate(scenario.events)
            for event in _events(k, table, robot, controller, rest, settings.duration)
        ],
        initial,
        _sensors(scenario.sensors),
        _estimator(scenario, robot, world.gravity),
        notes=[
            *bent,
            *missing_ground(scenario.world, robot),
            *(note for event in scenario.events for note in without_margin(event, robot, rest)),
        ],
    )


def _events(
    number: int, table: EventTable, robot: Robot, controller: Controller, rest: Array, duration: float
) -> list[Event]:
    """The events that an entry of the scenario stands for."""
    with blaming("events", number):
        if table.steps is None:
            return [build_event(table, robot, rest)]
        from surefoot.scenario.build.walking import swing_times

        pushes = repeat_push(table, *swing_times(controller, duration))
        return [build_event(push, robot, rest) for push in pushes]


def _on_bent_legs(scenario: Scenario, robot: Robot) -> tuple[Robot, list[str]]:
    """A robot that is to balance or walk, with another home posture if its legs are straight, and a note of that."""
    is_asked = scenario.controller.kind in ("balance", "walk", "mpc") and scenario.robot.home == "usual"
    home = robot.home
    if not is_asked or robot.base != "floating" or np.array_equal(bend_straight_legs(robot, home), home):
        return robot, []
    from surefoot.ik.analysis import standing_posture  # few runs need inverse kinematics

    note = 'its legs are straight at home: it begins with bent ones (robot.home="own" keeps them straight)'
    return robot.replace(home=standing_posture(robot)), [note]


def load_robot(table: RobotTable) -> Robot:
    """The robot of a scenario.

    Args:
        table: What the scenario says.
    """
    robot = load(table.name, base=table.base, mimic=table.mimic, lock=table.lock, only=table.only or None)
    if table.home == "auto":
        from surefoot.ik.analysis import standing_posture  # few runs need inverse kinematics

        robot = robot.replace(home=standing_posture(robot))
    added = {name: _touch(name, item, robot) for name, item in table.contacts.items()}
    return robot.replace(contacts={**robot.contacts, **added}) if added else robot


def _touch(name: str, table: TouchTable, robot: Robot) -> ContactSurface:
    """A ball that the scenario adds to the robot."""
    frames, frame = robot.placements(robot.home), table.frame or _firm(robot, hand_of(robot))
    if name in robot.contacts:
        raise NotSupportedError(f"`{robot.name}` has a contact surface `{name}` already", next_step="rename it")
    if frame not in frames:
        raise one_of("frame", frame, frames)
    x, y, _ = anatomy(robot).forward
    normal = np.array([[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]]) @ table.normal / np.linalg.norm(table.normal)
    T, turn = frames[frame], so3.turn_to(normal)
    at = _tip(robot, frame, turn, table.radius) if table.position is None else np.array(table.position)
    return ContactSurface(
        name, frame, "point", placement(at, T[:3, :3].T @ turn), friction=table.friction, radius=table.radius
    )


def _firm(robot: Robot, hand: str) -> str:
    """The link that carries a hand: fingers, with drives far weaker than those of the arm, cannot press.

    Args:
        robot: The robot.
        hand: Link or frame of the hand.
    """
    tree, body = robot.tree, robot.body_of(hand)
    torques = {robot.joint_index(drive.joint): drive.torque_limit for drive in robot.drives}
    limb = [k for k in (body, *tree.ancestors(body)) if k in torques]
    strongest = max((torques[k] for k in limb), default=0.0)
    firm = next((k for k in limb if torques[k] >= _WEAK * strongest), body)
    return hand if firm == body else tree.body_names[firm]


def _tip(robot: Robot, frame: str, turn: Array, radius: float) -> Array:
    """(3,) where a ball touches, in a frame: its centre is the foremost point at the end of a limb.

    It is farthest along the direction between that of the limb and that to the front: a ball there stays in front of
    the rest of the hand while the arm turns forward.

    Args:
        robot: The robot, at home.
        frame: The frame.
        turn: (3, 3) axes of the ball in world; −z is to the front.
        radius: Of the ball [m].
    """
    frames, tree, last = robot.placements(robot.home), robot.tree, robot.body_of(frame)
    solid = [item for item in robot.collisions if not isinstance(item.shape, Plane) and robot.body_of(item.link) >= 0]
    for body in (last, *tree.ancestors(last)):  # a thumb without a shape is a part of its hand
        items = [x for x in solid if body in (robot.body_of(x.link), *tree.ancestors(robot.body_of(x.link)))]
        if items:
            break
    else:
        return np.zeros(3)
    shapes = [(item.shape, frames[item.link] @ item.placement) for item in items]
    middle = np.mean([lowest_points(shape, T).mean(axis=0) for shape, T in shapes], axis=0)
    along = middle - frames[tree.body_names[body]][:3, 3]
    ahead = along / np.linalg.norm(along) - turn[:, 2]
    axes = so3.turn_to(-ahead / np.linalg.norm(ahead))
    points = np.vstack([lowest_points(shape, placement(np.zeros(3), axes.T) @ T) for shape, T in shapes])
    end = axes @ points[int(np.argmin(points[:, 2]))]
    return np.asarray(frames[frame][:3, :3].T @ (end - radius * turn[:, 2] - frames[frame][:3, 3]))


def _sensors(table: SensorsTable) -> SensorSettings | None:
    if table.kind == "none":
        return None
    found = SensorSettings.ideal() if table.kind == "ideal" else SensorSettings()
    found = found if table.delay is None else found.with_delay(table.delay)
    if (noise := table.encoder_noise) is not None:
        kinds = ("encoder_position", "encoder_velocity")
        noisy: dict[str, Any] = {kind: replace(getattr(found, kind), noise=tuple(noise)) for kind in kinds}
        found = replace(found, **noisy)
    return replace(found.with_dropout(table.dropout, table.burst), imu=table.imu)


def _estimator(scenario: Scenario, robot: Robot, gravity: Array) -> BaseEstimator | None:
    if scenario.estimator.kind == "none":
        return None
    if scenario.sensors.kind == "none":
        raise NotSupportedError("an estimator needs sensors", next_step='set sensors.kind="default"')
    chosen = EstimatorSettings(imu=scenario.sensors.imu)
    drift = scenario.estimator.point_drift
    return BaseEstimator(robot, chosen if drift is None else replace(chosen, point_drift=drift), gravity)


def _baumgarte(table: SimulationTable) -> tuple[float, float] | None:
    """α and β, if they are given."""
    if table.alpha is None and table.beta is None:
        return None
    if table.stabilisation != "baumgarte":
        key = "alpha" if table.alpha is not None else "beta"
        raise NotSupportedError(
            f"`simulation.{key}` is a gain of `baumgarte`",
            next_step='set simulation.stabilisation="baumgarte", or omit it',
        )
    alpha = table.beta if table.alpha is None else table.alpha
    beta = table.alpha if table.beta is None else table.beta
    return float(alpha or 0.0), float(beta or 0.0)


def _duration(scenario: Scenario, controller: Controller) -> float:
    """How long to simulate [s]."""
    duration = scenario.simulation.duration
    plan = plan_of(controller)
    if duration is None and plan is not None and (scenario.planner or scenario.controller.kind == "follow_body"):
        again = scenario.planner is not None and scenario.planner.replan
        return (1.5 if again else 1.0) * plan.trajectory.end + 0.5
    if duration is not None or scenario.walk is None:
        return duration or DURATION
    from surefoot.scenario.build.walking import walk_duration

    return walk_duration(scenario.walk, controller)


def _settings(scenario: Scenario, duration: float = DURATION) -> Settings:
    table = scenario.simulation
    given: dict[str, dict[str, object]] = {
        "native": {
            "contact": table.contact,
            "integrator": table.integrator,
            "constraint_method": table.method,
            "stabilisation": table.stabilisation,
            "baumgarte": _baumgarte(table),
            "held": table.held or None,
        },
        "mujoco": {"convex_pieces": table.convex_pieces or None},
    }
    options = {engine: {k: v for k, v in own.items() if v is not None} for engine, own in given.items()}
    for engine, own in options.items():
        if own and engine != table.engine:
            raise NotSupportedError(
                f"`simulation.{next(iter(own))}` applies only to the engine `{engine}`",
                next_step=f'set simulation.engine="{engine}", or omit it',
            )
    return Settings(
        duration=duration,
        dt=table.dt,
        control_dt=table.dt if table.control_dt is None else table.control_dt,
        seed=table.seed,
        initial_spread=table.initial_spread,
        self_collision=table.self_collision,
        engine=table.engine,
        options=options[table.engine],
        drives=None if scenario.robot.drives == "auto" else scenario.robot.drives,
    )


def build_initial(table: InitialTable, robot: Robot, world: World) -> State:
    """The first state; a robot that floats stands on the ground of the world, closed chains are closed.

    Args:
        table: What the scenario says.
        robot: The robot.
        world: The world.
    """
    q, v = _with_joints(robot, table), np.zeros(robot.nv)
    base = robot.base_joint
    if base is None or robot.tree.kinds[base] != "free":
        placed_elsewhere = table.position is not None or table.heading is not None or table.on_slope
        if table.lift or any(table.velocity) or placed_elsewhere:
            raise NotSupportedError(f"`{robot.name}` has a {robot.base} base; it cannot be placed elsewhere or thrown")
        return State(0.0, q, v)
    pose, start = slice(int(robot.tree.q_index[base]), int(robot.tree.q_index[base]) + 7), robot.tree.placements[base]
    T = pin.SE3(np.array(start)) * pin.XYZQUATToSE3(q[pose])
    if table.position is not None:
        T.translation[:2] = table.position
    if table.heading is not None:
        x, y, _ = anatomy(robot).forward
        T.rotation = so3.exp(np.array([0.0, 0.0, table.heading - np.arctan2(y, x)])) @ T.rotation
    if table.on_slope:
        T.rotation = so3.turn_to(contact_planes(world, T.translation)[0, :3]) @ T.rotation

    def placed() -> Array:
        q[pose] = pin.SE3ToXYZQUAT(pin.SE3(np.array(start)).actInv(T))
        return q

    if table != InitialTable(lift=table.lift, velocity=table.velocity):
        gap = _clearance(robot, placed(), world)
        T.translation[2] -= gap if np.isfinite(gap) else 0.0
    T.translation[2] += table.lift
    v[robot.base_rows[:3]] = T.rotation.T @ np.array(table.velocity)
    return State(0.0, placed(), v)


def _pressed(robot: Robot, state: State, world: World) -> State:
    """The state with soles a little below the ground, if the robot rests on it.

    A light foot that merely touches the ground is moved by its drives before it is loaded: it slips and turns.
    """
    q, base = np.array(state.q), robot.base_joint
    is_free = base is not None and robot.tree.kinds[base] == "free"
    if not is_free or np.any(state.v) or not robot.contacts or abs(_clearance(robot, q, world)) > _TOUCH:
        return state
    column = int(robot.tree.q_index[base])
    q[column : column + 3] -= robot.tree.placements[base][:3, :3].T @ [0.0, 0.0, _TOUCH]
    return State(state.t, q, state.v)


def _with_joints(robot: Robot, table: InitialTable) -> Array:
    q = np.array(robot.home)
    for name, position in table.joints.items():
        i = robot.joint_index(name)
        if robot.tree.nq_of(i) != 1:
            raise NotSupportedError(f"joint `{name}` is {robot.tree.kinds[i]} and needs more than one number")
        row = int(robot.tree.q_index[i])
        if not robot.limits.lower[row] <= position <= robot.limits.upper[row]:
            raise NotSupportedError(
                f"joint `{name}` starts at {position:g}, outside its limits",
                evidence={"limits": [float(robot.limits.lower[row]), float(robot.limits.upper[row])]},
                next_step="change `initial.joints`",
            )
        q[row] = position
    if table.joints and (robot.loops or robot.couplings):
        return close(robot, None, q, hold=tuple(table.joints))
    return q


def _clearance(robot: Robot, q: Array, world: World) -> float:
    """Height [m] by which the robot can be lowered until a contact corner is on the ground; infinite without either."""
    corners = np.vstack([*robot.contact_corners(q).values(), np.zeros((0, 3))])
    planes = contact_planes(world, corners)
    there = (planes[:, 3] > NOWHERE) & (planes[:, 2] > 0.0)
    if not there.any():
        return np.inf
    planes, corners = planes[there], corners[there]
    return float(((np.sum(planes[:, :3] * corners, axis=1) - planes[:, 3]) / planes[:, 2]).min())


CONTROLLERS: Mapping[str, str] = {
    "joint_pd": "surefoot.control:JointPd",
    "limp": "surefoot.control:ForceSchedule",
    "joint_path": "surefoot.control:JointPath",
    "joint_waves": "surefoot.control:JointWaves",
    "reactionless": "surefoot.control:ReactionlessMotion",
    "inversion": "surefoot.control:InversionMotion",
    "hand_reach": "surefoot.control:HandReach",
    "force_schedule": "surefoot.control:ForceSchedule",
    "follow": "surefoot.scenario.motions:PlannedFollower",
    "follow_body": "surefoot.scenario.motions.optimal:PlannedWholeBody",
    "walk": "surefoot.scenario.build.walking:build_walker",
    "balance": "surefoot.scenario.build.balance:build_balance",
    "classic": "surefoot.control.classic:classic_controller",
    "swing_up": "surefoot.control.layered:CartPoleSwingUp",
    "layered_walk": "surefoot.control.layered:LayeredWalk",
    "mpc": "surefoot.scenario.build.receding:build_mpc",
}
"""What makes each kind of controller."""
_MOST_PERIODS = 10_000  # each of them is looked at for positions outside the limits


def build_controller(scenario: Scenario, robot: Robot, world: World, q: Array, plan: Plan | None = None) -> Controller:
    """The controller.

    Args:
        scenario: The scenario.
        robot: The robot.
        world: The world.
        q: (nq,) its first posture.
        plan: What was planned, for a controller that follows it.
    """
    table = scenario.controller
    given = table.model_dump(exclude_none=True, exclude={"kind"})
    controller: Callable[..., Controller] = imported(CONTROLLERS[table.kind])
    match table.kind:
        case "joint_pd":
            return controller(robot, q, **given)
        case "limp":
            return controller(robot, [])
        case "joint_path":
            return controller(robot, _pairs(given.pop("keyframes"), "joints"), q, **given)
        case "joint_waves":
            _require_few_periods(table)
            waves = {joint: (w["amplitude"], w["frequency"], w["phase"]) for joint, w in given.pop("waves").items()}
            return controller(robot, waves, q0=q, **given)
        case "reactionless" | "inversion" | "hand_reach":
            return controller(robot, q0=q, **given)
        case "force_schedule":
            return controller(robot, _pairs(given["points"], "torques"))
        case "follow" | "follow_body":
            if plan is None:
                raise ScenarioError("there is nothing to follow", next_step="add a [motion] or a [planner] table")
            if table.kind == "follow_body":
                return controller(robot, plan)
            return controller(robot, plan, servos=scenario.robot.drives == "servo", **given)
        case "walk":
            if scenario.walk is None:
                raise ScenarioError("there is nowhere to walk", next_step="add a [walk] table with a goal")
            return controller(scenario.walk, robot, world, q)
        case "balance":
            if scenario.balance.output == "admittance" and scenario.sensors.kind == "none":
                raise ScenarioError(
                    "drives that give way to measured forces need force sensors",
                    next_step='set sensors.kind="default" or "ideal", or balance.output="position"',
                )
            return controller(scenario.balance, robot, q, world)
        case "classic":
            dt = scenario.simulation.control_dt or scenario.simulation.dt
            method = given.pop("method", "operational_space")
            return controller(method, robot, q, dt, imported("surefoot.control.classic:ClassicGains")(**given))
        case "mpc":
            return controller(scenario.mpc or MpcTable(), robot, q)
        case "swing_up":
            return controller(robot, q, scenario.simulation.control_dt or scenario.simulation.dt, **given)
        case "layered_walk":
            return controller(robot, dt=scenario.simulation.control_dt or scenario.simulation.dt, **given)


def _require_few_periods(table: ControllerTable) -> None:
    rates = [wave.frequency for wave in (table.waves or {}).values()]
    if rates and (table.cycles or 1) * max(rates) / min(rates) > _MOST_PERIODS:
        raise ScenarioError(
            "the fastest wave has too many periods until the slowest one ends",
            evidence={"frequencies": [min(rates), max(rates)], "cycles": table.cycles, "at most": _MOST_PERIODS},
            next_step="bring the frequencies closer together, or give fewer cycles",
        )


def _pairs(rows: list[dict[str, Any]], what: str) -> list[tuple[float, dict[str, float]]]:
    return [(row["time"], row[what]) for row in rows]
