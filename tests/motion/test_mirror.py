"""Mirror images: forward kinematics of the mirrored motion is the mirror image of the motion's."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import ModelError, ShapeError
from surefoot.motion.mirror import mirror_of
from surefoot.robot import Link, Robot
from tests.motion.examples import distance, link, random_states, walker
from tests.motion.test_trajectory import a_trajectory

M = np.diag([1.0, -1.0, 1.0])


def other(name: str) -> str:
    return name.replace("left", "*").replace("right", "left").replace("*", "right")


def test_every_body_is_at_the_mirror_image_of_its_partner():
    robot = walker()
    mirror = mirror_of(robot)
    for q in random_states(robot, 10)[0]:
        here, there = robot.placements(q), robot.placements(mirror.configuration(q))
        for name in robot.link_names:
            np.testing.assert_allclose(there[other(name)][:3, 3], M @ here[name][:3, 3], atol=1e-12)


def test_mirrored_velocities_are_the_rates_of_mirrored_configurations():
    robot, h = walker(), 1e-6
    mirror = mirror_of(robot)
    for q, v in zip(*random_states(robot, 5), strict=True):
        ahead = mirror.configuration(pin.integrate(robot.model, q, h * v))
        rate = pin.difference(robot.model, mirror.configuration(q), ahead) / h
        np.testing.assert_allclose(rate, mirror.velocity(v), atol=1e-8)


def test_mirrored_wrenches_and_torques_do_the_same_work():
    """Contact twist and wrench behind the mirror give the same power, at the contact on the other side."""
    robot = walker()
    mirror, data = mirror_of(robot), robot.model.createData()
    rng = np.random.default_rng(5)
    for q, v in zip(*random_states(robot, 5), strict=True):
        power = {}
        for name, wrench in {n: rng.normal(size=6) for n in robot.contacts}.items():
            partner = mirror.contacts[name]
            for key, contact, at, rate, w in (
                ("here", name, q, v, wrench),
                ("there", partner, mirror.configuration(q), mirror.velocity(v), mirror.wrench(name, wrench)),
            ):
                pin.forwardKinematics(robot.model, data, at, rate)
                surface = robot.contacts[contact]
                twist = pin.getFrameVelocity(robot.model, data, robot.frame_id(surface.frame), pin.LOCAL)
                power[key] = w @ pin.SE3(surface.placement).actInv(twist).vector
            assert power["here"] == pytest.approx(power["there"], abs=1e-12)
        tau = rng.normal(size=robot.nu)
        assert tau @ v[robot.driven] == pytest.approx(mirror.torque(tau) @ mirror.velocity(v)[robot.driven])


def test_a_mirrored_trajectory_mirrored_again_is_the_same():
    robot, motion = walker(), a_trajectory()
    once = motion.mirrored(robot, references={"com": (1, -1, 1)})
    assert once.schedule.at(0.1).names == ("right_foot",)
    twice = once.mirrored(robot, references={"com": (1, -1, 1)})
    assert distance(robot, motion.q, twice.q) < 1e-12
    for name in ("v", "a", "tau"):
        np.testing.assert_allclose(getattr(twice, name), getattr(motion, name), atol=1e-12)
    np.testing.assert_allclose(twice.wrenches["left_foot"], motion.wrenches["left_foot"], atol=1e-12)
    np.testing.assert_array_equal(once.references["com"][:, 1], -motion.references["com"][:, 1])
    with pytest.raises(ShapeError, match="`com`"):
        motion.mirrored(robot)


def lopsided(**change) -> Robot:
    right = {"at": (0, -0.1, -0.1), "axis": (0, 1, 0), **change}
    links = [
        Link("pelvis", mass=1.0, inertia=np.eye(3)),
        link("left_leg", "pelvis", "revolute", (0, 0.1, -0.1), (0, 1, 0)),
        link("right_leg", "pelvis", "revolute", **right),
    ]
    return Robot.from_tree("two", links, "floating", contacts=())


def test_robots_that_are_not_symmetric_are_refused():
    mirror_of(lopsided())
    for change in ({"at": (0.05, -0.1, -0.1)}, {"axis": (1, 0, 0)}):
        with pytest.raises(ModelError, match="not its own mirror image"):
            mirror_of(lopsided(**change))
    with pytest.raises(ModelError, match="not its own mirror image"):
        mirror_of(
            Robot.from_tree(
                "one",
                [Link("p", mass=1.0, inertia=np.eye(3)), link("left_leg", "p", "revolute")],
                "floating",
                contacts=(),
            )
        )


def test_signs_of_pitch_roll_and_yaw():
    """Turning about y keeps its sign, about x and z it changes."""
    for axis, sign in (((0, 1, 0), 1.0), ((1, 0, 0), -1.0), ((0, 0, 1), -1.0)):
        robot = Robot.from_tree("w", [link("waist", None, "revolute", (0, 0, 1), axis)], contacts=())
        assert mirror_of(robot).configuration([0.3])[0] == sign * 0.3
