"""All methods of constrained forward dynamics, on robots: one answer, which is that of physics and of Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest

from surefoot.dynamics import (
    METHODS,
    Baumgarte,
    aba,
    constrained_acceleration,
    constraints_of,
    contact,
    crba,
    kinetic_energy,
    nonlinear_effects,
    potential_energy,
)
from surefoot.dynamics.constraints.projection import close, project_velocity
from surefoot.dynamics.methods import recursion as constraint_recursion
from surefoot.errors import ModelError, NotSupportedError, ShapeError, UnknownNameError
from surefoot.kinematics import integrate
from surefoot.robot import Joint, Link, Loop, Robot
from surefoot.robot.model.loops import Coupling
from tests.dynamics.constraint_examples import POINT, held_trees, held_zoo, off, soles, tied, trees
from tests.dynamics.examples import armed, assert_same, followers, robot_named, state, wrenches
from tests.sim.examples import solid

GENERAL = [method for method in METHODS if method not in ("pinocchio", "auto", "lagrange")]


def agree(robot, q, v, tau, constraints, methods, **more):
    reference = constrained_acceleration(robot, q, v, tau, constraints, "lagrange", **more)
    for method in methods:
        found = constrained_acceleration(robot, q, v, tau, constraints, method, **more)
        assert off(found.a, reference.a) < 1e-9, method
        assert off(found.constraint_force, reference.constraint_force) < 1e-9, method
        assert off(found.multipliers, reference.multipliers) < 1e-7, method
        assert (found.rank, found.redundant, found.rows) == (reference.rank, reference.redundant, reference.rows)
        assert found.residual < 1e-9 * max(1.0, np.abs(reference.a).max())
    return reference


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_all_methods_agree_on_random_trees(seed):
    """Fixed and moving bases, joints of all kinds, loops, points, gears, doubled rows; wrenches from outside."""
    for label, robot, q, v, tau, constraints in held_trees(seed):
        found = agree(robot, q, v, tau, constraints, GENERAL, external=wrenches(robot, seed))
        held = constraints_of(robot, constraints)
        assert (found.rank < len(held.rows)) == label.endswith(("doubled", "points"))


@pytest.mark.slow
def test_all_methods_agree_on_robots_of_the_zoo():
    for label, robot, q, v, tau, constraints in held_zoo(0):
        found = agree(robot, q, v, tau, constraints, GENERAL)
        assert found.rank == {"talos": 12, "anymal": 12, "panda": 3}[label]


@pytest.mark.parametrize("seed", range(3))
def test_pinocchio_agrees(seed):
    for label, robot, q, v, tau, constraints in (*held_trees(seed), *held_zoo(seed)):
        if label.endswith(("partial", "gears")):
            with pytest.raises(NotSupportedError, match="cannot express"):
                constrained_acceleration(robot, q, v, tau, constraints, "pinocchio")
        else:
            agree(robot, q, v, tau, constraints, ["pinocchio"], external=wrenches(robot, seed))


def test_pinocchio_agrees_off_the_constraints():
    """With velocities that leave them, and gains that lead back."""
    for robot, link in ((robot_named("talos"), "leg_left_6_link"), (armed("fixed"), "l2")):
        q, v, tau = state(robot, 3)
        constraints = [tied(robot, q, "held", ("universe", link), np.random.default_rng(3))]
        agree(robot, q, v, tau, constraints, ["pinocchio"], baumgarte=Baumgarte(2.0, 3.0))


def test_states_off_the_constraints_have_one_answer_too():
    """Four points of a foot that turns: rows disagree by products of velocities; said, and the same for all methods."""
    robot = robot_named("talos")
    q, v, tau = state(robot, 4)
    constraints = soles(robot, q)
    reference = constrained_acceleration(robot, q, v, tau, constraints)
    assert reference.residual > 0.1
    for method in (set(GENERAL) | {"pinocchio"}) - {"minimal"}:
        found = constrained_acceleration(robot, q, v, tau, constraints, method)
        assert off(found.a, reference.a) < 1e-9, method
        assert off(found.constraint_force, reference.constraint_force) < 1e-9, method


def test_a_weld_and_a_point_at_one_place_agree_with_pinocchio_off_the_constraints():
    """Pinocchio's own drifts of the two differ there and contradict each other."""
    robot = armed()
    q, v, tau = state(robot, 13)
    weld = tied(robot, q, "weld", ("l2", "l4"), np.random.default_rng(13))
    point = Loop("point", "l2", "l4", weld.placement_a, weld.placement_b, POINT)
    for constraints in ([weld, point], [point, weld]):
        agree(robot, q, v, tau, constraints, ["pinocchio"])


