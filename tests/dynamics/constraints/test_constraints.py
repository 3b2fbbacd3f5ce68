"""Laws of the constraints themselves: r, J and J̇ v fit each other, and forces act where they are said to."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from surefoot.dynamics import constraints_of, contact, own_constraints
from surefoot.errors import ModelError, NotSupportedError, ShapeError, UnknownNameError
from surefoot.robot import Loop
from surefoot.robot.model.loops import Coupling
from tests.dynamics.constraint_examples import ALL, random_directions, somewhere, tied, trees
from tests.dynamics.examples import armed, assert_same, followers, moved, robot_named, state, traced

STEP = 1e-5


def random_loops(robot, q, seed):
    rng = np.random.default_rng(seed)
    links = robot.link_names
    ends = [tuple(rng.choice(links, 2, replace=False)) for _ in range(4)] + [("universe", links[-1])]
    closed = [tied(robot, q, f"l{k}", pair, rng, random_directions(rng)) for k, pair in enumerate(ends)]
    return constraints_of(robot, [*closed, Coupling("j2", "j5", 3.0, 0.1)])


def differences(f, robot, q, v):
    return (f(moved(robot, q, v, STEP)) - f(moved(robot, q, v, -STEP))) / (2.0 * STEP)


@pytest.mark.parametrize("robot", trees(), ids=lambda robot: robot.base)
@pytest.mark.parametrize("seed", range(3))
def test_velocity_is_the_rate_of_the_residual(robot, seed):
    """dr/dt = J v where all is closed."""
    q, v, _ = state(robot, seed)
    held = random_loops(robot, q, seed)
    assert np.abs(held.residual(robot.tree, q)[:-1]).max() < 1e-12
    rate = differences(lambda q: held.residual(robot.tree, q), robot, q, v)
    assert_same(rate, held.jacobian(robot.tree, q) @ v, 1e-8)


@pytest.mark.parametrize("robot", trees(), ids=lambda robot: robot.base)
def test_gaps_move_as_the_velocity_says_also_where_loops_are_open(robot):
    q, v, _ = state(robot, 4)
    rng = np.random.default_rng(4)
    loop = Loop("open", robot.link_names[-1], robot.link_names[1], somewhere(rng), somewhere(rng))
    held = constraints_of(robot, [loop])
    rate = differences(lambda q: held.residual(robot.tree, q), robot, q, v)
    assert_same(rate[:3], (held.jacobian(robot.tree, q) @ v)[:3], 1e-8)
    assert np.abs(held.residual(robot.tree, q)).max() > 0.1


@pytest.mark.parametrize("robot", trees(), ids=lambda robot: robot.base)
@pytest.mark.parametrize("seed", range(3))
def test_bias_is_the_rate_of_the_jacobian(robot, seed):
    """J̇ v, in closed and open loops, at any velocity."""
    q, v, _ = state(robot, seed)
    rng = np.random.default_rng(seed)
    far = [Loop("open", robot.link_names[-1], robot.link_names[1], somewhere(rng), somewhere(rng))]
    for held in (random_loops(robot, q, seed), constraints_of(robot, far)):
        rate = differences(lambda q, held=held: held.jacobian(robot.tree, q) @ v, robot, q, v)
        assert_same(held.bias(robot.tree, q, v), rate, 1e-7)


def test_one_free_angle_turns_freely():
    """With two angles held, a turn about the third leaves no residual."""
    robot = trees()[0]
    q, _, _ = state(robot, 5)
    rng = np.random.default_rng(5)
    loop = tied(robot, q, "hinge", ("universe", "base"), rng, (*ALL[:3], True, True, False))
    turn = np.eye(4)
    turn[:3, :3] = pin.exp3(np.array([0.0, 0.0, 1.1]))
    turned = Loop("hinge", "universe", "base", loop.placement_a @ turn, loop.placement_b, loop.directions)
    assert_same(constraints_of(robot, [turned]).residual(robot.tree, q), np.zeros(5), 1e-12)


def test_multipliers_act_on_the_second_frame_in_the_axes_of_the_first():
    robot = robot_named("talos")
    q, _, _ = state(robot, 6)
    frame = next(iter(robot.contacts))
    held = constraints_of(robot, [contact(robot, q, frame)])
    wrench = np.random.default_rng(6).standard_normal(6)
    surface, data = robot.contacts[frame], robot.model.createData()
    model = robot.model.copy()
    link = model.frames[robot.frame_id(surface.frame)]
    place = link.placement * pin.SE3(np.asarray(surface.placement))
    sole = model.addFrame(pin.Frame("sole", link.parentJoint, 0, place, pin.FrameType.OP_FRAME))
    data = model.createData()
    J = pin.computeFrameJacobian(model, data, q, sole, pin.LOCAL)
    assert_same(held.jacobian(robot.tree, q).T @ wrench, J.T @ wrench)


def test_a_trace_gives_the_same_numbers():
    robot = trees()[0]
    q, v, _ = state(robot, 7)
    held = random_loops(robot, q, 7)
    assert_same(traced(lambda q: held.jacobian(robot.tree, q), q), held.jacobian(robot.tree, q))
    assert_same(traced(lambda q, v: held.bias(robot.tree, q, v), q, v), held.bias(robot.tree, q, v))
    assert_same(traced(lambda q: held.residual(robot.tree, q), q), held.residual(robot.tree, q))


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("flat", ("x", "y", "z", "rx", "ry", "rz")),
        ("point", ("x", "y", "z")),
        ("line", ("x", "y", "z", "rx", "rz")),
        ("soft_finger", ("x", "y", "z", "rz")),
        ("normal", ("z",)),
        ((False, True, False, False, False, True), ("y", "rz")),
    ],
)
def test_kinds_of_contact(kind, rows):
    robot = robot_named("talos")
    q, _, _ = state(robot, 8)
    held = constraints_of(robot, [contact(robot, q, "leg_left_6_link", kind, "foot")])
    assert held.rows == tuple(f"foot.{row}" for row in rows)
    assert_same(held.residual(robot.tree, q), np.zeros(len(rows)))
    assert held.jacobian(robot.tree, q).shape == (len(rows), robot.nv)


@pytest.mark.parametrize(("name", "rows"), [("anymal", 12), ("talos", 12)])
def test_surfaces_are_held_as_their_own_kind_says(name, rows):
    """Point feet may turn: four of them have 12 independent rows, not 24 of rank 18; two soles have 12 as well."""
    robot = robot_named(name)
    q, _, _ = state(robot, 9)
    held = constraints_of(robot, [contact(robot, q, surface) for surface in robot.contacts])
    J = held.jacobian(robot.tree, q)
    assert J.shape == (rows, robot.nv)
    assert np.linalg.matrix_rank(J) == rows
    axes = ("x", "y", "z", "rx", "ry", "rz")
    expected = [
        f"{x.name}.{axis}" for x in robot.contacts.values() for axis, tied in zip(axes, x.tied, strict=True) if tied
    ]
    assert list(held.rows) == expected
    sliding = dataclasses.replace(next(iter(robot.contacts.values())), friction=0.0)
    slippery = robot.replace(contacts={sliding.name: sliding})
    left = ("z",) if name == "anymal" else ("z", "rx", "ry")
    found = constraints_of(slippery, [contact(slippery, q, sliding.name)])
    assert found.rows == tuple(f"{sliding.name}.{axis}" for axis in left)


def test_couplings_of_the_robot():
    robot = followers("coupling")
    q, v, _ = state(robot, 9)
    held = own_constraints(robot)
    assert held.rows == ("j2~j0", "j4~j0")
    at = {name: int(robot.tree.q_index[robot.joint_index(name)]) for name in ("j0", "j2", "j4")}
    expected = [q[at["j2"]] - 0.3 + 1.7 * q[at["j0"]], q[at["j4"]] + 0.1 - 0.4 * q[at["j0"]]]
    assert_same(held.residual(robot.tree, q), expected)
    rate = differences(lambda q: held.residual(robot.tree, q), robot, q, v)
    assert_same(rate, held.jacobian(robot.tree, q) @ v, 1e-8)
    assert_same(held.bias(robot.tree, q, v), np.zeros(2))


def test_nothing_held():
    robot = trees()[2]
    q, v, _ = state(robot, 1)
    held = constraints_of(robot, [])
    assert held.rows == ()
    assert held.residual(robot.tree, q).shape == (0,)
    assert held.jacobian(robot.tree, q).shape == (0, robot.nv)
    assert held.bias(robot.tree, q, v).shape == (0,)


def test_what_cannot_be_meant_is_refused():
    robot = trees()[0]
    q, _, _ = state(robot, 1)
    with pytest.raises(UnknownNameError):
        constraints_of(robot, [Loop("a", "nowhere", "base")])
    with pytest.raises(UnknownNameError):
        constraints_of(robot, [Coupling("j2", "nowhere")])
    with pytest.raises(ModelError, match="more than one coordinate"):
        constraints_of(robot, [Coupling("j0", "j5")])
    with pytest.raises(ModelError, match="`a`"):
        constraints_of(robot, [Loop("a", "base", "l1"), Loop("a", "base", "l2")])
    with pytest.raises(ModelError, match="no direction"):
        constraints_of(robot, [Loop("a", "base", "l1", directions=(False,) * 6)])
    with pytest.raises(NotSupportedError):
        constraints_of(robot, ["loop"])
    with pytest.raises(UnknownNameError):
        contact(robot, q, "l1", "glued")
    with pytest.raises(ShapeError):
        contact(robot, q, "l1", (True, True))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (Loop("a", "universe", "l2"), NotSupportedError),
        ("l2", NotSupportedError),
        (["l2"], NotSupportedError),
        (None, NotSupportedError),
        ([Loop("a", "universe", "l2", np.zeros(3))], ModelError),
        ([Loop("a", "universe", "l2", np.diag([2.0, 2.0, 2.0, 1.0]))], ModelError),
        ([Loop("a", "universe", "l2", np.diag([1.0, 1.0, -1.0, 1.0]))], ModelError),
        ([Loop("a", "universe", "l2", directions=(True, True, True))], ModelError),
        ([Coupling("j2", "j2")], ModelError),
        ([Coupling("j2", "j5", np.inf)], ModelError),
    ],
)
def test_mistakes_are_named(wrong, error):
    with pytest.raises(error) as caught:
        constraints_of(armed(), wrong)
    assert caught.value.next_step


def test_a_joint_that_copies_another_cannot_be_coupled():
    with pytest.raises(ModelError, match="copies `j0`"):
        constraints_of(followers("reduce"), [Coupling("j2", "j1")])


def test_a_contact_is_made_in_a_configuration():
    for q in (np.zeros(3), np.full(armed().nq, np.nan)):
        with pytest.raises(ShapeError):
            contact(armed(), q, "l2")
