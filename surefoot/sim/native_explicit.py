"""How stiff drives may be under explicit steps.

For small motions of the driven joints under their springs alone, with W the inverse of the mass matrix,

    d/dt [e, ė] = [[0, E], [−W kp, −W kd]] [e, ė]

and a step of Runge & Kutta's method multiplies a mode of eigenvalue λ by R(hλ), R(z) = 1 + z + z²/2 + z³/6 + z⁴/24:
where |R| > 1 it grows without end.        [sim.explicit-springs]   Hairer & Wanner 1996 §IV.2
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot

__all__ = ["require_stable"]

_SURE = 2.5  # |hλ| up to which damped modes do not grow
_ROUNDING = 1e-9


def require_stable(robot: Robot, inverse_mass: Array, kp: Array, kd: Array, dt: float) -> None:
    """Refuse gains under which a step of `rk4` diverges.

    Args:
        robot: The robot.
        inverse_mass: (nv, nv) M⁻¹ in the configuration now.
        kp: (nu,) [N m/rad] or [N/m].
        kd: (nu,) [N m s/rad] or [N s/m].
        dt: Step [s].

    Raises:
        NotSupportedError: A mode of the drives would grow.
    """
    rates, modes = _modes(inverse_mass[np.ix_(robot.driven, robot.driven)], kp, kd)
    z = dt * rates
    growth = np.abs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0))))
    if not len(z) or growth.max() <= 1.0 + _ROUNDING:
        return
    worst = int(np.argmax(growth))
    names = [drive.joint for drive in robot.drives for _ in range(robot.tree.nv_of(robot.joint_index(drive.joint)))]
    raise NotSupportedError(
        f'the drives of `{robot.name}` are too stiff for integrator="rk4", which takes springs and dampers explicitly',
        evidence={
            "joint": names[int(np.argmax(np.abs(modes[len(kp) :, worst])))],
            "grows in a step by": float(growth[worst]),
            "dt": dt,
        },
        next_step=f'use integrator="semi_implicit", dt ≤ {_SURE / np.abs(rates).max():.1g}, or lower gains',
    )


def _modes(W: Array, kp: Array, kd: Array) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Eigenvalues (2 nu,) [1/s] and eigenvectors of joints under their springs."""
    n = len(kp)
    system = np.block([[np.zeros((n, n)), np.eye(n)], [-W * kp, -W * kd]])
    rates, modes = np.linalg.eig(system)
    return rates.astype(complex), modes.astype(complex)
