"""Planning of stances: checked states per second beside Pinocchio and coal; scenarios × planners × seeds; one sequence.

The sequence is the same for all planners of motions: 57 moves of feet, one metre sideways (Wimmer 2016, section 7.1).
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import coal
import numpy as np
import pinocchio as pin
import typer

from bench import page
from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, number_text, print_table
from surefoot.motion import GroundBox, GroundPlane, World
from surefoot.planning import (
    SINGLE_MODE,
    Budget,
    Limits,
    Margins,
    Mode,
    SingleMode,
    StanceModel,
    StancePlan,
    StancePlanner,
    StanceSequence,
    audit_plan,
    plan_trajectory,
)
from surefoot.planning.ompl import OmplSingleMode
from surefoot.robot import load, placement
from surefoot.scenario.schema import OMPL_NAMES

__all__ = ["run", "show"]

_WORLDS = {
    "flat": World(),
    "step": World(ground=(GroundPlane(), GroundBox((2.0, 1.2, 0.1), placement((0.0, 1.1, 0.05))))),
}
_GOAL = (0.0, 1.0, 0.0)
_LIMITS = Limits(states=2_000_000, stances=200)
_SEQUENCE = Path(__file__).parents[1] / "sequences" / "hexapod-57.json"
_OWN = ",".join(SINGLE_MODE)
_PEER_STATES = 200


def run(
    seeds: Annotated[int, typer.Option(help="Seeds of each planner.", min=1)] = 3,
    states: Annotated[int, typer.Option(help="States of a batch.", min=100)] = 20_000,
    planners: Annotated[str, typer.Option(help="Planners of motions, by comma; those of OMPL as well.")] = _OWN,
    moves: Annotated[int, typer.Option(help="Moves of the stored sequence.", min=1)] = 57,
    evaluations: Annotated[int, typer.Option(help="States that one motion may check.", min=10)] = 4_000,
    quick: page.Quick = False,
) -> Json:
    """Measure on one core."""
    result: dict[str, Any] = {**header("planning", 0), "states": {}, "plans": []}
    names = [name.strip() for name in planners.split(",")]
    limits = Limits(_LIMITS.states, _LIMITS.stances, Budget(evaluations))
    sequence = StanceSequence.load(_SEQUENCE).head(5 if quick else moves)
    for name, world in _WORLDS.items():
        result["states"][name] = _throughput(world, states if not quick else 2_000)
    for planner in names:
        for seed in range(1 if quick else seeds):
            row = {"scenario": f"sequence of {len(sequence)}", "planner": planner, "seed": seed}
            result["plans"].append(row | _follow(planner, sequence, seed, limits))
            for name, world in _WORLDS.items() if planner in SINGLE_MODE else ():
                row = {"scenario": name, "planner": planner, "seed": seed}
                result["plans"].append(row | _plan(world, planner, seed, limits))
    return result


def _throughput(world: World, count: int) -> dict[str, float]:
    """Fully checked, allowed states per second, ours and the peer's; their verdicts must agree."""
    model = StanceModel(load("hexapod"), world, Margins())
    mode = Mode.standing(model, model.chart.home)
    rng = np.random.default_rng(0)
    states = np.tile(model.chart.home, (count, 1))
    states[:, :6] += rng.normal(size=(count, 6)) * [0.02, 0.02, 0.012, 0.1, 0.1, 0.1]
    if len(world.ground) > 1:
        states[:, 1::3] += 0.15  # near the edge of the step
        states[:, 4] -= 0.15  # roll, pitch and yaw are no places
        mode = Mode.standing(model, states[0])
    verdict = mode.check(states)
    valid = states[verdict.valid]
    used = min(_seconds(lambda: mode.check(valid)) for _ in range(5))
    peer = _Peer(model, mode)
    few = states[:_PEER_STATES]
    q = model.chart.lift(few).q
    began = time.process_time()
    answers = np.array([peer.allowed(x) for x in q])
    peer_used = time.process_time() - began
    whole = np.flatnonzero(verdict.valid[: len(few)])
    if not answers[whole].all():
        raise WrongAnswerError("the peer refuses a state that we allow")
    wrong = int((answers & ~verdict.valid[: len(few)]).sum())
    rate, peer_rate = len(valid) / used, len(few) / peer_used
    return {
        "states_per_second": rate,
        "peer_states_per_second": peer_rate,
        "ratio": rate / peer_rate,
        "allowed": float(verdict.valid.mean()),
        "compared": len(few),
        "refused_by_us_alone": wrong,
    }


