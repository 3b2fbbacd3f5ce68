"""Velocities in another reading: a base in world axes or with its angular part first, and swapped joints, by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from surefoot.feasibility import audit
from surefoot.feasibility.case import Case
from surefoot.feasibility.layout.shift import find_shift
from surefoot.motion import Trajectory, World
from surefoot.motion.audit_result import Finding
from surefoot.motion.exchange.joints import rotate
from surefoot.motion.reading.order import judge_order
from tests.feasibility.foot_motions import central_rates
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import stages


def _strolling(yaw: float, tilt: float = 0.0) -> Trajectory:
    """A robot in the air that goes to and fro ahead and sideways, turned about the vertical, and tilts."""
    robot, t = loaded("anymal"), np.arange(201) / 50.0
    q = np.tile(robot.home, (len(t), 1))
    way = np.stack([np.sin(1.5 * t), 0.7 * np.cos(2.0 * t), 0.1 * np.sin(t)], axis=1)
    turn = pin.exp3(np.array([0.0, 0.0, yaw]))
    q[:, :3] += way @ turn.T + [0.0, 0.0, 2.0]
    for k, time in enumerate(t):
        q[k, 3:7] = pin.Quaternion(turn @ pin.exp3(tilt * np.sin(2.0 * time) * np.array([0.5, 1.0, 0.3]))).coeffs()
    return Trajectory.of(robot, t, q, central_rates(robot, t, q))


def _first(name: str, motion: Trajectory) -> Finding:
    found = audit(motion, loaded(name), replay=False, collisions=False).first
    assert found is not None
    return found


@pytest.mark.parametrize("tilt", [0.0, 0.3])
@pytest.mark.parametrize("yaw", [0.3, 1.6, 2.3, 2.5, 2.7, 3.1, np.pi, -2.5])
def test_a_base_velocity_in_world_axes_is_named(yaw: float, tilt: float) -> None:
    motion = _strolling(yaw, tilt)
    v = np.array(motion.v)
    v[:, :3] = rotate(motion.q[:, 3:7], v[:, :3])
    first = _first("anymal", replace(motion, v=v))
    assert first.item == "velocity_consistency"
    assert first.where == "root_joint"
    assert "the linear velocity of `root_joint` is in world axes" in first.message
    assert "axes of the base" in first.next_step
    assert (first.start, first.end) == pytest.approx((motion.start, motion.end))
    assert first.unit == "m/s"


def test_an_angular_velocity_in_world_axes_is_named() -> None:
    motion = _strolling(2.0, 0.4)
    v = np.array(motion.v)
    v[:, 3:6] = rotate(motion.q[:, 3:7], v[:, 3:6])
    first = _first("anymal", replace(motion, v=v))
    assert "the angular velocity of `root_joint` is in world axes" in first.message


@pytest.mark.parametrize("yaw", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("in_world", [False, True])
def test_a_twist_with_its_angular_part_first_is_named(yaw: float, in_world: bool) -> None:
    motion = _strolling(yaw, 0.3)
    v, turn = np.array(motion.v), motion.q[:, 3:7]
    halves = [rotate(turn, v[:, part]) if in_world else v[:, part].copy() for part in (slice(3, 6), slice(0, 3))]
    v[:, :6] = np.hstack(halves)
    first = _first("anymal", replace(motion, v=v))
    assert first.item == "velocity_consistency"
    assert "has its angular part first" in first.message
    if yaw > 0.0:
        assert ("in world axes" in first.message) == in_world


def test_the_order_is_not_told_by_a_velocity_that_fits_it_badly() -> None:
    """In the other order the base moves better as its velocity says, and not well."""
    motion = _strolling(2.5)
    v = np.array(motion.v)
    v[:, :3] = rotate(motion.q[:, 3:7], v[:, :3])
    assert judge_order(loaded("anymal"), World(), motion.time, motion.q, v).meant == ""


def _arm(rng: np.random.Generator, rate: float = 60.0) -> Trajectory:
    """Each joint swings at its own speed, from rest to rest."""
    robot, t = loaded("panda"), np.arange(round(2.5 * rate) + 1) / rate
    speeds, sizes = rng.uniform(2.0, 5.0, robot.nv), rng.uniform(0.02, 0.15, robot.nv)
    q = robot.home + np.sin(np.pi * t / 2.5)[:, None] ** 4 * sizes * np.sin(speeds * t[:, None])
    return Trajectory.of(robot, t, q, np.gradient(q, t, axis=0))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("one", "other"), [(0, 3), (1, 2), (4, 6)])
def test_swapped_columns_are_named_and_no_shift(seed: int, one: int, other: int) -> None:
    motion = _arm(np.random.default_rng(seed))
    q = np.array(motion.q)
    q[:, [one, other]] = q[:, [other, one]]
    first = _first("panda", replace(motion, q=q))
    names = loaded("panda").joint_names
    assert first.item == "velocity_consistency"
    assert first.where == f"{names[one]}, {names[other]}"
    assert f"the columns of `{names[one]}` and `{names[other]}` are swapped" in first.message


def test_columns_in_another_order_are_named_one_by_one(rng: np.random.Generator) -> None:
    motion = _arm(rng)
    q = np.array(motion.q)
    q[:, [0, 1, 2]] = q[:, [1, 2, 0]]
    case = Case(loaded("panda"), World(ground=()), replace(motion, q=q))
    texts = [reading.text for reading in stages(case).readings]
    names = case.velocity_names
    assert len(texts) == 3
    assert texts[1].startswith(f"the velocity of `{names[1]}` is that of `{names[0]}`")


@pytest.mark.parametrize("spoil", ["good", "noise", "scaled", "flipped", "shifted", "zero"])
def test_what_fits_in_no_other_reading(spoil: str, rng: np.random.Generator) -> None:
    motion = _strolling(2.5, 0.3)
    v = np.array(motion.v)
    v = {
        "good": v, "noise": v + 0.2 * rng.standard_normal(v.shape), "scaled": 0.5 * v, "flipped": -v,
        "shifted": np.roll(v, 8, axis=0), "zero": 0.0 * v,
    }[spoil]  # fmt: skip
    assert stages(Case(loaded("anymal"), World(), replace(motion, v=v))).readings == ()


def test_a_shift_has_to_fit_well() -> None:
    """A velocity that is too small, and fits better somewhere else, and not well."""
    t = np.linspace(0.0, 4.0, 401)
    late = np.sin(5.0 * t - 2.5)
    assert find_shift(np.sin(5.0 * t), late, 100) is not None
    assert find_shift(np.sin(5.0 * t), 0.45 * late, 100) is None
