import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.contact.friction import SOFT_FINGER_LAWS, soft_finger, soft_finger_spans, torsion_limit
from surefoot.errors import UnknownNameError
from tests.contact.soles import is_spanned

MU, GAMMA = 0.6, 0.02


def wrenches(count=400, seed=0):
    rng = np.random.default_rng(seed)
    w = np.zeros((count, 6))
    w[:, :2], w[:, 2], w[:, 5] = 0.5 * rng.normal(size=(count, 2)), 1.0, 0.02 * rng.normal(size=count)
    return w


def test_laws_at_known_points():
    w = [[0.3, 0.0, 1.0, 0.0, 0.0, 0.01]]  # t = 0.5, s = 0.5
    assert_allclose(soft_finger(w, MU, GAMMA, "linear"), 0.0, atol=1e-15)
    assert_allclose(soft_finger(w, MU, GAMMA, "elliptic"), 1.0 - np.sqrt(0.5))
    assert_allclose(soft_finger(w, MU, GAMMA, "independent"), 0.5)


@pytest.mark.parametrize("law", SOFT_FINGER_LAWS)
def test_the_limit_of_torsion_is_where_the_margin_ends(law):
    w = wrenches()
    w = w[np.hypot(w[:, 0], w[:, 1]) < 0.95 * MU]
    w[:, 5] = torsion_limit(w[:, :3], MU, GAMMA, law)
    assert (w[:, 5] > 0.0).all()
    assert_allclose(
        soft_finger(w, MU, GAMMA, law), 0.0 if law != "independent" else soft_finger(w, MU, GAMMA, law), atol=1e-12
    )
    w[:, 5] *= 1.01
    assert (soft_finger(w, MU, GAMMA, law) < 0.0).all()


@pytest.mark.parametrize("law", SOFT_FINGER_LAWS)
def test_polyhedral_cones_enclose_the_law(law):
    inner, outer = (soft_finger_spans(MU, GAMMA, 8, inscribed, law) for inscribed in (True, False))
    keep = [0, 1, 2, 5]
    scale = np.array([1.0, 1.0, 1.0, 30.0, 30.0, 30.0])
    hits = np.zeros(3)
    for w in wrenches():
        inside = soft_finger(w, MU, GAMMA, law) >= 0.0
        in_inner, in_outer = (is_spanned(S * scale[:, None], w * scale) for S in (inner, outer))
        assert inside or not in_inner
        assert in_outer or not inside
        hits += [in_inner, inside, in_outer]
    assert hits[0] >= 0.7 * hits[1]
    assert hits[2] <= 1.25 * hits[1]
    assert_allclose(np.delete(inner, keep, axis=0), 0.0)


def test_without_friction_or_normal_force_nothing_turns():
    assert_allclose(torsion_limit([[0.0, 0.0, 5.0], [1.0, 0.0, 5.0]], 0.0, GAMMA), [5.0 * GAMMA, 0.0])
    assert_allclose(torsion_limit([[0.0, 0.0, -5.0]], MU, GAMMA), 0.0)
    assert soft_finger_spans(MU, 0.0).shape == (6, 4)


def test_unknown_laws_are_refused():
    with pytest.raises(UnknownNameError, match="elliptic"):
        soft_finger(np.ones(6), MU, GAMMA, "eliptic")