def test_pinocchio_agrees_without_our_drift():
    """On the constraints its own constraintDynamics, as it is, gives the same motion."""
    robot = robot_named("talos")
    q, v, tau = state(robot, 14)
    feet = [contact(robot, q, name) for name in robot.contacts]
    v = project_velocity(robot, feet, q, v)
    models = []
    for tie in constraints_of(robot, feet).parts:
        ends = [(end.body + 1, pin.SE3(end.R, end.p)) for end in (tie.second, tie.first)]
        models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, robot.model, *ends[0], *ends[1], pin.LOCAL))
    datas, data = [model.createData() for model in models], robot.model.createData()
    pin.initConstraintDynamics(robot.model, data, models, datas)
    expected = pin.constraintDynamics(robot.model, data, q, v, tau, models, datas, pin.ProximalSettings(1e-15, 0.0, 50))
    assert off(constrained_acceleration(robot, q, v, tau, feet).a, expected) < 1e-9


@pytest.mark.parametrize("gap", [1e-11, 1e-9, 1e-8])
def test_an_overconstrained_mechanism_that_is_a_little_open_still_moves(gap):
    """A platform on three parallel cranks: closed, one row depends on the others; open, it nearly does."""
    from tests.dynamics.loop_examples import three_cranks

    robot = three_cranks()
    q = close(robot, None, robot.home)
    rest, tau = np.zeros(4), np.array([3.0, 0.0, 0.0, 0.0])
    closed = agree(robot, q, rest, tau, None, GENERAL)
    aside = q + gap * np.array([1.0, -2.0, 0.5, 1.5])
    for method in GENERAL:
        found = constrained_acceleration(robot, aside, rest, tau, method=method)
        assert found.rank == closed.rank == 3
        assert off(found.a, closed.a) < 100.0 * gap, method


def point_masses(count: int) -> Robot:
    """A floating trunk with a point mass on hinges that turn in place: (x, y), and then z, which meets the mass."""
    rng = np.random.default_rng(15)
    links = [Link("trunk", **solid(rng, 4.0))]
    for k, axis in enumerate(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))[:count]):
        last = {"mass": 1.0, "com": np.array([0.0, 0.0, 0.3])} if k == count - 1 else {}
        links.append(Link(f"l{k}", links[-1].name, Joint(f"j{k}", "revolute", axis=axis), **last))
    return Robot.from_tree("point", links, "floating", drives=())


@pytest.mark.parametrize("method", [*GENERAL, "lagrange", "auto", "pinocchio"])
def test_motions_without_inertia_are_named(method):
    """The last hinge turns about the mass: no force determines how, wherever the others stand."""
    robot = point_masses(3)
    rest = np.zeros(robot.nv)
    with pytest.raises(ModelError, match="`j2`") as caught:
        constrained_acceleration(robot, robot.neutral, rest, rest, [], method)
    assert "j0" not in str(caught.value)
    assert "armature" in caught.value.next_step


@pytest.mark.parametrize("method", [*GENERAL, "lagrange", "pinocchio"])
def test_a_posture_without_inertia_is_named(method):
    """A point mass in the plane of its last hinge's axis; only there the mass matrix is singular."""
    robot = point_masses(2)
    rest, q = np.zeros(robot.nv), np.array(robot.neutral)
    constrained_acceleration(robot, q, rest, rest, [], method)
    q[-1] = 0.5 * np.pi  # the mass lies on the axis of the first hinge
    with pytest.raises(ModelError, match="`j0`"):
        constrained_acceleration(robot, q, rest, rest, [], method)


