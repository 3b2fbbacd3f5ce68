"""A tick of whole-body torque control of talos on two feet with six tasks and all limits, beside placo and TSID.

Tasks: two feet, centre of mass (3 cm sway at 0.5 Hz), torso, a hand, posture. Limits: friction and tipping of soles,
torques, joint positions and speeds (TSID: no positions). A tick is all that a loop does: model, problem, solution,
torques, and the next state by its own integration. Times are CPU times; of each tick the fastest of the passes counts.
Ours has strict levels, the peers weights: costs are compared, not behaviour. With `--walk` also the controller of a
whole walk with its contact switches, tick by tick.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any
from unittest import mock

import numpy as np
import pinocchio as pin
import typer
from numpy.typing import NDArray

from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, number_text, print_table
from bench.peers import run_outside, write_bare_urdf
from bench.timing import pinned, tell, uncollected
from surefoot.control.whole_body import WholeBody
from surefoot.errors import NotSupportedError
from surefoot.motion import Command, State
from surefoot.robot import Robot, anatomy, load
from surefoot.scenario import read_scenario
from surefoot.scenario.build import build_simulation
from surefoot.tasks import CenterOfMass, FrameOrientation, FramePosition, Posture

__all__ = ["peer_job", "peer_python", "run", "show"]

Array = NDArray[np.float64]
DT, GOAL_MS, FRICTION = 0.002, {"p50": 0.08, "p99": 0.2}, 0.6
_PEERS = ("placo", "tsid")
_PUBLISHED = {
    "distribution of wrenches": 0.049,
    "the same, then forward dynamics": 0.261,
    "the same, then inverse dynamics": 0.922,
    "complete dynamics": 1.728,
    "five strict levels (Herzog et al.)": 5.0,
}  # ms a tick by QPs on CPUs of the time: Nenchev & Konno 2019, table 5.3 and section 5.14
_LARGEST_ERROR = 0.01  # of the centre of mass [m]
_SECONDS = 900.0


def run(
    robot: Annotated[str, typer.Option(help="A biped.")] = "talos",
    ticks: Annotated[int, typer.Option(help="Number of ticks.", min=10)] = 1000,
    passes: Annotated[int, typer.Option(help="Passes, of which the fastest counts.", min=1)] = 3,
    walk: Annotated[bool, typer.Option("--walk", help="Also a walk of 20 s, in MuJoCo.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="100 ticks, one pass.")] = False,
    peers: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Environments of placo and TSID (scripts/make_wbc_peers.sh).")
    ] = None,
) -> Json:
    """Measure; a centre of mass that is not followed to a centimetre is refused."""
    ticks, passes = (min(ticks, 100), 1) if quick else (ticks, passes)
    model = load(robot)
    sway = np.zeros((3, ticks, 3))
    phase = np.pi * DT * np.arange(ticks)
    sway[:, :, 1] = 0.03 * np.array([np.sin(phase), np.pi * np.cos(phase), -(np.pi**2) * np.sin(phase)])
    result = header("whole_body", 0) | {"robot": robot, "ticks": ticks, "passes": passes, "goal_ms": GOAL_MS}
    tell(0.0, "our ticks")
    with pinned():
        rows = {"surefoot": _ours(model, sway, passes)}
        for k, name in enumerate(_PEERS if peers is not None else ()):
            tell(0.2 + 0.2 * k, name)
            rows[name] = _peer(name, peers, model, sway, passes)  # type: ignore[arg-type]
        result |= {"rows": rows}
        if walk:
            tell(0.6, "a walk")
            result |= {"walk": _walk(robot, passes)}
    return result


def show(result: Json) -> None:
    """Print the times, and ratios to ours."""
    goal = ", ".join(f"{key} {value:g}" for key, value in result["goal_ms"].items())
    print(f"\n{result['robot']}, two feet, six tasks, all limits; ms of CPU per tick, the aim is {goal}")
    ours = result["rows"]["surefoot"]["p50_ms"]
    rows = [
        [name, *(number_text(x[f"{p}_ms"]) for p in ("p50", "p95", "p99", "max")), f"{x['p50_ms'] / ours:.2f}×"]
        for name, x in result["rows"].items()
    ]
    print_table(("", "p50", "p95", "p99", "longest", "p50 over ours"), rows, left=1)
    others = "; ".join(f"{name} {time:g}" for name, time in _PUBLISHED.items())
    print(f"published, other robots and machines (Nenchev & Konno 2019, table 5.3), ms: {others}")
    if "walk" in result:
        w = result["walk"]
        print(
            f"walk, {w['ticks']} ticks with contact switches: p50 {w['p50_ms']:.3f}, p99 {w['p99_ms']:.3f}, longest "
            f"{w['max_ms']:.3f} ms (tick {w['worst_tick']}, {w['worst_passes']:.0f} passes; at most "
            f"{w['most_passes']:.0f}), {w['late']} above 0.5 ms"
        )


def _quantiles(times: Array) -> Json:
    p50, p95, p99, most = (1e3 * float(t) for t in np.quantile(times, [0.5, 0.95, 0.99, 1.0]))
    return {"p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "max_ms": most}


def _ours(robot: Robot, sway: Array, passes: int) -> Json:
    best, worst = np.full(sway.shape[1], np.inf), 0.0
    for _ in range(passes):
        body, com, q, v = _body(robot), None, np.array(robot.home), np.zeros(robot.nv)
        data = robot.model.createData()
        body.solve(q, v)  # loads machine code
        with uncollected():
            for k, (offset, speed, change) in enumerate(zip(*sway, strict=True)):
                begin = time.process_time_ns()
                if com is None:
                    com = np.array(body["com"].target)
                body["com"].target[:] = com + offset
                body["com"].set_rates(speed, change)
                found = body.solve(q, v)
                v = v + DT * found.acceleration
                q = pin.integrate(robot.model, q, DT * v)
                best[k] = min(best[k], 1e-9 * (time.process_time_ns() - begin))
                if found.trouble is not None:
                    raise WrongAnswerError("a tick has no solution", evidence={"tick": k, "why": found.trouble})
                worst = max(worst, float(np.linalg.norm(pin.centerOfMass(robot.model, data, q) - com - offset)))
    if worst > _LARGEST_ERROR:
        raise WrongAnswerError("the centre of mass does not follow", evidence={"error": worst})
    return _quantiles(best) | {"com_error_m": worst}


def _body(robot: Robot) -> WholeBody:
    frames, look = robot.placements(robot.home), anatomy(robot)
    com = np.array(pin.centerOfMass(robot.model, robot.model.createData(), np.array(robot.home)))
    torso, hand = look.torso, look.hands[0]
    body = WholeBody(
        robot,
        [
            [],
            [CenterOfMass(com)],
            [FramePosition(hand, frames[hand][:3, 3], name="hand")],
            [FrameOrientation(torso, frames[torso][:3, :3], name="torso"), Posture(robot, weight=0.01)],
        ],
        [name for foot in look.feet for name in foot.contacts],
    )
    for name in ("com", "hand", "torso", "posture"):
        body[name].set_gains(30.0)
    for foot in look.feet:
        for name in foot.contacts:
            body.contact(name).put(frames[robot.contacts[name].frame] @ robot.contacts[name].placement)
            body.contact(name).set_gains(30.0)
    return body


def peer_python(name: str, peers: Path) -> Path:
    """The interpreter of a peer."""
    python = peers / name / "bin" / "python"
    if not python.exists():
        raise NotSupportedError(f"`{python}` does not exist", next_step="run scripts/make_wbc_peers.sh")
    return python


def peer_job(name: str, robot: Robot, folder: Path, **more: Any) -> Json:
    """What a peer is told of a robot; writes its URDF file to the folder."""
    look = anatomy(robot)
    entries = [(joint, int(robot.tree.q_index[i]), int(robot.tree.v_index[i])) for i, joint in _hinges(robot)]
    feet = [
        {"frame": foot.link, "size": np.ptp(robot.contacts[foot.contacts[0]].corners, axis=0)[:2].tolist()}
        for foot in look.feet
    ]
    write_bare_urdf(Path(robot.source), folder / "robot.urdf")
    return {
        "library": name, "q": robot.home.tolist(), "dt": DT, "friction": FRICTION, "feet": feet,
        "joints": {joint: float(robot.home[at]) for joint, at, _ in entries},
        "torques": {joint: float(robot.limits.effort[row]) for joint, _, row in entries},
        "torso": look.torso, "hand": look.hands[0], **more,
    }  # fmt: skip


def _peer(name: str, peers: Path, robot: Robot, sway: Array, passes: int) -> Json:
    python = peer_python(name, peers)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        moves = dict(zip(("sway", "speed", "change"), sway.tolist(), strict=True))
        job = peer_job(name, robot, folder, passes=passes, **moves)
        (folder / "wbc.json").write_text(json.dumps(job))
        run_outside(python, name, folder, ("wbc_script.py",), _SECONDS)
        answer = json.loads((folder / "answer.json").read_text())
    return _quantiles(np.array(answer["times"])) | {"com_error_m": answer["com_error_m"]}


def _hinges(robot: Robot) -> list[tuple[int, str]]:
    return [(i, name) for i, name in enumerate(robot.tree.joint_names) if robot.tree.nq_of(i) == 1]


def _walk(robot: str, passes: int) -> Json:
    """CPU times of the controller's ticks in a walk of 20 s on the true state, the fastest of the passes each."""
    scenario = read_scenario("walk")
    changes = {
        "robot": scenario.robot.model_copy(update={"name": robot}),
        "simulation": scenario.simulation.model_copy(update={"duration": 20.0, "dt": DT, "control_dt": DT}),
        "sensors": scenario.sensors.model_copy(update={"kind": "none"}),
        "estimator": scenario.estimator.model_copy(update={"kind": "none"}),
    }
    best = np.zeros(0)
    for k in range(passes):
        simulation = build_simulation(scenario.model_copy(update=changes))
        times, command = list[float](), simulation.controller.command

        def timed(t: float, state: State) -> Command:
            begin = time.process_time_ns()
            found = command(t, state)  # noqa: B023
            times.append(1e-9 * (time.process_time_ns() - begin))  # noqa: B023
            return found

        with uncollected(), mock.patch.object(simulation.controller, "command", timed):
            log = simulation.run()
        best = np.array(times) if k == 0 else np.minimum(best, times)
    worst, sets = int(best.argmax()), log["control.passes"]
    found = _quantiles(best) | {"ticks": len(best), "worst_tick": worst, "worst_passes": float(sets[worst])}
    found |= {"late": int((best > 0.5e-3).sum()), "most_passes": float(sets.max())}
    return found | {"fallen": log.metadata["fall_time_s"] is not None}
