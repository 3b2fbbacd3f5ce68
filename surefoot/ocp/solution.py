"""`Solution`: the motion that a solver found, its multipliers and gains, and a file to restart from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from surefoot.arrays import Array, finite_array
from surefoot.errors import FileFormatError
from surefoot.files import atomic_write, parse_json
from surefoot.motion import ContactSchedule, Spot, Stance, Trajectory
from surefoot.motion.files import read_npz
from surefoot.ocp.centroidal import whole_body_motion
from surefoot.ocp.spec import ProblemSpec
from surefoot.ocp.transcription import Transcription, transcribe_stages
from surefoot.robot import Tree
from surefoot.solvers import Explanation, UnsolvedError
from surefoot.solvers.staged import Gains, Multipliers, Outcome, StagedSolution, explain_conflict
from surefoot.words import listed

FORMAT = "surefoot.ocp.solution/1"


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """What a solve ended with, good or bad.

    Args:
        transcription: The program that was solved.
        staged: The solver's answer.
        solver: Its name.
        build_time: Seconds to transcribe, and to compile or load the kernels.
    """

    transcription: Transcription
    staged: StagedSolution
    solver: str
    build_time: float

    def __repr__(self) -> str:
        return (
            f"Solution({self.staged.outcome}, {self.solver}: {self.iterations} iterations, cost {self.objective:.6g})"
        )

    @property
    def success(self) -> bool:
        """Whether the solver converged."""
        return self.staged.success

    @property
    def iterations(self) -> int:
        """Newton steps."""
        return self.staged.iterations

    @property
    def objective(self) -> float:
        """Cost."""
        return self.staged.cost

    @property
    def multipliers(self) -> Multipliers:
        """Of all constraints."""
        return self.staged.multipliers

    @property
    def gains(self) -> Gains | None:
        """Feedback, if the solver has it."""
        return self.staged.gains

    @property
    def problem(self) -> ProblemSpec:
        """The problem."""
        return self.transcription.problem

    @cached_property
    def durations(self) -> dict[str, float]:
        """Phase → duration [s]."""
        pairs = zip(self.problem.phases, self.transcription.durations, strict=True)
        return {p.name: p.duration[1] if at is None else float(self.staged.w[at]) for p, at in pairs}

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Free parameters."""
        names = list(self.problem.parameters)
        return dict(zip(names, self.staged.w[len(self.staged.w) - len(names) :].tolist(), strict=True)) if names else {}

    @cached_property
    def sensitivities(self) -> dict[str, float]:
        """Parameter → by how much the least cost grows for each unit by which its value, or active bound, does."""
        names = list(self.problem.parameters)
        found = -self.multipliers.bounds[len(self.staged.w) - len(names) :]
        return dict(zip(names, found.tolist(), strict=True))

    @property
    def tree(self) -> Tree:
        """The robot's tree, with the parameters that were found in it (`problem.design`)."""
        changes, tree = self.problem.changes, self.problem.robot.tree
        return tree if changes is None or changes.tree is None else changes.tree(tree, self.parameters)

    @cached_property
    def times(self) -> Array:
        """When each stage begins [s]; an impact at the time of the stage after it."""
        lengths = list(self.durations.values())
        steps = [lengths[s.phase] * s.share for s in self.transcription.stages]
        return np.concatenate([[0.0], np.cumsum(steps)[:-1]])

    @cached_property
    def nodes(self) -> dict[str, Array]:
        """Per stage: q, v, a, tau, and wrenches of all contacts of the robot (stages, contacts, 6)."""
        robot, count = self.problem.robot, len(self.transcription.stages)
        names = list(robot.contacts)
        found = {"q": np.zeros((count, robot.nq)), "v": np.zeros((count, robot.nv)), "a": np.zeros((count, robot.nv))}
        found |= {"tau": np.zeros((count, robot.nu)), "wrenches": np.zeros((count, len(names), 6))}
        functions = self.transcription.functions
        for batch, kernels in functions.batches:
            q, v, a, tau, wrenches = kernels.node(*functions.arguments(self.staged.w, batch, kernels))
            for key, value in (("q", q), ("v", v), ("a", a), ("tau", tau)):
                found[key][batch.stages] = value
            for i, name in enumerate(batch.structure.contacts):
                found["wrenches"][batch.stages, names.index(name)] = wrenches[:, i]
        return found

    @cached_property
    def trajectory(self) -> Trajectory:
        """The motion at the nodes, with torques, wrenches and contact schedule."""
        problem, stages, nodes = self.problem, self.transcription.stages, self.nodes
        keep = [k for k, stage in enumerate(stages) if stage.structure.kind != "impact"]
        rows = list(keep)
        if problem.formulation.control == "constant":
            rows[-1] = keep[-2]  # inputs of the last interval hold until its end
        wrenches = {name: nodes["wrenches"][rows, i] for i, name in enumerate(problem.robot.contacts)}
        touched = {name for phase in problem.phases for name in phase.contacts}
        q, v, a, tau = nodes["q"][keep], nodes["v"][keep], nodes["a"][rows], nodes["tau"][rows]
        if problem.formulation.dynamics == "centroidal":
            v, a, tau = whole_body_motion(problem.robot, self.times[keep], q, v, wrenches)
        return Trajectory.of(
            problem.robot,
            self.times[keep],
            q,
            v,
            a=a,
            tau=tau if problem.robot.nu else None,
            wrenches={name: wrench for name, wrench in wrenches.items() if name in touched},
            schedule=self._schedule(),
            control="hold" if problem.formulation.control == "constant" else "linear",
        )

    def _schedule(self) -> ContactSchedule:
        """Contacts over time, where they are in the first node of their phase."""
        problem, stages = self.problem, self.transcription.stages
        stances, times = [], [0.0]
        for number, phase in enumerate(problem.phases):
            first = next(k for k, s in enumerate(stages) if s.phase == number and s.structure.kind == "interval")
            places = problem.robot.placements(self.nodes["q"][first])
            spots = {}
            for name in phase.contacts:
                surface = problem.robot.contacts[name]
                friction = surface.friction if phase.friction is None else phase.friction
                pose = places[surface.frame] @ surface.placement
                if surface.kind == "point":  # a foot that rolls stands on ground that does not
                    pose[:3, :3] = phase.spots[name][:3, :3]
                spots[name] = Spot(pose, friction)
            stances.append(Stance(spots))
            times.append(times[-1] + self.durations[phase.name])
        return ContactSchedule.of(stances, times)

    def feedback(self) -> Callable[[float, Array, Array], Array] | None:
        """Function of (t, q, v): forces of the drives (nu,) to add to those of the plan; None without gains on forces.

        The solver's gains answer to errors of the coordinates and their rates, and are held over an interval.
        """
        if self.gains is None or self.problem.formulation.dynamics != "forward":
            return None
        n, chart, times = self.problem.robot.nv, self.problem.chart, self.times[:-1]
        K = np.array([gain[: self.problem.robot.nu, : 2 * n] for gain in self.gains.feedback[:-1]])
        motion = self.trajectory

        def feedback(t: float, q: Array, v: Array) -> Array:
            at = float(np.clip(t, motion.start, motion.end))
            now = motion.sample(at)
            y, planned = chart.coordinates(q), chart.coordinates(now.q)
            error = np.r_[y - planned, chart.rates(y, v) - chart.rates(planned, np.asarray(now.v))]
            return np.asarray(K[int(np.searchsorted(times, at, side="right")) - 1] @ error)

        return feedback

    def explain(self) -> Explanation:
        """Which limits conflict in which phase where no solution was found, and the least that they must yield.

        Raises:
            UnsolvedError: Rounding leaves it open; `trouble` lists the rows that are violated most.
        """
        return self._explanation

    @cached_property
    def _explanation(self) -> Explanation:
        problem, own = copy(self.problem), self.transcription  # in which fixed durations may yield, too
        problem.phases = [
            replace(phase, duration=(low, guess, max(high, low * (1.0 + 1e-9))))
            for phase, (low, guess, high) in ((phase, phase.duration) for phase in problem.phases)
        ]
        t, stages = transcribe_stages(problem, own.stages), self.staged.w[: own.program.sizes.starts[-1]]
        w = np.concatenate([stages, list(self.durations.values()), list(self.parameters.values())])
        return explain_conflict(t.program, w, _limit_of_row, lambda k: t.name_of_bound(k, joint=False), _unit_of)

    @cached_property
    def trouble(self) -> str | None:
        """Why there is no solution: the limits that conflict, or what is violated most; None after success."""
        if self.success:
            return None
        if lost := self._undefined():
            return f"the solver did not converge: not finite where it stopped: {listed(lost)}"
        text = f"the solver did not converge: {self.staged.message or self.staged.outcome}"
        if self.staged.outcome in ("infeasible", "failed"):
            with suppress(UnsolvedError):
                if not (conflict := self.explain()).feasible:
                    return f"{text}. {conflict.sentence}"
        names = (name.partition(" of stage ")[0] for name in self.staged.violated)
        violated = dict.fromkeys(_limit_of_row(name) if " @ " in name else "dynamics" for name in names)
        return f"{text}. Violated most: {listed(list(violated))}" if violated else text

    def _undefined(self) -> list[str]:
        """Blocks and phases whose values or derivatives are not finite where the solver ended."""
        phases, stages = self.problem.phases, self.transcription.stages
        lost = self.transcription.functions.undefined(self.staged.w)
        return list(dict.fromkeys(f"{name} @ {phases[stages[k].phase].name}" for name, k in lost))

    def metrics(self) -> dict[str, Any]:
        """Figures for `metrics.json`."""
        return {
            "converged": self.success,
            "iterations": self.iterations,
            "kkt_residual": self.staged.kkt_residual,
            "solve_time_s": self.staged.seconds.total,
            "build_time_s": self.build_time,
            "objective": self.objective,
            "variables": self.transcription.program.sizes.variables,
            "constraints": self.transcription.constraints,
        }

    def save(self, path: str | Path) -> None:
        """Write the solution to an `.npz` file, whole or not at all; `load_solution` restarts from it."""
        m = self.multipliers
        arrays = {"w": self.staged.w, "gaps": m.gaps, "rows": m.rows, "end_rows": m.end_rows, "bounds": m.bounds}
        heading = {"format": FORMAT, "robot": self.problem.robot.name, "solver": self.solver, **self.metrics()}
        heading |= {
            "outcome": self.staged.outcome,
            "formulation": str(self.problem.formulation),
            "durations": self.durations,
            "parameters": self.parameters,
        }
        with atomic_write(path) as partial, partial.open("wb") as stream:
            everything: dict[str, Any] = {"times": self.times, **arrays, **self.nodes}
            np.savez_compressed(stream, heading=np.array(json.dumps(heading)), **everything)


