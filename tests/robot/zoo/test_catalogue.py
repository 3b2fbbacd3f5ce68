"""Every robot of the zoo: loads, is checked, converts its state both ways, and is what its own reader says."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pinocchio.shortcuts
import pytest

from surefoot.errors import SurefootError
from surefoot.motion.exchange.exchange import LAYOUTS, from_layout, to_layout
from surefoot.robot import zoo
from surefoot.robot.build.contact_search import height_on_ground
from surefoot.robot.check import inspect_robot

NAMES = [name for name in zoo.names() if name != "cassie"]
PARAMETERS = [
    "coil:32",
    "dill:5:driven",
    "small-humanoid:arms7",
    "humanoid:elastic-ankle",
    "lola:elastic",
    "v-support:45",
]
STANDING = [
    "g1",
    "talos",
    "simple_humanoid",
    "icub",
    "romeo",
    "anymal",
    "anymal_c",
    "solo12",
    "go1",
    "go2",
    "a1",
    "b1",
    "hyq",
    "laikago",
]
# Robots whose own files hold joints that move no mass or no inertia: `check` must say so.
DEFECTIVE = {"bravo7_gripper", "falcon_bravo7_gripper", "bluevolta_bravo7_gripper", "icub", "romeo"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *PARAMETERS])
def test_loads_and_converts_its_state_both_ways(name, rng):
    robot = zoo.load(name)
    assert robot.mass > 0.0
    assert robot.home.shape == (robot.nq,)
    q = pin.integrate(robot.model, np.array(robot.home), rng.uniform(-1, 1, robot.nv))
    v = rng.normal(size=robot.nv)
    for layout in LAYOUTS:
        q_back, v_back = from_layout(robot, layout, to_layout(robot, layout, q, v))
        np.testing.assert_allclose(pin.difference(robot.model, q, q_back), 0.0, atol=1e-12, err_msg=layout)
        np.testing.assert_allclose(v_back, v, atol=1e-12, err_msg=layout)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_is_what_example_robot_data_loads(name, monkeypatch):
    """Joint names, mass, and forward kinematics at a random configuration against the package's own loader."""
    if ":" in name or name not in _loaders():
        return
    no_meshes = pin.GeometryModel()  # they take the loader seconds and are not compared
    monkeypatch.setattr(pinocchio.shortcuts.pin, "buildGeomFromUrdf", lambda *_, **__: no_meshes.copy())
    robot = zoo.load(name, mimic="free")
    oracle = _loaders()["ur3_limited" if name == "ur3" else name]().robot.model  # the loader of ur3 reads ur5
    if name == "talos_legs":  # its loader adds the mass of fixed links (the soles) twice: compare the kinematics
        oracle.inertias[:] = robot.model.inertias[:]
    assert list(robot.model.names) == list(oracle.names)
    assert robot.mass == pytest.approx(pin.computeTotalMass(oracle), abs=1e-9)
    q = pin.integrate(oracle, pin.neutral(oracle), np.random.default_rng(1).uniform(-1, 1, oracle.nv))
    data = [model.createData() for model in (robot.model, oracle)]
    for model, item in zip((robot.model, oracle), data, strict=True):
        pin.forwardKinematics(model, item, q)
    for mine, theirs in zip(data[0].oMi, data[1].oMi, strict=True):
        np.testing.assert_allclose(mine.homogeneous, theirs.homogeneous, atol=1e-12)


def _loaders():
    from example_robot_data.robots_loader import ROBOTS

    return ROBOTS


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_is_checked(name):
    inspection = inspect_robot(name)
    assert inspection.robot is not None
    errors = [str(item) for item in inspection.findings if item.level == "error"]
    assert inspection.sound == (name not in DEFECTIVE), errors


@pytest.mark.slow
@pytest.mark.parametrize("name", STANDING)
def test_stands_at_home(name):
    robot = zoo.load(name)
    assert len(robot.contacts) in (2, 4)
    q = np.array(robot.home)
    assert height_on_ground(robot, q) == pytest.approx(0.0, abs=1e-12)
    frames = robot.placements(q)
    for contact in robot.contacts.values():
        T = frames[contact.frame] @ contact.placement
        assert T[2, 2] > np.cos(np.deg2rad(1.0)), "the contact normal is not up"
        corners = contact.corners @ T[:3, :3].T + T[:3, 3]
        assert np.abs(corners[:, 2]).max() < 0.002
    findings = inspect_robot(name).findings
    assert not any("centre of mass" in item.message for item in findings)
    rows = [int(robot.tree.q_index[i]) for i in range(1, robot.tree.n) if robot.tree.nq_of(i) == 1]
    assert (robot.limits.lower[rows] - 1e-9 <= q[rows]).all()
    assert (q[rows] <= robot.limits.upper[rows] + 1e-9).all()


def test_wrong_names_and_parameters():
    with pytest.raises(SurefootError, match="did you mean `small-humanoid`"):
        zoo.load("smal-humanoid")
    with pytest.raises(SurefootError, match="takes no parameters"):
        zoo.load("g1:fast")
    with pytest.raises(SurefootError):
        zoo.load("coil:many")


def test_ur3_is_not_a_ur5():
    """Reach of upper arm and forearm as its maker states it: 244 and 213 mm; 8.6 kg of moving links."""
    robot = zoo.load("ur3")
    np.testing.assert_allclose(robot.tree.placements[2:4, 2, 3], [0.24365, 0.21325])
    assert robot.mass < 9.0 < zoo.load("ur5").mass


def test_the_facts_are_those_of_the_robots():
    """All names are listed; a few are loaded, the rest by `scripts/make_zoo_facts.py`."""
    facts = zoo.facts()
    assert list(facts) == zoo.names()
    for name in ("pendulum", "hexapod", "g1", "ur3", "cassie"):
        robot = zoo.load(name)
        assert facts[name].dof == robot.nv
        assert facts[name].mass == pytest.approx(robot.mass, abs=1e-3)
    assert (facts["g1"].kind, facts["go2"].kind, facts["panda"].kind) == ("humanoid", "quadruped", "arm")
    assert (facts["panda"].licence, facts["cassie"].licence) == ("Apache-2.0", "ISC")
