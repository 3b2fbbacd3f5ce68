"""Controllers of receding horizons: of the whole body, or of its momentum with whole-body control below it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control.legged import LeggedBody, flat_pose
from surefoot.motion import Channel, Command, Controller, State
from surefoot.ocp import Formulation, Problem, motions
from surefoot.ocp.receding import Horizon, Mpc, Plan
from surefoot.robot import Robot
from surefoot.scenario.blame import blaming
from surefoot.scenario.schema import MpcTable

REPEAT = {"stand": None, "trot": "first pair"}
"""From which phase each gait repeats."""
_STIFFNESS, _DAMPING = 60.0, 12.0  # of the centre of mass against the plan [1/s²], [1/s]


def build_mpc(table: MpcTable, robot: Robot, q: Array) -> Controller:
    """The controller, with all its machine code.

    Args:
        table: What the scenario says.
        robot: The robot.
        q: (nq,) its first posture.
    """
    with blaming("mpc"):
        problem, intervals = mpc_problem(table, robot.replace(home=q)), max(2, round(table.horizon / table.step))
        repeat, iterations, latency = REPEAT[table.gait], table.iterations, table.latency
        if table.model == "centroidal":
            return CentroidalMpc(Horizon(problem, intervals, repeat, iterations, latency, budget_s=table.budget))
        return Mpc(problem, intervals, repeat, iterations=iterations, latency=latency, budget_s=table.budget)


def mpc_problem(table: MpcTable, robot: Robot) -> Problem:
    """The problem of a table.

    Args:
        table: What the scenario says.
        robot: The robot; it begins at home.
    """
    formulation = Formulation("inverse" if table.model == "whole_body" else "centroidal")
    if table.gait == "stand":
        return motions.stand(robot, table.step, formulation)
    return motions.trot(robot, table.speed, table.step, table.swing, formulation)


class CentroidalMpc:
    """Follows the plans of a centroidal horizon.

    At each tick of the controller the plan says which feet stand and how much each carries, where swinging feet, trunk
    and centre of mass are, and how the latter accelerates:

        c̈ = (m g + Σ f) / m + k (c* − c) + d (ċ* − ċ)        [scenario.centroidal-mpc]

    `LeggedBody` makes torques of that, within the limits of contacts and drives.

    Args:
        horizon: Of a problem with centroidal dynamics.
    """

    def __init__(self, horizon: Horizon) -> None:
        self.horizon, self.robot = horizon, horizon.problem.robot
        self.body = LeggedBody(self.robot, np.array(self.robot.home))
        self.body["com"].set_gains(0.0, 0.0)
        self._data = self.robot.model.createData()
        self._stands = [True] * len(self.body.feet)
        horizon.prepare()

    def command(self, t: float, state: State) -> Command:
        """The torques in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        q, v = np.asarray(state.q), np.asarray(state.v)
        plan = self.horizon.plan(t, q, v)
        now = t - (self.horizon.begin or 0.0)
        com, rate, poses = self.body.look(q, v)
        k, share = plan.interval(now)
        ends = [self._places(plan.x[i]) for i in (k, k + 1)]
        self._lead_feet(plan, k, share, ends, poses)
        n, mass = self.robot.nv, self.robot.mass
        momentum = plan.state(now)[n:]
        planned = (1.0 - share) * ends[0][0] + share * ends[1][0]
        push = (plan.x[k + 1][n : n + 3] - plan.x[k][n : n + 3]) / plan.step
        asked = push + _STIFFNESS * (planned - com) + _DAMPING * (momentum[:3] - rate)
        self.body["com"].acceleration[:], self.body["com"].target[:] = asked, com
        self.body.trunk.turn(float(plan.state(now)[3]))
        forces = self._normal_forces(plan, k)
        weight = mass * float(np.linalg.norm(self.robot.tree.gravity))
        self.body.share(forces / weight, np.where(self._stands, np.inf, 0.0))
        return self.body.command(t, q, v)

    def _places(self, x: Array) -> tuple[Array, list[Array]]:
        """Centre of mass and flat poses of the feet in a planned state."""
        q = np.asarray(self.horizon.problem.chart.configuration(x[: self.robot.nv]), dtype=float)
        com = np.array(pin.centerOfMass(self.robot.model, self._data, q))
        places = self.robot.placements(q)
        return com, [flat_pose(places[foot.link] @ foot.placement) for foot in self.body.feet]

    def _lead_feet(
        self, plan: Plan, k: int, share: float, ends: Sequence[tuple[Array, list[Array]]], poses: Sequence[Array]
    ) -> None:
        standing = plan.structures[k].contacts
        for i, foot in enumerate(self.body.feet):
            stands = any(name in standing for name in foot.contacts)
            if stands:
                self.body.hold(i, poses[i])
            else:
                if self._stands[i]:
                    self.body.release(i)
                change = ends[1][1][i] - ends[0][1][i]
                self.body.lead(i, ends[0][1][i] + share * change, change / plan.step, np.zeros(4))
            self._stands[i] = stands

    def _normal_forces(self, plan: Plan, k: int) -> Array:
        """Of each foot [N], as planned."""
        structure = plan.structures[k]
        wrenches, _ = structure.split_forces(plan.u[k][self.robot.nv : self.robot.nv + structure.forces])
        feet = self.body.feet
        return np.array([sum(wrenches[name][2] for name in foot.contacts if name in wrenches) for foot in feet])

    @property
    def solver_time(self) -> float:
        """Wall-clock time of the solutions of this tick [s]."""
        return self.horizon.seconds + self.body.solver_time

    @property
    def channels(self) -> Sequence[Channel]:
        """Columns of the log: how well the last tick's program was solved, and ticks without whole-body solution."""
        return (*self.horizon.channels, Channel("fallbacks", "1", None, lambda: self.body.fallbacks))