def group_of_row(name: str) -> str:
    """Limit and phase of a row: "cone left_foot @ push"."""
    head, _, phase = name.partition(" @ ")
    return f"{head.partition('[')[0]} @ {phase}"


_LAWS = ("motion", "contact", "loops", "momentum", "impact")


def _limit_of_row(name: str) -> str:
    """Limit and phase of a row; equations of motion and contacts that hold are "dynamics", cones are one limit."""
    kind = name.partition("[")[0].partition(" ")[0]
    if kind in _LAWS:
        return "dynamics"
    return f"cones of contacts @ {name.partition(' @ ')[2]}" if kind == "cone" else group_of_row(name)


def _unit_of(group: str) -> str:
    """Of rows and bounds, where all of a group have the same."""
    known = {"torque limit": "of the limit", "torque-speed limit": "of the limit", "duration": "s"}
    return next((unit for name, unit in known.items() if group.startswith(name)), "")


def _outcome(given: str) -> Outcome:
    if given not in get_args(Outcome):
        raise ValueError(f"there is no outcome `{given}`")
    return cast(Outcome, given)


def load_solution(path: str | Path) -> tuple[StagedSolution, Mapping[str, Any]]:
    """Read what `Solution.save` wrote: variables and multipliers to restart from (`warm=`), and its heading.

    Args:
        path: The file.

    Raises:
        FileFormatError: It is not such a file.
    """
    data = read_npz(path)
    try:
        heading = parse_json(str(data["heading"]), path)
        if heading.get("format") != FORMAT:
            raise FileFormatError("has another format", file=path, evidence={"format": heading.get("format")})
        w, *rows = (finite_array(data[name], (None,), name) for name in ("w", "gaps", "rows", "end_rows", "bounds"))
        found = StagedSolution(
            bool(heading["converged"]), _outcome(heading["outcome"]), w, Multipliers(*rows),
            float(heading["objective"]), int(heading["iterations"]), float(heading["kkt_residual"]), "",
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise FileFormatError("is not a solution of optimal control", file=path, evidence={"reason": error}) from error
    return found, heading
