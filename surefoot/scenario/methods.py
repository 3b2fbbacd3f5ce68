"""Compare constraint methods on one scenario: drift, energy, time, conditioning, agreement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.linalg

from surefoot.arrays import Array
from surefoot.dynamics import METHODS, Constraints, constrained_acceleration
from surefoot.dynamics.constraints import ConstrainedEquations, constrained_equations
from surefoot.dynamics.methods import ScaledEquations, constrained_forward, scaled_equations
from surefoot.errors import NotSupportedError, SurefootError
from surefoot.motion import Log
from surefoot.report.methods import MethodRun, MethodsComparison
from surefoot.robot import Robot
from surefoot.scenario.build import DURATION, build_simulation
from surefoot.scenario.catalogue import resolved_scenario
from surefoot.scenario.schema import Scenario
from surefoot.sim import NativeEngine, Simulation
from surefoot.sim.native import STABILISATIONS, ConstrainedMover

Progress = Callable[[float, str], None]
LONGEST = 2.0
"""How long each method runs [s], at most."""
_REFERENCE, _COMPILED = "lagrange", "auto"
_STATES = 12  # at which methods are compared by themselves
_QUICK = 0.1  # quantile of the computing times: what else a machine does only adds to them
_ROUNDING = 1e-15  # gaps below count as this, where growth is looked at


def compare_methods(
    name_or_file: str | Path, overrides: Sequence[str] = (), progress: Progress | None = None
) -> MethodsComparison:
    """Run a scenario with every method, not stabilised, and with every stabilisation.

    At some states of the first run the methods are compared by themselves: accelerations and constraint forces with
    those of the reference, and the conditioning of the matrix that they solve.

    Args:
        name_or_file: Name or file of a scenario whose robot has closed chains, couplings or held surfaces.
        overrides: Changes, `dotted.key=value`.
        progress: Called with the share that is done, 0…1, and what is being done.

    Raises:
        NotSupportedError: Nothing is tied in the scenario.
    """
    scenario = _shortened(resolved_scenario(name_or_file, overrides=overrides))
    tell = progress or (lambda share, text: None)
    names = [*(name for name in METHODS if name != _COMPILED), _COMPILED]
    total = len(names) + len(STABILISATIONS)
    first = build_simulation(_with(scenario, names[0], "none"))
    _mover(first)
    runs: list[tuple[MethodRun, Log | None]] = []
    for k, name in enumerate(names):
        tell(k / total, name)
        runs.append(_run(name, _with(scenario, name, "none")))
    log = next(log for _, log in runs if log is not None)
    found = [_compared(run, first, _some_states(log)) for run, _ in runs]
    ways = []
    for k, way in enumerate(STABILISATIONS):
        tell((len(names) + k) / total, f"stabilisation {way}")
        ways.append(_run(way, _with(scenario, scenario.simulation.method or "auto", way))[0])
    tell(1.0, "")
    return _joined(scenario, first, log, found, ways)


def _shortened(scenario: Scenario) -> Scenario:
    table = scenario.simulation
    longest = max(LONGEST, table.control_dt or table.dt)
    length = min(table.duration or DURATION, longest)
    contact = None if table.contact == "rigid" else table.contact
    changes = {"engine": "native", "duration": length, "contact": contact, "convex_pieces": False}
    return scenario.model_copy(update={"simulation": table.model_copy(update=changes)})


def _with(scenario: Scenario, method: str, stabilisation: str) -> Scenario:
    table = scenario.simulation
    keeps = stabilisation == "baumgarte" and table.stabilisation == "baumgarte"
    gains = {} if keeps else {"alpha": None, "beta": None}
    changes = {"method": method, "stabilisation": stabilisation, **gains}
    return scenario.model_copy(update={"simulation": table.model_copy(update=changes)})


def _mover(simulation: Simulation) -> ConstrainedMover:
    """The mover of a constrained robot."""
    engine = simulation.engine
    mover = engine.mover() if isinstance(engine, NativeEngine) else None
    if isinstance(mover, ConstrainedMover):
        return mover
    raise NotSupportedError(
        f"`{simulation.robot.name}` has no closed chains, couplings or held surfaces, so there is nothing to compare",
        next_step="use `four-bar`, `crank`, `delta` or `pendulum-drift`, or hold surfaces with `simulation.held`",
    )


def _run(name: str, scenario: Scenario) -> tuple[MethodRun, Log | None]:
    """One run and its results, or the reason if the method cannot do it."""
    try:
        simulation = build_simulation(scenario)
        log = simulation.run()
    except SurefootError as error:
        return MethodRun(name, trouble=error.message), None
    gap, energy = np.array(log["constraint.gap"]), np.array(log["energy.residual"])
    steps = simulation.settings.substeps
    run = MethodRun(
        name,
        gap=gap,
        energy=energy,
        gap_max=float(gap.max()),
        gap_growth=_growth(np.array(log.time), gap),
        rate_max=float(log["constraint.rate"].max()),
        energy_error_j=float(np.abs(energy).max()),
        step_s=float(np.quantile(simulation.timing()["physics"], _QUICK)) / steps,
    )
    return run, log


def _growth(time: Array, gap: Array) -> float | None:
    """The p of gap ∝ t^p, from the largest gap so far in the second half of the time."""
    so_far = np.maximum.accumulate(gap)
    late = (time > 0.5 * time[-1]) & (so_far > _ROUNDING)
    if late.sum() < 3 or np.ptp(np.log(so_far[late])) == 0.0:
        return None
    return float(np.polyfit(np.log(time[late]), np.log(so_far[late]), 1)[0])


def _some_states(log: Log) -> list[tuple[Array, Array, Array]]:
    rows = np.unique(np.linspace(0, len(log) - 1, _STATES).astype(int))
    return [(np.array(log["q"][k]), np.array(log["v"][k]), np.array(log["tau"][k])) for k in rows]


def _compared(run: MethodRun, first: Simulation, states: Sequence[tuple[Array, Array, Array]]) -> MethodRun:
    """The run with conditioning, and its differences to the reference."""
    if run.trouble:
        return run
    mover = _mover(first)
    robot, held = mover.robot, mover.constraints
    errors, conditions = [], []
    for q, v, torque in states:
        tau = np.zeros(robot.nv)
        tau[robot.driven] += torque
        best = constrained_acceleration(robot, q, v, tau, held, _REFERENCE)
        a, force = _by(run.name, robot, (q, v, tau), held)
        errors.append([_relative(a, best.a), _relative(force, best.constraint_force)])
        conditions.append(condition_of(run.name, constrained_equations(robot.tree, held, q, v, tau)))
    worst = np.max(errors, axis=0)
    known = [value for value in conditions if value is not None]
    condition = max(known, default=None)
    return replace(run, condition=condition, acceleration_error=float(worst[0]), force_error=float(worst[1]))


def _by(name: str, robot: Robot, state: tuple[Array, Array, Array], held: Constraints) -> tuple[Array, Array]:
    """Acceleration and constraint force by a method, in the engine's own form."""
    if name != _COMPILED:
        found = constrained_acceleration(robot, *state, held, name)
        return found.a, found.constraint_force
    a, multipliers = constrained_forward(robot.tree, held, *state)
    return a, held.jacobian(robot.tree, state[0]).T @ multipliers


