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
from bench.cases.distance import coal_shape
from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, number_text, print_table
from surefoot.motion import GroundBox, GroundPlane, World
from surefoot.planning import (
    SINGLE_MODE,
    Budget,
    Limits,
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
_PEER_STATES = 500
_SPREAD = np.array([0.028, 0.028, 0.017, 0.14, 0.14, 0.14])
"""Of the states about one of a sequence: position [m], angles [rad]."""


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
    sequences = {"flat": StanceSequence.load(_SEQUENCE), "step": _step_sequence()}
    for name, world in _WORLDS.items():
        result["states"][name] = _throughput(sequences[name], world, states if not quick else 2_000)
    for planner in names:
        for seed in range(1 if quick else seeds):
            for name, sequence in sequences.items():
                part = sequence.head(min(5 if quick else moves, moves, len(sequence)))
                row = {"scenario": f"{name}, {len(part)} given", "planner": planner, "seed": seed}
                result["plans"].append(row | _follow(planner, part, _WORLDS[name], seed, limits))
            for name, world in _WORLDS.items() if planner in SINGLE_MODE else ():
                row = {"scenario": name, "planner": planner, "seed": seed}
                result["plans"].append(row | _plan(world, planner, seed, limits))
    return result


def _throughput(sequence: StanceSequence, world: World, count: int) -> dict[str, float]:
    """Fully checked, allowed states per second, ours and the peer's, on the way of a sequence; verdicts must agree."""
    planner = StancePlanner(load("hexapod"), world)
    plan = planner.follow(sequence.head(len(sequence) // 4))
    mode, centre = plan.graph.mode(plan.goal), plan.segments[-1].path[-1]
    states = np.tile(centre, (count, 1))
    states[:, :6] += np.random.default_rng(0).normal(size=(count, 6)) * _SPREAD
    verdict = mode.check(states)
    valid = states[verdict.valid]
    used = min(_seconds(lambda: mode.check(valid)) for _ in range(5))
    peer = _Peer(planner.model, mode)
    few, ours = states[:_PEER_STATES], verdict.valid[:_PEER_STATES]
    q = planner.model.chart.lift(few).q
    answers = np.array([peer.allowed(x) for x in q])
    if (answers != ours).any():
        raise WrongAnswerError(f"{(answers != ours).sum()} of {len(few)} verdicts on states are not those of the peer")
    peer_used = _seconds(lambda: [peer.allowed(x) for x in q[ours]])
    rate, peer_rate = len(valid) / used, int(ours.sum()) / peer_used
    return {
        "states_per_second": rate,
        "peer_states_per_second": peer_rate,
        "ratio": rate / peer_rate,
        "allowed": float(verdict.valid.mean()),
        "compared": len(few),
    }


class _Peer:
    """The same checks with Pinocchio and coal, on the same capsules, balls and triangles with a radius."""

    def __init__(self, model: StanceModel, mode: Mode) -> None:
        self.model, self.mode, self.robot = model, mode, model.robot
        self.data = self.robot.model.createData()
        self.shapes = [coal_shape(x.volume.vertices, x.volume.radius) for x in model.clearance.volumes]
        self.pairs = [(int(a), int(b)) for a, b in model.clearance.model.pruning.pairs]
        self.soles = {k for group in model.clearance._soles for k in group}
        self.legs = [[body + 1 for body in limb.bodies] for limb in model.chart.limbs]
        self.contacts = [self.robot.contacts[name] for name in model.chart.names]
        self.frames = [self.robot.model.getFrameId(contact.frame) for contact in self.contacts]
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
        near = com[:2] + model.near
        if com[2] - model.world.height(near[:, 0], near[:, 1]).max() < model.least_height or not self._reaches():
            return False
        places = []
        for (_, local), volume in zip(self.shapes, model.clearance.volumes, strict=True):
            T = self.data.oMi[volume.body + 1]
            places.append(coal.Transform3s(T.rotation, T.translation) * local)
        for a, b in self.pairs:
            if self._distance(a, places, self.shapes[b][0], places[b]) < model.clearance.own_keep:
                return False
        for k, volume in enumerate(model.clearance.volumes):
            if k in self.soles:
                continue
            points = volume.volume.vertices @ self.data.oMi[volume.body + 1].rotation.T
            lowest = points[:, 2].min() + self.data.oMi[volume.body + 1].translation[2] - volume.volume.radius
            if lowest < margins.clearance:
                return False
            if any(self._distance(k, places, box, T) < margins.clearance for box, T in self.boxes):
                return False
        return True

    def _reaches(self) -> bool:
        """Whether feet are in their places, and knees bent enough."""
        for place, (_, hip, knee), contact, frame in zip(
            self.mode.feet, self.legs, self.contacts, self.frames, strict=True
        ):
            T = pin.updateFramePlacement(self.robot.model, self.data, frame).homogeneous @ contact.placement
            foot = T[:3, 3] + contact.radius * T[:3, 2]
            middle = self.data.oMi[knee].translation
            upper, lower = middle - self.data.oMi[hip].translation, foot - middle
            cosine = upper @ lower / (np.linalg.norm(upper) * np.linalg.norm(lower))
            if np.linalg.norm(foot - place) > 1e-6 or 1.0 - abs(cosine) < self.model.margins.reach:
                return False
        return True

    def _distance(self, k: int, places: list[Any], other: Any, T: Any) -> float:
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        return float(coal.distance(self.shapes[k][0], places[k], other, T, request, result))


def _plan(world: World, planner: str, seed: int, limits: Limits) -> dict[str, Any]:
    robot = load("hexapod")
    maker = StancePlanner(robot, world, single_mode=SINGLE_MODE[planner])
    maker.model.build()
    began = time.process_time()
    plan = maker.plan(np.array(robot.home), _GOAL, seed, limits)
    return _figures(maker, plan, time.process_time() - began)


def _step_sequence() -> StanceSequence:
    """The stances of one plan onto the step."""
    robot = load("hexapod")
    return StancePlanner(robot, _WORLDS["step"]).plan(np.array(robot.home), _GOAL, 0, _LIMITS).sequence()


def _follow(planner: str, sequence: StanceSequence, world: World, seed: int, limits: Limits) -> dict[str, Any]:
    with ExitStack() as stack:
        single: SingleMode = (
            SINGLE_MODE[planner]
            if planner in SINGLE_MODE
            else stack.enter_context(OmplSingleMode(OMPL_NAMES.get(planner, planner)))
        )
        maker = StancePlanner(load("hexapod"), world, single_mode=single)
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
    head = ("world", "states/s", "Pinocchio + coal", "ratio", "allowed", "verdicts compared")
    keys = ("states_per_second", "peer_states_per_second", "ratio", "allowed", "compared")
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
