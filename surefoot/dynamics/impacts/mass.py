"""The mass that a blow meets, and the effect of a blow on a standing robot.

    M_eq = 1 / (eᵀ J N Jᵀ e),    N = M⁻¹ - M⁻¹ Jcᵀ (Jc M⁻¹ Jcᵀ)⁺ Jc M⁻¹        [dyn.equivalent-mass]

with Jc of the planted feet; for a robot that floats N = M⁻¹. Nenchev & Konno 2019, (7.71)–(7.75). Their high-gear
approximation M_θ⁻¹ ≈ 0 makes the robot one rigid body, M_eq = 1 / (eᵀ J_B M_B⁻¹ J_Bᵀ e). Erratum: with planted feet
that body cannot move, and (7.75) divides by zero where table 7.11 has some 0.1 kg. Joints must give way there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.dynamics.algebra import RowBasis
from surefoot.dynamics.checked_arguments import checked_configuration, checked_frame, checked_names, checked_vector
from surefoot.dynamics.constraints import (
    Constraint,
    Constraints,
    constraints_of,
    energy_factor,
    impulses_of,
    measured_rows,
    outside,
)
from surefoot.dynamics.tree import centroidal_momentum_matrix, crba
from surefoot.errors import ShapeError, SimulationError
from surefoot.kinematics import com, frame_jacobian, frame_placement
from surefoot.kinematics.frames import frame_of
from surefoot.kinematics.recursion import dof_rows
from surefoot.robot import Robot

_STUCK = 1e-9  # share of a direction that planted feet leave free


@dataclass(frozen=True)
class Blow:
    """Effect of an impulse at a point of the robot.

    Args:
        jump: (nv,) v⁺ - v⁻.
        planted: (m,) impulses of the planted contacts on the robot, in their axes; the least where not unique.
        ground: (6,) their sum on the robot: force and moment about the world's origin, world axes [N s] and [N m s].
        rows: Names of the rows of `planted`.
    """

    jump: Array
    planted: Array
    ground: Array
    rows: tuple[str, ...]


def equivalent_mass(
    robot: Robot,
    q: ArrayLike,
    frame: str,
    direction: ArrayLike,
    planted: Sequence[Constraint] | Constraints = (),
    locked_joints: bool | Sequence[str] = False,
) -> float:
    """Impulse per change of speed of a point along a direction [kg].   [dyn.equivalent-mass].

    Infinite where the point cannot move that way: in the direction of a planted foot, or with planted feet and all
    joints locked.

    Args:
        robot: The robot.
        q: (nq,) configuration.
        frame: The point is the origin of this link, joint, frame or contact surface.
        direction: (3,) in world axes, of any length.
        planted: Planted feet, and closed chains and couplings of the robot.
        locked_joints: True: all joints but the base are stiff, as behind high gears; or the names of those that are.
    """
    struck = _Struck.of(robot, q, planted, locked_joints)
    e = checked_vector("direction", direction, 3)
    length = float(np.linalg.norm(e))
    if length == 0.0:
        raise ShapeError("the direction of a blow has zero length")
    y = struck.step(frame, e / length)
    free = outside(struck.rows, y)
    mobility = float(free @ free)
    return np.inf if mobility <= _STUCK**2 * float(y @ y) or mobility == 0.0 else 1.0 / mobility


def blow(
    robot: Robot,
    q: ArrayLike,
    frame: str,
    impulse: ArrayLike,
    planted: Sequence[Constraint] | Constraints = (),
    locked_joints: bool | Sequence[str] = False,
) -> Blow:
    """Effect of an impulse at the origin of a frame, while planted contacts keep their velocity.

    M Δv = Jᵀ I + Jcᵀ Λ, Jc Δv = 0        Nenchev & Konno 2019, (7.66)–(7.70)

    Args:
        robot: The robot.
        q: (nq,) configuration.
        frame: Link, joint, frame or contact surface that is hit.
        impulse: (3,) on the robot, world axes [N s].
        planted: Planted contacts.
        locked_joints: As in `equivalent_mass`.
    """
    struck = _Struck.of(robot, q, planted, locked_joints)
    hit = checked_vector("impulse", impulse, 3)
    y = struck.step(frame, hit)
    free = outside(struck.rows, y)
    jump = np.zeros(robot.nv)
    jump[struck.free] = np.linalg.solve(struck.C.T, free)
    point = np.asarray(frame_placement(robot.tree, frame_of(robot, frame), struck.q), dtype=float)[:3, 3]
    ground = _gained(robot, struck.q, jump) - np.concatenate([hit, np.cross(point, hit)])
    return Blow(jump, impulses_of(struck.rows, free - y), ground, struck.names)


def cop_jump(
    robot: Robot,
    q: ArrayLike,
    frame: str,
    impulse: ArrayLike,
    planted: Sequence[Constraint] | Constraints,
    about: str,
    locked_joints: bool | Sequence[str] = False,
    duration: float = 0.0,
) -> Array:
    """Centre of pressure of the planted feet during a blow (2,), from a foot, along world x and y [m].

        Δx = -m_y / f_z,  Δy = m_x / f_z        [dyn.cop-jump]   Nenchev & Konno 2019, (7.76)–(7.79)

    of the impulse (f, m) that the ground gives, about the origin of the foot. It is not bounded by the sole: outside it
    the feet would have to pull. Without a duration the forces of the blow alone count; they are taken to be large.

    Args:
        robot: The robot.
        q: (nq,) configuration.
        frame: Link, joint, frame or contact surface that is hit.
        impulse: (3,) on the robot, world axes [N s].
        planted: The feet that stay, and closed chains and couplings.
        about: The foot: link, joint, frame or contact surface.
        locked_joints: As in `equivalent_mass`; True gives the book's rigid robot.
        duration: Of the blow [s]: for so long the weight presses on the feet beside it.

    Raises:
        SimulationError: The ground gives no vertical impulse.
    """
    hit = blow(robot, q, frame, impulse, planted, locked_joints)
    if not (isinstance(duration, Real) and np.isfinite(duration) and duration >= 0.0):
        raise ShapeError("the duration of a blow must be 0 or more", evidence={"duration": duration})
    configuration, sole = checked_configuration(robot, q), checked_frame(robot, "the foot", about)
    lift = -robot.mass * duration * robot.tree.gravity
    force = hit.ground[:3] + lift
    moment = hit.ground[3:] + np.cross(np.asarray(com(robot.tree, configuration), dtype=float), lift)
    foot = np.asarray(frame_placement(robot.tree, sole, configuration), dtype=float)[:3, 3]
    moment = moment - np.cross(foot, force)
    if abs(force[2]) <= _STUCK * float(np.linalg.norm(impulse)):
        raise SimulationError(
            "the blow gives no vertical impulse to the ground, so that it has no centre of pressure",
            evidence={"ground impulse": force.tolist()},
            next_step="pass the duration of the blow, so that the weight counts too",
        )
    return np.array([-moment[1], moment[0]]) / force[2]


def gear_augmentation(robot: Robot) -> tuple[Array, Array]:
    """Inertia and damping that rigid gears add at the joints: G I G (nv,) [kg m²] and (nv,) [N m s/rad].

        M_G = M + G_a I_a G_a,   c_G = c + G_a c_a G_a θ̇        [dyn.gears]   Nenchev & Konno 2019, (7.57)–(7.60)

    (errata: (7.57) must read θ̇_a = G_a θ̇; G and G_a are one). `crba` holds the inertia already, as armature;
    `Drive.viscous_friction` is at the joint already. The rotor of an elastic gear turns on its own and adds nothing.
    """
    inertia, damping = np.zeros(robot.nv), np.zeros(robot.nv)
    for drive in robot.drives:
        rows = dof_rows(robot.tree, robot.joint_index(drive.joint))
        inertia[rows] += drive.armature
        damping[rows] += drive.viscous_friction
    return inertia, damping


@dataclass(frozen=True, eq=False)
class _Struck:
    """A robot that is about to be hit: its free degrees of freedom, their inertia, and its planted contacts."""

    robot: Robot
    q: Array
    free: NDArray[np.int64]
    C: Array
    rows: RowBasis
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        robot: Robot,
        q: ArrayLike,
        planted: Sequence[Constraint] | Constraints,
        locked_joints: bool | Sequence[str],
    ) -> _Struck:
        """The robot, with joints locked and feet planted."""
        configuration, constraints = checked_configuration(robot, q), constraints_of(robot, planted)
        free = _free_rows(robot, locked_joints)
        M = np.asarray(crba(robot.tree, configuration), dtype=float)
        J = np.asarray(constraints.jacobian(robot.tree, configuration), dtype=float)
        C = energy_factor(M[np.ix_(free, free)])
        return cls(robot, configuration, free, C, measured_rows(C, J[:, free]), constraints.rows)

    def step(self, frame: str, impulse: Array) -> Array:
        """The step (free,) in the coordinates of the energy that an impulse (3,) makes where nothing is planted."""
        point = checked_frame(self.robot, "the frame that is hit", frame)
        J = np.asarray(frame_jacobian(self.robot.tree, point, self.q), dtype=float)
        return np.asarray(np.linalg.solve(self.C, J[:3, self.free].T @ impulse))


def _free_rows(robot: Robot, locked_joints: bool | Sequence[str]) -> NDArray[np.int64]:
    """Rows of v that are not locked."""
    if locked_joints is True:
        return robot.base_rows
    locked = np.zeros(robot.nv, dtype=bool)
    for name in () if locked_joints is False else checked_names("a locked joint", locked_joints):
        locked[dof_rows(robot.tree, robot.joint_index(name))] = True
    return np.flatnonzero(~locked)


def _gained(robot: Robot, q: Array, jump: Array) -> Array:
    """The momentum (6,) that a jump gives, about the world's origin, in world axes."""
    A = np.asarray(centroidal_momentum_matrix(robot.tree, q), dtype=float)
    linear, angular = (A @ jump)[:3], (A @ jump)[3:]
    return np.concatenate([linear, angular + np.cross(np.asarray(com(robot.tree, q), dtype=float), linear)])
