"""What can be compiled for a robot, as a table: name, inputs, outputs, and the function that is traced."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from surefoot import ops
from surefoot.dynamics import (
    base_coupling,
    centroidal_inertia,
    centroidal_momentum,
    centroidal_momentum_bias,
    centroidal_momentum_matrix,
    crba,
    forward_dynamics,
    generalized_gravity,
    joint_torque_regressor,
    kinetic_energy,
    minverse,
    nonlinear_effects,
    potential_energy,
    rnea,
)
from surefoot.dynamics.derivatives import aba_derivatives, rnea_derivatives
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.kinematics import (
    Frame,
    body_placements,
    com,
    com_bias,
    com_jacobian,
    com_velocity,
    frame_acceleration,
    frame_bias_acceleration,
    frame_jacobian,
    frame_placement,
    frame_velocity,
)
from surefoot.kinematics.frames import (
    com_velocity_derivative,
    frame_acceleration_derivatives,
    frame_classical_acceleration,
    frame_velocity_derivatives,
)
from surefoot.ops import Array
from surefoot.robot import Robot, Tree
from surefoot.spatial import se3


class RneaDerivatives(NamedTuple):
    """Derivatives of joint forces, (nv, nv) or (n, nv, nv); q in the tangent space (for a free base: its body twist).

    Args:
        dtau_dq: ∂τ/∂q.
        dtau_dv: ∂τ/∂v.
        dtau_da: ∂τ/∂a = M.
    """

    dtau_dq: Array
    dtau_dv: Array
    dtau_da: Array


class AbaDerivatives(NamedTuple):
    """Derivatives of the accelerations, each (nv, nv) or (n, nv, nv).

    Args:
        da_dq: ∂a/∂q.
        da_dv: ∂a/∂v.
        da_dtau: ∂a/∂τ = M⁻¹.
    """

    da_dq: Array
    da_dv: Array
    da_dtau: Array


class Com(NamedTuple):
    """Centre of mass.

    Args:
        position: (3,) in world [m].
        jacobian: (3, nv).
        velocity: (3,) [m/s].
        bias: (3,) J̇ v [m/s²].
    """

    position: Array
    jacobian: Array
    velocity: Array
    bias: Array


class Centroidal(NamedTuple):
    """Momentum about the centre of mass, in world axes, linear first.

    Args:
        matrix: (6, nv) centroidal momentum matrix A.
        momentum: (6,) A v.
        bias: (6,) Ȧ v.
        inertia: (6, 6) of the whole robot with locked joints.
    """

    matrix: Array
    momentum: Array
    bias: Array
    inertia: Array


class Coupling(NamedTuple):
    """How the joints of a robot with a free base move it, in base axes (Nenchev & Konno 2019, section 4.7).

    Args:
        M_B: (6, 6) inertia of the robot with locked joints, about the base.
        H_BB: (6, joints) momentum about the base at unit joint rates.
        I_C: (3, 3) the inertia about the centre of mass.
        H_C: (3, joints) angular momentum about the centre of mass at unit joint rates.
        J_omega: (3, joints) I_C⁻¹ H_C.
    """

    M_B: Array
    H_BB: Array
    I_C: Array
    H_C: Array
    J_omega: Array


class Energy(NamedTuple):
    """Energy of the robot [J].

    Args:
        kinetic: ½ vᵀ M v.
        potential: −m gᵀ c.
    """

    kinetic: Array
    potential: Array


@dataclass(frozen=True)
class Quantity:
    """A function of the state of a robot.

    Args:
        inputs: Names of the inputs: q, v, a, tau, external.
        function: function(tree, *inputs) or, for a frame, function(tree, frame, *inputs); array or tuple of arrays.
        doc: One line.
        outputs: Names of the outputs.
        result: Makes the result of several outputs.
        inverts: Whether the mass matrix must be invertible.
        reference: Whether it is measured in a choice of axes (the last argument of the function).
        optional: An input that may be omitted.
    """

    inputs: tuple[str, ...]
    function: Callable[..., Any]
    doc: str
    outputs: tuple[str, ...] = ()
    result: Callable[..., Any] | None = None
    inverts: bool = False
    reference: bool = False
    optional: str = ""

    def of_frame(self, frame: Frame, reference: str) -> Quantity:
        """The quantity of one frame, as a function of the state alone.

        Args:
            frame: The frame.
            reference: "local", "world" or "local_world_aligned".
        """
        extra = (reference,) if self.reference else ()

        def function(tree: Tree, *state: Array) -> Any:
            return self.function(tree, frame, *state, *extra)

        return replace(self, function=function, reference=False)

    def with_optional(self) -> Quantity:
        """The quantity whose optional input is given."""
        return replace(self, inputs=(*self.inputs, self.optional), optional="")


STATE_INPUTS = ("q", "v", "a", "tau", "external")


def input_shape(tree: Tree, name: str) -> tuple[int, ...]:
    """Shape of an input of one state.

    Args:
        tree: The tree.
        name: q, v, a, tau or external.
    """
    nv = len(tree.armature)
    if name == "q":
        return (sum(tree.nq_of(i) for i in range(tree.n)),)
    return (tree.n, 6) if name == "external" else (nv,)


def _com(tree: Tree, q: Array, v: Array) -> tuple[Array, ...]:
    return com(tree, q), com_jacobian(tree, q), com_velocity(tree, q, v), com_bias(tree, q, v)


def _centroidal(tree: Tree, q: Array, v: Array) -> tuple[Array, ...]:
    return (
        centroidal_momentum_matrix(tree, q),
        centroidal_momentum(tree, q, v),
        centroidal_momentum_bias(tree, q, v),
        centroidal_inertia(tree, q),
    )


def _coupling(tree: Tree, q: Array) -> tuple[Array, ...]:
    found = base_coupling(tree, q)
    return found.M_B, found.H_BB, found.I_C, found.H_C, found.J_omega


def _energy(tree: Tree, q: Array, v: Array) -> tuple[Any, Any]:
    return kinetic_energy(tree, q, v), potential_energy(tree, q)


def _placements(tree: Tree, q: Array) -> Array:
    return ops.stack([se3.make(R, p) for R, p in body_placements(tree, q)])


QUANTITIES = {
    "rnea": Quantity(("q", "v", "a"), rnea, "joint forces of an acceleration (nv,)", ("tau",), optional="external"),
    "aba": Quantity(
        ("q", "v", "tau"), forward_dynamics, "acceleration of joint forces (nv,)", ("a",), inverts=True,
        optional="external",
    ),
    "crba": Quantity(("q",), crba, "mass matrix M (nv, nv)", ("M",)),
    "nonlinear_effects": Quantity(("q", "v"), nonlinear_effects, "velocity and gravity forces h (nv,)", ("h",)),
    "generalized_gravity": Quantity(("q",), generalized_gravity, "gravity forces g (nv,)", ("g",)),
    "minverse": Quantity(("q",), minverse, "inverse mass matrix (nv, nv)", ("Minv",), inverts=True),
    "rnea_derivatives": Quantity(
        ("q", "v", "a"), rnea_derivatives, "∂τ/∂q, ∂τ/∂v, ∂τ/∂a", RneaDerivatives._fields, RneaDerivatives,
        optional="external",
    ),
    "aba_derivatives": Quantity(
        ("q", "v", "tau"), aba_derivatives, "∂a/∂q, ∂a/∂v, ∂a/∂τ", AbaDerivatives._fields, AbaDerivatives, inverts=True,
        optional="external",
    ),
    "placements": Quantity(("q",), _placements, "placements of all bodies (n, 4, 4) in world", ("T",)),
    "com": Quantity(("q",), com, "centre of mass (3,) in world", ("c",)),
    "com_jacobian": Quantity(("q",), com_jacobian, "its Jacobian (3, nv)", ("J",)),
    "com_motion": Quantity(("q", "v"), _com, "position, Jacobian, velocity and J̇ v", Com._fields, Com),
    "centroidal": Quantity(
        ("q", "v"), _centroidal, "momentum matrix, momentum, its bias and inertia about the CoM", Centroidal._fields,
        Centroidal,
    ),
    "coupling": Quantity(("q",), _coupling, "inertia and coupling matrices of a free base", Coupling._fields, Coupling),
    "com_velocity": Quantity(("q", "v"), com_velocity, "velocity of the centre of mass (3,)", ("v",)),
    "com_bias": Quantity(("q", "v"), com_bias, "J̇ v of the centre of mass (3,)", ("bias",)),
    "centroidal_momentum_matrix": Quantity(("q",), centroidal_momentum_matrix, "momentum matrix A (6, nv)", ("A",)),
    "centroidal_momentum": Quantity(("q", "v"), centroidal_momentum, "momentum about the CoM (6,)", ("h",)),
    "centroidal_momentum_bias": Quantity(("q", "v"), centroidal_momentum_bias, "Ȧ v (6,)", ("bias",)),
    "kinetic_energy": Quantity(("q", "v"), kinetic_energy, "kinetic energy [J]", ("T",)),
    "potential_energy": Quantity(("q",), potential_energy, "potential energy [J]", ("U",)),
    "com_velocity_derivative": Quantity(("q", "v"), com_velocity_derivative, "∂(ċ)/∂q of the CoM (3, nv)", ("dv_dq",)),
    "energy": Quantity(("q", "v"), _energy, "kinetic and potential energy", Energy._fields, Energy),
    "joint_torque_regressor": Quantity(("q", "v", "a"), joint_torque_regressor, "τ = Y π: Y (nv, 10 n)", ("Y",)),
}  # fmt: skip


FRAME_QUANTITIES = {
    "T": Quantity(("q",), frame_placement, "placement (4, 4) in world", ("T",)),
    "J": Quantity(("q",), frame_jacobian, "Jacobian (6, nv)", ("J",), reference=True),
    "Jdv": Quantity(("q", "v"), frame_bias_acceleration, "J̇ v (6,)", ("Jdv",), reference=True),
    "V": Quantity(("q", "v"), frame_velocity, "twist (6,)", ("V",), reference=True),
    "A": Quantity(("q", "v", "a"), frame_acceleration, "spatial acceleration (6,)", ("A",), reference=True),
    "dV": Quantity(("q", "v"), frame_velocity_derivatives, "∂V/∂q, ∂V/∂v (6, nv)", ("dq", "dv"), reference=True),
    "dA": Quantity(
        ("q", "v", "a"), frame_acceleration_derivatives, "∂A/∂q, ∂A/∂v, ∂A/∂a (6, nv)", ("dq", "dv", "da"),
        reference=True,
    ),
    "classical": Quantity(
        ("q", "v", "a"), frame_classical_acceleration, "acceleration of its point (6,)", ("classical",), reference=True
    ),
}  # fmt: skip


def own_quantity(robot: Robot, name: str, given: Any) -> tuple[Quantity, tuple[tuple[int, ...], ...]]:
    """A function of the user as a quantity, and the shapes of its inputs.

    Args:
        robot: The robot, for parameters called `tree` and `robot`.
        name: The function's name, for messages.
        given: The function, or a pair of it and a dictionary of the shapes of parameters that are not known by name.

    Raises:
        ShapeError: The shape of a parameter is not known.
        NotSupportedError: It is not a function, or it has `*args` or `**options`.
    """
    function, shapes = given if isinstance(given, tuple) else (given, {})
    if not callable(function):
        raise NotSupportedError(f"`{name}` is not a function", evidence={"given": type(function).__name__})
    parameters = inspect.signature(function).parameters
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values()):
        raise NotSupportedError(f"`{name}` takes any arguments", next_step="name its parameters one by one")
    fixed = {p: value for p, value in (("tree", robot.tree), ("robot", robot)) if p in parameters}
    inputs = tuple(p for p in parameters if p not in fixed)

    def call(tree: Tree, *state: Array) -> Any:
        return function(**fixed, **dict(zip(inputs, state, strict=True)))

    return Quantity(inputs, call, ""), tuple(_own_shape(robot, name, p, shapes) for p in inputs)


def _own_shape(robot: Robot, name: str, parameter: str, shapes: Mapping[str, Any]) -> tuple[int, ...]:
    if parameter in shapes:
        return tuple(int(x) for x in shapes[parameter])
    if parameter in STATE_INPUTS:
        return input_shape(robot.tree, parameter)
    raise ShapeError(
        f"the shape of parameter `{parameter}` of `{name}` is not known",
        next_step=f'give functions={{"{name}": (function, {{"{parameter}": (3,)}})}}',
    )
