"""`surefoot run swing-over`: a foot gives way to a block, the robot balances on the other one, and lands as planned."""

import json

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, ScenarioError, ShapeError, UnknownNameError
from surefoot.motion import Column, Log, World
from surefoot.scenario import build_world, resolved_scenario, run_scenario
from surefoot.scenario.motions.swing_over import swing_over

COARSE = ["motion.cycle=0.01", "motion.step.shift=0.8"]
SLOWER = ["motion.cycle=0.005", "motion.duration=2.0", "motion.step.slope=-1.0", "simulation.duration=5.0"]
AROUND = [
    "motion.duration=2.0",
    "motion.step.slope=-1.0",
    "motion.step.lift=0.06",
    "motion.step.tilt=0.0",
    "motion.step.apart=0.3",
]
BLOCK_AROUND = [*AROUND, "world.obstacles.0.position=[0.075, 0.36, 0.0805]"]
EDGES = [(0.13, 0.279, 0.0, np.pi / 2), (0.307, 0.3115, 0.15, 0.21337), (0.307, 0.2465, 0.15, -0.21337)]
TRIANGLE = ", ".join(
    f'{{kind="capsule", name="edge {k}", radius=0.045, length={n}, position=[0.075, {y}, {z}], rpy=[{turn}, 0.0, 0.0]}}'
    for k, (n, y, z, turn) in enumerate(EDGES)
)
TRIANGLE_AROUND = [*AROUND, f"world.obstacles=[{TRIANGLE}]"]
TALOS = [
    "motion.duration=2.0", "motion.step.slope=-1.0", "motion.step.apart=0.24", "motion.step.sink=0.04",
    "motion.step.behind=0.25", "motion.step.ahead=0.25", "world.obstacles.0.position=[0.03, 0.16, 0.0805]",
]  # fmt: skip


def planned(*overrides, robot=None):
    """The robot and the plan of the scenario with changes, planned in coarse cycles."""
    scenario = resolved_scenario("swing-over", robot, None, [*COARSE, *overrides])
    found = sf.load(scenario.robot.name)
    return found, swing_over(scenario.motion, found, build_world(scenario.world, found))


@pytest.fixture(scope="module")
def plan():
    return planned()


def log_of(robot, plan, q):
    """A log in which the plan, or something like it, has happened."""
    time, none = plan.trajectory.time, np.zeros(len(plan.trajectory.time))
    contacts = [Column(f"contact.{name}.slip", "m", none) for name in robot.contacts]
    contacts += [Column(f"contact.{name}.wrench", "N", np.zeros((len(time), 6))) for name in robot.contacts]
    return Log.of(Column("time", "s", time), Column("q", "m", q), *contacts)


@pytest.mark.slow
def test_the_foot_lands_and_touches_nothing(tmp_path):
    """In physics, from the command's function to the files; the blind plan would have hit the block."""
    result = run_scenario("swing-over", out=tmp_path / "run", overrides=[*SLOWER, "audit.kind=none"])
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert result.passed, result.verdict
    assert metrics["blind_clearance_m"] < -0.01
    assert metrics["run_clearance_of_all_m"] > 0.01
    assert metrics["return_overshoot_m"] == 0.0
    assert metrics["deviation_at_touchdown_m"] < 1e-9
    assert metrics["run_stance_slip_m"] < 0.005
    assert metrics["run_landing_error_m"] < 0.005
    assert 0.05 < metrics["run_com_margin_m"] <= 0.06 + 1e-3  # half the width of the sole is 6 cm
    assert metrics["run_swing_foot_in_air_s"] > 0.8
    assert {"report.html", "log.parquet", "trajectory.npz"} <= {path.name for path in (tmp_path / "run").iterdir()}


@pytest.mark.slow
def test_the_schedule_is_both_feet_one_foot_both_feet(plan):
    robot, found = plan
    schedule = found.trajectory.schedule
    both, one = set(robot.contacts), {"right_foot", "right_toe"}
    assert [set(phase.stance.names) for phase in schedule.phases] == [both, one, both]
    np.testing.assert_allclose(schedule.switches, [0.8, 1.8])
    landed, stood = schedule.phases[2].stance, schedule.phases[0].stance
    np.testing.assert_allclose(
        landed["left_foot"].pose[:3, 3] - stood["left_foot"].pose[:3, 3], [0.54, 0, 0], atol=1e-3
    )
    assert stood["right_foot"].same_as(landed["right_foot"], 1e-3)


