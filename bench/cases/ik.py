"""Inverse kinematics against placo, pink and mink on the same targets, one judge for all.

Targets are reachable by construction: each is read off a posture inside the limits. Arms, heads and fixed robots have
joints uniform inside their limits. A robot on its feet has its trunk in the inner third of its range, and its base some
centimetres and degrees off; then the legs bring the feet back, and postures that leave the limits or whose centre of
mass is not over the feet are drawn again. The time is that of all targets over their number, restarts included.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pinocchio as pin
import typer
from numpy.typing import NDArray

from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, named, number_text, print_lines, print_table
from bench.peers import IK_PEERS, PeerAnswers, peer_pythons, run_peer, write_bare_urdf
from bench.timing import pinned, tell, uncollected
from surefoot.errors import FileFormatError, NotSupportedError, ShapeError, SurefootError, one_of
from surefoot.geometry import convex_hull
from surefoot.ik import IkResult, PositionSolver, solve, solve_batch
from surefoot.robot import Robot, load
from surefoot.tasks import CenterOfMass, FramePose, Task

__all__ = ["IK_CASES", "IkProblems", "IkVerdict", "bench_robot", "judge", "make_problems", "run", "show", "solve_peer"]

Array = NDArray[np.float64]
_QUICK_TARGETS, _TUNING, _PASSES = 20, 200, 3
_TOLERANCES = {"m": 1e-3, "rad": 1e-3}  # of positions of hand, feet and centre of mass, and of orientations
_ROUNDING = 1e-6  # beyond a joint limit [rad] or [m]
_OURS = {unit: 0.999 * value for unit, value in _TOLERANCES.items()}  # as for the peers
_RESTARTS = 100
_STARTS, _ROUNDS, _DRAWS = 512, 30, 50  # configurations to start again from; of Newton's method; for each target
_CLOSED = 1e-10  # of the feet [m], [rad]
_TRUNK_SHARE = 0.3
_BASE_LOW = np.array([-0.06, -0.06, -0.12, -0.15, -0.15, -0.25])  # [m], [rad]
_BASE_HIGH = np.array([0.06, 0.06, 0.01, 0.15, 0.25, 0.25])


# -- problems ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Case:
    """A robot of the zoo and the link whose pose is given.

    Feet stay where `home` has them, and the centre of mass has a target if there are any. Joints of the trunk are drawn
    from the inner part of their range; fixed ones do not move at all.
    """

    robot: str
    hand: str
    feet: tuple[str, ...] = ()
    trunk: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()


IK_CASES = {
    "panda": _Case("panda", "panda_hand_tcp", fixed=("panda_finger_joint1", "panda_finger_joint2")),
    "talos": _Case(
        "talos", "gripper_left_base_link", ("leg_left_6_link", "leg_right_6_link"), ("torso_1_joint", "torso_2_joint")
    ),
    "g1": _Case(
        "g1", "left_rubber_hand", ("left_ankle_roll_link", "right_ankle_roll_link"),
        ("waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint"),
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class IkProblems:
    """n problems of one robot: poses of the feet, of the hand (n, 4, 4), centres of mass (n, 3) or None.

    `urdf` is the file that everybody reads, `answers` are the postures that the targets were read off, `starts` random
    configurations inside the limits, base at home, from which peers start again.
    """

    case: _Case
    robot: Robot
    urdf: str
    feet: Mapping[str, Array]
    hand: Array
    com: Array | None
    answers: Array
    starts: Array

    def __len__(self) -> int:
        return len(self.hand)

    @property
    def home(self) -> Array:
        """(nq,) where every solver starts."""
        return self.robot.home


def bench_robot(case: _Case) -> tuple[Robot, str]:
    """The robot as everybody has it, without shapes, and its URDF."""
    known = load(case.robot)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"{case.robot}.urdf"
        write_bare_urdf(Path(known.source), file, case.fixed)
        robot, text = load(file, base=known.base, mimic="free"), file.read_text(encoding="utf-8")
    moving = {name: i for i, name in enumerate(known.joint_names) if name not in case.fixed}
    rows = [int(known.tree.q_index[i]) + k for i in moving.values() for k in range(known.tree.nq_of(i))]
    if tuple(moving) != robot.joint_names:
        raise SurefootError(f"`{case.robot}` without shapes has other joints", evidence={"joints": robot.joint_names})
    return robot.replace(home=known.home[rows], contacts=known.contacts, source=""), text


def make_problems(name: str, n: int, seed: int) -> IkProblems:
    """Random reachable targets: same seed, same targets."""
    if name not in IK_CASES:
        raise one_of("case of inverse kinematics", name, IK_CASES)
    case = IK_CASES[name]
    robot, urdf = bench_robot(case)
    rng = np.random.default_rng(seed)
    feet = {foot: robot.placements(robot.home)[foot] for foot in case.feet}
    draw = _Standing(robot, case, feet).draw if feet else _uniform
    answers = np.array([draw(robot, rng) for _ in range(n)]).reshape(n, robot.nq)
    starts = np.array([_uniform(robot, rng) for _ in range(_STARTS)])
    data, hand = robot.model.createData(), robot.frame_id(case.hand)
    poses, centres = np.zeros((n, 4, 4)), np.zeros((n, 3))
    for k, q in enumerate(answers):
        pin.framesForwardKinematics(robot.model, data, q)
        poses[k], centres[k] = data.oMf[hand].homogeneous, pin.centerOfMass(robot.model, data, q)
    return IkProblems(case, robot, urdf, feet, poses, centres if feet else None, answers, starts)


def _uniform(robot: Robot, rng: np.random.Generator) -> Array:
    """Joints uniform inside their limits, base at home."""
    q = np.array(robot.home)
    start = 0 if robot.base_joint is None else robot.tree.nq_of(robot.base_joint)
    q[start:] = rng.uniform(robot.limits.lower[start:], robot.limits.upper[start:])
    return q


class _Standing:
    """Postures on two fixed feet."""

    def __init__(self, robot: Robot, case: _Case, feet: Mapping[str, Array]) -> None:
        self.robot, self.data, tree = robot, robot.model.createData(), robot.tree
        self.feet = {robot.frame_id(foot): pin.SE3(T) for foot, T in feet.items()}
        legs: set[int] = set()
        for foot in case.feet:
            j = robot.body_of(foot)
            while j >= 0 and j != robot.base_joint:
                legs.add(j)
                j = int(tree.parents[j])
        self.legs = np.array(sorted(int(tree.v_index[j]) for j in legs))
        self.leg_rows = np.array(sorted(int(tree.q_index[j]) for j in legs))
        self.trunk = [int(tree.q_index[robot.joint_index(name)]) for name in case.trunk]
        corners = robot.contact_corners(robot.home)
        self.support = convex_hull(np.vstack([corners[foot][:, :2] for foot in case.feet]))

    def draw(self, robot: Robot, rng: np.random.Generator) -> Array:
        for _ in range(_DRAWS):
            q = self.closed(self.bent(robot, rng))
            if q is not None and self.balanced(q):
                return q
        raise SurefootError(f"`{robot.name}`: no posture on both feet after {_DRAWS} draws")

    def bent(self, robot: Robot, rng: np.random.Generator) -> Array:
        """Upper body and base drawn, legs as at home."""
        q, home = _uniform(robot, rng), robot.home
        q[self.trunk] = home[self.trunk] + _TRUNK_SHARE * (q[self.trunk] - home[self.trunk])
        q[self.leg_rows] = home[self.leg_rows]
        step = np.zeros(robot.nv)
        step[robot.base_rows] = rng.uniform(_BASE_LOW, _BASE_HIGH)
        return np.asarray(pin.integrate(robot.model, q, step))

    def closed(self, q: Array) -> Array | None:
        """The legs moved by Newton's method until the feet are back; None if that fails or leaves the limits."""
        model, limits, rows = self.robot.model, self.robot.limits, self.leg_rows
        for _ in range(_ROUNDS):
            pin.computeJointJacobians(model, self.data, q)
            pin.updateFramePlacements(model, self.data)
            error = np.concatenate([pin.log6(self.data.oMf[i].actInv(T)).vector for i, T in self.feet.items()])
            if np.abs(error).max() < _CLOSED:
                inside = (q[rows] >= limits.lower[rows]) & (q[rows] <= limits.upper[rows])
                return q if inside.all() else None
            J = np.vstack([pin.getFrameJacobian(model, self.data, i, pin.LOCAL) for i in self.feet])
            step = np.linalg.lstsq(J[:, self.legs], error, rcond=1e-6)[0]
            q = q.copy()
            q[rows] += step * min(1.0, 1.0 / np.abs(step).max())
        return None

    def balanced(self, q: Array) -> bool:
        """Whether the centre of mass is over the hull of the feet."""
        centre, hull = pin.centerOfMass(self.robot.model, self.data, q)[:2], self.support
        edges, to = np.roll(hull, -1, axis=0) - hull, centre - hull
        return bool((edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0] > 0.0).all())


