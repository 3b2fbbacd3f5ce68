"""Every compiled quantity against Pinocchio: eight robots with 100 states; all robots with `make test-full`."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin
import pytest

from surefoot.compiler import KernelSet, compile_robot
from surefoot.compiler.quantities import FRAME_QUANTITIES, QUANTITIES
from surefoot.errors import ModelError
from surefoot.kinematics import REFERENCES
from surefoot.robot import Robot
from tests.kinematics.examples import REFERENCE_OF_PINOCCHIO, full_configuration, widened
from tests.whole_zoo import WHOLE_ZOO

from .examples import States, robot_named, states

NOT_READ = {"cassie"}  # Pinocchio does not read its file
SINGULAR = {"romeo", "bravo7_gripper", "falcon_bravo7_gripper", "bluevolta_bravo7_gripper"}  # massless fingers
NINE = [
    "biped",
    "ur5",
    "all kinds",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("anymal", "talos", "panda", "hexapod", "coil:8", "g1")),
]
LONG = ["aba_derivatives", "joint_torque_regressor", "minverse"]  # to compile, for robots with many joints
SHORT = ["rnea", "rnea external", "aba", "crba", "placements", "com_motion", "energy"]
EPS = np.finfo(float).eps
Expected = dict[str, tuple[np.ndarray, ...]]


def full(upper: np.ndarray) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T


# --- Pinocchio, one state at a time


def of_state(robot: Robot, q, v, a, tau, F) -> Expected:
    """Every quantity, with wrenches where they are an option."""
    model, data = robot.model, robot.model.createData()
    forces = [pin.Force.Zero(), *(pin.Force(f) for f in F)]
    found = {
        "rnea": (pin.rnea(model, data, q, v, a),),
        "rnea external": (pin.rnea(model, data, q, v, a, forces),),
        "crba": (full(pin.crba(model, data, q)),),
        "nonlinear_effects": (pin.nle(model, data, q, v),),
        "generalized_gravity": (pin.computeGeneralizedGravity(model, data, q),),
        "rnea_derivatives": tuple(x.copy() for x in pin.computeRNEADerivatives(model, data, q, v, a)),
        "rnea_derivatives external": tuple(x.copy() for x in pin.computeRNEADerivatives(model, data, q, v, a, forces)),
        "joint_torque_regressor": (pin.computeJointTorqueRegressor(model, data, q, v, a).reshape(robot.nv, -1),),
    }
    return {name: tuple(np.array(x) for x in arrays) for name, arrays in found.items()} | of_motion(robot, q, v)


def of_motion(robot: Robot, q, v) -> Expected:
    """Placements, centre of mass, momentum, energy."""
    model, data = robot.model, robot.model.createData()
    position = pin.centerOfMass(model, data, q, v, 0.0 * v).copy()
    velocity, bias = data.vcom[0].copy(), data.acom[0].copy()
    jacobian = pin.jacobianCenterOfMass(model, data, q).reshape(3, -1).copy()
    placements = np.stack([M.homogeneous for M in list(data.oMi)[1:]])
    pin.ccrba(model, data, q, v)
    inertia = data.Ig.matrix().copy()
    pin.dccrba(model, data, q, v)
    momentum = data.Ag.reshape(6, -1).copy(), data.hg.vector.copy(), data.dAg.reshape(6, -1) @ v, inertia
    potential = np.array(pin.computePotentialEnergy(model, data, q))
    kinetic = np.array(0.5 * v @ full(pin.crba(model, data, q)) @ v)  # Pinocchio forgets armatures of skew hinges
    return {
        "placements": (placements,), "com": (position,), "com_jacobian": (jacobian,),
        "com_motion": (position, jacobian, velocity, bias), "centroidal": momentum, "energy": (kinetic, potential),
    }  # fmt: skip


def of_inverse(robot: Robot, q, v, a, tau, F) -> Expected:
    """What needs the inverse of the mass matrix."""
    model, data = robot.model, robot.model.createData()
    forces = [pin.Force.Zero(), *(pin.Force(f) for f in F)]
    out = {"aba": (pin.aba(model, data, q, v, tau).copy(),), "aba external": (pin.aba(model, data, q, v, tau, forces),)}
    out["minverse"] = (full(pin.computeMinverse(model, data, q)),)
    for name, extra in (("aba_derivatives", ()), ("aba_derivatives external", (forces,))):
        da_dq, da_dv, da_dtau = pin.computeABADerivatives(model, data, q, v, tau, *extra)
        out[name] = da_dq.copy(), da_dv.copy(), full(da_dtau)
    return {name: tuple(np.array(x) for x in arrays) for name, arrays in out.items()}


def by_pinocchio(robot: Robot, given: States, invertible: bool = True) -> Expected:
    """Everything, stacked over the states."""
    each = [of_state(robot, *row) | (of_inverse(robot, *row) if invertible else {}) for row in zip(*given, strict=True)]
    return {name: tuple(np.stack(x) for x in zip(*(one[name] for one in each), strict=True)) for name in each[0]}


# --- comparison


def assert_rows_same(found, expected, tolerance, what: str) -> None:
    """Normwise in every row."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape, what
    n = len(found)
    wrong = np.abs(found - expected).reshape(n, -1).max(axis=1, initial=0.0)
    size = np.maximum(1.0, np.abs(expected).reshape(n, -1).max(axis=1, initial=0.0))
    assert (wrong <= tolerance * size).all(), f"{what}: {np.max(wrong / size / tolerance):.3g} times the tolerance"


