"""`Problem`: an optimal-control problem as phases, transitions, ends, named costs and named constraints.

problem = Problem(robot, formulation=Formulation("inverse", "semi_implicit"))
problem.phase("squat", contacts=["left_foot", "right_foot"], intervals=30, duration=1.0)
problem.start(robot.home)
problem.end(robot.home)
problem.cost("torque", 1e-4)
problem.cost("com_height", 50.0, reference=lambda t: [0.8 - 0.1 * np.sin(np.pi * t)])
solution = problem.solve()
"""

from __future__ import annotations

import importlib
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot import ops
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ocp.postures import near_volumes
from surefoot.ocp.solution import Solution
from surefoot.ocp.spec import ProblemSpec
from surefoot.ocp.transcription import Transcription, stages_of, transcribe
from surefoot.solvers.staged import Progress, SolverOptions, StagedSolution, require_solver, solve_staged

_FEW = 100  # iterations after which it starts with the usual barrier parameter
_NEAR = 1e-3  # first barrier parameter where only rows were added to a problem that is solved


class Problem(ProblemSpec):
    """An optimal-control problem that can be solved; see the module and `ProblemSpec`.

    Args:
        robot: The robot.
        world: Where it moves; level ground if None.
        formulation: Dynamics, integrator and controls.
    """

    def solve(
        self,
        solver: str = "riccati",
        options: SolverOptions | None = None,
        progress: Progress | None = None,
        warm: Solution | StagedSolution | None = None,
        gauss_newton: bool = False,
    ) -> Solution:
        """Solve the problem.

        Args:
            solver: "riccati", "ipopt", "fatrop", or for small problems "sqp".
            options: Limits and settings.
            progress: Called in every iteration; a true answer stops.
            warm: An earlier solution of a problem of the same sizes, also one of `load_solution`. If it had other
                constraints, only its variables are taken over.
            gauss_newton: Whether second derivatives are those of weighted squares alone (`riccati`): robust where
                these dominate, quicker to build, without the fast end of Newton's method.
        """
        require_solver(solver, options)
        start = time.perf_counter()
        transcription = transcribe(self)
        earlier = _warm(warm, transcription)
        transcription.functions.derivatives(transcription.program.w0)
        transcription.functions.gauss_newton = gauss_newton
        program = transcription.program
        if not gauss_newton:
            program = replace(program, patterns=transcription.functions.patterns())
            transcription = replace(transcription, program=program)
        build = time.perf_counter() - start
        if earlier is not None and len(earlier.multipliers.rows) != len(program.row_lower):
            program, earlier = replace(program, w0=earlier.w), None
            transcription = replace(transcription, program=program)
        return Solution(transcription, solve_staged(program, solver, options, progress, earlier), solver, build)

    def solve_apart(
        self,
        solver: str = "riccati",
        options: SolverOptions | None = None,
        progress: Progress | None = None,
        start: Solution | None = None,
        margin: float = 0.01,
        rounds: int = 4,
    ) -> Solution:
        """Solve; keep apart the bodies that come too near to each other, and solve again until none do.

        Most pairs of bodies never meet in a motion: only those that do become constraints (`keep_apart`).

        Args:
            solver: As for `solve`.
            options: As for `solve`.
            progress: As for `solve`.
            start: Where to start, as `warm` of `solve`.
            margin: Distance to keep at the nodes [m]; between them half of it counts as apart.
            rounds: How often pairs are added at most.
        """
        if self.changes is not None and self.changes.tree is not None:
            raise NotSupportedError(
                "`solve_apart` looks for pairs on the robot as it is, without changes of its lengths"
            )
        solution = self.solve(solver, options, progress, start)
        for _ in range(rounds):
            touching = {both for pairs in near_volumes(solution, 0.5 * margin).values() for both in pairs}
            if not solution.success or not touching - self.apart:
                break
            for (a, b), pairs in near_volumes(solution, 2.0 * margin).items():
                if new := [both for both in pairs if both not in self.apart]:
                    count = sum(block.name.startswith(f"apart {a}|{b}") for block in self.blocks)
                    self.keep_volumes_apart(f"{a}|{b}" + (f" {count + 1}" if count else ""), new, margin)
            solution = self._solve_nearby(solver, options or SolverOptions(), progress, solution)
        return solution

    def _solve_nearby(
        self, solver: str, options: SolverOptions, progress: Progress | None, start: Solution
    ) -> Solution:
        """Solve from the solution of a problem with fewer rows: near its limits, or else as from a first guess."""
        few = replace(
            options, barrier=min(options.barrier or _NEAR, _NEAR), max_iterations=min(options.max_iterations, _FEW)
        )
        solution = self.solve(solver, few, progress, start)
        if solution.success or solution.staged.outcome in ("interrupted", "time limit"):
            return solution
        return self.solve(solver, replace(options, barrier=None), progress, start)

    def export_c(self, path: str | Path) -> tuple[str, ...]:
        """Write the stage functions as C code through CasADi: cost, residuals, next state and rows of (x, u, p, d).

        Args:
            path: The file, `….c`; a header is written beside it.

        Returns:
            Name of the function of each stage; `jac_NAME` is its Jacobian, as CasADi orders it.
        """
        path, stages = Path(path), stages_of(self)
        functions, names = [], dict[int, str]()
        for structure in (stage.structure for stage in stages):
            if id(structure) not in names:
                names[id(structure)] = f"stage{len(names)}"
                x, u, p, d = structure.sample(structure.slacks)
                x, u, p, d = (ops.symbols(name, len(part)) for name, part in zip("xupd", (x, u, p, d), strict=True))
                functions.append(ops.function(names[id(structure)], [x, u, p, d], list(structure.parts(x, u, p, d))))
        generator = importlib.import_module("casadi").CodeGenerator(path.name, {"with_header": True})
        for function in functions:
            generator.add(function)
            generator.add(function.jacobian())
        generator.generate(f"{path.parent}/")
        return tuple(names[id(stage.structure)] for stage in stages)


def _warm(warm: Solution | StagedSolution | None, transcription: Transcription) -> StagedSolution | None:
    if warm is None:
        return None
    earlier = warm.staged if isinstance(warm, Solution) else warm
    w = earlier.w if isinstance(earlier, StagedSolution) else np.zeros(0)
    count = transcription.program.sizes.variables
    if not isinstance(earlier, StagedSolution) or len(w) != count or not np.isfinite(w).all():
        raise ShapeError(
            "the earlier solution does not fit the problem",
            evidence={"variables": count, "given": len(w), "not finite": int((~np.isfinite(w)).sum())},
            next_step="restart from a solution of a problem with the same phases, or pass its trajectory to `guess`",
        )
    return earlier
