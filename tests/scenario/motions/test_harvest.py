"""The motion `harvest`: what looking ahead gains, what is kept clear of, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.cli.main import _status
from surefoot.errors import NotSupportedError, ScenarioError, UnknownNameError
from surefoot.geometry import Box, Sphere
from surefoot.motion import MovableObject, Obstacle, World
from surefoot.robot import placement
from surefoot.robot.loading import load
from surefoot.scenario.motions.harvest import HarvestSettings, PointToPoint, harvest, harvest_scene
from surefoot.scenario.schema import MotionTable
from tests.scenario.studies.runs import studied

ARM = load("arm4")
BALL = Obstacle("ball", Sphere(0.05), placement((0.2, 0.0, 0.0)))
POSTURE = {"joint1": 2.0, "joint2": -2.0, "joint3": 0.35, "joint4": 0.5}
WEIGHTS = {"velocity": 1.0, "collision": 3.0, "limits": 0.6}
FIRM, LAZY = WEIGHTS | {"collision": 1000.0}, WEIGHTS | {"velocity": 1000.0}


def settings(**changes) -> HarvestSettings:
    given = {"frame": "tip", "points": [(0.0, 0.0, -1.0)], "duration": 2.0, "joints": POSTURE}
    return HarvestSettings(**given | changes)


def planned(world: World | None = None, **changes):
    """The plan of the four-joint arm past a ball near its base (Buschmann 2014, Fig. 5.31)."""
    given = {"points": [(0.0, 0.0, -1.0)], "horizon": 1.0, "other_horizons": [], "weights": WEIGHTS | {"change": 0.01}}
    table = {"kind": "harvest", "frame": "tip", "duration": 2.0, "joints": POSTURE, "local_weights": WEIGHTS}
    return harvest(MotionTable(**table | given | changes), ARM, world or World(ground=(), obstacles=(BALL,)))


@pytest.fixture(scope="module")
def run():
    return studied("harvest", "simulation.duration=4", "simulation.dt=0.002", "simulation.control_dt=0.002")


@pytest.mark.slow
def test_looking_ahead_far_pays_and_not_far_does_not(run):
    m = run.metrics
    assert run.findings.trouble is None
    assert m["energy_predictive_2s"] < 0.2 * m["energy_local"]
    assert m["energy_predictive_0.15s"] > 0.5 * m["energy_local"]
    assert m["energy_unaware"] < m["energy_predictive_2s"]
    assert m["gap_unaware_m"] < 0.0 < m["gap_local_m"] < m["gap_predictive_2s_m"]


@pytest.mark.slow
def test_physics_follows_the_plan_to_the_fruit_and_past_the_stems(run):
    robot, log = run.simulation.robot, run.log
    assert log.metadata["incidents"] == []
    frames = [robot.placements(np.array(q)) for q in log["q"][::50]]
    tip = np.array([T["gripper"][:3, 3] for T in frames])
    np.testing.assert_allclose(tip[-1] - tip[0], [0.0, -0.37, 0.27], atol=2e-3)
    off = np.linalg.norm(np.cross(tip - tip[0], tip[-1] - tip[0]), axis=1) / np.linalg.norm(tip[-1] - tip[0])
    assert off.max() < 2e-3
    assert run.metrics["tip_error_run_m"] < 2e-3
    radii = {"arm_roll_link": 0.045, "forearm_roll_link": 0.035, "wrist_pitch_link": 0.03, "gripper": 0.0}
    for name, radius in radii.items():  # upright stems: distances in the plane
        places = np.array([T[name][:2, 3] for T in frames])
        for stem in ((0.7, -0.25), (0.7, 0.25)):
            gap = np.linalg.norm(places - stem, axis=1).min() - radius - 0.03
            assert gap > run.metrics["gap_run_m"]


@pytest.mark.slow
def test_the_obstacles_of_the_world_are_in_physics(run):
    assert [item.name for item in run.simulation.world.obstacles] == ["mast", "right stem", "left stem"]


@pytest.mark.slow
def test_the_motion_begins_and_ends_at_rest_without_jumps(run):
    trajectory = run.simulation.controller.trajectory
    assert np.abs(np.diff(trajectory.v[[0, 1, -2, -1]], axis=0)[[0, 2]]).max() < 0.02
    assert np.abs(trajectory.a).max() < 1.0


@pytest.mark.slow
def test_curves_are_sampled_at_the_times_of_the_trajectory(run):
    plan = run.simulation.controller.plan
    assert [curve.unit for curve in plan.curves] == ["rad²/s²", "mm", "m"]
    for curve in plan.curves:
        assert list(curve.lines) == ["unaware", "local", "predictive 0.15 s", "predictive 2 s"]
        for line in curve.lines.values():
            assert line.shape == plan.trajectory.time.shape
            assert np.isfinite(line).all()


def test_the_small_arm_passes_the_ball():
    plan = planned()
    assert plan.trouble is None
    assert plan.metrics["energy_predictive_1s"] < 0.5 * plan.metrics["energy_local"]
    assert plan.metrics["gap_plan_m"] > 0.0
    assert plan.metrics["nearest_in_plan"].endswith("ball")


@pytest.mark.parametrize(
    ("changes", "trouble"),
    [
        ({"method": "unaware"}, "may touch `ball`"),
        ({"weights": WEIGHTS | {"collision": 0.0}}, "may touch `ball`"),
        ({"points": [(0.8, 0.0, 0.0)]}, "the tip is"),
        ({"horizon": 0.02, "weights": FIRM, "local_weights": LAZY}, "looking ahead gains nothing"),
        ({"duration": 1.0, "tolerance": 0.5, "weights": FIRM}, "speed limit"),
        ({"tolerance": 1e-9}, "m off in the plan"),
    ],
)
def test_what_is_no_good_is_said(changes, trouble):
    assert trouble in (planned(**changes).trouble or "passed")


def test_the_local_method_can_be_followed():
    plan = planned(method="local")
    assert plan.trouble is None
    v = np.diff(plan.trajectory.q, axis=0) / np.diff(plan.trajectory.time)[:, None]
    assert (v**2).sum(axis=1).max() == pytest.approx(plan.metrics["energy_local"])


def test_boxes_and_objects_are_kept_clear_of_as_well():
    box = Obstacle("box", Box((0.08, 0.3, 0.08)), placement((0.2, 0.0, 0.0)))
    thing = MovableObject("thing", Sphere(0.05), 1.0, placement((0.2, 0.0, 0.0)))
    for world in (World(ground=(), obstacles=(box,)), World(ground=(), objects=(thing,))):
        study = harvest_scene(settings(), ARM, world)
        names = {b.link for _, b in study.repulsion.pairs if b.body < 0}
        assert names == {"box" if world.obstacles else "thing"}


def test_pairs_that_cannot_part_are_left_to_the_joint_limits():
    near = Obstacle("near", Sphere(0.02), placement((0.0, 0.0, 0.0)))
    study = harvest_scene(settings(), ARM, World(ground=(), obstacles=(near, BALL)))
    pairs = {(a.link, b.link) for a, b in study.repulsion.pairs}
    assert ("link1", "near") not in pairs
    assert ("link4", "near") in pairs
    assert ("link4", "ball") in pairs


def test_what_the_hand_holds_counts():
    bare = harvest_scene(settings(), ARM, World(ground=(), obstacles=(BALL,)))
    held = harvest_scene(settings(tool_radius=0.01), ARM, World(ground=(), obstacles=(BALL,)))
    new = {(a.link, b.link) for a, b in held.repulsion.pairs} - {(a.link, b.link) for a, b in bare.repulsion.pairs}
    assert ("tip", "ball") in new
    assert all("tip" in pair for pair in new)


def test_points_are_reached_one_after_the_other_at_rest():
    start, points = placement((1.0, 2.0, 3.0)), np.array([[1.0, 2.0, 4.0], [0.0, 2.0, 4.0], [1.0, 2.0, 3.0]])
    way = PointToPoint(start, points, 6.0)
    poses, twists = way(np.array([0.0, 2.0, 4.0, 6.0, 9.0]))
    np.testing.assert_allclose(poses[:, :3, 3], [start[:3, 3], *points, points[-1]], atol=1e-12)
    np.testing.assert_allclose(twists, 0.0, atol=1e-9)
    times, h = np.linspace(0.1, 5.9, 50), 1e-6
    ahead, behind = (way(times + s * h)[0][:, :3, 3] for s in (1.0, -1.0))
    np.testing.assert_allclose(way(times)[1][:, :3], (ahead - behind) / (2.0 * h), atol=1e-7)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"points": []}, ScenarioError, "points"),
        ({"duration": 0.001}, ScenarioError, "shorter than a cycle"),
        ({"joints": {"joint1": 9.0}}, ScenarioError, "outside its limits"),
        ({"joints": {"joint9": 0.0}}, UnknownNameError, "joint9"),
        ({"frame": "gripper"}, UnknownNameError, "gripper"),
        ({"frame": "link2"}, NotSupportedError, "joint `joint3` of `arm4` does not move `link2`"),
        ({"frame": "universe"}, NotSupportedError, "does not move `universe`"),
    ],
)
def test_bad_values_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        harvest_scene(settings(**changes), ARM, World(ground=()))


def test_robots_that_are_no_arms_are_refused():
    with pytest.raises(NotSupportedError, match="free"):
        harvest_scene(settings(frame="bottom"), load("block"), World(ground=()))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--robot", "ur5"), "there is no frame `gripper`"),
        (("--set", "motion.weights.colision=1"), "did you mean `collision`"),
        (("--set", "world.obstacles.0.radius=-1"), "world.obstacles.0.radius"),
        (("--set", "motion.rise=1"), "a harvest has no `rise`"),
    ],
)
def test_the_command_line_refuses_in_one_line(words, message, capsys):
    assert _status(["run", "harvest", *words]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err