def outputs(result) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)


def call(kernels: KernelSet, name: str, given: States, **options):
    """A kernel on states; "rnea external" with wrenches."""
    plain, _, extra = name.partition(" ")
    kernel = getattr(kernels, plain)
    inputs = [*kernel.recipe.inputs, *([extra] if extra else [])]
    return outputs(kernel(**{x: getattr(given, x) for x in inputs}, **options))


def check(kernels: KernelSet, given: States, expected: Expected, tolerance: float = 1e-12) -> None:
    """Batches, on one thread and on two."""
    condition = np.linalg.cond(expected["crba"][0])
    for name, right in expected.items():
        inverts = QUANTITIES[name.split()[0]].inverts
        found = call(kernels, name, given)
        for ours, threaded, theirs in zip(found, call(kernels, name, given, threads=2), right, strict=True):
            assert_rows_same(ours, theirs, 20 * EPS * condition if inverts else tolerance, name)
            assert (ours == threaded).all(), name


def check_single(kernels: KernelSet, given: States, names) -> None:
    """One state per call gives the bits of the batch."""
    for name in names:
        batch = call(kernels, name, given)
        for k in (0, len(given.q) - 1):
            one = call(kernels, name, States(*(x[k] for x in given)))
            for ours, theirs in zip(one, batch, strict=True):
                assert (ours == theirs[k]).all(), name


def check_frame(kernels: KernelSet, given: States, name: str, references) -> None:
    robot, wanted = kernels.robot, {}
    for k in range(len(given.q)):
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, given.q[k], given.v[k], given.a[k])
        pin.computeJointJacobians(robot.model, data)
        pin.updateFramePlacements(robot.model, data)
        pin.computeJointJacobiansTimeVariation(robot.model, data, given.q[k], given.v[k])
        for reference in references:
            where = robot.frame_id(name), REFERENCE_OF_PINOCCHIO[reference]
            one = {
                "T": data.oMf[where[0]].homogeneous,
                "J": pin.getFrameJacobian(robot.model, data, *where).reshape(6, -1),
                "V": pin.getFrameVelocity(robot.model, data, *where).vector,
                "A": pin.getFrameAcceleration(robot.model, data, *where).vector,
                "classical": pin.getFrameClassicalAcceleration(robot.model, data, *where).vector,
                "Jdv": pin.getFrameJacobianTimeVariation(robot.model, data, *where).reshape(6, -1) @ given.v[k],
            }  # fmt: skip
            for what, value in one.items():
                wanted.setdefault((what, reference), []).append(np.array(value))
    for (what, reference), right in wanted.items():
        kernel = kernels.frame_kernel(what, name, reference)
        found = kernel(*(getattr(given, x) for x in FRAME_QUANTITIES[what].inputs))
        assert_rows_same(found, np.stack(right), 1e-12, f"{what} {reference}")