# -- the judge --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class IkVerdict:
    """Largest errors of n answers: position [m], angle [rad], and excess over a joint limit, negative inside."""

    position: Array
    angle: Array
    excess: Array

    @property
    def solved(self) -> NDArray[np.bool_]:
        """(n,) within 1 mm and 1 mrad, and inside the limits to 1e-6; false for NaN."""
        near = (self.position <= _TOLERANCES["m"]) & (self.angle <= _TOLERANCES["rad"])
        return np.asarray(near & (self.excess <= _ROUNDING))

    @property
    def rate(self) -> float:
        """Share that is solved."""
        return float(self.solved.mean())


def judge(problems: IkProblems, q: Array) -> IkVerdict:
    """Errors of answers (n, nq), by Pinocchio's forward kinematics; rows that are not finite are not solved."""
    if q.shape != (len(problems), problems.robot.nq):
        raise ShapeError(f"answers have shape {q.shape}, {len(problems)} problems need (n, {problems.robot.nq})")
    rows = [_errors(problems, k, x) if np.isfinite(x).all() else (np.nan,) * 3 for k, x in enumerate(q)]
    return IkVerdict(*np.array(rows).T)


def _errors(problems: IkProblems, k: int, q: Array) -> tuple[float, float, float]:
    robot, model = problems.robot, problems.robot.model
    data = model.createData()
    q = pin.normalize(model, q)
    pin.framesForwardKinematics(model, data, q)
    targets = {problems.case.hand: problems.hand[k]} | dict(problems.feet)
    gaps = [pin.SE3(T).actInv(data.oMf[robot.frame_id(name)]) for name, T in targets.items()]
    positions = [float(np.linalg.norm(gap.translation)) for gap in gaps]
    if problems.com is not None:
        positions.append(float(np.linalg.norm(pin.centerOfMass(model, data, q) - problems.com[k])))
    angles = [float(np.linalg.norm(pin.log3(gap.rotation))) for gap in gaps]
    return max(positions), max(angles), float(np.maximum(robot.limits.lower - q, q - robot.limits.upper).max())


