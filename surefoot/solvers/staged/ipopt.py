"""IPOPT through CasADi: whole-horizon callbacks on memory views. The reference, and the fallback for any coupling."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.solvers.staged.problem import StagedProblem
from surefoot.solvers.staged.solution import Iteration, Multipliers, Outcome, Progress, SolverOptions, StagedSolution
from surefoot.solvers.staged.sparse_form import SparseForm, all_constraints, constraint_bounds
from surefoot.solvers.staged.watch import TimedFunctions, Watch

_OUTCOMES: dict[str, Outcome] = {
    "Solve_Succeeded": "solved",
    "Solved_To_Acceptable_Level": "acceptable",
    "Feasible_Point_Found": "acceptable",
    "Infeasible_Problem_Detected": "infeasible",
    "Restoration_Failed": "failed",
    "Maximum_Iterations_Exceeded": "iteration limit",
    "Maximum_WallTime_Exceeded": "time limit",
    "Maximum_CpuTime_Exceeded": "time limit",
    "User_Requested_Stop": "interrupted",
    "Diverging_Iterates": "diverged",
}


def casadi_module(solver: str) -> Any:
    """CasADi, or an error that tells how to install it.

    Args:
        solver: Whoever needs it.
    """
    try:
        return importlib.import_module("casadi")
    except ImportError as error:
        raise NotSupportedError(
            f"solver `{solver}` needs CasADi, which is not installed",
            next_step="install the extra: pip install 'surefoot[casadi]', or choose the solver `riccati`",
        ) from error


def solve_ipopt(
    problem: StagedProblem, options: SolverOptions, progress: Progress | None, warm: StagedSolution | None
) -> StagedSolution:
    """Solve a staged program by IPOPT.

    Args:
        problem: The staged program.
        options: Limits and settings.
        progress: Called in every iteration.
        warm: Earlier solution to start from, in primal and dual variables.
    """
    casadi = casadi_module("ipopt")
    functions, watch = TimedFunctions(problem), Watch(options, progress)
    lower, upper = constraint_bounds(problem)
    start = {"x0": problem.w0} if warm is None else {"x0": warm.w, **_duals(warm.multipliers)}
    with watch:
        calls = _Calls(casadi, problem, functions, watch)
        solver = casadi.nlpsol("staged", "ipopt", calls.nlp, calls.options | _settings(options, warm is not None))
        found = solver(lbx=problem.lower, ubx=problem.upper, lbg=lower, ubg=upper, **start)
        if calls.error is not None:
            raise calls.error
        statistics = solver.stats()
        w, lam_g = (np.array(found[name]).ravel() for name in ("x", "lam_g"))
        gaps, rows = problem.sizes.gaps, problem.sizes.constraints - problem.sizes.end_rows
        multipliers = Multipliers(lam_g[:gaps], lam_g[gaps:rows], lam_g[rows:], np.array(found["lam_x"]).ravel())
        status = statistics["return_status"]
        outcome = watch.limit() if status == "User_Requested_Stop" else None
        outcome = outcome or _OUTCOMES.get(status, "failed")
        return StagedSolution(
            success=outcome == "solved",
            outcome=outcome,
            w=w,
            multipliers=multipliers,
            cost=float(found["f"]),
            iterations=int(statistics["iter_count"]),
            kkt_residual=np.nan,
            message=f"IPOPT: {status.replace('_', ' ').lower()}",
            table=_table(statistics.get("iterations", {})),
            seconds=watch.seconds(functions),
        )


def _duals(multipliers: Multipliers) -> dict[str, Array]:
    m = multipliers
    return {"lam_x0": m.bounds, "lam_g0": np.concatenate([m.gaps, m.rows, m.end_rows])}


def _settings(options: SolverOptions, warm: bool) -> dict[str, Any]:
    limit = {} if np.isinf(options.max_seconds) else {"max_wall_time": options.max_seconds}
    barrier = options.barrier if options.barrier is not None else (1e-4 if warm else 0.1)
    restart = {"warm_start_init_point": "yes", "warm_start_bound_push": 1e-6, "warm_start_mult_bound_push": 1e-6}
    ipopt = {
        "tol": options.tolerance,
        "max_iter": options.max_iterations,
        "print_level": 0,
        "sb": "yes",
        "option_file_name": "",  # else `ipopt.opt` of the working folder, which may load libraries and write files
        "mu_init": barrier,
        **limit,
        **(restart if warm else {}),
    }
    return {"ipopt": ipopt, "print_time": False}


def _table(columns: dict[str, Sequence[float]]) -> tuple[Iteration, ...]:
    names = ("obj", "inf_pr", "inf_du", "mu", "d_norm", "regularization_size", "alpha_pr", "alpha_du")
    rows = np.array([columns.get(name, ()) for name in names], dtype=float).T.tolist()
    return tuple(Iteration(k, f, *rest[:7]) for k, (f, *rest) in enumerate(rows))


class _Calls:
    """The callbacks that IPOPT makes. An error inside is kept and ends the solve: it cannot cross native code."""

    def __init__(self, casadi: Any, problem: StagedProblem, functions: TimedFunctions, watch: Watch) -> None:
        self._casadi, self._problem, self._functions, self._watch = casadi, problem, functions, watch
        self._form = SparseForm(problem)
        self.error: BaseException | None = None
        form, n, m = self._form, problem.sizes.variables, problem.sizes.constraints
        dense, triplet = casadi.Sparsity.dense, casadi.Sparsity.triplet
        x, p, g = dense(n), dense(0, 1), dense(m)
        jacobian = triplet(m, n, form.jacobian_rows.tolist(), form.jacobian_columns.tolist())
        hessian = triplet(n, n, form.hessian_rows.tolist(), form.hessian_columns.tolist())
        one, free = dense(1), {"x": x, "p": p}
        self.nlp = self._callback("nlp", free, {"f": one, "g": g}, self._values)
        self.options = {
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "grad_f": self._callback("grad_f", free, {"f": one, "grad_f_x": x}, self._gradient),
            "jac_g": self._callback("jac_g", free, {"g": g, "jac_g_x": jacobian}, self._jacobian),
            "hess_lag": self._callback(
                "hess_lag", free | {"lam_f": one, "lam_g": g}, {"hess_gamma_x_x": hessian}, self._hessian
            ),
            "iteration_callback": self._callback(
                "each",
                {"x": x, "f": one, "g": g, "lam_x": x, "lam_g": g, "lam_p": p},
                {"ret": one},
                self._iteration,
            ),
        }

    def _callback(self, name: str, inputs: dict[str, Any], outputs: dict[str, Any], call: Callable) -> Any:
        return _callback_type(self._casadi)(name, inputs, outputs, self._guarded(call))

    def _guarded(self, call: Callable) -> Callable[[list, list], int]:
        def guarded(arguments: list, results: list) -> int:
            if self.error is not None:
                return 1
            try:
                call([_view(a) for a in arguments], [_view(r) for r in results])
            except BaseException as error:  # noqa: BLE001  raised again after the solve
                self.error, self._watch.stopped = error, True
                return 1
            return 0

        return guarded

    def _values(self, arguments: list[Array], results: list[Array]) -> None:
        values = self._functions.values(arguments[0])
        results[0][:] = values.cost
        if len(results[1]):
            results[1][:] = all_constraints(values)

    def _gradient(self, arguments: list[Array], results: list[Array]) -> None:
        if len(results[0]):
            results[0][:] = self._functions.values(arguments[0]).cost
        if len(results[1]):
            results[1][:] = self._functions.derivatives(arguments[0]).gradient

    def _jacobian(self, arguments: list[Array], results: list[Array]) -> None:
        if len(results[0]):
            results[0][:] = all_constraints(self._functions.values(arguments[0]))
        if len(results[1]):
            results[1][:] = self._form.jacobian(self._functions.derivatives(arguments[0]))

    def _hessian(self, arguments: list[Array], results: list[Array]) -> None:
        w, _, cost, lam = arguments
        gaps, rows = self._problem.sizes.gaps, self._problem.sizes.constraints - self._problem.sizes.end_rows
        parts = self._functions.hessian(w, float(cost[0]), lam[:gaps], lam[gaps:rows], lam[rows:])
        results[0][:] = self._form.hessian(*parts)

    def _iteration(self, arguments: list[Array], results: list[Array]) -> None:
        _, f, g, *_ = arguments
        lower, upper = constraint_bounds(self._problem)
        worst = float(np.maximum(lower - g, g - upper).max(initial=0.0))
        unknown = (np.nan,) * 6  # CasADi reports these at the end
        self._watch.note(Iteration(len(self._watch.table), float(f[0]), worst, *unknown))
        results[0][:] = float(self._watch.stopped)


def _view(memory: Any) -> Array:
    return np.zeros(0) if memory is None or not len(memory) else np.frombuffer(memory, dtype=float)


def _callback_type(casadi: Any) -> Any:
    """CasADi's callback over a plain function; made here because CasADi is optional."""

    class Callback(casadi.Callback):
        def __init__(self, name: str, inputs: dict[str, Any], outputs: dict[str, Any], call: Callable) -> None:
            casadi.Callback.__init__(self)
            self._inputs, self._outputs, self._call = list(inputs.items()), list(outputs.items()), call
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(self._inputs)

        def get_n_out(self) -> int:
            return len(self._outputs)

        def get_name_in(self, k: int) -> str:
            return self._inputs[k][0]

        def get_name_out(self, k: int) -> str:
            return self._outputs[k][0]

        def get_sparsity_in(self, k: int) -> Any:
            return self._inputs[k][1]

        def get_sparsity_out(self, k: int) -> Any:
            return self._outputs[k][1]

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, arguments: list, results: list) -> int:
            return self._call(arguments, results)

    return Callback
