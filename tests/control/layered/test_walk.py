"""The planar biped under layers of rules: its redundant state, its rules, and the walk."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.control.layered import LayeredWalk, WalkWeights
from surefoot.control.layered.walk import planar_state
from surefoot.control.layered.walk_rules import FEET, body_of, detect, place_feet, share
from surefoot.errors import NotSupportedError
from surefoot.motion import State
from surefoot.redundant import hinge_residuals, load_model
from surefoot.redundant.equations import velocity_residual
from surefoot.scenario import run_scenario


def random_state(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = np.r_[rng.normal(size=2), 1.0, 0.0, rng.normal(scale=0.4, size=10)]
    angle = rng.normal(scale=0.3)
    q[2:4] = np.cos(angle), np.sin(angle)
    return q, rng.normal(size=13)


@pytest.mark.parametrize("seed", range(3))
def test_redundant_state_is_that_of_the_robot(seed: int) -> None:
    """Hinges closed, velocities consistent, and bodies where Pinocchio has them."""
    robot, model = sf.load("biped"), load_model("planar-biped")
    q, v = random_state(seed)
    state = planar_state(model, q, v)
    assert max(part.max() for part in hinge_residuals(model, state)) < 1e-12
    assert velocity_residual(model, state) < 1e-12
    data = robot.model.createData()
    pin.centerOfMass(robot.model, data, q, v)
    masses = np.array([body.mass for body in model.bodies])
    for ours, theirs in ((state.positions, data.com[0]), (state.velocities, data.vcom[0])):
        np.testing.assert_allclose(masses @ ours[:, :2] / masses.sum(), theirs[[0, 2]], atol=1e-12)


def test_rules_know_no_side() -> None:
    """Right and left exchanged, all rules exchange them as well."""
    model, swap = load_model("planar-biped"), np.r_[3:6, 0:3, 8:10, 6:8]
    q, v = random_state(1)
    first, then = (
        body_of(model, planar_state(model, x, y))
        for x, y in ((q, v), (np.r_[q[:4], q[4:][swap]], np.r_[v[:3], v[3:][swap]]))
    )
    ones = np.ones(4)
    a, b = detect(first, 0.5, ones, 0.004), detect(then, 0.5, ones, 0.004)
    assert a.stepping == pytest.approx(b.stepping[::-1])
    np.testing.assert_allclose(a.wanted, b.wanted[[2, 3, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(place_feet(first, a).place, place_feet(then, b).place[::-1], atol=1e-9)


def test_contact_forces_carry_the_weight() -> None:
    """At rest at the wished height: the demanded forces balance gravity, with the moment about the torso."""
    robot, weights = sf.load("biped"), WalkWeights()
    control = LayeredWalk(robot, 0.0, weights=weights)
    q = robot.home.copy()
    body = body_of(control.model, planar_state(control.model, q, np.zeros(robot.nv)))
    phase = detect(body, 0.0, np.ones(4), weights.touch)
    weights = WalkWeights(height=float(q[1]))
    found = share(body, phase, 0.0, weights, control.masses, control.inertia)
    assert found.contacts[:, 1].sum() == pytest.approx(9.81 * 87.6, rel=0.02)
    assert np.abs(found.torso).max() < 0.1
    assert (np.abs(found.contacts[:, 0]) <= weights.friction * found.contacts[:, 1] + 1e-9).all()
    assert body.X[FEET[0], 1] == pytest.approx(0.0, abs=1e-6)


def test_only_for_the_biped() -> None:
    with pytest.raises(NotSupportedError, match="planar biped"):
        LayeredWalk(sf.load("g1"))


def test_one_step_of_a_walk() -> None:
    """From mid-stride, half a second: the biped moves on and stays up."""
    robot = sf.load("biped")
    q = robot.home.copy()
    q[4:10] = 0.1463, 0.1339, -0.2802, -0.2802, 0.1339, 0.1463
    log = sf.simulate(robot, LayeredWalk(robot, 0.5), sf.World(), 0.5, dt=0.001, control_dt=0.01,
                      initial=[State(0.0, q, np.zeros(13))])  # fmt: skip
    assert log["q"][-1, 0] > 0.02
    assert log["q"][:, 1].min() > 1.1


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.1, 0.5, 1.0])
def test_walks(speed: float, tmp_path: Path) -> None:
    metrics = run_scenario("biped-004", out=tmp_path / "run", overrides=[f"controller.speed={speed}"]).metrics
    assert not metrics["fallen"]
    assert metrics["mean_speed_m_s"] > 0.5 * speed


@pytest.mark.slow
@pytest.mark.parametrize("retests", [0, 2])
def test_at_1_2_m_s_it_falls_as_printed_unless_contacts_are_released_within_the_sample(retests: int) -> None:
    """From the start of the scenario; the thesis releases contacts that would pull in the next sample."""
    robot = sf.load("biped")
    q = robot.home.copy()
    q[4:10] = 0.1463, 0.1339, -0.2802, -0.2802, 0.1339, 0.1463
    control = LayeredWalk(robot, 1.2, weights=WalkWeights(retests=retests))
    log = sf.simulate(robot, control, sf.World(), 3.0, dt=0.001, control_dt=0.01,
                      initial=[State(0.0, q, np.zeros(13))])  # fmt: skip
    fell = log["q"][:, 1].min() < 0.6
    assert fell == (retests == 0)
    assert fell or log["q"][-1, 0] > 1.5
