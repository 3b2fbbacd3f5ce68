"""Constraints that contradict each other, told from states that are merely off them.

Rows that depend on others always disagree a little off the constraints, by products of what the state violates; methods
then meet what they agree on, in least squares. What disagrees also where the velocity keeps the constraints and the
position can be closed is a contradiction.   [dyn.contradiction]
"""

from __future__ import annotations

from surefoot.arrays import Array
from surefoot.dynamics.algebra import contradictions
from surefoot.dynamics.constraints.constraints import Constraints
from surefoot.dynamics.constraints.equations import Baumgarte
from surefoot.dynamics.constraints.projection import close, project_velocity
from surefoot.errors import ModelError
from surefoot.robot import Robot

__all__ = ["refuse_contradictions"]


def refuse_contradictions(
    robot: Robot, held: Constraints, state: tuple[Array, Array], J: Array, drift: Array, gains: Baumgarte
) -> None:
    """Refuse constraints that no motion and no position meets.   [dyn.contradiction].

    Args:
        robot: The robot.
        held: What holds.
        state: q (nq,) and v (nv,).
        J: (m, nv) of the constraints.
        drift: (m,).
        gains: That pull the state back.

    Raises:
        ModelError: The constraints contradict each other; says which, and by how much.
    """
    if not contradictions(J, drift, held.rows):
        return
    q, v = state
    kept = project_velocity(robot, held, q, v, weighted=False)
    wrong = contradictions(J, held.bias(robot.tree, q, kept), held.rows)
    if wrong:
        raise ModelError(
            f"constraints contradict each other: no acceleration meets {', '.join(f'`{name}`' for name in wrong)}",
            evidence={f"`{name}` misses by": f"{value:.6g} m/s² or rad/s²" for name, value in wrong.items()},
            next_step="take one of them away, or leave the singular configuration",
        )
    if gains.beta:
        close(robot, held, q)
