import numpy as np
import pinocchio as pin
import pytest

from surefoot.control import JointPd, standing_contacts
from surefoot.control.static_balance import support_doubts
from surefoot.robot.load import load


@pytest.mark.parametrize(("name", "word"), [("bolt", "line"), ("borinot", "point")])
def test_feet_without_area_are_named(name, word):
    notes = JointPd(load(name)).notes
    assert any(word in note and name in note for note in notes)


@pytest.mark.parametrize("name", ["g1", "solo12", "hexapod"])
def test_robots_that_stand_have_no_doubts(name):
    assert JointPd(load(name)).notes == ()


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_lean_beyond_the_edge_is_named_with_its_distance(side):
    """Leaning by an angle puts the centre of mass beyond the toes by what the places of corners and centre say."""
    robot = load("talos")
    feet = tuple(robot.contacts)
    for angle in np.linspace(0.0, 0.4, 9):
        q = pin.integrate(
            robot.model, np.array(robot.home), np.array([0, 0, 0, 0, side * angle] + [0] * (robot.nv - 5))
        )
        com = pin.centerOfMass(robot.model, robot.model.createData(), q)
        x = np.vstack([robot.contact_corners(q)[foot] for foot in feet])[:, 0]
        beyond = max(com[0] - x.max(), x.min() - com[0])
        doubts = support_doubts(robot, q, feet)
        assert bool(doubts) == (beyond > 0.0)
        if doubts:
            assert float(doubts[0].split(" m ")[0].split()[-1]) == pytest.approx(beyond, rel=0.01, abs=1e-3)


def test_planar_and_fixed_robots_need_no_area():
    biped = load("biped")
    assert support_doubts(biped, np.array(biped.home), standing_contacts(biped, np.array(biped.home))) == ()
    talos = load("talos", base="fixed")
    assert support_doubts(talos, np.array(talos.home), ()) == ()
