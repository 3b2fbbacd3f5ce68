"""Collisions along a motion, against dense sampling with the robot's own shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.collision import ExactCollision
from surefoot.feasibility.case import Case
from surefoot.feasibility.clearance.collisions import check_collisions
from surefoot.feasibility.clearance.path import PathTravel
from surefoot.feasibility.clearance.shapes import clearance_model
from surefoot.geometry import Box, Sphere
from surefoot.motion import Obstacle, Trajectory, World
from surefoot.robot import Geometry, Joint, Link, placement
from tests.feasibility.stages import judge

EMPTY = World(ground=(), gravity=np.zeros(3))


def swing(robot: sf.Robot, samples: int, v: bool) -> Trajectory:
    """An arm swings across: the first joint goes from −1.5 to 1.5 rad at constant speed."""
    t = np.linspace(0.0, 2.0, samples)
    q = np.tile(robot.home, (samples, 1))
    q[:, 0] = -1.5 + 1.5 * t
    rates = np.zeros((samples, robot.nv))
    rates[:, 0] = 1.5
    return Trajectory.of(robot, t, q, rates if v else None)


@pytest.mark.parametrize("samples", [2, 3, 11, 201])
@pytest.mark.parametrize("v", [False, True])
def test_an_obstacle_is_hit_between_samples_however_few_there_are(samples: int, v: bool) -> None:
    robot = sf.load("panda")
    hand = robot.placements(robot.q_of({"panda_joint1": 0.3}))["panda_hand"][:3, 3]
    post = Obstacle("post", Box((0.05, 0.05, 2.0)), placement(position=[hand[0], hand[1], 0.5]))
    world = World(ground=(), obstacles=(post,), gravity=np.zeros(3))
    motion = swing(robot, samples, v)
    _, found = judge(check_collisions, Case(robot, world, motion))
    assert found.failed.any()
    dense = motion.resample(dt=0.002)
    links = sorted({item.link for item in robot.collisions})
    exact = ExactCollision(robot, [(link, "post") for link in links], obstacles=[post]).distances(dense.q).min(axis=1)
    hit = dense.time[exact < 0.0]
    worst = found.time[np.unravel_index(np.nanargmin(found.value), found.value.shape)[0]]
    assert hit.min() - 0.3 <= worst <= hit.max() + 0.3


def test_a_motion_past_an_obstacle_is_proven_free() -> None:
    robot = sf.load("panda")
    far = Obstacle("far", Box((0.1, 0.1, 0.1)), placement(position=[-2.0, 0.0, 0.5]))
    world = World(ground=(), obstacles=(far,), gravity=np.zeros(3))
    own, found = judge(check_collisions, Case(robot, world, swing(robot, 21, True)))
    assert not own.failed.any()
    assert not found.failed.any()
    assert "proven" not in found.note


def test_ways_of_the_joints_bound_the_cubic_between_samples() -> None:
    robot = sf.load("panda")
    rng = np.random.default_rng(0)
    q = np.clip(robot.home + rng.normal(0, 0.3, (6, robot.nq)), robot.limits.lower, robot.limits.upper)
    motion = Trajectory.of(robot, np.arange(6) * 0.3, q, rng.normal(0, 2.0, (6, robot.nv)))
    travel = judge(PathTravel, Case(robot, EMPTY, motion))
    for first, last in [(0.0, 1.0), (2.0, 5.0), (1.0, 1.5), (3.25, 3.5)]:
        linear, angular = travel.between(np.array([first]), np.array([last]))
        times = np.interp(np.linspace(first, last, 400), np.arange(6), motion.time)
        path = np.abs(np.diff(motion.resample(times).q, axis=0)).sum(axis=0)
        way = linear[0] + angular[0]
        for i in range(robot.tree.n):
            assert way[i] >= path[robot.tree.q_index[i]] - 1e-9


def test_robots_without_shapes_are_skipped_with_a_reason() -> None:
    robot = sf.load("pendulum")
    motion = Trajectory.of(robot, [0.0, 1.0], np.tile(robot.home, (2, 1)))
    found = judge(check_collisions, Case(robot, EMPTY, motion))
    assert all(one.note for one in found if not one.parts)


def test_clearance_beyond_what_is_measured_is_a_bound_without_pair_and_time() -> None:
    robot = sf.load("panda")
    for gap, is_bound in ((0.25, True), (0.03, False)):
        top = robot.placements(robot.home)["panda_hand"][:3, 3]
        box = Box((0.1, 0.1, 0.1))
        links = sorted({item.link for item in robot.collisions})

        def at(x: float, box: Box = box, top: np.ndarray = top) -> Obstacle:
            return Obstacle("box", box, placement(position=[x, top[1], top[2]]))

        def nearest(x: float, at=at, links: list[str] = links) -> float:
            return float(
                ExactCollision(robot, [(k, "box") for k in links], obstacles=[at(x)]).distances(robot.home).min()
            )

        low, high = top[0], 3.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if nearest(middle) < gap else (low, middle)
        world = World(ground=(), obstacles=(at(high),), gravity=np.zeros(3))
        motion = Trajectory.of(robot, [0.0, 1.0], np.tile(robot.home, (2, 1)))
        item = sf.audit(motion, robot, world, replay=False).item("obstacle_clearance")
        assert item.is_bound is is_bound
        assert item.least_margin == pytest.approx(0.05 if is_bound else gap, abs=1e-4)
        assert bool(item.worst_part) is not is_bound
        assert np.isnan(item.worst_time) == is_bound


BARE = """<robot name="bare"><link name="base"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  {links}</robot>"""
ARM = """<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="arm{k}"/><origin xyz="0.3 0 0"/>
  <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
  <link name="arm{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="seen{k}.stl"/></geometry></visual>
  <collision><geometry>{shape}</geometry></collision></link>"""


def test_links_whose_collision_meshes_are_missing_are_named(tmp_path: Path) -> None:
    shapes = ['<mesh filename="lost.stl"/>', '<box size="0.1 0.1 0.1"/>', '<mesh filename="lost.stl"/>']
    shapes, parents = [*shapes, '<box size="0.1 0.1 0.1"/>'], ["base", "arm0", "arm1", "arm2"]
    links = "".join(ARM.format(k=k, parent=parents[k], shape=shape) for k, shape in enumerate(shapes))
    file = tmp_path / "bare.urdf"
    file.write_text(BARE.format(links=links))
    robot = sf.load(file, base="fixed")
    motion = Trajectory.of(robot, [0.0, 1.0], np.tile(robot.home, (2, 1)))
    result = sf.audit(motion, robot, EMPTY, replay=False)
    (remark,) = (text for text in result.remarks if "missing" in text)
    assert "`arm0`, `arm2`" in remark
    assert "arm1" not in remark  # only what is looked at is missing there
    assert "judged without" in result.item("self_collision").note
    whole = sf.load("panda")
    assert not sf.audit(swing(whole, 3, True), whole, EMPTY, replay=False).remarks


MJCF = """<mujoco model="bare"><asset><mesh name="lost" file="lost.stl"/></asset><worldbody><body name="base">
  <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="box" size=".1 .1 .1"/><body name="arm" pos=".3 0 0">
  <joint name="j" type="hinge" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
  <geom type="mesh" mesh="lost"/><body name="tip" pos=".3 0 0"><joint name="k" type="hinge" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="sphere" size=".02"/>
  <geom type="mesh" mesh="lost" contype="0" conaffinity="0"/></body></body></body></worldbody></mujoco>"""


def test_bodies_of_mjcf_whose_meshes_are_missing_are_named(tmp_path: Path) -> None:
    file = tmp_path / "bare.xml"
    file.write_text(MJCF)
    robot = sf.load(file)
    motion = Trajectory.of(robot, [0.0, 1.0], np.tile(robot.home, (2, 1)))
    (remark,) = sf.audit(motion, robot, EMPTY, replay=False).remarks
    assert remark.endswith("of `arm`")


def over_a_plate() -> sf.Robot:
    """A ball on a slider over a wide plate: the capsule round the plate reaches to the ball wherever it is."""
    aside = placement((0.0, 2.0, 0.0))
    plate = Link("plate", None, Joint("turn", "revolute", lower=-1.0, upper=1.0), mass=1.0, inertia=np.eye(3),
                 collisions=(Geometry("plate", "plate", Box((1.0, 1.0, 0.02))),))  # fmt: skip
    far = Link("far", "plate", Joint("lift", "prismatic", axis=(0.0, 0.0, 1.0), lower=-0.1, upper=0.1), mass=1.0,
               inertia=np.eye(3), collisions=(Geometry("far", "far", Sphere(0.05), aside),))  # fmt: skip
    ball = Link("ball", "far", Joint("slide", "prismatic", axis=(0.0, 0.0, 1.0), lower=0.0, upper=0.4), mass=1.0,
                inertia=np.eye(3), collisions=(Geometry("ball", "ball", Sphere(0.05)),))  # fmt: skip
    return sf.Robot.from_tree("over a plate", [plate, far, ball], home={"slide": 0.3})


@pytest.mark.parametrize(("lowest", "touches"), [(0.07, False), (0.05, True)])
def test_what_looks_wide_is_measured_by_its_shape(lowest: float, touches: bool) -> None:
    robot = over_a_plate()
    t = np.linspace(0.0, 2.0, 41)
    q = np.tile(robot.home, (41, 1))
    q[:, 2] = lowest + (0.3 - lowest) * np.cos(0.5 * np.pi * t) ** 2
    own, _ = judge(check_collisions, Case(robot, EMPTY, Trajectory.of(robot, t, q)))
    assert bool(own.failed.any()) == touches
    if touches:
        assert np.nanmin(own.value) == pytest.approx(-0.01, abs=1e-4)
        assert own.time[np.nanargmin(own.value) // own.value.shape[1]] == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("name", ["lola", "humanoid"])
def test_the_verdict_is_that_of_dense_sampling(name: str) -> None:
    robot = sf.load(name)
    rng, rows = np.random.default_rng(7), np.arange(7, robot.nq)
    lower, upper = robot.limits.lower[rows], robot.limits.upper[rows]
    verdicts = set()
    for _ in range(8):
        ends = np.tile(robot.home, (2, 1))
        ends[:, rows] = np.clip(ends[:, rows] + rng.normal(0.0, rng.choice([0.1, 0.6]), (2, len(rows))), lower, upper)
        motion = Trajectory.of(robot, np.array([0.0, 1.0]), ends)
        own, _ = judge(check_collisions, Case(robot, EMPTY, motion))
        exact = ExactCollision(robot, clearance_model(robot).link_pairs)
        kept = exact.distances(robot.home) > 0.0
        least = exact.distances(motion.resample(dt=0.005).q)[:, kept].min()
        if abs(least + 0.002) > 0.001:  # else the tolerance decides
            assert bool(own.failed.any()) == (least < -0.002)
            verdicts.add(least < -0.002)
    assert verdicts == {False, True}


def two_blades(home: float = 1.0) -> sf.Robot:
    """Two blades, 4 cm by 1 cm at their tips, that turn about the vertical and cross where both point inwards."""
    turn = {"axis": (0.0, 0.0, 1.0), "lower": -3.0, "upper": 3.0}
    base = Link("base", None, Joint("tilt", "revolute", lower=-1.0, upper=1.0), mass=1.0, inertia=np.eye(3),
                collisions=(Geometry("base", "base", Box((0.1, 0.1, 0.1)), placement((0.0, 0.0, -0.5))),))  # fmt: skip
    blades = [
        Link(name, "base", Joint(f"turn {name}", "revolute", placement=placement((side * -0.3, 0.0, 0.0)), **turn),
             mass=1.0, inertia=np.eye(3),
             collisions=(Geometry(name, name, Box((0.4, 0.01, 0.02)), placement((side * 0.2, 0.0, 0.0))),))
        for name, side in (("left", 1.0), ("right", -1.0))
    ]  # fmt: skip
    return sf.Robot.from_tree("two blades", [base, *blades], home={"turn left": home, "turn right": -home})


def crossing(robot: sf.Robot, t: np.ndarray, overlap: float) -> Trajectory:
    """The left blade passes the right one between two samples at which they overlap."""
    angle = np.arcsin((0.01 - overlap) / 0.2)
    q = np.zeros((len(t), 3))
    q[:, 1] = np.interp(t, [0.0, 0.5, 0.55, 1.0], [-1.0, -angle, angle, 1.0])
    return Trajectory.of(robot, t, q)


@pytest.mark.parametrize("overlap", [-0.0005, 0.0005, 0.0015, 0.0019, 0.0025, 0.005])
def test_what_happens_between_samples_that_overlap_is_measured(overlap: float) -> None:
    robot = two_blades()
    result = sf.audit(crossing(robot, np.arange(21) / 20.0, overlap), robot, EMPTY, replay=False)
    finding = next(one for one in result.findings if one.item == "self_collision")
    assert finding.value == pytest.approx(-0.01, abs=1e-4)
    assert finding.time == pytest.approx(0.525, abs=1e-3)
    assert 0.47 < finding.start < 0.525 < finding.end < 0.58


@pytest.mark.parametrize(("depth", "passes"), [(0.0015, True), (0.0025, False)])
def test_an_overlap_that_passes_is_no_collision_however_long_it_lasts(depth: float, passes: bool) -> None:
    robot, t = two_blades(), np.linspace(0.0, 2.0, 401)
    angle = np.arcsin((0.01 - depth) / 0.6)  # of parallel blades, of which one pushes the other
    q = np.zeros((len(t), 3))
    q[:, 1:] = angle + 0.2 * np.abs(np.linspace(-1.0, 1.0, len(t)))[:, None] ** 3
    own, _ = judge(check_collisions, Case(robot, EMPTY, Trajectory.of(robot, t, q)))
    assert bool(own.failed.any()) != passes
    assert np.nanmin(own.value) == pytest.approx(-depth, abs=2e-4)
    assert "proven" not in own.note


def test_findings_do_not_reach_beyond_the_motion() -> None:
    robot, t = two_blades(), 3.0 + np.linspace(0.0, 1.0, 11)
    result = sf.audit(Trajectory.of(robot, t, np.zeros((11, 3))), robot, EMPTY, replay=False)
    assert (result.findings[0].item, result.findings[0].start, result.findings[0].end) == ("self_collision", 3.0, 4.0)


def test_pairs_that_overlap_at_home_are_named_also_where_there_are_no_others() -> None:
    robot = two_blades(home=0.0)
    result = sf.audit(crossing(robot, np.linspace(0.0, 1.0, 21), 0.0), robot, EMPTY, replay=False)
    item = result.item("self_collision")
    assert item.status == "skipped"
    assert item.note == "not judged, because their shapes overlap in the home posture: left–right"
    assert any("left–right" in remark for remark in result.remarks)


def test_links_that_hang_on_each_other_by_links_without_shapes_are_named() -> None:
    turn = {"axis": (0.0, 0.0, 1.0), "lower": -1.0, "upper": 1.0}
    ball = {name: (Geometry(name, name, Sphere(0.05)),) for name in ("foot", "tip", "end")}
    links = [
        Link(name, parent, Joint(f"turn {name}", "revolute", placement=placement((ahead, 0.0, 0.0)), **turn), mass=1.0,
             inertia=np.eye(3), collisions=ball.get(name, ()))
        for name, parent, ahead in (("foot", None, 0.0), ("bare", "foot", 0.06), ("tip", "bare", 0.06),
                                    ("thin", "tip", 0.3), ("end", "thin", 0.3))
    ]  # fmt: skip
    robot = sf.Robot.from_tree("chain", links)
    result = sf.audit(Trajectory.of(robot, [0.0, 1.0], np.zeros((2, 5))), robot, EMPTY, replay=False)
    remark = "not judged, because only links without shapes lie between them: foot–tip"
    assert result.item("self_collision").note.endswith(remark)
    assert result.remarks == (f"self-collision: {remark}",)
