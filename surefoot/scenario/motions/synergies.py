"""`synergies`: the primitives P1 to P3 and combinations C1 to C4, one after another, each forth and back.

Nenchev & Konno 2019, section 7.5: self-motion of the arms, motion of the hands, motion of CoM and base.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control.classic import SYNERGIES, Synergies, SynergyCommand
from surefoot.errors import NotSupportedError
from surefoot.ik.analysis import joints_between
from surefoot.motion import Log, Trajectory, World
from surefoot.report import Plot
from surefoot.robot import Robot, anatomy
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable

LARGEST_DRIFT = 0.01
"""How far the plan may move what shall rest, over the height of the centre of mass, or [rad]."""
LARGEST_SLIP = 0.005
"""How far a foot may slide in the run [m]."""
LARGEST_OFFSET = 0.03
"""How far the centre of mass may be from its plan in the run, over its height."""
_DURATION, _STEP = 2.0, 0.01  # of a synergy, of a sample [s]
_SINK, _PITCH, _REACH, _TURN = 0.05, 0.1, 0.06, 0.4  # CoM and hands over the height of the CoM; base and arms [rad]
_SHARES = (1.0, 0.5, 0.25)  # of these amplitudes: the first that keeps the joints within their limits


def synergies(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Move by every synergy in turn.

    Args:
        table: duration [s] of one synergy, forth and back.
        robot: With a floating base, feet and two hands.
        world: Where it is; not looked at.
    """
    hands, duration = anatomy(robot).hands, table.duration or _DURATION
    if len(hands) != 2:
        raise NotSupportedError(f"`{robot.name}` has no pair of hands", next_step="use a humanoid")
    body = Synergies(robot, hands)
    height = float(pin.centerOfMass(robot.model, robot.model.createData(), np.array(robot.home))[2])
    for share in _SHARES:
        postures, velocities = _moved(robot, body, share, height, duration)
        outside = np.maximum(robot.limits.lower - postures, postures - robot.limits.upper)[:, 7:].max(axis=0)
        if outside.max() <= 0.0:
            break
    else:
        joint = robot.model.names[2 + int(np.argmax(outside))]
        raise NotSupportedError(
            f"joint `{joint}` leaves its limits in small synergies, too", subject=joint, kind="joint"
        )
    time = _STEP * np.arange(len(postures))
    places = _places(robot, postures, hands)
    quiet = _quiet(places, round(duration / _STEP))
    trouble = next((f"{name}: {what} moves by {way:.2g}" for name, (what, way) in quiet.items()
                    if way > LARGEST_DRIFT * (1.0 if what == "base" else height)), None)  # fmt: skip

    def judge(robot: Robot, log: Log) -> Findings:
        com = _places(robot, np.array(log["q"]), hands)["com"]
        planned = np.column_stack([np.interp(log.time, time, line) for line in places["com"].T])
        offset = float(np.linalg.norm(com - planned, axis=1).max())
        slip = max(float(log[f"contact.{name}.slip"][-1]) for name in body.contacts)
        wrong = f"a foot slid by {slip:.2g} m" if slip > LARGEST_SLIP else None
        if offset > LARGEST_OFFSET * height:
            wrong = f"the centre of mass was {offset:.2g} m from its plan"
        return Findings({"run_com_error_m": offset, "run_foot_slip_m": slip}, wrong)

    return Plan(
        trajectory=Trajectory.of(robot, time, postures, velocities),
        metrics={f"{name.lower()}_at_rest_moved": way for name, (_, way) in quiet.items()}
        | {"largest_rate_rad_s": float(np.abs(velocities[:, 6:]).max()), "amplitude_share": share},
        trouble=trouble,
        curves=(
            Plot("plan: height of the centre of mass", "m", {"centre of mass": places["com"][:, 2]}),
            Plot("plan: pitch of the base", "rad", {"base": places["base"][:, 1]}),
            Plot(
                "plan: height of the hands", "m", {hand: places["ends"][:, 3 * k + 2] for k, hand in enumerate(hands)}
            ),
        ),
        judge=judge,
    )


def _arm(robot: Robot, hand: str) -> list[int]:
    """Joints from the torso to a hand."""
    return list(joints_between(robot, hand, anatomy(robot).torso))


def _moved(robot: Robot, body: Synergies, share: float, height: float, duration: float) -> tuple[Array, Array]:
    """Postures (n, nq) and velocities (n, nv) of all synergies, with a share of the usual amplitudes."""
    q, postures, velocities = np.array(robot.home), [], []
    arms = [robot.tree.joint_names[i] for hand in body.ends for i in _arm(robot, hand)[1:2]]
    for moves_body, moves_ends, moves_joints in SYNERGIES:
        for k in range(round(duration / _STEP)):
            pace = share * np.pi / duration * np.sin(2.0 * np.pi * (k + 0.5) * _STEP / duration)
            way = height * pace
            command = SynergyCommand(
                com=(0.0, 0.0, -_SINK * way * moves_body),
                base=(0.0, _PITCH * pace * moves_body, 0.0),
                ends=dict.fromkeys(body.ends, (0.5 * _REACH * way, 0.0, _REACH * way)) if moves_ends else {},
                joints=dict.fromkeys(arms, _TURN * pace) if moves_joints else {},
            )
            v = body.rates(q, command)
            postures.append(q)
            velocities.append(v)
            q = pin.integrate(robot.model, q, _STEP * v)
    return np.array(postures), np.array(velocities)


def _places(robot: Robot, q: Array, hands: tuple[str, ...]) -> dict[str, Array]:
    """CoM (n, 3) [m], rotation vector of the base (n, 3) [rad] and places of the hands (n, 6) [m]."""
    data, rows = robot.model.createData(), []
    for row in q:
        com = np.array(pin.centerOfMass(robot.model, data, np.array(row)))
        turn = pin.log3(pin.XYZQUATToSE3(row[:7]).rotation)
        pin.updateFramePlacements(robot.model, data)
        rows.append(np.r_[com, turn, *(data.oMf[robot.frame_id(hand)].translation for hand in hands)])
    table = np.array(rows)
    return {"com": table[:, :3], "base": table[:, 3:6], "ends": table[:, 6:]}


def _quiet(places: dict[str, Array], count: int) -> dict[str, tuple[str, float]]:
    """What moves farthest of that which shall rest, by synergy, and how far within it [m] or [rad]."""
    found = {}
    for k, ((body, ends, _), name) in enumerate(SYNERGIES.items()):
        resting = [key for key, moves in (("com", body), ("base", body), ("ends", ends)) if not moves]
        ways = {key: float(np.ptp(places[key][k * count : (k + 1) * count], axis=0).max()) for key in resting}
        found[name] = max(ways.items(), key=lambda item: item[1], default=("nothing", 0.0))
    return found
