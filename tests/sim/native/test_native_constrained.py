"""Robots with closed chains, couplings and held surfaces in the native engine."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from surefoot.dynamics import kinetic_energy, potential_energy
from surefoot.dynamics.methods import METHODS
from surefoot.errors import ModelError, NotSupportedError, UnknownNameError
from surefoot.motion import State, World
from surefoot.robot import Coupling, Joint, Link, Loop, Robot, placement
from surefoot.robot.loading import load
from surefoot.sim.drives.actuation import Actuation
from surefoot.sim.native.constrained import ConstrainedMover
from surefoot.sim.native.engine import NativeEngine

EMPTY = World(ground=())


def idle(robot: Robot, **parts) -> Actuation:
    n = np.zeros(robot.nu)
    given = {"torque": n, "position": n, "kp": n, "velocity": n, "kd": n, "lower": n - np.inf, "upper": n + np.inf}
    return Actuation(**{**given, **parts})


@cache
def linkage() -> Robot:
    return load("four-bar")


def energy(engine: NativeEngine) -> float:
    tree, q, v = engine.robot.tree, engine.state.q, engine.state.v
    return float(kinetic_energy(tree, q, v) + potential_energy(tree, q))


@pytest.mark.parametrize("method", [name for name in METHODS if name != "pinocchio"])
def test_all_methods_move_a_linkage_alike(method):
    robot = linkage()
    engine = NativeEngine(robot, EMPTY, 0.002, integrator="rk4", constraint_method=method)
    reference = NativeEngine(robot, EMPTY, 0.002, integrator="rk4", constraint_method="lagrange")
    for item in (engine, reference):
        item.native_steps(50, idle(robot))
    np.testing.assert_allclose(engine.state.q, reference.state.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(engine.state.v, reference.state.v, rtol=0, atol=1e-9)


def test_it_moves_as_pinocchio_says_where_pinocchio_can():
    robot = load("delta")
    engines = [
        NativeEngine(robot, EMPTY, 0.002, integrator="rk4", constraint_method=m) for m in ("pinocchio", "minimal")
    ]
    for item in engines:
        item.native_steps(10, idle(robot))
    np.testing.assert_allclose(engines[0].state.v, engines[1].state.v, rtol=0, atol=1e-9)


def test_what_keeps_it_closed():
    """Nothing: the gap grows. Gains: it stays small. Projection: it is nothing."""
    gaps = {}
    for way in ("none", "baumgarte", "projection"):
        engine = NativeEngine(linkage(), EMPTY, 0.001, stabilisation=way)
        engine.native_steps(1000, idle(linkage()))
        gaps[way] = np.abs(engine.drift()[0]).max()
    assert gaps["none"] > 1e-3 > 3.0 * gaps["baumgarte"]
    assert gaps["projection"] < 1e-10


@pytest.mark.parametrize(("integrator", "order"), [("semi_implicit", 1), ("rk4", 4)])
def test_order_of_convergence(integrator, order):
    def end(dt: float) -> np.ndarray:
        engine = NativeEngine(linkage(), EMPTY, dt, integrator=integrator, friction=False)
        engine.native_steps(round(0.4 / dt), idle(linkage()))
        return np.array(engine.state.q)

    exact = NativeEngine(linkage(), EMPTY, 0.0005, integrator="rk4")
    exact.native_steps(800, idle(linkage()))
    errors = [np.linalg.norm(end(dt) - exact.state.q) for dt in (0.01, 0.005)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.5)


def test_energy_is_kept_and_booked():
    """Kinetic and potential energy stay what they were; the account says so, and books what a drive does."""
    engine = NativeEngine(linkage(), EMPTY, 0.001, integrator="rk4")
    before = energy(engine)
    engine.native_steps(1000, idle(linkage()))
    assert energy(engine) == pytest.approx(before, abs=1e-6)
    assert abs(engine.balance.energy_residual) < 1e-6
    engine.reset(State.of(linkage()))
    engine.native_steps(300, idle(linkage(), torque=np.array([5.0])))
    assert engine.balance.drives == pytest.approx(energy(engine) - before, abs=1e-6)
    assert abs(engine.balance.drives) > 0.1


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_torques_that_are_told_did_the_work(integrator):
    """A spring that is set anew at every tick lets go while the joint moves: it is the mean torque that works."""
    robot = linkage()
    engine, work, at = NativeEngine(robot, EMPTY, 0.002, integrator=integrator, friction=False), 0.0, robot.driven
    rest = float(engine.state.q[0])
    for _ in range(150):
        rest, before = rest + 0.006, np.array(engine.state.v[at])
        engine.native_steps(1, idle(robot, position=np.array([rest]), kp=np.array([60.0]), kd=np.array([2.0])))
        work += 0.002 * float(engine.torques() @ (0.5 * (before + engine.state.v[at])))
    assert abs(engine.balance.drives) > 0.1
    assert work == pytest.approx(engine.balance.drives, rel=0.01)


def test_a_pendulum_by_its_angle_and_tied():
    """Two descriptions of one thing: at (sin q, −cos q) by the angle, (1 + x, z) tied; both from the horizontal."""
    angle, tied = load("pendulum"), load("pendulum:tied")
    engines = [NativeEngine(robot, EMPTY, 0.001, integrator="rk4") for robot in (angle, tied)]
    engines[0].reset(State.of(angle, np.array([0.5 * np.pi])))
    for engine, robot in zip(engines, (angle, tied), strict=True):
        engine.native_steps(1500, idle(robot))
    q, (x, z, _) = engines[0].state.q[0], engines[1].state.q
    np.testing.assert_allclose([1.0 + x, z], [np.sin(q), -np.cos(q)], atol=1e-5)


def geared(ratio: float) -> Robot:
    """A lever and a rotor that a rigid gear couples."""
    lever = Link("lever", None, Joint("hinge", "revolute", axis=(0, 1, 0)), 2.0, np.array([0.3, 0, 0]), 0.1 * np.eye(3))
    rotor = Link("rotor", None, Joint("shaft", "revolute", axis=(0, 1, 0)), 0.1, np.zeros(3), 1e-3 * np.eye(3))
    return Robot.from_tree(
        "geared", [Link("frame"), lever, rotor], "fixed", couplings=(Coupling("shaft", "hinge", ratio),), drives=()
    )


def test_a_rigid_gear_adds_the_inertia_of_its_rotor():
    """Acceleration of the lever from rest: m g l / (I + m l² + n² I_r)."""
    ratio, robot = 20.0, geared(20.0)
    engine = NativeEngine(robot, EMPTY, 1e-3, integrator="rk4", friction=False)
    engine.begin(idle(robot))
    a = engine.acceleration()
    assert a[0] == pytest.approx(2.0 * 9.81 * 0.3 / (0.1 + 2.0 * 0.09 + ratio**2 * 1e-3), rel=1e-4)
    engine.native_steps(500, idle(robot))
    assert engine.state.q[1] == pytest.approx(ratio * engine.state.q[0], abs=1e-9)


def test_springs_are_implicit():
    """Gains that an explicit step would not survive hold the crank where it is."""
    robot = linkage()
    engine = NativeEngine(robot, EMPTY, 0.005)
    hold = idle(robot, position=np.array(robot.home)[robot.driven], kp=np.array([1e6]), kd=np.array([1e3]))
    engine.native_steps(400, hold)
    np.testing.assert_allclose(engine.state.q, robot.home, atol=1e-4)
    assert np.abs(engine.state.v).max() < 1e-6


def test_torque_limits_hold():
    robot = linkage()
    engine = NativeEngine(robot, EMPTY, 0.002)
    limit = np.array([2.0])
    far = idle(robot, position=np.array([10.0]), kp=np.array([1e3]), lower=-limit, upper=limit)
    engine.native_steps(20, far)
    assert engine.torques()[0] == pytest.approx(2.0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_held_feet_carry_the_robot(integrator):
    """Both soles held: momentum is accounted for, and at rest the wrenches carry the weight."""
    robot = load("small-humanoid")
    engine = NativeEngine(robot, World(), 0.001, integrator=integrator, held=("left_foot", "right_foot"))
    stiff = integrator == "semi_implicit"
    n = np.ones(robot.nu)
    home = np.array(robot.home)[-robot.nu :]
    springs = idle(robot, position=home, kp=(200.0 if stiff else 5.0) * n, kd=(5.0 if stiff else 0.05) * n)
    engine.native_steps(400 if stiff else 50, springs)
    assert np.abs(engine.drift()[0]).max() < 1e-9
    assert np.abs(engine.balance.momentum_residual).max() < 1e-4
    if stiff:
        total = engine.wrench("left_foot") + engine.wrench("right_foot")
        assert total[2] == pytest.approx(9.81 * robot.mass, rel=0.02)
        assert engine.touches().load.sum() == pytest.approx(total[2], rel=1e-9)


def test_it_begins_closed_and_says_what_cannot_close():
    robot = linkage()
    engine = NativeEngine(robot, EMPTY, 0.001)
    engine.reset(State.of(robot, np.array(robot.home) + np.array([0.0, 0.05, -0.05])))
    assert np.abs(engine.drift()[0]).max() < 1e-9
    bars = [Link("frame"), Link("bar", "frame", Joint("hinge", "revolute"), 1.0, np.zeros(3), np.eye(3))]
    far = Loop(
        "far", "universe", "bar", placement((5.0, 0.0, 0.0)), placement((1.0, 0.0, 0.0)), (True,) * 3 + (False,) * 3
    )
    with pytest.raises(ModelError, match=r"far.*open|open.*far") as caught:
        NativeEngine(Robot.from_tree("short", bars, "fixed", loops=(far,)), EMPTY)
    assert "4" in str(caught.value)


def test_a_payload_changes_the_motion_but_not_the_ties():
    robot = linkage()
    engine = NativeEngine(robot, EMPTY, 0.001, integrator="rk4")
    engine.native_steps(100, idle(robot))
    engine.set_payload("coupler", 2.0, (0.5, 0.0, 0.0))
    engine.native_steps(200, idle(robot))
    assert np.abs(engine.drift()[0]).max() < 1e-9
    assert abs(engine.balance.energy_residual) < 1e-6


def test_what_is_refused():
    robot = linkage()
    with pytest.raises(UnknownNameError, match="lagrange"):
        NativeEngine(robot, EMPTY, constraint_method="lagrang")
    with pytest.raises(UnknownNameError, match="projection"):
        NativeEngine(robot, EMPTY, stabilisation="projektion")
    with pytest.raises(NotSupportedError, match="rigid contacts are for trees"):
        NativeEngine(robot, World(), contact="rigid")
    with pytest.raises(NotSupportedError, match="cannot lead a robot back"):
        NativeEngine(robot, EMPTY, constraint_method="minimal", stabilisation="baumgarte")
    with pytest.raises(UnknownNameError, match="left_foot"):
        NativeEngine(load("small-humanoid"), World(), held=("left_fot",))


def test_a_tree_has_no_drift_and_its_old_mover():
    robot = load("pendulum")
    engine = NativeEngine(robot, EMPTY)
    assert not isinstance(engine.mover(), ConstrainedMover)
    assert [len(x) for x in engine.drift()] == [0, 0]
