"""Names, frames, functions of the user, preparation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot import ops
from surefoot.compiler import STANDARD, KernelSet, compile_robot
from surefoot.compiler.quantities import QUANTITIES
from surefoot.dynamics import crba
from surefoot.errors import ModelError, NotSupportedError, ShapeError, UnknownNameError
from surefoot.kinematics import REFERENCES, frame_bias_acceleration, frame_jacobian, frame_placement
from surefoot.kinematics.frames import frame_of
from surefoot.robot.loading import load
from tests.kinematics.examples import assert_same


def test_names(arm):
    assert set(QUANTITIES) <= set(dir(arm))
    assert set(STANDARD) <= set(arm.names)
    assert arm.rnea is arm.rnea
    assert not hasattr(arm, "rneaa")
    with pytest.raises(AttributeError, match=r"no kernel `rneaa`.*rnea_derivatives"):
        _ = arm.rneaa


def test_kernels_are_built_on_first_use(arm):
    fresh = KernelSet(arm.robot, 64, 1, {})
    kernel = fresh.rnea
    assert not {"single", "batch"} & set(vars(kernel))
    assert fresh.prepare(["rnea"], ["single"]) is fresh
    assert {"single", "batch"} & set(vars(kernel)) == {"single"}
    with pytest.raises(UnknownNameError, match="`rnea`"):
        fresh.prepare(["rne"])


def test_frames(walker, of_walker):
    tree, names = walker.robot.tree, ["FL_FOOT", "universe", walker.robot.joint_names[2]]
    found = walker.frames(of_walker.q, names)
    assert found.shape == (37, 3, 4, 4)
    for k, name in enumerate(names):
        assert_same(found[5, k], frame_placement(tree, frame_of(walker.robot, name), of_walker.q[5]))
    assert (walker.frames(of_walker.q[5], names) == found[5]).all()


@pytest.mark.parametrize("reference", REFERENCES)
def test_jacobians_and_their_bias(walker, of_walker, reference):
    tree, frame = walker.robot.tree, frame_of(walker.robot, "HR_FOOT")
    q, v = of_walker.q, of_walker.v
    J, bias = walker.jacobian(q, "HR_FOOT", reference), walker.bias(q, v, "HR_FOOT", reference)
    assert_same(J[3], frame_jacobian(tree, frame, q[3], reference))
    assert_same(bias[3], frame_bias_acceleration(tree, frame, q[3], v[3], reference))
    out = np.empty_like(J)
    assert walker.jacobian(q, "HR_FOOT", reference, out=out) is out


def test_wrong_frames_and_references(walker, of_walker):
    q = of_walker.q[0]
    with pytest.raises(UnknownNameError, match="`FL_FOOT`"):
        walker.jacobian(q, "FL_FOT")
    with pytest.raises(UnknownNameError, match="`local`"):
        walker.jacobian(q, "FL_FOOT", "locl")
    with pytest.raises(UnknownNameError, match="`Jdv`"):
        walker.frame_kernel("Jdq", "FL_FOOT")
    with pytest.raises(UnknownNameError, match="`FL_FOOT`"):
        walker.frames(q, ["FL_FOT"])


def test_singular_mass_matrices_are_refused_by_name():
    """And only what needs their inverse."""
    romeo = compile_robot(load("romeo"))
    for name, quantity in QUANTITIES.items():
        if quantity.inverts:
            with pytest.raises(ModelError, match="singular") as caught:
                getattr(romeo, name).prepare("single")
            assert "RThumb1" in str(caught.value) or "Finger" in str(caught.value)
        else:
            assert getattr(romeo, name)


def test_dtypes_and_backends_that_there_are_not(arm):
    with pytest.raises(NotSupportedError, match="float16"):
        compile_robot(arm.robot, dtype="float16")
    with pytest.raises(UnknownNameError, match="`numpy`"):
        compile_robot(arm.robot, backend="numpi")


def test_the_numpy_backend_takes_the_same_calls(walker, of_walker):
    q, v, a, _, F = (x[:3] for x in of_walker)
    slow = compile_robot(walker.robot, backend="numpy")
    for options in ({}, {"external": F}):
        found = slow.rnea(q, v, a, **options)
        assert_same(found, walker.rnea(q, v, a, **options))
        assert (slow.rnea(q[1], v[1], a[1], **{k: x[1] for k, x in options.items()}) == found[1]).all()
    assert_same(slow.energy(q, v).kinetic, walker.energy(q, v).kinetic)
    assert_same(slow.bundle(["com"])(q)["com"], walker.com(q))
    out = np.empty((3, 3))
    assert slow.com(q, out=out) is out
    assert slow.com(q[:0]).shape == (0, 3)
    with pytest.raises(ShapeError, match="length"):
        slow.com(0.5 * q)


# --- functions of the user


def power(q, v, tau):
    return tau @ v + ops.sin(q[0])


def spring(tree, q, stiffness, rest):
    """Several outputs: a vector, a number of the state, a fixed number, a matrix."""
    stretch = stiffness * (q - rest)
    return stretch, stretch @ (q - rest), 2.5, crba(tree, q)


def of_robot(robot, q):
    return float(robot.nv) * q[:2]


@pytest.fixture(scope="module")
def own(arm):
    functions = {
        "power": power, "spring": (spring, {"stiffness": (9,), "rest": (9,)}), "of_robot": of_robot,
        "constant": lambda q: np.arange(3.0), "broken": lambda q: None,
        "mixed": (lambda q, goal: ops.where(ops.less(q[0], goal[0, 1]), q, goal[0, 0]), {"goal": (1, 2)}),
    }  # fmt: skip
    return compile_robot(arm.robot, functions=functions)


def test_functions_of_the_user(own, of_arm):
    q, v, tau = of_arm.q, of_arm.v, of_arm.tau
    assert_allclose(own.power(q, v, tau), np.einsum("ij,ij->i", tau, v) + np.sin(q[:, 0]), rtol=1e-13, atol=1e-13)
    assert own.power(q[0], v[0], tau[0]).shape == ()
    assert "power" in own.names
    assert (own.constant(q) == np.arange(3.0)).all()
    assert own.constant(q).shape == (37, 3)
    assert (own.of_robot(q) == 9.0 * q[:, :2]).all()


def test_functions_with_parameters_and_outputs_of_their_own(own, of_arm, arm, rng):
    q, stiffness = of_arm.q, rng.uniform(1.0, 2.0, 9)
    force, energy, fixed, M = own.spring(q, stiffness, np.zeros(9))
    assert_allclose(force, stiffness * q, rtol=1e-14)
    assert_allclose(energy, (stiffness * q * q).sum(axis=1), rtol=1e-13)
    assert (fixed == 2.5).all()
    assert fixed.shape == energy.shape == (37,)
    assert_allclose(M, arm.crba(q), rtol=1e-13, atol=1e-14)
    goal = np.array([[0.3, 0.1]])
    assert (own.mixed(q, goal) == np.where(q[:, :1] < 0.1, q, 0.3)).all()
    assert (own.spring(q=q[0], rest=np.zeros(9), stiffness=stiffness)[0] == force[0]).all()


def test_functions_of_the_user_know_each_other_apart(arm, of_arm):
    """Same name, same robot, another number: the cache does not mix them up."""

    def scaled(factor):
        return compile_robot(arm.robot, functions={"f": lambda q: factor * q})

    for factor in (2.0, 3.0):
        assert (scaled(factor).f(of_arm.q) == factor * of_arm.q).all()


def test_functions_that_cannot_be_compiled(own, arm, of_arm):
    q = of_arm.q
    with pytest.raises(ShapeError, match="NoneType"):
        own.broken(q)
    foreign = ops.symbols("foreign", 9)
    with pytest.raises(ShapeError, match="foreign_0"):
        compile_robot(arm.robot, functions={"f": lambda q: q + foreign}).f(q)
    with pytest.raises(ShapeError, match="`gain`"):
        compile_robot(arm.robot, functions={"f": lambda q, gain: q * gain}).f(q, q)
    with pytest.raises(NotSupportedError, match="`rnea` is taken"):
        compile_robot(arm.robot, functions={"rnea": power})
    with pytest.raises(TypeError, match=r"ops\.where"):
        compile_robot(arm.robot, functions={"f": lambda q: q if q[0] < 0.0 else -q}).f(q)


def test_threads_of_the_set(arm, of_arm):
    both = compile_robot(arm.robot, threads=2)
    q = np.tile(of_arm.q, (5, 1))
    assert (both.crba(q) == arm.crba(q)).all()
    assert (both.crba(q[0]) == arm.crba(q[0])).all()