# -- solvers ----------------------------------------------------------------------------------------------------------


def _tasks(problems: IkProblems) -> list[Task]:
    """Hand, feet and centre of mass, all of one priority."""
    tasks: list[Task] = [FramePose(problems.case.hand, problems.hand[0], name="hand")]
    tasks += [FramePose(foot, T) for foot, T in problems.feet.items()]
    return tasks if problems.com is None else [*tasks, CenterOfMass(problems.com[0])]


def _solve(problems: IkProblems) -> tuple[Any, Any, Any]:
    """One after the other, from Python, with tasks that are made anew for each target."""
    tasks, found = _tasks(problems), []
    for k, hand in enumerate(problems.hand):
        tasks[0] = tasks[0].with_target(hand)
        if problems.com is not None:
            tasks[-1] = tasks[-1].with_target(problems.com[k])
        found.append(solve(problems.robot, tasks, problems.home, seed=k, restarts=_RESTARTS, tolerances=_OURS))
    return _columns(found)


def _solver(problems: IkProblems) -> tuple[Any, Any, Any]:
    """One after the other, from Python, by a solver that is kept and gets other targets, as the peers do."""
    solver = PositionSolver(problems.robot, _tasks(problems), tolerances=_OURS)
    found = []
    for k, hand in enumerate(problems.hand):
        targets = {"hand": hand} if problems.com is None else {"hand": hand, "com": problems.com[k]}
        found.append(solver.solve(problems.home, targets, seed=k, restarts=_RESTARTS))
    return _columns(found)


def _columns(found: Sequence[IkResult]) -> tuple[Any, Any, Any]:
    return np.array([x.q for x in found]), [x.steps for x in found], [x.starts for x in found]


def _batch(problems: IkProblems) -> tuple[Any, Any, Any]:
    """All at once, on one thread."""
    targets = {"hand": problems.hand} | ({} if problems.com is None else {"com": problems.com})
    tasks = _tasks(problems)
    found = solve_batch(problems.robot, tasks, targets, problems.home, restarts=_RESTARTS, tolerances=_OURS)
    return found.q, found.steps, found.starts


