import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.contact import contact_margins, wrench_cone
from surefoot.contact.friction import soft_finger
from surefoot.contact.margins import torsion_margin
from surefoot.errors import ShapeError
from tests.contact.soles import EVERY_KIND, cylinder, finger, line, point, polygon, rectangle

NAMES = {
    "point": {"unilateral_force", "friction"},
    "line": {"unilateral_force", "friction", "cop", "torsional_friction"},
    "cylinder": set(),
    "rectangle": {"unilateral_force", "friction", "cop", "torsional_friction"},
    "polygon": {"unilateral_force", "friction", "cop", "torsional_friction"},
    "soft_finger": {"unilateral_force", "friction", "torsional_friction"},
}


def loads(count=300, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([20.0 * rng.normal(size=(count, 2)), 70.0 + 30.0 * rng.normal(size=count),
                            3.0 * rng.normal(size=(count, 2)), rng.normal(size=count)])  # fmt: skip


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_each_kind_has_its_margins(kind):
    found = contact_margins(EVERY_KIND[kind], loads())
    assert set(found) == NAMES[kind]
    for item in found.values():
        assert item.value.shape == item.margin.shape == (300,)


@pytest.mark.parametrize("sole", [rectangle(), rectangle(0.1, 0.05, (0.03, 0.01, 0.02), 0.5), polygon(6), line()])
def test_all_margins_together_are_the_wrench_cone(sole):
    """Inside by all margins, with the friction of the pyramid: the same as inside by all faces."""
    w = loads(3000)
    if sole.kind == "line":
        w[:, 4] = 0.0
    found = contact_margins(sole, w)
    cone = wrench_cone(sole)
    by_faces = (w @ cone.faces.T >= 0.0).all(axis=1)
    passes = np.all([np.nan_to_num(item.margin, nan=-1.0) >= 0.0 for item in found.values()], axis=0)
    assert by_faces.any()
    assert (by_faces | ~passes).all()  # the cone of Coulomb lies inside the pyramid
    corner = found["friction"].margin < 0.0  # between cone and pyramid
    assert (passes | corner | ~by_faces).all()


def test_values_of_a_rectangle():
    found = contact_margins(rectangle(0.1, 0.05, friction=0.5), [[3.0, 4.0, 100.0, 2.0, -5.0, 0.0]])
    assert_allclose(found["unilateral_force"].margin, 100.0)
    assert_allclose(found["friction"].value, 5.0)
    assert_allclose(found["friction"].upper, 50.0)
    assert_allclose(found["cop"].value, 0.03)  # at (0.05, 0.02)


def test_centre_of_pressure_outside_and_without_load():
    w = np.array([[0.0, 0.0, 100.0, 0.0, -12.0, 0.0], [0.0, 0.0, -1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.0, 0.0, 0.0]])
    found = contact_margins(rectangle(0.1, 0.05), w, least_load=1.0)["cop"]
    assert_allclose(found.value, [-0.02, np.nan, np.nan], atol=1e-12)


def test_centre_of_pressure_of_a_sole_below_its_frame():
    """A force through a point of the sole, which lies 8 cm below the contact frame."""
    sole, force, at = rectangle(centre=(0.02, 0.0, -0.08)), np.array([20.0, -10.0, 100.0]), np.array([0.1, 0.03, -0.08])
    assert_allclose(contact_margins(sole, [np.r_[force, np.cross(at, force)]])["cop"].value, 0.02)


def test_centre_of_pressure_of_a_line_is_measured_along_it():
    w = np.array([[0.0, 0.0, 10.0, 0.3, 0.0, 0.0], [0.0, 0.0, 10.0, -1.2, 0.0, 0.0]])
    assert_allclose(contact_margins(line(0.1), w)["cop"].value, [0.07, -0.02])


def test_friction_may_change_over_time():
    w = np.tile([10.0, 0.0, 100.0, 0.0, 0.0, 1.0], (4, 1))
    mu = np.array([0.05, 0.2, 0.2, 0.5])
    for sole in (rectangle(), polygon(5), finger(), line()):
        found = contact_margins(sole, w, mu)
        assert_allclose(found["friction"].margin, 100.0 * mu - 10.0)
        for k in range(4):
            one = contact_margins(sole, w[k : k + 1], mu[k])["torsional_friction"]
            assert_allclose(found["torsional_friction"].upper[k], one.upper[0])


def test_torsion_of_a_polygon_is_that_of_the_rectangle():
    w = loads(500)
    one, other = (torsion_margin(rectangle(kind=kind), w) for kind in ("rectangle", "polygon"))
    assert_allclose(one.lower, other.lower, atol=1e-9)
    assert_allclose(one.upper, other.upper, atol=1e-9)


def test_torsion_of_a_soft_finger_agrees_with_its_law():
    w = loads(500)
    w[:, 5] *= 0.5
    found = contact_margins(finger(), w)
    inside = (found["torsional_friction"].margin >= 0.0) & (found["friction"].margin >= 0.0)
    assert (inside == (soft_finger(w, 0.6, 0.02) >= 0.0)).all()
    assert inside.any()


def test_wrong_shapes_and_numbers_are_refused():
    with pytest.raises(ShapeError, match="tip"):
        contact_margins(point(), np.zeros(6))
    with pytest.raises(ShapeError, match="friction"):
        contact_margins(point(), np.zeros((2, 6)), [0.5, -0.1])
    assert contact_margins(cylinder(), np.zeros((2, 6))) == {}
