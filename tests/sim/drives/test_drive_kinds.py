"""Which kind of drive a joint has."""

from __future__ import annotations

import pytest

from surefoot.errors import ModelError, UnknownNameError
from surefoot.robot.loading import load
from surefoot.sim.drives.drives import KINDS, kinds_of
from tests.sim.drive_examples import GEAR, MOTOR, SERVO, robot_of

CURVE = {"torque_limit": 10.0, "speed_limit": 5.0, "corner_speed": 3.0}


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, "torque"),
        (SERVO, "torque"),
        (CURVE, "torque_speed"),
        ({**CURVE, "corner_speed": 5.0}, "torque"),
        ({**CURVE, **MOTOR}, "dc_motor"),
        ({**MOTOR, "voltage": 0.0}, "torque"),
        ({**CURVE, **MOTOR, **GEAR}, "elastic"),
    ],
)
def test_a_drive_is_what_its_numbers_say(fields, kind):
    assert kinds_of(robot_of(fields)) == {"j0": kind}


def test_kinds_for_all_and_by_joint():
    robot = robot_of(CURVE, CURVE, SERVO)
    assert kinds_of(robot, "torque") == {"j0": "torque", "j1": "torque", "j2": "torque"}
    assert kinds_of(robot, {"j2": "servo", "j1": "torque"}) == {"j0": "torque_speed", "j1": "torque", "j2": "servo"}


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        ("torque_speed", ["torque_limit", "speed_limit"]),
        ("dc_motor", ["resistance", "torque_constant", "voltage"]),
        ("elastic", ["stiffness", "rotor_inertia"]),
        ("servo", ["servo_stiffness"]),
    ],
)
def test_missing_numbers_are_named_with_the_place_to_give_them(kind, missing):
    with pytest.raises(ModelError, match=f"`j0` cannot be a `{kind}`") as caught:
        kinds_of(robot_of({}), kind)
    for name in missing:
        assert name in caught.value.message
        assert f"`{name}`" in caught.value.next_step
    assert "[drives.j0]" in caught.value.next_step


def test_a_rigid_rotor_is_not_counted_twice():
    with pytest.raises(ModelError, match="gear of `j0` is rigid"):
        kinds_of(robot_of({**GEAR, "gear": "rigid"}), "elastic")


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"no kind of drive `dc_moter`; did you mean `dc_motor`"):
        kinds_of(robot_of({}), "dc_moter")
    with pytest.raises(UnknownNameError, match="no driven joint `j7`"):
        kinds_of(robot_of({}), {"j7": "torque"})


def test_the_gears_of_the_zoo():
    assert set(kinds_of(load("lola")).values()) == {"torque_speed"}
    assert set(kinds_of(load("lola:elastic")).values()) == {"elastic"}
    assert set(KINDS) >= set(kinds_of(load("hexapod")).values()) == {"torque"}