_WAYS: dict[str, Callable[[IkProblems], tuple[Any, Any, Any]]] = {"solve": _solve, "solver": _solver, "batch": _batch}


def _solve_ours(way: str, problems: IkProblems, passes: int) -> tuple[Array, Json]:
    """Answers and facts of the fastest of some passes; the first call, which compiles, is not timed."""
    _WAYS[way](problems)
    seconds, busy = [], []
    with uncollected():
        for _ in range(passes):
            begun, start = time.process_time(), time.perf_counter()
            q, steps, starts = _WAYS[way](problems)
            seconds.append(time.perf_counter() - start)
            busy.append(time.process_time() - begun)
    facts = {"ms": 1e3 * min(seconds) / len(problems), "processor_ms": 1e3 * min(busy) / len(problems)}
    return q, facts | {"iterations": float(np.mean(steps)), "restarts": float(np.mean(starts)) - 1.0}


def solve_peer(name: str, python: Path, tuning: IkProblems, problems: IkProblems, passes: int) -> PeerAnswers:
    """Answers of a peer, with settings that were chosen on other problems; the fastest of some passes counts.

    Raises:
        NotSupportedError: The interpreter does not run it.
    """
    robot, floating = problems.robot, problems.robot.base_joint is not None
    joints = robot.joint_names[1:] if floating else robot.joint_names
    speeds = zip(joints, robot.limits.velocity[-len(joints) :].tolist(), strict=True)
    arrays = {}
    for file, some in (("tuning", tuning), ("problems", problems)):
        com = np.zeros((len(some), 3)) if some.com is None else some.com
        arrays[file] = {"hand": some.hand, "com": com, "starts": some.starts}
    plan = {
        "hand": problems.case.hand, "feet": {foot: T.tolist() for foot, T in problems.feet.items()},
        "floating": floating, "joints": list(joints), "home": problems.home.tolist(), "passes": passes,
        "speeds": {joint: speed for joint, speed in speeds if np.isfinite(speed)},
        "position": _TOLERANCES["m"], "angle": _TOLERANCES["rad"],
    }  # fmt: skip
    return run_peer(name, python, problems.urdf, arrays, plan)


# -- the measurement --------------------------------------------------------------------------------------------------


