"""Conflicts of tasks at a tick and at a posture."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.ik import Stepper, explain_posture, explain_step
from surefoot.tasks import FramePose, FramePosition, Posture

HAND = "panda_hand"


@pytest.fixture(scope="module")
def panda():
    return sf.load("panda")


@pytest.fixture(scope="module")
def hand(panda):
    return sf.compile(panda).frames(panda.home, [HAND])[0]


def two_places(hand, apart: float, gain: float = 1.0):
    """The same hand at two places."""
    aside = hand[:3, 3] + [0.0, apart, 0.0]
    return [
        FramePosition(HAND, hand[:3, 3], name="here", gain=gain),
        FramePosition(HAND, aside, name="there", gain=gain),
    ]


def test_a_tick_names_tasks_that_conflict(panda, hand) -> None:
    """One hand, two rates that differ by gain · distance: either yields all of it."""
    tasks = [*two_places(hand, 0.05, gain=2.0), Posture(panda, priority=1)]
    tick = Stepper(panda, tasks, 1e-3).step()
    found = explain_step(tick, tasks, panda)
    assert found.names == ("here", "there")
    assert [member.alone.text for member in found.conflict] == ["+0.1 m/s", "−0.1 m/s"]
    assert found.sentence == "here and there conflict at t = 0 s: +0.1 m/s or −0.1 m/s"
    assert explain_step(tick).names == ("here", "there")


def test_weights_do_not_change_amounts(panda, hand) -> None:
    tasks = [FramePosition(HAND, hand[:3, 3], name="here", weight=100.0), two_places(hand, 0.05)[1]]
    found = explain_step(Stepper(panda, tasks, 1e-3).step(), tasks, panda)
    assert [member.alone.amount for member in found.conflict] == pytest.approx([0.05, 0.05])


def test_a_tick_names_bounds_of_joints(panda) -> None:
    """A joint that should be faster than it may."""
    q = panda.home.copy()
    index = panda.joint_index("panda_joint1")
    q[panda.tree.q_index[index]] += 0.5
    tasks = [Posture(panda, q, gain=10.0, priority=0)]
    found = explain_step(Stepper(panda, tasks, 1e-3).step(), tasks, panda)
    fastest = panda.limits.velocity[panda.tree.v_index[index]]
    assert "bound of panda_joint1" in found.names
    bound = found.conflict[found.names.index("bound of panda_joint1")].alone
    assert bound.text == f"+{5.0 - fastest:.3g} rad/s"


def test_a_tick_at_which_all_hold(panda, hand) -> None:
    tasks = [FramePosition(HAND, hand[:3, 3], name="here")]
    assert explain_step(Stepper(panda, tasks, 1e-3).step(), tasks, panda).feasible


def test_lower_priorities_count_only_if_higher_ones_hold(panda, hand) -> None:
    aside = hand[:3, 3] + [0.01, 0.0, 0.0]
    tasks = [FramePosition(HAND, hand[:3, 3], name="here"), FramePosition(HAND, aside, name="later", priority=1)]
    found = explain_step(Stepper(panda, tasks, 1e-3).step(), tasks, panda)
    assert found.names == ("here", "later")
    assert [item.name for item in found.least] == ["later"]
    tasks = [*two_places(hand, 0.05), FramePosition(HAND, aside, name="later", priority=1)]
    assert explain_step(Stepper(panda, tasks, 1e-3).step(), tasks, panda).names == ("here", "there")


def test_a_posture_names_tasks_that_conflict(panda, hand) -> None:
    """Each may be off by 1e-4 m: 5 cm less twice that are left."""
    tasks = two_places(hand, 0.05)
    result = sf.ik.solve(panda, tasks, restarts=0)
    assert not result.success
    found = explain_posture(panda, tasks, result)
    assert found.names == ("here", "there")
    assert [member.alone.amount for member in found.conflict] == pytest.approx([0.0498, 0.0498], abs=1e-6)
    assert found.sentence == "here and there conflict: +0.0498 m or −0.0498 m"


def test_a_posture_that_is_out_of_reach_names_limits(panda, hand) -> None:
    T = hand.copy()
    T[:3, 3] += [1.0, 0.0, 0.0]
    tasks = [FramePose(HAND, T, name="hand")]
    result = sf.ik.solve(panda, tasks, restarts=8)
    found = explain_posture(panda, tasks, result)
    assert not found.feasible
    assert any(name.startswith("hand [") for name in found.names)
    assert found.least is not None
    assert all(np.isfinite(item.amount) for item in found.least)


def test_a_posture_that_was_found_holds(panda, hand) -> None:
    tasks = [FramePose(HAND, hand, name="hand")]
    result = sf.ik.solve(panda, tasks)
    assert result.success
    assert explain_posture(panda, tasks, result).feasible
