from dataclasses import replace

import numpy as np
import pytest

from surefoot.feasibility import audit
from surefoot.feasibility.case import Case
from surefoot.feasibility.forces.wrenches import check_wrenches
from surefoot.feasibility.limits import check_limits
from surefoot.motion import ContactSchedule, GroundBox, GroundPlane, Stance, Trajectory, World
from surefoot.robot import placement
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import judge, stages
from tests.feasibility.standing_motions import failing_times, failures, landing_log, named, squat_case, still

LEFT, RIGHT = "left_ankle_roll_link", "right_ankle_roll_link"


def with_wrenches(case, **changes):
    """The motion with the wrenches that carry it, or others."""
    wrenches = {name: np.array(stages(case).efforts.wrenches[:, k]) for k, name in enumerate(case.contact_names)}
    for name, change in changes.items():
        change(wrenches[name])
    return Case(case.given_robot, case.world, replace(case.trajectory, wrenches=wrenches))


@pytest.mark.parametrize("name", ["g1", "talos", "anymal"])
@pytest.mark.parametrize("planned", [True, False])
def test_a_squat_asks_for_nothing_impossible(name, planned):
    case = squat_case(name, rate=100.0)
    if not planned:
        case = Case(case.given_robot, case.world, replace(case.trajectory, v=None, a=None))
    series = judge(check_wrenches, case)
    assert failures(series) == set()
    assert named(series, "zmp")[0].value.min() > 0.01
    assert np.all(stages(case).efforts.violation == 0.0)


@pytest.mark.parametrize("engine", ["mujoco", "native"])
@pytest.mark.parametrize("forces", [True, False])
def test_a_log_of_a_robot_that_lands_asks_for_nothing_impossible(engine, forces):
    motion = landing_log("hexapod", engine=engine)
    if not forces:
        motion = replace(motion, wrenches={}, tau=None)
    case = Case(loaded("hexapod"), World(), motion)
    assert failures(judge(check_wrenches, case)) == set()
    assert failures(judge(check_limits, case)) == set()


def test_given_wrenches_that_carry_a_motion_pass():
    assert failures(judge(check_wrenches, with_wrenches(squat_case("g1", rate=100.0)))) == set()


@pytest.mark.parametrize(
    ("item", "change"),
    [
        ("friction", lambda w: w[100:120].__setitem__((slice(None), 1), 0.9 * w[100:120, 2])),
        ("unilateral_force", lambda w: w[100:120].__setitem__((slice(None), 2), -20.0)),
        ("cop", lambda w: w[100:120].__setitem__((slice(None), 3), 0.06 * w[100:120, 2])),
        ("torsional_friction", lambda w: w[100:120].__setitem__((slice(None), 5), 0.2 * w[100:120, 2])),
    ],
)
def test_a_wrench_that_a_contact_cannot_carry_is_found_there(item, change):
    series = judge(check_wrenches, with_wrenches(squat_case("g1", rate=100.0), **{LEFT: change}))
    assert (item, LEFT) in failures(series)
    assert not any(part == RIGHT for _, part in failures(series))
    first = min(failures(series), key=lambda pair: [one.item for one in series].index(pair[0]))
    assert first[0] == item
    assert failing_times(series, item) == pytest.approx((1.0, 1.19))


@pytest.mark.parametrize("axis", [3, 4])
def test_a_moment_on_a_point_is_found_at_that_contact(axis):
    """15 cm beside a ball; its own radius, about which recordings differ, passes."""
    case = squat_case("anymal", rate=100.0)
    name = case.contact_names[2]
    radius = case.given_robot.contacts[name].radius

    def beside(way):
        return with_wrenches(case, **{name: lambda w: w[100:120].__setitem__((slice(None), axis), way * w[100:120, 2])})

    assert radius > 0.0
    for way in (0.0, radius):
        assert failures(judge(check_wrenches, beside(way))) == set()
    series = judge(check_wrenches, beside(0.15))
    assert failures(series) == {("cop", name)}
    assert failing_times(series, "cop") == pytest.approx((1.0, 1.19))
    result = audit(beside(0.15).trajectory, case.given_robot, replay=False, collisions=False)
    assert result.first is not None
    assert (result.first.item, result.first.where) == ("cop", name)
    assert "bears a moment" in result.first.message
    assert {finding.item for finding in result.findings} == {"cop"}  # the balances follow from it