@lru_cache(maxsize=4)
def expected_of(name: str, n: int) -> tuple[States, Expected]:
    robot = robot_named(name)
    given = states(robot, n)
    return given, by_pinocchio(robot, given)


def without(expected: Expected, names) -> Expected:
    return {name: arrays for name, arrays in expected.items() if name.split()[0] not in names}


# --- nine robots


@pytest.mark.parametrize("name", NINE)
def test_nine_robots(name):
    """But for what takes long to compile. Derivatives of universal joints are wrong in Pinocchio: see below."""
    given, expected = expected_of(name, 100)
    kernels = compile_robot(robot_named(name))
    left_out = {"all kinds": ["rnea_derivatives", "aba_derivatives"], "talos": LONG, "hexapod": LONG}.get(name, [])
    wanted = without(expected, left_out)
    if name != "panda":
        wanted = {key: x for key, x in wanted.items() if not key.endswith("derivatives external")}
    check(kernels, given, wanted)
    check_frame(kernels, given, kernels.robot.frame_names[-1], [REFERENCES[len(name) % 3]])


@pytest.mark.parametrize("name", [pytest.param("panda", marks=pytest.mark.slow), "all kinds"])
def test_single_states_have_the_same_bits(name):
    given, expected = expected_of(name, 100)
    check_single(compile_robot(robot_named(name)), given, SHORT if name == "all kinds" else expected)


def test_all_references_of_a_frame():
    kernels = compile_robot(robot_named("all kinds"))
    check_frame(kernels, states(kernels.robot, 20), "l7", REFERENCES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "all kinds"])
def test_float32(name):
    given, expected = expected_of(name, 100)
    kernels = compile_robot(robot_named(name), dtype="float32")
    wanted = {key: x for key, x in expected.items() if not QUANTITIES[key.split()[0]].inverts}
    check(
        kernels,
        given,
        without(wanted, ["rnea_derivatives", "joint_torque_regressor"] if name == "all kinds" else []),
        1e-4,
    )


# --- derivatives


def test_derivatives_of_all_joint_kinds_by_finite_differences():
    """Central differences of compiled inverse and forward dynamics, all columns as one batch."""
    robot = robot_named("all kinds")
    kernels, given = compile_robot(robot), states(robot, 3, seed=4)
    n, step = robot.nv, 1e-6
    inverse = kernels.rnea_derivatives(given.q, given.v, given.a, external=given.external)
    forward = kernels.aba_derivatives(given.q, given.v, given.tau, external=given.external)
    condition = np.linalg.cond(kernels.crba(given.q))
    for k, (q, v, a, tau, F) in enumerate(zip(*given, strict=True)):
        moves = step * np.concatenate([np.eye(n), -np.eye(n)])
        moved = np.array([pin.integrate(robot.model, q, move) for move in moves])
        for kernel, u, found, tolerance in (
            (kernels.rnea, a, inverse, 1e-7), (kernels.aba, tau, forward, 1e-9 * condition[k])
        ):  # fmt: skip
            ends = kernel(moved, v, u, F), kernel(q, v + moves, u, F), kernel(q, v, u + moves, F)
            for name, ours, values in zip(found._fields, found, ends, strict=True):
                slope = (values[:n] - values[n:]).T / (2.0 * step)
                assert_rows_same(ours[k][None], slope[None], tolerance, name)


