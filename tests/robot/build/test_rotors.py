"""Rotors as bodies: what they add to energy and motion, behind rigid and elastic gears."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.dynamics import aba, kinetic_energy
from surefoot.dynamics.loops import minimal_acceleration
from surefoot.errors import NotSupportedError
from surefoot.kinematics import frame_jacobian
from surefoot.kinematics.frames import frame_of
from surefoot.robot import Drive, Joint, Link, Robot, elastic_gears, gear_springs, geared, placement
from surefoot.robot.build.rotors import rotor_joint
from surefoot.robot.loading import load

RATIO, ROTOR = 40.0, 2e-4
BAR = {"mass": 2.0, "com": np.array([0.0, 0.0, -0.4]), "inertia": 0.05 * np.eye(3)}


def cart_and_pole(gear: str = "rigid", joint: str = "revolute", **drive: float) -> Robot:
    """A pole on a sliding cart, driven through a gear."""
    hinge = Joint("hinge", joint, placement((0.1, 0.2, 0.3)), axis=(0.0, 1.0, 0.0), damping=0.1)
    links = [Link("rail"), Link("cart", "rail", Joint("slide", "prismatic", axis=(1, 0, 0)), **BAR),
             Link("pole", "cart", hinge, **BAR)]  # fmt: skip
    drives = (Drive("slide"), Drive("hinge", RATIO, ROTOR, gear, viscous_friction=0.1, torque_limit=80.0, **drive))
    return Robot.from_tree("cart", links, "fixed", drives=drives, home={"hinge": 0.5})


def spread(robot: Robot, rotors: Robot, v: np.ndarray, ratios: dict[str, float]) -> np.ndarray:
    """The same velocities (or forces), on rotors with the given multiples of their joints'."""
    out = np.zeros(rotors.nv)
    for i, name in enumerate(robot.joint_names):
        k = rotors.joint_index(name)
        rows = v[robot.tree.v_index[i] : robot.tree.v_index[i] + robot.tree.nv_of(i)]
        out[rotors.tree.v_index[k] : rotors.tree.v_index[k] + len(rows)] = rows
        if name in ratios:
            out[rotors.tree.v_index[rotors.joint_index(rotor_joint(name))]] = ratios[name] * rows[0]
    return out


def test_where_the_carrier_does_not_turn_a_rotor_is_an_armature():
    robot, rotors = cart_and_pole(), geared(cart_and_pole())
    q, v, tau = np.array([0.3, 0.8]), np.array([0.4, -1.2]), np.array([0.5, 2.0])
    wide = [spread(robot, rotors, x, {"hinge": n}) for x, n in ((q, RATIO), (v, RATIO), (tau, 0.0))]
    found = minimal_acceleration(rotors, None, *wide)
    assert np.allclose(found, spread(robot, rotors, aba(robot.tree, q, v, tau), {"hinge": RATIO}), rtol=1e-13)
    assert not rotors.tree.armature.any()
    assert robot.tree.armature.any()


def test_the_motor_can_also_push_the_rotor():
    """A torque on the rotor counts N times at the joint."""
    robot, rotors = cart_and_pole(), geared(cart_and_pole())
    q = np.array(rotors.home)
    at_joint, at_rotor = (spread(robot, rotors, x, {"hinge": n}) for x, n in
                          ((np.array([0.0, 3.0]), 0.0), (np.zeros(2), 0.0)))  # fmt: skip
    at_rotor[rotors.tree.v_index[rotors.joint_index("hinge_rotor_joint")]] = 3.0 / RATIO
    rest = np.zeros(3)
    one, other = (minimal_acceleration(rotors, None, q, rest, tau) for tau in (at_joint, at_rotor))
    assert np.allclose(one, other, rtol=1e-13)


def test_kinetic_energy_of_all_rotors():
    """½ J/2 |ω|² + ½ J/2 (ω·e)² + J N q̇ ω·e + ½ J N² q̇², of each, with ω of the link that carries it."""
    robot = load("lola")
    rotors = geared(robot)
    ratios = {drive.joint: drive.gear_ratio for drive in robot.drives}
    v = np.random.default_rng(2).standard_normal(robot.nv)
    expected = kinetic_energy(robot.tree, np.array(robot.home), v)
    for drive in robot.drives:
        i = robot.joint_index(drive.joint)
        carrier = robot.tree.body_names[robot.tree.parents[i]]
        omega = (frame_jacobian(robot.tree, frame_of(robot, carrier), robot.home, "local") @ v)[3:]
        e, N, rate = robot.tree.placements[i, :3, :3] @ robot.tree.axes[i], drive.gear_ratio, v[robot.tree.v_index[i]]
        expected += drive.rotor_inertia * (0.25 * (omega @ omega + (omega @ e) ** 2) + N * rate * (omega @ e))
    found = kinetic_energy(rotors.tree, np.array(rotors.home), spread(robot, rotors, v, ratios))
    assert found == pytest.approx(expected, rel=1e-12)