def _relative(value: Array, reference: Array) -> float:
    return float(np.linalg.norm(value - reference) / max(float(np.linalg.norm(reference)), 1e-12))


def _joined(
    scenario: Scenario, first: Simulation, log: Log, methods: Sequence[MethodRun], ways: Sequence[MethodRun]
) -> MethodsComparison:
    mover = _mover(first)
    J = np.asarray(mover.constraints.jacobian(mover.robot.tree, mover.q))
    rank = int(np.linalg.matrix_rank(J)) if J.size else 0
    return MethodsComparison(
        scenario.name,
        first.robot.name,
        scenario.simulation.integrator or "semi_implicit",
        scenario.simulation.dt,
        first.settings.duration,
        mover.constraints.rows,
        rank,
        mover.robot.nv - rank,
        np.array(log.time),
        tuple(methods),
        tuple(ways),
        _REFERENCE,
    )


def condition_of(method: str, equations: ConstrainedEquations) -> float | None:
    """The condition number of the matrix that the method solves.

    The condition number ‖A‖ ‖A⁻¹‖ bounds by what factor rounding grows (Golub & Van Loan 2013, section 2.6). Entries
    have units, so unknowns are scaled to ones on the diagonal of M first, as the methods do. Redundant rows are
    omitted. None where it is not known (Pinocchio's), or where there are many small ones ("minimal").

    Args:
        method: Its name.
        equations: Of a state.
    """
    scaled = scaled_equations(equations)
    matrix = _matrix(method, scaled)
    return None if matrix is None else float(np.linalg.cond(matrix)) if matrix.size else 1.0


def _matrix(method: str, equations: ScaledEquations) -> Array | None:
    M, Q = equations.M, equations.Q
    match method:
        case "lagrange":
            return np.block([[M, -Q.T], [Q, np.zeros((len(Q), len(Q)))]])
        case "maggi_svd" | "maggi_qr":
            V = np.linalg.qr(Q.T, mode="complete")[0][:, len(Q) :]
            return V.T @ M @ V
        case "elimination":
            V = _eliminated(Q)
            return V.T @ M @ V
        case "aghili":
            held = Q.T @ Q
            return (np.eye(len(M)) - held) @ M + M @ held
        case "gauss" | "udwadia_kalaba":
            return Q @ np.linalg.inv(np.linalg.cholesky(M)).T
        case "range_space" | "recursive" | "iterative" | "auto":
            return Q @ np.linalg.solve(M, Q.T)
    return None


def _eliminated(Q: Array) -> Array:
    """(nv, nv - rank) motions in coordinates that are left, the others put in."""
    order = scipy.linalg.qr(Q, mode="r", pivoting=True)[1] if len(Q) else np.arange(Q.shape[1])
    dependent, free = order[: len(Q)], order[len(Q) :]
    V = np.zeros((Q.shape[1], len(free)))
    V[free], V[dependent] = np.eye(len(free)), -np.linalg.solve(Q[:, dependent], Q[:, free])
    return V