def test_of_wrenches_that_were_found_points_have_no_centre_of_pressure():
    (cop,) = named(judge(check_wrenches, squat_case("anymal", rate=100.0)), "cop")
    assert cop.parts == ()


def test_a_lateral_acceleration_on_slippery_ground_is_a_friction_violation():
    """|F_y| ≤ μ F_z decides, and both are known from the motion of the centre of mass."""
    case = squat_case("g1", friction=0.02, rate=100.0, duration=2.0, sway=0.05)
    com = case.kernels.com(case.q)
    rate = np.gradient(np.gradient(com, case.time, axis=0), case.time, axis=0)
    force = case.given_robot.mass * (rate - case.world.gravity)
    beyond = np.hypot(force[:, 0], force[:, 1]) - 0.02 * force[:, 2]
    series = judge(check_wrenches, case)
    failed = named(series, "friction")[0].failed[:, 0]
    assert {item for item, _ in failures(series)} >= {"friction", "admissible"}
    assert failed[5:-5][beyond[5:-5] > 0.02 * case.weight].all()
    assert not failed[5:-5][beyond[5:-5] < 0.0].any()


def test_a_zero_moment_point_outside_the_soles_is_found():
    quick = squat_case("g1", rate=200.0, duration=0.7, sway=0.1, depth=0.02)
    series = judge(check_wrenches, quick)
    found = {item for item, _ in failures(series)}
    assert {"zmp", "admissible"} <= found
    assert "friction" not in found
    zmp = named(series, "zmp")[0].value[:, 0]
    net, com = stages(quick).efforts.demand.net, stages(quick).efforts.demand.com
    y = com[:, 1] + (net[:, 3] - com[:, 2] * net[:, 1]) / net[:, 2]
    corners = np.concatenate(list(quick.given_robot.contact_corners(quick.given_robot.home).values()))
    outside = np.maximum(y - corners[:, 1].max(), corners[:, 1].min() - y)
    worst = int(np.argmin(zmp))
    assert -zmp[worst] == pytest.approx(outside[worst], abs=5e-3)  # the soles are not quite rectangles


def test_a_leaning_robot_has_its_zero_moment_point_under_its_centre_of_mass():
    one = loaded("anymal")
    case = Case(one, World(), still(one))
    from surefoot.geometry import convex_hull, distance_inside

    feet = np.concatenate(list(one.contact_corners(one.home).values()))[:, :2]
    com = case.kernels.com(case.q)[0]
    expected = float(distance_inside(com[:2], convex_hull(feet)))
    assert named(judge(check_wrenches, case), "zmp")[0].value[0, 0] == pytest.approx(expected, abs=1e-4)


def test_hovering_is_not_admissible_and_falling_is():
    one = loaded("hexapod")
    high = np.array(one.home)
    high[2] += 2.0
    hover = judge(check_wrenches, Case(one, World(), still(one, high)))
    assert failures(hover) == {("admissible", "all contacts")}
    time = np.arange(201) * 0.002
    q = np.tile(high, (201, 1))
    q[:, 2] -= 0.5 * 9.81 * time**2
    assert failures(judge(check_wrenches, Case(one, World(), Trajectory.of(one, time, q)))) == set()


def test_contacts_on_several_levels_are_judged_by_admissibility_alone():
    one = loaded("g1")
    world = World(ground=(GroundPlane(), GroundBox((2.0, 1.0, 0.05), placement((0.0, 0.5, 0.025)))))
    q = np.array(one.home)
    schedule = ContactSchedule.of(
        [Stance({name: _spot(one, name, lift) for name, lift in ((LEFT, 0.05), (RIGHT, 0.0))})], [0.0, 0.1]
    )
    case = Case(one, world, still(one, q, schedule=schedule))
    heights = np.array(stages(case).touch.placements)
    heights[:, case.contact_names.index(LEFT), 2, 3] += 0.05
    stages(case).touch = replace(stages(case).touch, placements=heights)
    zmp, admissible = named(judge(check_wrenches, case), "zmp")[0], named(judge(check_wrenches, case), "admissible")[0]
    assert not zmp.parts
    assert "several planes" in zmp.note
    assert not admissible.failed.any()


def _spot(one, name, lift):
    from surefoot.motion.stance import Spot

    T = one.placements(one.home)[one.contacts[name].frame] @ one.contacts[name].placement
    T[2, 3] += lift
    return Spot(T)


def test_a_fixed_base_needs_no_contacts():
    one = loaded("panda")
    assert all(not series.parts and series.note for series in judge(check_wrenches, Case(one, World(), still(one))))
