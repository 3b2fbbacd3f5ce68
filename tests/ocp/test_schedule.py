"""Problems of contact schedules: feet that are up clear the ground, are unloaded before and loaded after."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import SurefootError
from surefoot.motion import ContactSchedule, Spot, Stance
from surefoot.ocp import Problem, SolverOptions, blocks
from surefoot.ocp.motions import motion_to_follow
from surefoot.ocp.timeline import swing_heights
from surefoot.robot import Robot, load
from tests.ocp.problems import FEET, stand

PAIRS = (["FL_foot", "RR_foot"], ["FR_foot", "RL_foot"])
STEP, SWING, BOTH, LIFT = 0.08, 0.25, 0.2, 0.03
MOTION_ITEMS = {"ground_height", "penetration", "foot_slip", "impact", "obstacle_clearance", "joint_position",
                "joint_velocity", "joint_torque", "velocity_consistency", "acceleration_consistency"}  # fmt: skip


@pytest.fixture(scope="module")
def go2() -> Robot:
    return load("go2")


def trot(robot: Robot) -> ContactSchedule:
    """On four feet, one diagonal pair ahead, the other one; spots of 0.6 friction."""
    places = robot.placements(robot.home)

    def stance(up: list[str], ahead: list[str]) -> Stance:
        spots = {}
        for name in (foot for foot in FEET if foot not in up):
            surface = robot.contacts[name]
            pose = places[surface.frame] @ surface.placement
            pose[0, 3] += STEP * (name in ahead)
            spots[name] = Spot(pose, 0.6)
        return Stance(spots)

    first, second = PAIRS
    stances = [stance([], []), stance(first, []), stance([], first), stance(second, first), stance([], FEET)]
    return ContactSchedule.of(stances, np.cumsum([0.0, BOTH, SWING, BOTH, SWING, 0.4]))


def test_phases_of_a_schedule(go2: Robot) -> None:
    problem = Problem.of(go2, trot(go2), step=0.05)
    assert [phase.intervals for phase in problem.phases] == [4, 5, 4, 5, 8]
    assert {phase.friction for phase in problem.phases} == {0.6}
    names = {block.name for block in problem.blocks}
    assert names >= {f"clearance {foot}" for foot in FEET}
    assert names >= {
        "unload FL_foot in phase0",
        "load FL_foot in phase2",
        "unload RL_foot in phase2",
        "load RL_foot in phase4",
    }
    assert not Problem.of(go2, trot(go2), clearance=0.0).blocks[0].name.startswith("clearance")


def test_heights_of_a_swing(go2: Robot) -> None:
    """Zero at its ends, the clearance in its middle, over the line between two spots; each swing its own."""
    problem = Problem.of(go2, trot(go2))
    higher = problem.phases[2].spots["FL_foot"].copy()
    higher[2, 3] += 0.1
    problem.phases[2] = replace(problem.phases[2], spots={**problem.phases[2].spots, "FL_foot": higher})
    least = swing_heights(problem.phases, "FL_foot", ["phase1"], LIFT)
    ground = problem.phases[0].spots["FL_foot"][2, 3]
    found = [float(least(t)[0]) - ground for t in (BOTH, BOTH + 0.5 * SWING, BOTH + SWING)]
    np.testing.assert_allclose(found, [0.0, 0.05 + LIFT, 0.1], atol=1e-9)


@pytest.mark.slow
def test_lift_off_leaves_no_force() -> None:
    problem = stand(6)
    problem.phase("three", FEET[1:], 6, 0.3, transition="lift-off")
    problem.cost("contact_force", 1e-4)
    solution = problem.solve()
    weight = problem.robot.mass * 9.81
    normal = solution.nodes["wrenches"][:6, list(problem.robot.contacts).index("FL_foot"), 2]
    assert solution.success
    assert normal[5] <= 0.0101 * weight
    assert normal[0] > 0.1 * weight


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda p: p.clearance("paw", 0.05), "no contact `paw`"),
        (lambda p: p.clearance("FL_foot", 0.05), "`FL_foot` is never up"),
        (lambda p: p.clearance("FL_foot", 0.05, ["stand"]), "phase without `FL_foot` `stand`"),
        (lambda p: p.unload("FL_foot", "flight"), "phase in which `FL_foot` holds `flight`"),
        (lambda p: p.load("FL_foot", "stand", 0), "intervals of a ramp"),
        (lambda p: p.limits(friction="ball"), "friction law `ball`"),
    ],
)
def test_bad_swings_are_refused_by_name(act, words) -> None:
    with pytest.raises(SurefootError, match=words):
        act(stand(2))


@pytest.mark.parametrize(("law", "most"), [("pyramid", np.sqrt(2.0)), ("inscribed", 1.0), ("cone", 1.0)])
def test_friction_by_each_law(go2: Robot, law: str, most: float) -> None:
    """Diagonally, the outer pyramid allows √2 of the friction; straight ahead, the inner one 1/√2."""
    surface, mu, weight = go2.contacts["FL_foot"], 0.6, go2.mass * 9.81
    faces = blocks.wrench_faces(surface, mu, 0.0, law == "inscribed")
    rows = blocks.cone_rows(surface, faces, np.eye(3), mu if law == "cone" else None)

    def slack(share: float, way: tuple[float, float]) -> float:
        wrench = 0.25 * weight * np.array([share * mu * way[0], share * mu * way[1], 1.0, 0.0, 0.0, 0.0])
        node = SimpleNamespace(wrenches={"FL_foot": wrench}, mass=go2.mass, robot=go2, placement=lambda _: np.eye(4))
        return float(np.min(rows(node)))

    diagonal, ahead = (np.sqrt(0.5), np.sqrt(0.5)), (1.0, 0.0)
    assert slack(0.99 * most, diagonal) > 0.0 > slack(1.01 * most, diagonal)
    straight = np.sqrt(0.5) if law == "inscribed" else 1.0
    assert slack(0.99 * straight, ahead) > 0.0 > slack(1.01 * straight, ahead)


@pytest.mark.slow
def test_a_trot_of_a_schedule_is_a_motion(go2: Robot) -> None:
    """Feet go ahead over the ground and stand still on it: the audit of the motion finds neither slip nor drag."""
    problem = Problem.of(go2, trot(go2), step=0.01, clearance=LIFT)
    problem.limits(drive_share=0.85, friction="inscribed")
    goal = go2.home.copy()
    goal[0] += STEP
    problem.start(go2.home)
    problem.end(goal)
    for name, weight in {"torque": 1e-3, "acceleration": 1e-3, "speed": 3.0, "contact_force": 1e-5}.items():
        problem.cost(name, weight)
    problem.cost("base_turn", 300.0)
    solution = problem.solve(options=SolverOptions(tolerance=1e-4))
    assert solution.success, solution.trouble
    found = sf.audit(motion_to_follow(solution).resample(dt=0.005), go2, replay=False)
    failed = {item.name for item in found.items if item.status == "failed"}
    assert {item.name for item in found.items} >= MOTION_ITEMS
    assert not failed & MOTION_ITEMS
    motion, foot = solution.trajectory, go2.contacts["FL_foot"]
    inside = (motion.time > BOTH + 0.4 * SWING) & (motion.time < BOTH + 0.6 * SWING)
    heights = [(go2.placements(q)[foot.frame] @ foot.placement)[2, 3] for q in motion.q[inside]]
    assert min(heights) > 0.9 * LIFT
