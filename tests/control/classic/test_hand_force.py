"""Hand forces of `motion_force`: net wrench, statics with other Jacobians, a wall in MuJoCo, refusals."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.contact.distribution import hand_tracking, stance_of
from surefoot.control.classic import ClassicGains, classic_controller
from surefoot.errors import NotSupportedError, ShapeError, SurefootError, UnknownNameError
from surefoot.motion import State
from surefoot.robot import Robot
from surefoot.scenario.build.simulation import build_simulation, load_robot
from surefoot.scenario.catalogue import resolved_scenario


def robot_with_palm(name: str) -> Robot:
    return load_robot(resolved_scenario("wipe", name).robot)


@pytest.mark.parametrize("wrench", [(), (-6.0, 1.0, 2.0, 0.1, -0.2, 0.3)])
def test_feet_and_the_wanted_hand_carry_the_robot(wrench: tuple[float, ...]) -> None:
    """At rest: torques, hand and some wrenches of the feet accelerate nothing; wrenches add up to the load."""
    robot = robot_with_palm("small-humanoid")
    press = {"palm": [(0.0, *wrench), (1.0, *wrench)] if wrench else [(0.0, 4.0), (1.0, 8.0)]}
    control = classic_controller("motion_force", robot, gains=ClassicGains(press=press))
    torque = np.array(control.command(0.5, State(0.5, np.array(robot.home), np.zeros(robot.nv))).torque)
    place = sf.Configuration(robot, robot.home)
    normal = place.contact_placement("palm")[:3, 2]
    wanted = np.array(wrench or [*(6.0 * normal), 0.0, 0.0, 0.0])
    body = control.start
    J = np.array(place.contact_jacobian("palm"))
    left = body.bias - np.r_[np.zeros(6), torque] - J.T @ wanted
    feet = body.contacts[:12]
    np.testing.assert_allclose(feet.T @ np.linalg.lstsq(feet.T, left, rcond=None)[0], left, atol=1e-3)

    load = body.stance.weight + np.array([3.0, -2.0, 1.0, 0.2, 0.1, -0.1])
    shared = control.wrenches(body, load)
    at_com = np.cross(body.stance.points - body.com, shared[:, :3]) + shared[:, 3:]
    np.testing.assert_allclose(np.r_[shared[:, :3].sum(axis=0), at_com.sum(axis=0)], load, atol=2e-3)
    np.testing.assert_allclose(shared[2, :3], wanted[:3], atol=1e-9)
    assert (np.hypot(*shared[:2, :2].T) <= body.stance.friction[:2] * shared[:2, 2] + 1e-6).all()


def test_feet_share_by_least_torque_beside_a_hand() -> None:
    """No internal wrench of the feet makes the joint torques less, by all contacts' Jacobians."""
    robot = robot_with_palm("small-humanoid")
    stance = stance_of(robot, contacts=("left_foot", "right_foot", "palm"))
    assert stance.jacobian is not None
    inner = np.linalg.svd(stance.map[:, :12])[2][6:]
    slope = {}
    for method in ("torque", "pseudoinverse"):
        shared = hand_tracking(stance, {"palm": [-6.0, 0.0, 1.0, 0.0, 0.0, 0.0]}, method=method)
        np.testing.assert_allclose(stance.map @ shared.ravel(), stance.weight, atol=1e-8)
        torque = stance.gravity_torque - stance.jacobian.T @ shared.ravel()
        slope[method] = np.abs(inner @ stance.jacobian[:12] @ torque).max()
    assert slope["torque"] < 1e-4 < 1e-2 < slope["pseudoinverse"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "force"), [("small-humanoid", 8.0), ("g1", 8.0), ("g1", 15.0)])
def test_a_hand_presses_on_a_wall(name: str, force: float) -> None:
    """MuJoCo, true states: the wall's normal force in the last second, the robot stands."""
    rows = [[0.2, 0.0], [0.5, 1.5], [1.5, 1.5], [2.0, force]]
    control = f'controller={{kind="classic", method="motion_force", press={{palm={rows}}}}}'
    plain = ['study="none"', 'sensors.kind="none"', 'estimator.kind="none"', 'audit.kind="none"', "events=[]"]
    scenario = resolved_scenario("wipe", name, None, [control, *plain, "simulation.duration=5.0"])
    simulation = build_simulation(scenario)
    log = simulation.run()
    last = np.flatnonzero(log.time >= log.time[-1] - 1.0)
    normal = []
    for k in last[::10]:
        place = sf.Configuration(simulation.robot, log["q"][k]).contact_placement("palm")
        normal.append(-float(place[0, :3] @ log["contact.palm.wrench"][k, :3]))  # the wall faces backwards

    assert np.mean(normal) == pytest.approx(force, rel=0.2)
    assert np.std(normal) < 0.05 * force
    assert log.metadata["fall_time_s"] is None
    assert log["base.tilt"][last].max() < 0.05


@pytest.mark.parametrize(
    ("method", "press", "error", "words"),
    [
        ("henze", {"palm": [(0.0, 1.0)]}, NotSupportedError, "motion_force"),
        ("motion_force", {"paw": [(0.0, 1.0)]}, UnknownNameError, "palm"),
        ("motion_force", {"left_foot": [(0.0, 1.0)]}, NotSupportedError, "stands"),
        ("motion_force", {"palm": [(0.0, 1.0, 2.0)]}, ShapeError, "wrench"),
        ("motion_force", {"palm": []}, ShapeError, "wrench"),
        ("motion_force", {"palm": [(1.0, 1.0), (1.0, 2.0)]}, ShapeError, "increase"),
        ("motion_force", {"palm": [(0.0, float("nan"))]}, SurefootError, "palm"),
    ],
)
def test_refused(method: str, press: dict, error: type[SurefootError], words: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(error, match=words):
        classic_controller(method, robot_with_palm("small-humanoid"), gains=ClassicGains(press=press))
