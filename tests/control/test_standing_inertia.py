import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, null_space

from surefoot.control import moved_inertia, standing_contacts
from surefoot.control.drive_inertia import standing_inertia
from surefoot.robot import Loop
from surefoot.robot.load import load


def rows_of(corners, robot, q):
    """Velocities of the corners by central differences."""
    rows = []
    for k in range(robot.nv):
        step = 1e-6 * np.eye(robot.nv)[k]
        ahead, behind = (corners(pin.integrate(robot.model, q, s * step)) for s in (1.0, -1.0))
        rows.append((ahead - behind) / 2e-6)
    return np.array(rows).T


@pytest.mark.parametrize("name", ["laikago", "anymal", "g1", "humanoid"])
def test_every_sway_is_fast_and_damped(name):
    """Springs ω² m and dampers 2 ζ ω m at the drives: frequencies ≥ ω, damping ratios ≥ ζ, feet held."""
    robot = load(name)
    q = np.array(robot.home)
    feet = standing_contacts(robot, q)
    m = standing_inertia(robot, q, feet)
    corners = lambda q: np.vstack([robot.contact_corners(q)[foot] for foot in feet]).ravel()  # noqa: E731
    N = null_space(rows_of(corners, robot, q), rcond=1e-6)
    M = N.T @ pin.crba(robot.model, robot.model.createData(), q) @ N
    u = N[robot.driven]
    squares, ways = eigh(u.T @ (144.0 * m[:, None] * u), M)
    damping = np.einsum("ki,k,ki->i", u @ ways, 2.0 * 0.7 * 12.0 * m, u @ ways) / (2.0 * np.sqrt(squares))
    assert squares.min() >= 144.0 * (1.0 - 1e-3)
    assert squares.min() <= 144.0 * 1.05
    assert damping.min() >= 0.7 * (1.0 - 1e-3)
    single = moved_inertia(robot, q, feet)
    assert (m >= single * (1.0 - 1e-12)).all()
    assert eigh(u.T @ (144.0 * single[:, None] * u), M, eigvals_only=True).min() < 0.7 * 144.0


def test_couplings_kept_and_couplings_reduced_agree():
    found = []
    for mimic in ("coupling", "reduce"):
        robot = load("talos_full", mimic=mimic)
        feet = standing_contacts(robot, np.array(robot.home))
        inertia = standing_inertia(robot, np.array(robot.home), feet)
        found.append(dict(zip([drive.joint for drive in robot.drives], inertia, strict=True)))
    shared = [joint for joint in found[0] if "leg" in joint or "torso" in joint]
    assert shared
    assert_allclose([found[0][j] for j in shared], [found[1][j] for j in shared], rtol=1e-6)


def test_point_feet_that_nothing_holds_are_left_alone():
    """A biped on two points can turn about the line between them; no gain grows for that."""
    robot = load("bolt")
    q = np.array(robot.home)
    m = standing_inertia(robot, q, standing_contacts(robot, q))
    assert np.isfinite(m).all()
    height = pin.centerOfMass(robot.model, robot.model.createData(), q)[2]
    assert m.max() < 100.0 * robot.mass * height**2


def test_what_does_not_stand_keeps_its_inertia():
    panda, talos = load("panda"), load("talos")
    assert_array_equal(standing_inertia(panda, panda.home, ()), moved_inertia(panda, panda.home))
    assert_array_equal(standing_inertia(talos, talos.home, ()), moved_inertia(talos, talos.home))
    feet = tuple(talos.contacts)
    chained = talos.replace(loops=(Loop("rod", "leg_left_5_link", "leg_left_3_link"),))
    assert_array_equal(standing_inertia(chained, talos.home, feet), moved_inertia(talos, talos.home, feet))