def test_motions_without_inertia_may_be_held():
    """Held by a gear the massless hinge needs no inertia, but methods that begin with M⁻¹ do."""
    robot = point_masses(3)
    q, v, tau = state(robot, 16)
    gear = [Coupling("j2", "j0", 2.0)]
    agree(robot, q, v, tau, gear, ["elimination", "maggi_svd", "maggi_qr", "minimal"])
    for method in ("gauss", "aghili", "range_space", "udwadia_kalaba", "recursive", "iterative"):
        with pytest.raises(ModelError, match="`j2`") as caught:
            constrained_acceleration(robot, q, v, tau, gear, method)
        assert "lagrange" in caught.value.next_step


def test_equations_of_motion_and_of_the_constraints_hold():
    """M a + h = tau + Jᵀ λ; J a = -J̇ v - 2 α J v - β² r; forces do no work on motions that are left."""
    robot, gains = armed(), Baumgarte(3.0, 7.0)
    q, v, tau = state(robot, 5)
    rng = np.random.default_rng(5)
    loop = tied(robot, q, "loop", (robot.link_names[3], robot.link_names[-1]), rng)
    off_it = np.asarray(integrate(robot.tree, q, 0.1 * rng.standard_normal(robot.nv)))
    held = constraints_of(robot, [loop])
    found = constrained_acceleration(robot, off_it, v, tau, [loop], baumgarte=gains)
    tree, J = robot.tree, held.jacobian(robot.tree, off_it)
    right = -held.bias(tree, off_it, v) - 6.0 * (J @ v) - 49.0 * held.residual(tree, off_it)
    assert np.abs(held.residual(tree, off_it)).max() > 1e-2
    assert_same(J @ found.a, right, 1e-10)
    moving = crba(tree, off_it) @ found.a + nonlinear_effects(tree, off_it, v)
    assert_same(moving, tau + found.constraint_force, 1e-10)
    assert_same(found.constraint_force, J.T @ found.multipliers, 1e-12)
    null = np.linalg.svd(J)[2][found.rank :]
    assert np.abs(null @ found.constraint_force).max() < 1e-10 * np.abs(found.constraint_force).max()


def test_energy_is_kept_without_actuation():
    """The power of all forces is the rate of the kinetic energy, and gravity has all of it."""
    for _, robot, q, v, _, constraints in held_trees(6):
        found = constrained_acceleration(robot, q, v, np.zeros(robot.nv), constraints, "maggi_qr")
        h = 1e-5

        def energy(t, robot=robot, q=q, v=v, a=found.a):
            there = np.asarray(integrate(robot.tree, q, t * v + 0.5 * t**2 * a))
            return kinetic_energy(robot.tree, there, v + t * a) + potential_energy(robot.tree, there)

        assert abs((energy(h) - energy(-h)) / (2.0 * h)) < 1e-6 * max(1.0, np.abs(found.a @ v))


@pytest.mark.parametrize("label", ["single", "doubled"])
def test_the_recursion_runs_m_plus_two_times(label, monkeypatch):
    robot = armed()
    q, v, tau = state(robot, 7)
    rng = np.random.default_rng(7)
    loops = [tied(robot, q, "loop", (robot.link_names[3], robot.link_names[-1]), rng)]
    if label == "doubled":
        loops.append(
            Loop("twin", *(getattr(loops[0], x) for x in ("frame_a", "frame_b", "placement_a", "placement_b")))
        )
    v = project_velocity(robot, loops, q, v)
    runs = []

    def counted(tree, *state):
        runs.append(1)
        return aba(tree, *state)

    monkeypatch.setattr(constraint_recursion, "forward_dynamics", counted)
    found = constrained_acceleration(robot, q, v, tau, loops, "recursive")
    assert len(runs) == 6 + 2  # one for each independent row, and two
    assert found.rank == 6
    runs.clear()
    constrained_acceleration(robot, q, v, tau, loops, "iterative")
    assert len(runs) <= 6 + 2 + 3


