"""Numbers of the sources for contacts."""

import numpy as np
from numpy.testing import assert_allclose

from surefoot.contact import contact_margins, wrench_cone, yaw_bounds
from tests.contact.soles import is_spanned, rectangle

MU, HALF = 0.5, (0.05, 0.03)


def test_yaw_moments_of_a_rectangular_sole():
    """Nenchev & Konno 2019, §3.3.2 (the cone of Caron et al. 2015): μ = 0.5, l = (0.05, 0.03) m, f_z = 70 N.

    Derived numbers: under a pure normal force m_z ∈ ±2.8 N m; with f = (10, 5) N and m = (0.3, 0.5) N m it is in
    [−2.65, 1.85] N m.
    """
    assert_allclose(yaw_bounds([0, 0, 70, 0, 0, 0], MU, HALF), (-2.8, 2.8), atol=1e-12)
    assert_allclose(yaw_bounds([10, 5, 70, 0.3, 0.5, 0], MU, HALF), (-2.65, 1.85), atol=1e-12)
    sole = rectangle(*HALF, friction=MU)
    found = contact_margins(sole, [[0, 0, 70, 0, 0, 1.0], [10, 5, 70, 0.3, 0.5, 1.0]])["torsional_friction"]
    assert_allclose(found.lower, [-2.8, -2.65], atol=1e-12)
    assert_allclose(found.upper, [2.8, 1.85], atol=1e-12)
    assert_allclose(found.margin, [1.8, 0.85], atol=1e-12)


def test_closed_form_equals_the_feasibility_of_corner_forces():
    """The same source: the closed form against corner pyramids on 3000 random wrenches, about a third inside."""
    rng = np.random.default_rng(0)
    cone = wrench_cone(rectangle(*HALF, friction=MU))
    w = rng.uniform(-1.0, 1.0, size=(3000, 6)) * [0.5, 0.5, 0.0, 0.025, 0.04, 0.03] * 70.0
    w[:, 2] = 70.0
    inside = (w @ cone.faces.T >= 0.0).all(axis=1)
    assert 600 < inside.sum() < 2400
    assert [is_spanned(cone.spans, one) for one in w] == inside.tolist()