class _Peer:
    """The same checks with Pinocchio and coal, on the same capsules and balls; the trunk's triangles are omitted."""

    def __init__(self, model: StanceModel, mode: Mode) -> None:
        self.model, self.mode, self.robot = model, mode, model.robot
        self.data = self.robot.model.createData()
        volumes = model.clearance.volumes
        self.shapes = {k: _shape(x.volume) for k, x in enumerate(volumes) if len(x.volume.vertices) < 3}
        pairs = model.clearance.model.pruning.pairs
        self.pairs = [(int(a), int(b)) for a, b in pairs if a in self.shapes and b in self.shapes]
        self.soles = {k for group in model.clearance._soles for k in group}
        self.boxes = [
            (coal.Box(*piece.size), coal.Transform3s(piece.pose[:3, :3], piece.pose[:3, 3]))
            for piece in model.world.ground
            if isinstance(piece, GroundBox)
        ]

    def allowed(self, q: Any) -> bool:
        model, margins = self.model, self.model.margins
        room = np.minimum(q - self.robot.limits.lower, self.robot.limits.upper - q)[7:].min()
        com = pin.centerOfMass(self.robot.model, self.data, q)
        if room < margins.limits or self.mode.region.room(com[None])[0] < margins.balance:
            return False
        pin.updateGlobalPlacements(self.robot.model, self.data)
        places = {}
        for k, (_, local) in self.shapes.items():
            T = self.data.oMi[model.clearance.volumes[k].body + 1] * local
            places[k] = coal.Transform3s(T.rotation, T.translation)
        for a, b in self.pairs:
            if self._distance(self.shapes[a][0], places[a], self.shapes[b][0], places[b]) < model.clearance.own_keep:
                return False
        for k, (shape, _) in self.shapes.items():
            if k in self.soles:
                continue
            axis = places[k].getRotation()[:, 2] * getattr(shape, "halfLength", 0.0)
            if places[k].getTranslation()[2] - abs(axis[2]) - shape.radius < margins.clearance:
                return False
            if any(self._distance(shape, places[k], box, T) < margins.clearance for box, T in self.boxes):
                return False
        return True

    def _distance(self, a: Any, Ta: Any, b: Any, Tb: Any) -> float:
        return float(coal.distance(a, Ta, b, Tb, coal.DistanceRequest(), coal.DistanceResult()))


def _shape(volume: Any) -> tuple[Any, pin.SE3]:
    """A ball or a capsule of coal, and where it is in its body."""
    if len(volume.vertices) == 1:
        return coal.Sphere(volume.radius), pin.SE3(np.eye(3), volume.vertices[0])
    a, b = volume.vertices
    axis = (b - a) / np.linalg.norm(b - a)
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).toRotationMatrix()
    return coal.Capsule(volume.radius, float(np.linalg.norm(b - a))), pin.SE3(turn, 0.5 * (a + b))


def _plan(world: World, planner: str, seed: int, limits: Limits) -> dict[str, Any]:
    robot = load("hexapod")
    maker = StancePlanner(robot, world, single_mode=SINGLE_MODE[planner])
    maker.model.build()
    began = time.process_time()
    plan = maker.plan(np.array(robot.home), _GOAL, seed, limits)
    return _figures(maker, plan, time.process_time() - began)


def _follow(planner: str, sequence: StanceSequence, seed: int, limits: Limits) -> dict[str, Any]:
    with ExitStack() as stack:
        single: SingleMode = (
            SINGLE_MODE[planner]
            if planner in SINGLE_MODE
            else stack.enter_context(OmplSingleMode(OMPL_NAMES.get(planner, planner)))
        )
        maker = StancePlanner(load("hexapod"), _WORLDS["flat"], single_mode=single)
        maker.model.build()
        began = time.process_time()
        plan = maker.follow(sequence, seed, limits)
        used = time.process_time() - began + sum(x.seconds for x in getattr(single, "answers", ()))
    return _figures(maker, plan, used)


def _figures(maker: StancePlanner, plan: StancePlan, used: float) -> dict[str, Any]:
    """The measures of Wimmer 2016, section 7, of one plan."""
    tried, solved = plan.tried
    tips = [s.path.reshape(len(s.path), -1, 3)[:, 2:] for s in plan.segments]
    travel = sum(float(np.linalg.norm(np.diff(tip, axis=0), axis=2).sum()) for tip in tips)
    return {
        "solved": plan.solved,
        "planning_time_s": used,
        **{f"{stage}_time_s": spent for stage, spent in plan.seconds.items()},
        "moves": len(plan.moves),
        "motions_tried": tried,
        "motions_solved": solved,
        "checked_states": maker.model.statistics.states,
        "checked_edges": maker.model.statistics.edges,
        "tip_travel_m": travel,
        "duration_s": plan_trajectory(plan).duration if plan.segments else 0.0,
        "audit_passed": plan.solved and audit_plan(plan).passed,
        "failure_causes": dict(maker.model.statistics.causes.most_common(8)),
    }


def _seconds(action: Any) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def show(result: Json) -> None:
    """Print the tables.

    Args:
        result: What `run` measured.
    """
    head = ("world", "states/s", "Pinocchio + coal", "ratio", "allowed", "refused by us alone")
    keys = ("states_per_second", "peer_states_per_second", "ratio", "allowed", "refused_by_us_alone")
    print_table(head, [(name, *(number_text(row[k]) for k in keys)) for name, row in result["states"].items()])
    rows = []
    for name, planner in dict.fromkeys((x["scenario"], x["planner"]) for x in result["plans"]):
        runs = [x for x in result["plans"] if (x["scenario"], x["planner"]) == (name, planner)]
        times = [x["planning_time_s"] for x in runs]
        rows.append(
            (
                name,
                planner,
                f"{sum(x['solved'] for x in runs)}/{len(runs)}",
                number_text(median(times)),
                f"{min(times):.2f}–{max(times):.2f}",
                number_text(median(x["checked_states"] for x in runs)),
                number_text(median(x["checked_edges"] for x in runs)),
                f"{median(x['motions_solved'] for x in runs):g}/{median(x['motions_tried'] for x in runs):g}",
                number_text(median(x.get("shortening_time_s", 0.0) for x in runs)),
                number_text(median(x["moves"] for x in runs)),
                number_text(median(x["tip_travel_m"] for x in runs)),
            )
        )
    names = ("world", "planner", "solved", "s", "min–max", "states", "edges", "motions", "shortening [s]", "moves")
    print_table((*names, "tips [m]"), rows, left=2)