def test_own_loops_and_couplings_are_the_default():
    robot = followers("coupling")
    q, v, tau = state(robot, 8)
    for method in GENERAL:
        found = constrained_acceleration(robot, q, v, tau, method=method)
        assert found.rows == ("j2~j0", "j4~j0")
        assert_same(found.a, constrained_acceleration(robot, q, v, tau, robot.couplings).a, 1e-9)


def test_gears_are_the_reduced_robot():
    """The follower's coordinates taken away: the same motion."""
    from tests.dynamics.examples import full_configuration, widened

    small, full = followers("reduce"), followers("coupling")
    q, v, _ = state(small, 9)
    G = widened(small, full)
    tau = np.random.default_rng(9).standard_normal(full.nv)
    whole = full_configuration(small, full, q)
    expected = np.linalg.solve(crba(small.tree, q), G.T @ tau - nonlinear_effects(small.tree, q, v))
    for method in GENERAL:
        assert_same(constrained_acceleration(full, whole, G @ v, tau, method=method).a, G @ expected, 1e-9)


def test_without_constraints_it_is_forward_dynamics():
    robot = armed()
    q, v, tau = state(robot, 10)
    F = wrenches(robot, 10)
    for method in ("auto", *GENERAL, "pinocchio"):
        found = constrained_acceleration(robot, q, v, tau, [], method, external=F)
        assert_same(found.a, aba(robot.tree, q, v, tau, F), 1e-10)
        assert found.rank == 0
        assert found.multipliers.shape == (0,)


def test_joints_that_copy_others_are_taken():
    robot = followers("reduce")
    q, v, tau = state(robot, 11)
    constraints = [contact(robot, q, robot.link_names[-1], "point")]
    agree(robot, q, v, tau, constraints, GENERAL)
    with pytest.raises(NotSupportedError):
        constrained_acceleration(robot, q, v, tau, constraints, "pinocchio")


def test_mechanisms_off_their_loops():
    """Loops with independent rows have one answer at any velocity, and with gains, for all methods."""
    from tests.dynamics.loop_examples import delta, four_bar, random_loops, six_bar

    for robot in (four_bar(), six_bar(), delta(), random_loops(1)):
        _, v, tau = state(robot, 2)
        agree(robot, close(robot, None, robot.home), v, tau, None, GENERAL, baumgarte=Baumgarte(3.0, 4.0))


def contradicting() -> tuple[Robot, list[Coupling]]:
    """Two equal joints, geared twice with different offsets."""
    links = [Link("floor")]
    for name in ("a", "b", "c"):
        links.append(Link(name, "floor", Joint(f"j{name}", "revolute"), mass=1.0, inertia=np.eye(3)))
    gears = [Coupling("jb", "ja", 2.0, 0.1), Coupling("jb", "jc", 2.0, 0.3), Coupling("jc", "ja", 1.0, 0.2)]
    return Robot.from_tree("geared", links, "fixed", drives=()), gears


def test_constraints_that_contradict_each_other_are_named():
    """b = 2 a + 0.1 and b = 2 c + 0.3 and c = a + 0.2: no position meets all; gains would pull for ever."""
    robot, gears = contradicting()
    rest = np.zeros(3)
    found = constrained_acceleration(robot, rest, rest, rest, gears)
    assert found.rank == 2
    assert found.redundant == ("jc~ja",)
    with pytest.raises(ModelError, match="contradict each other") as caught:
        constrained_acceleration(robot, rest, rest, rest, gears, baumgarte=Baumgarte(1.0, 1.0))
    for name in ("jb~ja", "jb~jc", "jc~ja"):
        assert name in str(caught.value)