@pytest.mark.parametrize("name", ["ur5", "all kinds"])
def test_forward_undoes_inverse_and_power_balances(name):
    kernels, (given, _) = compile_robot(robot_named(name)), expected_of(name, 100)
    M = kernels.crba(given.q)
    back = kernels.aba(given.q, given.v, kernels.rnea(given.q, given.v, given.a))
    assert_rows_same(back, given.a, 20 * EPS * np.linalg.cond(M), "aba of rnea")
    step = 1e-6
    model = kernels.robot.model
    ends = [
        (np.array([pin.integrate(model, q, h * v + 0.5 * h * h * a) for q, v, a in zip(*given[:3], strict=True)]),
         given.v + h * given.a)
        for h in (-step, step)
    ]  # fmt: skip
    energies = [sum(kernels.energy(*end)) for end in ends]
    power = np.einsum("ij,ij->i", kernels.rnea(given.q, given.v, given.a), given.v)
    assert_rows_same((energies[1] - energies[0])[:, None] / (2.0 * step), power[:, None], 1e-6, "power")


# --- followers


def projected(expected: Expected, G: np.ndarray) -> Expected:
    """Quantities of the whole robot as those of the one whose followers have no coordinates."""

    def left(x):
        return np.einsum("ji,nj...->ni...", G, x)

    out = {
        name: tuple(left(x) for x in expected[name])
        for name in ("rnea", "nonlinear_effects", "generalized_gravity", "joint_torque_regressor")
    }
    for name in ("crba", "rnea_derivatives", "rnea_derivatives external"):
        out[name] = tuple(left(x) @ G for x in expected[name])
    position, jacobian, velocity, bias = expected["com_motion"]
    matrix, momentum, momentum_bias, inertia = expected["centroidal"]
    out["com_jacobian"] = (jacobian @ G,)
    out["com_motion"] = position, jacobian @ G, velocity, bias
    out["centroidal"] = matrix @ G, momentum, momentum_bias, inertia
    return out | {name: expected[name] for name in ("placements", "com", "energy")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["followers", "panda"])
def test_followers(name):
    """The projected whole robot: Gᵀ(·)G."""
    robot, whole = robot_named(name, "reduce"), robot_named(name)
    given, G = states(robot, 100), widened(robot, whole)
    q = np.array([full_configuration(robot, whole, row) for row in given.q])
    wide = States(q, given.v @ G.T, given.a @ G.T, given.tau @ G.T, given.external)
    expected = projected(by_pinocchio(whole, wide), G)
    kernels, M = compile_robot(robot), expected["crba"][0]
    check(kernels, given, expected)
    check_single(kernels, given, expected)
    tolerance = 20 * EPS * np.linalg.cond(M)
    a = np.linalg.solve(M, (given.tau - expected["nonlinear_effects"][0])[..., None])[..., 0]
    assert_rows_same(kernels.aba(given.q, given.v, given.tau), a, tolerance, "aba")
    assert_rows_same(kernels.minverse(given.q), np.linalg.inv(M), tolerance, "minverse")
    da_dq, da_dv, da_dtau = kernels.aba_derivatives(given.q, given.v, expected["rnea"][0])
    dtau_dq, dtau_dv, _ = expected["rnea_derivatives"]
    assert_rows_same(da_dq, -np.linalg.solve(M, dtau_dq), tolerance, "da_dq")
    assert_rows_same(da_dv, -np.linalg.solve(M, dtau_dv), tolerance, "da_dv")
    assert_rows_same(da_dtau, np.linalg.inv(M), tolerance, "da_dtau")


# --- the whole zoo


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE_ZOO)
def test_whole_zoo(name):
    robot = robot_named(name)
    kernels, given = compile_robot(robot), states(robot, 100)
    expected = by_pinocchio(robot, given, name not in SINGULAR)
    check(kernels, given, {key: x for key, x in expected.items() if not key.endswith("derivatives external")})
    check_single(kernels, given, [key for key in SHORT if key in expected])
    for k, frame in enumerate(np.random.default_rng(len(name)).choice(robot.frame_names, 3)):
        check_frame(kernels, given, str(frame), [REFERENCES[k]])
    narrow = {key: expected[key] for key in (*SHORT, "centroidal") if not QUANTITIES[key.split()[0]].inverts}
    check(compile_robot(robot, dtype="float32"), given, narrow, 1e-4)
    if name in SINGULAR:
        for quantity in ("aba", "minverse", "aba_derivatives"):
            with pytest.raises(ModelError, match="singular"):
                getattr(kernels, quantity).prepare("batch")