@pytest.mark.slow
def test_margins_of_the_plan_agree_at_rest(plan):
    """Where nothing accelerates, the zero-moment point is under the centre of mass."""
    _, found = plan
    inside = next(curve for curve in found.curves if "sole" in curve.title).lines
    for row in (0, -1):
        assert inside["zmp"][row] == pytest.approx(inside["centre of mass"][row], abs=0.01)
    assert found.trouble is None


@pytest.mark.slow
def test_a_run_that_does_as_planned_is_well(plan):
    robot, found = plan
    verdict = found.judge(robot, log_of(robot, found, found.trajectory.q))
    assert verdict.trouble is None
    assert verdict.metrics["run_clearance_m"] == pytest.approx(found.metrics["planned_clearance_m"])
    assert verdict.metrics["run_com_margin_m"] == pytest.approx(found.metrics["planned_com_margin_m"])
    assert verdict.metrics["run_landing_error_m"] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shift", "said"), [((0.02, 0.0, 0.0), "landed 0.02 m off"), ((0.0, 0.08, 0.0), "touches"), ((0, 0, -0.1), "touch")]
)
def test_a_run_that_goes_wrong_is_told(plan, shift, said):
    robot, found = plan
    q = np.array(found.trajectory.q)
    q[:, :3] += shift
    assert said in found.judge(robot, log_of(robot, found, q)).trouble


@pytest.mark.slow
def test_a_run_that_ends_early_is_told(plan):
    robot, found = plan
    log = log_of(robot, found, found.trajectory.q).between(0.0, 1.0)
    assert "the run ends at 1 s" in found.judge(robot, log).trouble


@pytest.mark.slow
def test_a_foot_that_does_not_give_way_is_in_trouble():
    _, found = planned("motion.step.slope=-1e-6")
    assert "the plan touches an obstacle" in found.trouble
    assert found.metrics["planned_clearance_m"] == pytest.approx(found.metrics["blind_clearance_m"], abs=1e-3)


@pytest.mark.slow
def test_ground_that_is_not_there_is_in_trouble():
    scenario = resolved_scenario("swing-over", None, None, COARSE)
    robot, obstacles = sf.load("lola"), build_world(scenario.world, sf.load("lola")).obstacles
    found = swing_over(scenario.motion, robot, World(ground=(), obstacles=obstacles))
    assert "the ground is" in found.trouble


@pytest.mark.parametrize(
    ("overrides", "robot", "error"),
    [
        (["world.obstacles=[]"], None, ScenarioError),
        ([], "panda", NotSupportedError),
        ([], "hexapod", NotSupportedError),
        ([], "bolt", NotSupportedError),
        ([], "small-humanoid", ShapeError),  # it is too small for this step
        (["motion.frame=left_hand"], None, UnknownNameError),
        (["motion.frame=torso"], None, NotSupportedError),
        (["motion.step.behind=0.9"], None, ShapeError),
        (["motion.step.gives_way=w"], None, ScenarioError),
        (["motion.rise=1.0"], None, ScenarioError),
    ],
)
def test_what_cannot_be_is_refused(overrides, robot, error):
    with pytest.raises(error):
        planned(*overrides, robot=robot)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "overrides"),
    [
        (None, []),
        (None, BLOCK_AROUND),
        (None, TRIANGLE_AROUND),
        ("talos", TALOS),
    ],
    ids=["block over", "block around", "triangle around", "talos"],
)
def test_all_cases_pass_in_physics(tmp_path, robot, overrides):
    longer = "simulation.duration=5.5"
    result = run_scenario(
        "swing-over", robot=robot, out=tmp_path / "run", overrides=[*overrides, longer, "audit.kind=none"]
    )
    assert result.passed, result.verdict
    assert result.metrics["blind_clearance_m"] < 0.0 < result.metrics["run_clearance_of_all_m"]
    assert result.metrics["fallen"] is False
