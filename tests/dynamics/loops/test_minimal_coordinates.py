"""Closed chains in minimal coordinates, against the equations of the whole tree, projected or not."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot import ops
from surefoot.dynamics import (
    aba,
    close,
    constrained_acceleration,
    constraints_of,
    contact,
    crba,
    forward_dynamics,
    own_constraints,
    project_velocity,
    rnea,
)
from surefoot.dynamics.constraints.equations import Baumgarte, constrained_equations
from surefoot.dynamics.loops.graph import gear_matrix, loop_graph
from surefoot.dynamics.loops.minimal_coordinates import minimal_acceleration, minimal_forward, minimal_function
from surefoot.errors import ModelError, ShapeError
from surefoot.kinematics.recursion.bodies import bodies, joint_placement, joint_subspace
from surefoot.robot import Coupling, Joint, Link, Loop, Robot
from surefoot.spatial.so3 import skew
from tests.dynamics.examples import assert_same, followers, operations, robot_named, state, traced
from tests.dynamics.loop_examples import (
    EXAMPLES,
    HINGE,
    branched_with_rotors,
    closed_state,
    delta,
    floating_bars,
    four_bar,
    geared_four_bar,
    projected,
    random_loops,
    six_bar,
    three_cranks,
)

GAINS = [Baumgarte(), Baumgarte(3.0, 2.0)]


@pytest.mark.parametrize("gains", GAINS, ids=["exact", "pulled back"])
@pytest.mark.parametrize("name", [*EXAMPLES, "coil:5:driven", "dill:3:driven"])
def test_agrees_with_the_projected_equations(name, gains):
    robot = EXAMPLES[name]() if name in EXAMPLES else robot_named(name)
    for seed in range(3):
        now = closed_state(robot, seed)
        expected, _ = projected(robot, own_constraints(robot), now, gains)
        assert_same(minimal_acceleration(robot, None, *now, gains), expected, 1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_any_robot_moves_as_held_and_is_held_by_the_constraints_alone(seed):
    """J a + J̇ v = 0, and M a + h - tau is in the range of Jᵀ."""
    robot = random_loops(seed)
    now = closed_state(robot, seed)
    q, v, tau, wrenches = now
    a = minimal_acceleration(robot, None, *now)
    _, _, J, drift = constrained_equations(robot.tree, own_constraints(robot), *now)
    assert_same(J @ a, -drift, 1e-12)
    held = rnea(robot.tree, q, v, a, wrenches) - tau
    left = held - J.T @ np.linalg.lstsq(J.T, held, rcond=1e-9)[0]
    assert_same(left, np.zeros(robot.nv), 1e-11 * max(1.0, np.abs(held).max()))
    expected, condition = projected(robot, own_constraints(robot), now)
    assert_same(a, expected, max(1e-12, 20.0 * np.finfo(float).eps * condition))


def test_open_and_inconsistent_states_are_taken_as_the_projected_equations_take_them():
    robot = six_bar()
    rng = np.random.default_rng(3)
    now = (robot.home + rng.uniform(-0.05, 0.05, robot.nq), *rng.standard_normal((2, robot.nv)), None)
    for gains in GAINS:
        expected, _ = projected(robot, own_constraints(robot), now, gains)
        assert_same(minimal_acceleration(robot, None, *now, gains), expected, 1e-12)


def test_six_joints_with_six_rotors():
    """With the ratios themselves as basis, rounding is all that differs."""
    robot = branched_with_rotors()
    graph = loop_graph(robot)
    gears = [gear for item in graph.subsystems for gear in item.gears]
    G = gear_matrix(robot.tree, gears)[:, list(graph.independent)]
    for seed in range(5):
        now = closed_state(robot, seed)
        M, force, _, _ = constrained_equations(robot.tree, own_constraints(robot), *now)
        expected = G @ np.linalg.solve(G.T @ M @ G, G.T @ force)
        assert_same(minimal_forward(robot.tree, graph, *now), expected, 1e-14)


def test_feet_on_the_ground():
    robot = robot_named("small-humanoid")
    feet = constraints_of(robot, [contact(robot, robot.home, name) for name in ("left_foot", "right_foot")])
    _, v, tau, wrenches = closed_state(robot, 1, feet)
    now = (np.array(robot.home), v, tau, wrenches)
    assert_same(minimal_acceleration(robot, feet, *now), projected(robot, feet, now)[0], 1e-12)


def test_without_loops_it_is_articulated_bodies():
    robot = robot_named("g1")
    q, v, tau = state(robot, 2)
    assert (minimal_acceleration(robot, (), q, v, tau) == aba(robot.tree, q, v, tau)).all()


def test_joints_without_a_coordinate():
    robot = followers("reduce")
    q, v, tau = state(robot, 4)
    assert_same(minimal_acceleration(robot, None, q, v, tau), forward_dynamics(robot.tree, q, v, tau))


def test_a_structure_does_not_move():
    robot = four_bar()
    q = closed_state(robot, 0)[0]
    lock = Loop("lock", "ground", "crank", robot.placements(q)["crank"], np.eye(4), (False,) * 4 + (True, False))
    held = (*robot.loops, lock)
    assert_same(minimal_acceleration(robot.replace(home=q), held, q, np.zeros(3), np.ones(3)), np.zeros(3))


def test_links_of_a_loop_may_be_without_mass():
    """The mass matrix of the tree is singular; that of the loop is not."""
    hinges = [Joint(f"h{k}", "revolute", sf.robot.placement((x, 0.0, 0.0)), axis=(0, 1, 0)) for k, x in
              enumerate((0.0, 0.3, 0.7))]  # fmt: skip
    bar = {"mass": 1.0, "com": np.array([0.15, 0.0, 0.0]), "inertia": 0.01 * np.eye(3)}
    links = [Link("ground"), Link("crank", "ground", hinges[0], **bar), Link("coupler", "crank", hinges[1]),
             Link("rocker", "ground", hinges[2])]  # fmt: skip
    loop = four_bar().loops[0]
    home = {"h0": -1.2, "h1": 0.9, "h2": -1.7}
    robot = Robot.from_tree("light", links, "fixed", loops=(loop,), home=home, drives=(sf.Drive("h0"),))
    q = closed_state(robot, 0)[0]
    a = minimal_acceleration(robot, None, q, np.zeros(3), np.array([0.7, 0.0, 0.0]))
    gravity = rnea(robot.tree, q, np.zeros(3), np.zeros(3))[0]
    assert_same(a[0], (0.7 - gravity) / crba(robot.tree, q)[0, 0])


# -- kernels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [geared_four_bar, six_bar, delta, floating_bars], ids=lambda make: make.__name__)
def test_compiled_for_one_state_and_many(make):
    robot = make()
    kernels = sf.compile(robot, functions={"loops": minimal_function(robot)})
    rows = [closed_state(robot, seed)[:3] for seed in range(4)]
    expected = np.array([minimal_acceleration(robot, None, *row) for row in rows])
    assert_same(kernels.loops(*rows[0]), expected[0], 1e-12)
    assert_same(kernels.loops(*(np.array(column) for column in zip(*rows, strict=True))), expected, 1e-12)


def test_a_trace_takes_wrenches_and_gains():
    robot = four_bar(HINGE)
    now = closed_state(robot, 2)
    function = minimal_function(robot, None, GAINS[1], wrenches=True)
    assert_same(traced(function, *now), minimal_acceleration(robot, None, *now, GAINS[1]), 1e-12)


def test_a_trace_can_be_differentiated():
    robot = four_bar()
    function, now = minimal_function(robot), closed_state(robot, 1)[:3]
    symbols = [ops.symbols(name, 3) for name in ("q", "v", "tau")]
    slope = ops.stack([ops.gradient(entry, symbols[0]) for entry in function(*symbols)])
    found = np.array(ops.function("f", symbols, [slope])(*now))
    steps = [(function(now[0] + u, *now[1:]) - function(now[0] - u, *now[1:])) / 2e-6 for u in 1e-6 * np.eye(3)]
    assert_same(found, np.array(steps).T, 1e-8)


def test_costs_grow_linearly_and_are_those_of_an_open_chain():
    """Buschmann 2014, Fig. 3.12."""
    counts = []
    for n in (4, 8, 12):
        robot = robot_named(f"coil:{n}:driven")
        counts.append(operations(minimal_function(robot), robot.nq, robot.nv, robot.nv))
    assert counts[2] - counts[1] == counts[1] - counts[0]
    chain = robot_named("coil:16")
    assert counts[1] < operations(lambda *x: aba(chain.tree, *x), chain.nq, chain.nv, chain.nv)


# -- what not to get --------------------------------------------------------------------------------------------------


def printed_recursion(robot: Robot, q, v, tau, *, P_sign=-1.0, K="M (C + J P)", with_q_s=True) -> np.ndarray:
    """Buschmann 2014, Alg. 5 to 8, word by word, for hinges with one rotor each; the flags choose what is printed."""
    tree, parts = robot.tree, bodies(robot.tree)
    ratios = {gear.joint: gear.ratio for item in loop_graph(robot).subsystems for gear in item.gears}
    omega, C, b, M, h, J = ([None] * tree.n + [np.zeros(3)] for _ in range(6))
    for i, body in enumerate(parts):
        R, p = joint_placement(body, q[tree.q_index[i]][None])
        carried = R.T @ omega[tree.parents[i]]
        relative = joint_subspace(body)[3:, 0] * v[tree.v_index[i]]
        omega[i], up = carried + relative, skew(omega[tree.parents[i]])
        C[i] = np.block([[R.T, -R.T @ skew(p)], [np.zeros((3, 3)), R.T]])
        b[i] = np.concatenate([R.T @ up @ up @ p, np.cross(carried, relative)])
        M[i] = np.block([[body.mass * np.eye(3), -skew(body.moment)], [skew(body.moment), body.inertia]])
        h[i] = np.concatenate(
            [skew(omega[i]) @ skew(omega[i]) @ body.moment, np.cross(omega[i], body.inertia @ omega[i])]
        )
        J[i] = ratios.get(i, 1.0) * joint_subspace(body)
    rotor_of = {gear.source: gear.joint for item in loop_graph(robot).subsystems for gear in item.gears}
    P, p_ = {}, {}
    for i in sorted(rotor_of, reverse=True):
        both = (i, rotor_of[i])
        M_S = sum(J[k].T @ M[k] @ J[k] for k in both)
        B_S = sum(J[k].T @ M[k] @ C[k] for k in both)
        h_S = sum(J[k].T @ (M[k] @ b[k] + h[k]) for k in both)
        h_S = h_S - tau[tree.v_index[i]] - ratios[rotor_of[i]] * tau[tree.v_index[rotor_of[i]]]
        P[i], p_[i] = P_sign * np.linalg.solve(M_S, B_S), -np.linalg.solve(M_S, h_S.reshape(1))
        K_S = sum(C[k].T @ M[k] @ ((C[k] + J[k] @ P[i]) if K == "M (C + J P)" else (C[k] + J[k]) * P[i]) for k in both)
        k_S = sum(C[k].T @ (M[k] @ (b[k] + J[k] @ p_[i]) + h[k]) for k in both)
        if tree.parents[i] >= 0:
            M[tree.parents[i]] = M[tree.parents[i]] + K_S
            h[tree.parents[i]] = h[tree.parents[i]] + k_S
    a, out = {-1: np.concatenate([-tree.gravity, np.zeros(3)])}, np.zeros(robot.nv)
    for i in sorted(rotor_of):
        x = P[i] @ a[tree.parents[i]] + p_[i]
        a[i] = C[i] @ a[tree.parents[i]] + J[i][:, 0] * (x if with_q_s else 1.0) + b[i]
        out[tree.v_index[i]], out[tree.v_index[rotor_of[i]]] = x[0], ratios[rotor_of[i]] * x[0]
    return out


def test_corrected_and_printed_forms():
    robot = branched_with_rotors()
    q, v, tau, _ = closed_state(robot, 1)
    expected = minimal_acceleration(robot, None, q, v, tau)
    assert_same(printed_recursion(robot, q, v, tau), expected, 1e-13)
    wrong = ({"P_sign": 1.0}, {"K": "M (C + J) P"}, {"with_q_s": False})
    for flags in wrong:  # Alg. 7: P = + M⁻¹ B, and K = M (C + J) P; (3.70): J without q̈_S
        assert np.abs(printed_recursion(robot, q, v, tau, **flags) - expected).max() > 1e-3 * np.abs(expected).max()


# -- what is refused --------------------------------------------------------------------------------------------------


def test_a_singular_posture_is_named():
    robot = four_bar()
    with pytest.raises(ModelError, match="loop `bars` is at a singular posture") as error:
        minimal_acceleration(robot, None, np.zeros(3), np.zeros(3), np.zeros(3))
    assert "crank_joint" in str(error.value)
    assert "residual" in str(error.value)


def dead_point() -> tuple[Robot, np.ndarray, np.ndarray, np.ndarray]:
    """A four-bar driven at its rocker where crank and coupler are in line: the rocker does not determine them."""
    robot = four_bar().replace(drives=(sf.Drive("rocker_joint"),))
    q = close(robot, None, robot.q_of({"crank_joint": -0.9, "rocker_joint": -1.5}), hold=["coupler_joint"])
    return robot, q, np.zeros(3), np.array([0.3, -0.2, 0.5])


def test_where_the_coordinates_of_a_graph_do_not_serve_others_are_chosen():
    robot, q, v, tau = dead_point()
    expected = projected(robot, own_constraints(robot), (q, v, tau, None))[0]
    with pytest.raises(ModelError, match="singular posture"):
        minimal_acceleration(robot, loop_graph(robot), q, v, tau)
    assert_same(minimal_acceleration(robot, loop_graph(robot, None, q), q, v, tau), expected)
    assert_same(minimal_acceleration(robot, None, q, v, tau), expected)
    found = constrained_acceleration(robot, q, v, tau, method="minimal")
    assert_same(found.a, expected)


@pytest.mark.parametrize("aside", [0.0, 1e-10])
def test_kernels_give_nothing_at_dead_points_rather_than_nonsense(aside):
    """Not finite there and next to it; finite and true a little further on."""
    robot, q, v, tau = dead_point()
    kernel = sf.compile(robot, functions={"loops": minimal_function(robot)}).loops
    at = close(robot, None, q + np.array([aside, 0.0, 0.0]), hold=["crank_joint"]) if aside else q
    assert not np.isfinite(kernel(at, v, tau)).any()
    assert not np.isfinite(minimal_forward(robot.tree, loop_graph(robot), at, v, tau)).any()
    beside = close(robot, None, q + np.array([0.01, 0.0, 0.0]), hold=["crank_joint"])
    expected = projected(robot, own_constraints(robot), (beside, v, tau, None))[0]
    assert_same(kernel(beside, v, tau), expected, 1e-9)
    both = kernel(np.array([at, beside]), np.array([v, v]), np.array([tau, tau]))
    assert np.isfinite(both).all(axis=1).tolist() == [False, True]


def test_a_posture_that_is_nearly_dead_costs_no_digits():
    """The rocker determines the others by 1e-6; with another choice that does not matter."""
    robot, q, v, tau = dead_point()
    near = close(robot, None, q + np.array([1e-6, 0.0, 0.0]), hold=["crank_joint"])
    v = project_velocity(robot, None, near, np.array([1.0, 2.0, 3.0]))
    expected = projected(robot, own_constraints(robot), (near, v, tau, None))[0]
    assert_same(minimal_acceleration(robot, None, near, v, tau), expected, 1e-12)
    first = minimal_acceleration(robot, loop_graph(robot), near, v, tau)
    assert np.abs(first - expected).max() > 1e-12 * np.abs(expected).max()


def disagreeing_cranks() -> tuple[Robot, tuple[np.ndarray, ...]]:
    """Velocities of three parallel cranks that differ: redundant rows ask for accelerations that no motion has."""
    robot = three_cranks()
    q, _, tau, _ = closed_state(robot, 0)
    v = np.zeros(robot.nv)
    for name, speed in {"c0": 1.0, "c1": 1.0, "c2": 2.0, "p": -1.0}.items():
        v[robot.tree.v_index[robot.joint_index(name)]] = speed
    return robot, (q, v, tau, None)


def test_redundant_rows_that_disagree_off_the_constraints_are_met_in_least_squares():
    robot, now = disagreeing_cranks()
    expected, _ = projected(robot, own_constraints(robot), now)
    a = minimal_acceleration(robot, None, *now)
    assert_same(a, expected, 1e-12)
    _, _, J, drift = constrained_equations(robot.tree, own_constraints(robot), *now)
    assert np.abs(J @ a + drift).max() > 0.1


def test_gears_that_disagree_with_ties_are_rows_like_the_others():
    """The three cranks with a gear that the loops imply, at velocities that break it."""
    robot, now = disagreeing_cranks()
    held = constraints_of(robot, [*robot.loops, Coupling("c2", "c0"), Coupling("c1", "c2")])
    expected, _ = projected(robot, held, now)
    assert_same(minimal_acceleration(robot, held, *now), expected, 1e-12)
    gears = minimal_forward(robot.tree, loop_graph(robot, held), *now)
    assert np.abs(gears - expected).max() > 1e-3 * np.abs(expected).max()


def test_contradicting_constraints_are_named():
    """A stretched chain between two pivots, moving across, cannot stay stretched."""
    rod = {"mass": 1.0, "com": np.array([0.5, 0.0, 0.0]), "inertia": 0.1 * np.eye(3)}
    hinges = [Joint(name, "revolute", sf.robot.placement((x, 0.0, 0.0)), axis=(0, 0, 1)) for name, x in
              (("j1", 0.0), ("j2", 1.0))]  # fmt: skip
    links = [Link("floor"), Link("first", "floor", hinges[0], **rod), Link("second", "first", hinges[1], **rod)]
    robot = Robot.from_tree("stretched", links, "fixed", drives=())
    ends = sf.robot.placement((2.0, 0.0, 0.0)), sf.robot.placement((1.0, 0.0, 0.0))
    loop = Loop("pivot", "universe", "second", *ends, (True, False, False, False, False, False))
    graph = loop_graph(robot, [loop], np.zeros(2))
    with pytest.raises(ModelError, match=r"contradict each other.*pivot\.x"):
        minimal_acceleration(robot, graph, np.zeros(2), np.array([1.0, -2.0]), np.zeros(2))


def test_a_joint_that_moves_no_inertia_is_named():
    light = Link("light", "ground", Joint("hinge", "revolute"))
    robot = Robot.from_tree("light", [Link("ground"), light], "fixed")
    with pytest.raises(ModelError, match="`hinge` moves no inertia"):
        minimal_acceleration(robot, None, [0.0], [0.0], [1.0])


@pytest.mark.parametrize(
    ("place", "value"), [(0, np.zeros(4)), (1, np.zeros(2)), (2, np.full(3, np.nan)), (3, np.zeros((2, 6)))]
)
def test_wrong_shapes_are_refused(place, value):
    robot = four_bar()
    now = list(closed_state(robot, 0))
    now[place] = value
    with pytest.raises(ShapeError):
        minimal_acceleration(robot, None, *now)


def test_loops_of_another_robot_are_refused():
    with pytest.raises(ModelError, match="another robot"):
        minimal_acceleration(four_bar(), loop_graph(six_bar()), np.zeros(3), np.zeros(3), np.zeros(3))
