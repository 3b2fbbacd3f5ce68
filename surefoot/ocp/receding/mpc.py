"""`Mpc`: a controller that solves its optimal-control problem again and again, and uses its gains between."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.motion import Channel, Command, State
from surefoot.ocp.postures import stage_kernels
from surefoot.ocp.receding.horizon import BARRIER, Horizon, Plan
from surefoot.ocp.spec import ProblemSpec


class Mpc:
    """Whole-body control by a receding horizon.

    Every interval of the problem the window ahead is solved from the measured state (`Horizon`). Between, the
    accelerations and contact wrenches of the plan follow the state by the gains K of the last factorisation, and
    inverse dynamics makes torques of them:

        u = u* + s K (x − x*(t)),     τ = ID(x, u)        [ocp.mpc]

    with the largest s ≤ 1 for which the limits of forces and torques hold that hold without feedback.

    Args:
        problem: By direct inverse dynamics or forward dynamics; see `Tape` for what it may have.
        intervals: Length of the horizon.
        repeat: Phase from which the motion repeats; None: it goes on as it ends.
        iterations: Newton steps a tick.
        latency: Time after which a plan is used: what the computer needs for it [s].
        barrier: Barrier parameter; larger ones keep farther from limits.
        gauss_newton: Whether second derivatives are those of weighted squares alone: quicker to build and to evaluate,
            and never negative; exact ones need damping far from the plan.
        budget_s: CPU time of a tick [s]; None: any. No Newton step is begun that would exceed it if it took as long
            as the one before; a plan that exceeds it nevertheless is late: the one before is kept for an interval more.
        clock: CPU time of the process [s].
    """

    def __init__(
        self,
        problem: ProblemSpec,
        intervals: int = 20,
        repeat: str | None = None,
        *,
        iterations: int = 1,
        latency: float = 0.0,
        barrier: float = BARRIER,
        gauss_newton: bool = True,
        budget_s: float | None = None,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        if problem.formulation.dynamics == "centroidal":
            raise NotSupportedError(
                "centroidal dynamics has no torques",
                next_step='put a whole-body controller below it (scenario "mpc-trot"), or use dynamics="inverse"',
            )
        self.robot = problem.robot
        self.horizon = Horizon(problem, intervals, repeat, iterations, latency, barrier, gauss_newton, budget_s, clock)
        self.horizon.prepare()
        self._limits = np.array([drive.torque_limit for drive in problem.robot.drives])

    def command(self, t: float, state: State) -> Command:
        """The torques in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        q, v = np.asarray(state.q), np.asarray(state.v)
        plan = self.horizon.plan(t, q, v)
        tau = self._torques(plan, t - (self.horizon.begin or 0.0), self.horizon.state(q, v))
        return Command(torque=np.clip(tau, -self._limits, self._limits))

    def _torques(self, plan: Plan, t: float, x: Array) -> Array:
        k, _ = plan.interval(t)
        kernels, planned, d = stage_kernels(plan.structures[k]), plan.control(t), plan.data[k][None]
        change, rows, p = plan.control(t, x) - planned, plan.rows[k], np.full((1, 1), plan.step)
        values = [kernels.values(x[None], u[None], p, d)[0, rows.places] for u in (planned, planned + change)]
        u = planned + rows.share(*values) * change
        return np.asarray(kernels.node(x[None], u[None], p, d)[3])[0]

    @property
    def solver_time(self) -> float:
        """Wall-clock time of the solution of this tick, zero between [s]."""
        return self.horizon.seconds

    @property
    def channels(self) -> Sequence[Channel]:
        """Columns of the log: how well the last tick's program was solved."""
        return self.horizon.channels
