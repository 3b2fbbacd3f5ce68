"""Centre of mass, ZMP, capture point and stances: against statics, a pendulum, and the definition."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.contact import contact_placements
from surefoot.motion import ContactSchedule, Spot, Stance
from surefoot.report.evidence import Evidence, capture_point, contact_activity, spans, with_layers
from surefoot.report.page.report_page import support_regions
from surefoot.robot import zoo


@pytest.fixture(scope="module")
def humanoid():
    return zoo.load("humanoid")


def standing(robot, count: int = 5) -> np.ndarray:
    return np.tile(robot.home, (count, 1))


def test_nothing_is_said_about_a_zmp_in_the_air(humanoid) -> None:
    light = np.tile([0.0, 0.0, 1e-3, 0.0, 0.0, 0.0], (3, 1))
    wrenches = dict.fromkeys(humanoid.contacts, light)
    found = with_layers(Evidence("t", humanoid, np.linspace(0, 1, 3), standing(humanoid, 3), wrenches=wrenches))
    assert np.isnan(found.zmp).all()


def test_a_pendulum_over_its_capture_point_comes_to_rest() -> None:
    """ẍ = ω² (x − p) with p at the capture point: x → p, v → 0."""
    height, gravity, x, v = 0.8, 9.81, 0.03, 0.4
    point = capture_point(np.array([[x, 0.0, height]]), np.array([[v, 0.0, 0.0]]), np.zeros(1), gravity)[0, 0]
    rate = np.sqrt(gravity / height)
    t = 4.0 / rate
    x_end = point + (x - point) * np.cosh(rate * t) + v / rate * np.sinh(rate * t)
    assert x_end == pytest.approx(point, abs=0.02 * abs(point - x))


def test_layers_of_a_robot_at_rest_lie_above_each_other(humanoid) -> None:
    q, n = standing(humanoid), 5
    weight = humanoid.mass * 9.81
    frames = contact_placements(humanoid, q)
    com = humanoid.placements(humanoid.home)  # any frame: only to know it stands
    assert com
    share = weight / len(humanoid.contacts)
    wrenches = {name: np.tile([0.0, 0.0, share, 0.0, 0.0, 0.0], (n, 1)) for name in humanoid.contacts}
    found = with_layers(
        Evidence("t", humanoid, np.linspace(0, 1, n), q, v=np.zeros((n, humanoid.nv)), wrenches=wrenches)
    )
    np.testing.assert_allclose(found.capture_point[:, :2], found.com[:, :2], atol=1e-9)
    middle = frames[0, :, :3, 3].mean(axis=0)
    np.testing.assert_allclose(found.zmp[0], middle, atol=1e-6)


def test_stances_follow_the_schedule_or_the_load(humanoid) -> None:
    time = np.linspace(0.0, 2.0, 201)
    left, right = list(humanoid.contacts)[:2]
    spot = Spot(np.eye(4))
    schedule = ContactSchedule.of([Stance({left: spot, right: spot}), Stance({left: spot})], [0.0, 1.0, 2.0])
    q = np.tile(humanoid.home, (201, 1))
    told = contact_activity(Evidence("t", humanoid, time, q, schedule=schedule))
    assert spans(time, told[left]) == [(0.0, 2.0)]
    ((start, end),) = spans(time, told[right])
    assert (start, end) == (0.0, pytest.approx(1.0, abs=0.011))

    load = np.zeros((201, 6))
    load[:100, 2] = 0.5 * humanoid.mass * 9.81
    load[50, 2] = 0.0  # a single sample without load is no step
    found = contact_activity(Evidence("t", humanoid, time, q, wrenches={left: load}))
    assert len(spans(time, found[left])) == 1


def test_support_polygons_change_with_the_stance(humanoid) -> None:
    time = np.linspace(0.0, 1.0, 11)
    flags = np.arange(11) < 5
    left, right = list(humanoid.contacts)[:2]
    evidence = Evidence("t", humanoid, time, np.tile(humanoid.home, (11, 1)))
    both, one = support_regions(evidence, {left: np.ones(11, dtype=bool), right: flags})
    assert both.end == one.start
    corners = humanoid.contact_corners(humanoid.home)
    assert np.ptp(both.corners[:, 1]) > np.ptp(one.corners[:, 1])
    np.testing.assert_allclose(one.corners.min(axis=0), corners[left][:, :2].min(axis=0))