def test_all_else_of_the_robot_stays():
    robot = load("lola")
    rotors = geared(robot)
    assert rotors.mass == pytest.approx(robot.mass)
    assert (rotors.nv, len(rotors.couplings), len(rotors.drives)) == (robot.nv + 24, 24, 24)
    assert list(rotors.contacts) == list(robot.contacts)
    before, after = robot.placements(robot.home), rotors.placements(rotors.home)
    assert all(np.allclose(before[name], after[name]) for name in before)
    i, k = robot.joint_index("left_knee"), rotors.joint_index("left_knee")
    for name in ("lower", "upper"):
        old, new = getattr(robot.limits, name), getattr(rotors.limits, name)
        assert old[robot.tree.q_index[i]] == new[rotors.tree.q_index[k]]
    assert robot.limits.effort[robot.tree.v_index[i]] == rotors.limits.effort[rotors.tree.v_index[k]]
    assert rotors.home[rotors.tree.q_index[rotors.joint_index("left_knee_rotor_joint")]] == pytest.approx(60 * 0.5)


# -- elastic ----------------------------------------------------------------------------------------------------------


def elastic() -> tuple[Robot, Robot]:
    robot = cart_and_pole("elastic", stiffness=900.0, damping=0.7)
    return robot, elastic_gears(robot)


def test_elastic_gears_turn_freely_and_are_driven_at_the_motor():
    robot, rotors = elastic()
    assert rotors.nv == 3
    assert not rotors.couplings
    drive = rotors.drives[1]
    assert (drive.joint, drive.torque_limit, drive.armature) == ("hinge_rotor_joint", 80.0 / RATIO, 0.0)
    assert rotors.model.damping[rotors.tree.v_index[rotors.joint_index("hinge")]] == 0.1
    assert not gear_springs(rotors, robot.drives).torque(np.array(rotors.home), np.zeros(3)).any()


def test_springs_give_back_what_they_store_and_dampers_take():
    """v · tau = -dE/dt - d (φ'/N - q̇)²."""
    robot, rotors = elastic()
    springs = gear_springs(rotors, robot.drives)
    q, v = np.random.default_rng(3).standard_normal((2, 3))
    rate = (springs.energy(q + 1e-6 * v) - springs.energy(q - 1e-6 * v)) / 2e-6
    slip = v[springs.velocity[1, 0]] / RATIO - v[springs.velocity[0, 0]]
    assert v @ springs.torque(q, v) == pytest.approx(-rate - 0.7 * slip**2, rel=1e-7)


def test_a_stretched_spring_pulls_the_joint_after_the_rotor():
    robot, rotors = elastic()
    springs = gear_springs(rotors, robot.drives)
    q = np.array(rotors.home)
    q[springs.position[1]] += 0.1 * RATIO
    tau = springs.torque(q, np.zeros(3))
    assert tau[springs.velocity[0]] == pytest.approx(90.0)
    assert tau[springs.velocity[1]] == pytest.approx(-90.0 / RATIO)


def test_a_stiff_gear_moves_like_a_rigid_one():
    """Rotor and joint, one spring between them: the mean of fast oscillations is the rigid acceleration."""
    robot, rotors = elastic()
    rigid = geared(cart_and_pole())
    q, rest = np.array(rotors.home), np.zeros(3)
    springs = gear_springs(rotors, robot.drives)
    joint, rotor = springs.velocity[0, 0], springs.velocity[1, 0]
    expected = minimal_acceleration(rigid, None, np.array(rigid.home), rest, rest)[
        rigid.tree.v_index[rigid.joint_index("hinge")]
    ]
    push = np.eye(3)[joint] - np.eye(3)[rotor] / RATIO  # a unit of spring torque
    free, per = aba(rotors.tree, q, rest, rest), aba(rotors.tree, q, rest, push) - aba(rotors.tree, q, rest, rest)
    torque = (free[rotor] / RATIO - free[joint]) / (per[joint] - per[rotor] / RATIO)
    assert (free + torque * per)[joint] == pytest.approx(expected, rel=1e-10)


# -- what is refused --------------------------------------------------------------------------------------------------


def test_what_has_no_rotor_is_refused():
    with pytest.raises(NotSupportedError, match="no rigid gear"):
        geared(load("arm4"))
    with pytest.raises(NotSupportedError, match="no elastic gear"):
        elastic_gears(cart_and_pole())


def test_joints_that_cannot_be_tied_are_refused():
    with pytest.raises(NotSupportedError, match="`hinge` cannot have a rotor"):
        geared(cart_and_pole(joint="continuous"))


def test_rotors_are_added_once():
    once = geared(cart_and_pole())
    with pytest.raises(NotSupportedError, match="no rigid gear"):
        geared(once)
