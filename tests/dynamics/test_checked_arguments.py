"""Arguments that cannot be meant: every one is refused with what was given and what is needed, none by a traceback."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from surefoot.dynamics import Baumgarte, constrained_acceleration, constraints_of, contact
from surefoot.dynamics.checked_arguments import checked_names, checked_placement, checked_robot, checked_vector
from surefoot.dynamics.constraints.distance import distance
from surefoot.dynamics.constraints.projection import close, project_velocity
from surefoot.dynamics.impacts.impact import impact
from surefoot.dynamics.impacts.mass import blow, cop_jump, equivalent_mass
from surefoot.dynamics.impacts.pushing import pushing_impact
from surefoot.dynamics.inverse.constrained import inverse_dynamics_constrained
from surefoot.dynamics.inverse.forward_operator import fdop
from surefoot.dynamics.inverse.internal_forces import internal_forces
from surefoot.dynamics.inverse.operator import Weight, idop
from surefoot.dynamics.inverse.partial_linearisation import partial_linearisation
from surefoot.dynamics.loops.graph import loop_graph
from surefoot.dynamics.loops.minimal_coordinates import minimal_acceleration, minimal_function
from surefoot.errors import ModelError, NotSupportedError, ShapeError, SurefootError, UnknownNameError
from surefoot.robot import Coupling, Loop
from tests.dynamics.examples import robot_named


@lru_cache(maxsize=1)
def setting():
    robot = robot_named("small-humanoid")
    q = np.array(robot.home)
    return robot, q, np.zeros(robot.nv), [contact(robot, q, "left_foot")]


def calls():
    """Every function with arguments that serve."""
    r, q, v, c = setting()
    u, e, gains = np.zeros(r.nu), (1.0, 0.0, 0.0), (1.0, 1.0)
    return {
        "contact": (contact, [r, q, "left_foot", "flat", "n"]),
        "distance": (distance, [r, "rod", "left_foot", 1.0, "universe", (0.0, 0.0, 0.0)]),
        "constraints_of": (constraints_of, [r, c]),
        "acceleration": (constrained_acceleration, [r, q, v, v, c, "lagrange", None, gains]),
        "minimal": (minimal_acceleration, [r, c, q, v, v, None, gains]),
        "minimal_function": (minimal_function, [r, c, gains]),
        "loop_graph": (loop_graph, [r, c, q]),
        "fdop": (fdop, [r, q, v, u, c, gains]),
        "idop": (idop, [r, q, v, u, c, "null_space", "acceleration", Weight(), 1e-3, gains]),
        "inverse": (inverse_dynamics_constrained, [r, q, v, v, c, "joint_space", None, None, gains]),
        "impact": (impact, [r, q, v, c, 0.5]),
        "pushing_impact": (pushing_impact, [r, q, v, c, 0.5, "newton"]),
        "equivalent_mass": (equivalent_mass, [r, q, "right_foot", e, c, False]),
        "blow": (blow, [r, q, "right_foot", e, c, False]),
        "cop_jump": (cop_jump, [r, q, "right_foot", (1.0, 0.0, 2.0), c, "left_foot", False, 0.1]),
        "linearisation": (partial_linearisation, [r, q, v, u[:2], [6, 7], c, gains]),
        "internal_forces": (internal_forces, [r, q, c]),
        "close": (close, [r, c, q, ()]),
        "project_velocity": (project_velocity, [r, c, q, v]),
        "loop": (lambda *x: constraints_of(r, [Loop(*x)]), ["a", "universe", "trunk", np.eye(4), np.eye(4), (1,) * 6]),
        "coupling": (lambda *x: constraints_of(r, [Coupling(*x)]), [r.joint_names[2], r.joint_names[3], 2.0, 0.1]),
        "gains": (Baumgarte, [1.0, 2.0]),
    }  # fmt: skip


def junk():
    r, q, v, c = setting()
    turned, hole = q.copy(), q.copy()
    turned[3:7] *= 2.0
    hole[2] = np.nan
    texts = np.array(["a"] * r.nv)
    return [
        None, 3, -1.0, np.nan, "left_fot", b"x", [], {}, object(), np.zeros(3), np.zeros((2, 2)), np.full(r.nv, np.inf),
        turned, hole, q[:-2], texts, 1j * v, [1, [2]], r, c[0], True, [None], ["left_foot"], {"left_foot": "x"},
        [np.nan] * 6, [True] * 5,
    ]  # fmt: skip


@pytest.mark.parametrize("name", calls())
def test_no_argument_leads_to_a_traceback(name):
    """Anything in place of any argument: it is taken, or refused with words."""
    function, arguments = calls()[name]
    function(*arguments)
    for k in range(len(arguments)):
        refused = 0
        for wrong in junk():
            given = [*arguments[:k], wrong, *arguments[k + 1 :]]
            try:
                function(*given)
            except SurefootError as error:
                assert error.message
                refused += 1
        assert refused > len(junk()) // 2, k


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (lambda r, q: contact(q, r, "left_foot"), NotSupportedError, "expected a Robot as the first .*got an array"),
        (lambda r, q: contact(r, "left_foot", q), NotSupportedError, "of a contact, its frame, is an array"),
        (lambda r, q: contact(r, q, "left_fot"), UnknownNameError, "did you mean `left_foot`"),
        (lambda r, q: contact(r, q, "left_foot", "flatt"), UnknownNameError, "did you mean `flat`"),
        (lambda r, q: contact(r, q[:-1], "left_foot"), ShapeError, "needs"),
        (lambda r, q: contact(r, "home", "left_foot"), ShapeError, "`q` is 'home'"),
        (lambda r, q: contact(r, q, "left_foot", (1, 1, np.nan, 0, 0, 0)), ShapeError, "six directions"),
        (lambda r, q: contact(r, q, "left_foot", name=4), NotSupportedError, "name of a contact is 4"),
        (lambda r, q: distance(r, "rod", 1.0, "left_foot"), ModelError, "length"),
        (lambda r, q: distance(r, "rod", 1.0, 1.0), NotSupportedError, "an end of rod `rod` is 1.0"),
        (lambda r, q: constraints_of(r, [Loop("a", "universe", "left_fot")]), UnknownNameError, "`left_foot`"),
        (lambda r, q: constraints_of(r, [Coupling("knee", r.joint_names[2])]), UnknownNameError, "knee"),
        (lambda r, q: impact(r, q, np.zeros(3), []), ShapeError, "`v` has shape"),
        (lambda r, q: pushing_impact(r, q, np.zeros(r.nv), [], law="newtn"), UnknownNameError, "`newton`"),
        (lambda r, q: fdop(r, q, np.zeros(r.nv), np.zeros(r.nv)), ShapeError, "`tau` has shape"),
        (lambda r, q: idop(r, q, np.zeros(r.nv), np.zeros(r.nu), solver="shur"), UnknownNameError, "`schur`"),
        (lambda r, q: idop(r, q, np.zeros(r.nv), np.zeros(r.nu), relaxation=2), UnknownNameError, "relaxation"),
        (lambda r, q: close(r, [], q, hold="left_knee"), NotSupportedError, "expected a list of names"),
    ],
)  # fmt: skip
def test_what_was_meant_is_said(given, error, words):
    robot, q, _, _ = setting()
    with pytest.raises(error, match=words):
        given(robot, q)


@pytest.mark.parametrize(
    "gains", [(-1.0, 0.0), (0.0, -1e-9), (np.nan, 0.0), (0.0, np.inf), ("a", 1.0), (1.0,), 3.0, None]
)
def test_gains_that_push_away_or_are_none_are_refused(gains):
    robot, q, v, c = setting()
    for call in (
        lambda: constrained_acceleration(robot, q, v, v, c, baumgarte=gains),
        lambda: minimal_acceleration(robot, c, q, v, v, baumgarte=gains),
        lambda: minimal_function(robot, c, gains),
        lambda: fdop(robot, q, v, np.zeros(robot.nu), c, gains),
    ):
        with pytest.raises(ShapeError, match=r"(?i)baumgarte"):
            call()
    if isinstance(gains, tuple) and len(gains) == 2:
        with pytest.raises(ShapeError):
            Baumgarte(*gains)


def test_gains_are_what_they_were():
    assert Baumgarte() == (0.0, 0.0)
    assert Baumgarte(1, 2)._fields == ("alpha", "beta")
    assert Baumgarte(beta=2.0).beta == 2.0
    assert repr(Baumgarte(1, 2)) == "Baumgarte(alpha=1.0, beta=2.0)"


@pytest.mark.parametrize("place", ["q", "v", "tau"])
def test_what_is_not_finite_is_said_with_its_place(place):
    robot, q, v, c = setting()
    now = {"q": q.copy(), "v": v.copy(), "tau": v.copy()}
    now[place][2] = np.inf
    with pytest.raises(ShapeError, match=f"{place}`? is not finite") as caught:
        constrained_acceleration(robot, *now.values(), c)
    assert caught.value.evidence["entries"] == [2]


def test_arguments_that_serve_come_back():
    robot, _, _, _ = setting()
    assert checked_robot(robot) is robot
    assert checked_vector("x", [1, 2], 2).dtype == float
    assert checked_names("a joint", ("a", "b")) == ["a", "b"]
    assert (checked_placement("x", np.eye(4)) == np.eye(4)).all()