def run(
    robots: Annotated[str, typer.Option(metavar="NAMES", help="panda, talos, g1; by commas.")] = "panda,talos,g1",
    targets: Annotated[int, typer.Option(help="Targets of each robot.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the targets.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="20 targets at most, no peers.")] = False,
    peers: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Environments of placo, pink and mink (make_ik_peers.sh).")
    ] = None,
) -> Json:
    """Measure; the settings of the peers are chosen on targets of the next seed."""
    names = named(robots, "robot", "--robots panda,g1")
    for name in names:
        if name not in IK_CASES:
            raise one_of("case of inverse kinematics", name, IK_CASES)
    pythons = {} if peers is None else peer_pythons(peers)
    if peers is not None and not pythons:
        hint = "make them: scripts/make_ik_peers.sh DIR"
        raise FileFormatError("no peer has an environment there", file=peers, next_step=hint)
    count = min(targets, _QUICK_TARGETS) if quick else targets
    result: Json = header("ik", seed) | {"targets": count, "quick": quick}
    result |= {"tolerance": {"position_m": _TOLERANCES["m"], "angle_rad": _TOLERANCES["rad"]}, "robots": {}}
    missing = sorted(set(IK_PEERS) - set(pythons))
    result["skipped"] = [f"{name}: no interpreter that has it was named" for name in missing]
    for number, name in enumerate(names):
        tell(number / len(names), name)
        result["robots"][name] = _robot(name, count, {} if quick else pythons, result)
    tell(1.0, "")
    return result


def _robot(name: str, count: int, pythons: Mapping[str, Path], result: Json) -> Json:
    """All solvers on the targets of one robot."""
    problems, passes = make_problems(name, count, result["seed"]), 1 if result["quick"] else _PASSES
    if not judge(problems, problems.answers).solved.all():
        raise WrongAnswerError(f"{name}: targets are not reached by the postures that they were read off")
    tuning = make_problems(name, _TUNING, result["seed"] + 1) if pythons else problems
    peers: Json = {}
    for peer, python in pythons.items():
        try:
            found = solve_peer(peer, python, tuning, problems, passes)
        except NotSupportedError as error:
            result["skipped"].append(f"{name} {peer}: {error.message}")
            continue
        facts = found.facts
        peers[peer] = {
            "with_restarts": _row(judge(problems, found.restarts), facts["restarts"]),
            "once": _row(judge(problems, found.once), facts["once"]),
            "settings": facts["settings"],
            "settings_tried": len(facts["tried"]),
            "versions": facts["versions"],
        }
    with pinned():
        solved = {way: _solve_ours(way, problems, passes) for way in _WAYS}
    ours = {way: _row(judge(problems, q), facts) for way, (q, facts) in solved.items()}
    whole = {"nq": problems.robot.nq, "nv": problems.robot.nv, "hand": problems.case.hand, "ours": ours, "peers": peers}
    return whole | {"feet": list(problems.case.feet), "ratios": _ratios(ours, peers)}


def _row(verdict: IkVerdict, facts: Json) -> Json:
    """What the judge reports beside what was measured; errors are the largest of the solved targets."""
    rate, solved = verdict.rate, verdict.solved
    errors = {"position_m": verdict.position, "angle_rad": verdict.angle, "limit_excess": verdict.excess}
    return {
        "success": rate,
        "ms_per_target": facts["ms"],
        "processor_ms_per_target": facts["processor_ms"],
        "solves_per_second": 1e3 * rate / facts["ms"],
        "iterations": facts["iterations"],
        "restarts": facts["restarts"],
    } | {f"worst_{name}": float(x[solved].max()) if solved.any() else None for name, x in errors.items()}


def _ratios(ours: Json, peers: Json) -> Json:
    """Our solves per second over those of each peer, and the fastest of them."""
    speeds = {name: rows["with_restarts"]["solves_per_second"] for name, rows in peers.items()}
    speeds = {name: speed for name, speed in speeds.items() if speed > 0.0}
    found: Json = {"fastest_peer": max(speeds, key=lambda name: speeds[name]) if speeds else None}
    return found | {
        way: {name: row["solves_per_second"] / speed for name, speed in speeds.items()} for way, row in ours.items()
    }


# -- what is printed --------------------------------------------------------------------------------------------------


def show(result: Json) -> None:
    """Print a table for each robot, and the settings of the peers."""
    tolerance = result["tolerance"]
    print(
        f"\n{result['targets']} reachable targets, solved within {1e3 * tolerance['position_m']:g} mm and "
        f"{1e3 * tolerance['angle_rad']:g} mrad inside the joint limits; time over all targets, restarts included"
    )
    for name, robot in result["robots"].items():
        feet = f", feet {', '.join(robot['feet'])}" if robot["feet"] else ""
        print(f"\n{name}: nv {robot['nv']}, hand {robot['hand']}{feet}")
        heads = ("", "solved", "ms/target", "solves/s", "iterations", "restarts", "× fastest peer")
        print_table(heads, _solver_rows(robot))
        print_lines("settings", _settings_lines(robot))
    print_lines("not measured", result["skipped"])


def _solver_rows(robot: Json) -> list[list[str]]:
    fastest = robot["ratios"]["fastest_peer"]
    rows = []
    for way, row in robot["ours"].items():
        ratio = "" if fastest is None else number_text(robot["ratios"][way][fastest])
        rows.append((f"surefoot, {way}", row, ratio))
    for peer, kinds in robot["peers"].items():
        rows.append((f"{peer}, with restarts", kinds["with_restarts"], "fastest" if peer == fastest else ""))
        rows.append((f"{peer}, once", kinds["once"], ""))
    return [
        [title, f"{100.0 * row['success']:.1f} %", f"{row['ms_per_target']:#.3g}", f"{row['solves_per_second']:,.0f}",
         f"{row['iterations']:.1f}", f"{row['restarts']:.2f}", ratio]
        for title, row, ratio in rows
    ]  # fmt: skip


def _settings_lines(robot: Json) -> list[str]:
    """What every peer was run with."""
    return [
        f"{name} ({', '.join(f'{package} {version}' for package, version in facts['versions'].items())}), best of "
        f"{facts['settings_tried']}: {', '.join(f'{key} {value}' for key, value in facts['settings'].items())}"
        for name, facts in robot["peers"].items()
    ]
