"""Plots of motions: limits are those of the robot, the worst joint comes first, energies are those of Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.motion import World
from surefoot.motion.world.ground import GroundBox
from surefoot.report.page.motion_plots import joint_plots, joint_positions, motion_plots, torque_series
from surefoot.robot import placement, zoo


@pytest.fixture(scope="module")
def arm():
    return zoo.load("ur5")


def test_every_joint_has_a_plot_with_its_limits(arm, rng) -> None:
    q = np.clip(rng.normal(size=(30, arm.nq)), arm.limits.lower, arm.limits.upper)
    plots = {plot.title: plot for plot in joint_plots("Joint position", joint_positions(arm, q)) if plot.small}
    assert set(plots) == set(arm.joint_names)
    for i, name in enumerate(arm.joint_names):
        row = int(arm.tree.q_index[i])
        np.testing.assert_array_equal(plots[name].lines[name], q[:, row])
        assert (plots[name].lower[""], plots[name].upper[""]) == (arm.limits.lower[row], arm.limits.upper[row])


def test_the_joint_nearest_to_its_limit_comes_first(arm) -> None:
    tau = np.zeros((10, arm.nu))
    tau[4, 3] = 0.9 * arm.limits.effort[arm.driven[3]]
    tau[5, 1] = 0.4 * arm.limits.effort[arm.driven[1]]
    together, *small = joint_plots("Joint torque", torque_series(arm, tau))
    assert [plot.title for plot in small][:2] == [arm.drives[3].joint, arm.drives[1].joint]
    assert next(iter(together.lines.values())).max() == pytest.approx(0.9)
    assert (together.lower, together.upper) == ({"": -1.0}, {"": 1.0})


def test_energy_and_momentum_agree_with_pinocchio(rng) -> None:
    robot = zoo.load("humanoid")
    model, data = robot.model, robot.model.createData()
    q = np.array([pin.integrate(model, robot.home, 0.1 * rng.normal(size=robot.nv)) for _ in range(5)])
    v = rng.normal(size=(5, robot.nv))
    plots = {plot.title: plot for plot in motion_plots(robot, q, v)}
    kinetic = plots["Mechanical energy"].lines["kinetic"]
    linear = np.column_stack(list(plots["Linear momentum"].lines.values()))
    for k in range(5):
        assert kinetic[k] == pytest.approx(pin.computeKineticEnergy(model, data, q[k], v[k]), rel=1e-9)
        np.testing.assert_allclose(linear[k], pin.computeCentroidalMomentum(model, data, q[k], v[k]).linear, atol=1e-9)


def test_friction_use_is_one_on_the_cone() -> None:
    robot = zoo.load("humanoid")
    name = next(iter(robot.contacts))
    mu = robot.contacts[name].friction
    wrench = np.tile([0.6 * mu * 400.0, 0.8 * mu * 400.0, 400.0, 0, 0, 0], (4, 1))
    wrench[3] = 0.0
    plots = {p.title: p for p in motion_plots(robot, np.tile(robot.home, (4, 1)), wrenches={name: wrench})}
    use = plots["Friction utilisation: tangential / (μ · normal)"].lines[name]
    np.testing.assert_allclose(use[:3], 1.0)
    assert np.isnan(use[3])


def test_friction_use_counts_the_ground_under_the_contact() -> None:
    """On ice the same force uses more of it; where ground has friction of its own, the place decides."""
    robot = zoo.load("humanoid")
    name = next(iter(robot.contacts))
    mu = robot.contacts[name].friction
    wrench = np.tile([0.1 * mu * 400.0, 0.0, 400.0, 0, 0, 0], (2, 1))
    q = np.tile(robot.home, (2, 1))
    q[1, 0] += 5.0  # on the slippery plate
    plate = GroundBox((2.0, 2.0, 0.1), placement((5.0, 0.0, 0.0)), friction=0.2 * mu)

    def use(world: World) -> np.ndarray:
        plots = {p.title: p for p in motion_plots(robot, q, wrenches={name: wrench}, world=world)}
        return plots["Friction utilisation: tangential / (μ · normal)"].lines[name]

    np.testing.assert_allclose(use(World(friction=0.5 * mu)), 0.2)
    np.testing.assert_allclose(use(World(friction=2.0 * mu)), 0.1)
    np.testing.assert_allclose(use(World(ground=(*World().ground, plate), friction=2.0 * mu)), [0.1, 0.5])


def test_friction_use_follows_worlds_that_take_the_place_of_others() -> None:
    robot = zoo.load("humanoid")
    name = next(iter(robot.contacts))
    mu = robot.contacts[name].friction
    wrench = np.tile([0.1 * mu * 400.0, 0.0, 400.0, 0, 0, 0], (6, 1))
    later = [(2, World(friction=0.5 * mu)), (4, World(friction=0.2 * mu)), (6, World(friction=0.1 * mu))]
    plots = motion_plots(robot, np.tile(robot.home, (6, 1)), wrenches={name: wrench}, world=World(), later=later)
    use = {p.title: p for p in plots}["Friction utilisation: tangential / (μ · normal)"].lines[name]
    np.testing.assert_allclose(use, [0.1, 0.1, 0.2, 0.2, 0.5, 0.5])


def test_continuous_joints_show_angles_without_jumps() -> None:
    robot = next((r for r in map(zoo.load, ("kinova", "ur5")) if "continuous" in r.tree.kinds), None)
    if robot is None:
        pytest.fail("no robot of the zoo has a continuous joint")
    i = robot.tree.kinds.index("continuous")
    angle = np.linspace(0.0, 8.0, 50)
    q = np.tile(robot.neutral, (50, 1))
    row = int(robot.tree.q_index[i])
    q[:, row], q[:, row + 1] = np.cos(angle), np.sin(angle)
    series = {s.name: s for s in joint_positions(robot, q)}[robot.joint_names[i]]
    np.testing.assert_allclose(series.values, angle, atol=1e-9)
