"""Derivatives of constrained forward dynamics, from those of its equations.   [dyn.constrained-derivatives].

Along a change of the state, the equations M a + h - Jᵀ λ - tau = 0 and J a + drift = 0 stay true, so that

    M δa - Jᵀ δλ = -δ(rnea(q, v, a) - Jᵀ λ),    J δa = -δ(J a + drift)

with a and λ fixed on the right: the same equations again, with as many right sides as there are joints. Those of
`rnea` are the analytic ones; Jᵀ λ, J a and the drift are differentiated as traced, along the joints that move a
constraint. Where rows of J depend on each other, the derivatives of a hold as long as they do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import factor
from surefoot.dynamics.constraints import Baumgarte, Constraints
from surefoot.dynamics.derivatives import rnea_derivatives
from surefoot.dynamics.methods.forward import Held, anchored
from surefoot.dynamics.tree import crba, rnea
from surefoot.errors import NotSupportedError
from surefoot.kinematics import configuration_rate
from surefoot.ops import Array
from surefoot.robot import Tree


def constrained_derivatives(
    tree: Tree,
    constraints: Constraints,
    q: Array,
    v: Array,
    tau: Array,
    anchors: Array | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """∂a/∂q, ∂a/∂v, ∂a/∂τ (nv, nv) and ∂λ/∂q, ∂λ/∂v, ∂λ/∂τ (m, nv); q in the tangent space. Symbols only.

    Args:
        tree: The tree.
        constraints: The active constraints.
        q: (nq,) configuration, symbols.
        v: (nv,) velocity, symbols.
        tau: (nv,) joint forces, N m or N.
        anchors: (contacts, 3, 4) placements in world of the ends of contacts; those of the constraints if omitted.
        baumgarte: Gains that pull the state back.
    """
    if not ops.is_symbolic(q, v):
        raise NotSupportedError(
            "derivatives of constraints are traced, not computed on numbers",
            next_step="call constrained_derivatives of the kernels: k = sf.compile(robot)",
        )
    nv = len(tree.armature)
    J, drift = anchored(tree, constraints, q, v, anchors, baumgarte)
    held = Held.of(factor(tree, crba(tree, q)), J)
    a, multipliers = held.solve(tau - rnea(tree, q, v, np.zeros(nv)), drift)
    by_q, by_v, _ = rnea_derivatives(tree, q, v, a)
    force, swerve = J.T @ multipliers, J @ a + drift
    fixed = np.concatenate([a, multipliers])
    of_force, of_swerve = _by_position(tree, J, q, fixed, v, [force, swerve])
    da_dq, dl_dq = held.solve(of_force - by_q, of_swerve)
    da_dv, dl_dv = held.solve(-by_v, _by_velocity(J, v, fixed, q, drift))
    da_dtau, dl_dtau = held.solve(np.eye(nv), np.zeros((len(drift), nv)))
    return da_dq, da_dv, da_dtau, dl_dq, dl_dv, dl_dtau


def _by_position(tree: Tree, J: Array, q: Array, fixed: Array, v: Array, outputs: Sequence[Array]) -> list[Array]:
    """Derivatives of the outputs by q (…, nv), with `fixed` and v as they are."""
    out = [ops.zeros((len(x), len(tree.armature)), like=[q, *outputs]) for x in outputs]
    held = np.concatenate([fixed, v])
    for k in _moving(J):
        speeds = configuration_rate(tree, q, np.eye(len(tree.armature))[k])
        inputs, rates = np.concatenate([q, held]), np.concatenate([speeds, np.zeros(len(held))])
        for matrix, values in zip(out, outputs, strict=True):
            matrix[:, k] = ops.rate(values, inputs, rates)
    return out


def _by_velocity(J: Array, v: Array, fixed: Array, q: Array, drift: Array) -> Array:
    """∂drift/∂v (m, nv), along the joints that move a constraint."""
    out, held = ops.zeros((len(drift), len(v)), like=[J, drift]), np.concatenate([fixed, q])
    for k in _moving(J):
        rates = np.concatenate([np.eye(len(v))[k], np.zeros(len(held))])
        out[:, k] = ops.rate(drift, np.concatenate([v, held]), rates)
    return out


def _moving(J: Array) -> list[int]:
    """Degrees of freedom whose column is not exactly zero."""
    return [k for k in range(J.shape[1]) if any(ops.is_symbolic(x) or x != 0.0 for x in J[:, k])]