def test_a_dead_centre_that_no_acceleration_leaves_is_named():
    """A stretched chain between two pivots, moving across: it cannot stay stretched; nothing admissible follows."""
    rod = {"mass": 1.0, "com": np.array([0.5, 0.0, 0.0]), "inertia": 0.1 * np.eye(3)}
    links = [Link("floor"), Link("first", "floor", Joint("j1", "revolute", axis=(0.0, 0.0, 1.0)), **rod)]
    at = np.eye(4)
    at[0, 3] = 1.0
    links.append(Link("second", "first", Joint("j2", "revolute", at, axis=(0.0, 0.0, 1.0)), **rod))
    robot = Robot.from_tree("stretched", links, "fixed", drives=())
    end, pivot = np.eye(4), np.eye(4)
    end[0, 3], pivot[0, 3] = 1.0, 2.0
    loop = Loop("pivot", "universe", "second", pivot, end, (True, False, False, False, False, False))
    v = np.array([1.0, -2.0])  # J = 0: everything is admissible, and x of the end would leave its place
    with pytest.raises(ModelError, match=r"pivot\.x"):
        constrained_acceleration(robot, np.zeros(2), v, np.zeros(2), [loop])
    assert constrained_acceleration(robot, np.zeros(2), np.zeros(2), np.zeros(2), [loop]).rank == 0


def test_an_open_pair_of_frames_means_something_else_to_pinocchio():
    robot = armed()
    q, v, tau = state(robot, 12)
    loop = Loop("open", robot.link_names[2], robot.link_names[-1], directions=POINT)
    with pytest.raises(NotSupportedError, match="apart"):
        constrained_acceleration(robot, q, v, tau, [loop], "pinocchio")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"q": np.zeros(3)}, ShapeError),
        ({"v": np.zeros(3)}, ShapeError),
        ({"tau": np.full(21, np.nan)}, ShapeError),
        ({"external": np.zeros((2, 6))}, ShapeError),
        ({"baumgarte": (np.inf, 1.0)}, ShapeError),
        ({"method": "magic"}, UnknownNameError),
        ({"constraints": [Loop("a", "base", "nowhere")]}, UnknownNameError),
        ({"constraints": [Coupling("j2", "j2")]}, ModelError),
        ({"constraints": [Coupling("j2", "j5", np.nan)]}, ModelError),
        ({"constraints": [Coupling("j2", "j0")]}, ModelError),
    ],
)
def test_bad_input_is_refused(change, error):
    robot = trees()[0]
    q, v, tau = state(robot, 1)
    arguments = {"q": q, "v": v, "tau": tau, "constraints": []} | change
    with pytest.raises(error):
        constrained_acceleration(robot, **arguments)


def test_gains_lead_back():
    """A four-bar that is a little open and moves apart closes again in a simulation with gains."""
    from tests.dynamics.loop_examples import four_bar

    robot = four_bar()
    q = close(robot, None, robot.home)
    v = project_velocity(robot, None, q, np.ones(robot.nv))
    q = np.asarray(integrate(robot.tree, q, np.array([1e-3, -2e-3, 1e-3])))
    held, h, gains = constraints_of(robot, robot.loops), 1e-3, Baumgarte(50.0, 50.0)
    gap = np.abs(held.residual(robot.tree, q)).max()
    for _ in range(200):
        middle, rest = np.asarray(integrate(robot.tree, q, 0.5 * h * v)), np.zeros(robot.nv)
        half = v + 0.5 * h * constrained_acceleration(robot, q, v, rest, baumgarte=gains).a
        v = v + h * constrained_acceleration(robot, middle, half, rest, baumgarte=gains).a
        q = np.asarray(integrate(robot.tree, q, h * half))
    assert np.abs(held.residual(robot.tree, q)).max() < 0.05 * gap


@pytest.mark.parametrize("moving", [False, True])
def test_iteration_ends_where_only_rounding_is_left(moving):
    """Without joint forces the residual may vanish after one step, and the next direction with it."""
    robot = robot_named("pendulum:tied")
    rng = np.random.default_rng(0)
    for _ in range(60):
        q = close(robot, None, rng.uniform(-3.0, 3.0, robot.nq))
        v = project_velocity(robot, None, q, moving * rng.standard_normal(robot.nv))
        agree(robot, q, v, np.zeros(robot.nv), None, ["iterative"])


def test_what_is_not_a_number_does_not_converge():
    with pytest.raises(ModelError, match="do not converge"):
        constraint_recursion._conjugate_gradients(lambda x: np.nan * x, np.ones(3))
    with pytest.raises(ModelError, match="do not converge"):
        constraint_recursion._conjugate_gradients(lambda x: x, np.array([1.0, np.nan, 1.0]))
