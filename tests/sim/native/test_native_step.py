import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.robot import Coupling, Joint, Link, Robot
from surefoot.sim.native.contact_laws import PenaltyPid, SpringDamper, ViscoElastic
from surefoot.sim.native.joints import Resistance
from surefoot.sim.native.step import step_function

from ..examples import block, every_joint
from ..native_examples import robot_named

H = 1e-3
LAWS = [SpringDamper(), ViscoElastic(), PenaltyPid()]


def inputs_of(layout, seed=0, deep=2e-3, gains=True):
    """Random inputs: a robot about its home, its points about the ground."""
    robot, rng = layout.robot, np.random.default_rng(seed)
    out = {name: np.zeros(shape) for name, shape in layout.inputs.items()}
    out["q"] = pin.integrate(robot.model, np.array(robot.home), 0.01 * rng.standard_normal(robot.nv))
    out["v"] = 0.05 * rng.standard_normal(robot.nv)
    out["v"][2] -= 0.1  # down on the ground
    out["torque"] = rng.standard_normal(robot.nu)
    if gains:
        out["position"], out["velocity"] = rng.standard_normal((2, robot.nu))
        out["kp"], out["kd"] = rng.uniform(0.0, 50.0, (2, robot.nu))
    out["lower"], out["upper"] = np.full(robot.nu, -1e3), np.full(robot.nu, 1e3)
    n = len(layout.points)
    normal = np.array([0.0, 0.0, 1.0]) + 0.1 * rng.standard_normal((n, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    corners = np.vstack(list(robot.contact_corners(out["q"]).values())) if n else np.zeros((0, 3))
    offset = np.sum(normal * corners, axis=1) + deep * rng.uniform(-0.5, 1.0, n)
    out["ground"] = np.column_stack([normal, offset, np.full(n, 0.6)]) if n else np.zeros((0, 5))
    memory = layout.rest_memory(corners)
    out["memory"] = memory + 1e-4 * rng.standard_normal(len(memory))
    if layout.pushes:
        out["push"] = rng.standard_normal(out["push"].shape)
    return out


def stepped(function, layout, inputs):
    return dict(zip(layout.outputs, function(**inputs), strict=True))


def lever_and_wrench(layout, found, q):
    """Contact forces as wrenches on the joints, for Pinocchio."""
    robot = layout.robot
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    out = [pin.Force.Zero() for _ in range(robot.model.njoints)]
    for point, place, force in zip(layout.points, found["point"], found["force"], strict=True):
        T = data.oMi[point.body + 1]
        turned = T.rotation.T @ force
        out[point.body + 1] += pin.Force(turned, np.cross(T.actInv(place), turned))
    return out


def free_base_step(robot, q, v, a):
    """v + h a and q ⊕ h v⁺, the linear velocity of the base in world axes."""
    R = pin.XYZQUATToSE3(q[:7]).rotation
    after = v + H * a
    linear = R @ (v[:3] + H * (a[:3] + np.cross(v[3:6], v[:3])))
    end = pin.integrate(robot.model, q, H * after)
    end[:3] = q[:3] + H * linear
    after[:3] = pin.XYZQUATToSE3(end[:7]).rotation.T @ linear
    return end, after


@pytest.mark.parametrize("name", ["g1", "hexapod", "every"])
def test_without_contact_it_is_pinocchio(name):
    robot = every_joint(("spherical", "prismatic", "continuous", "revolute")) if name == "every" else robot_named(name)
    free = Resistance.of(robot, H, explicit=False, stops=False, friction=False)
    function, layout = step_function(robot, H, SpringDamper(), points=(), resistance=free)
    for seed in range(3):
        x = inputs_of(layout, seed, gains=False)
        found = stepped(function, layout, x)
        tau = np.zeros(robot.nv)
        tau[robot.driven] = x["torque"]
        a = pin.aba(robot.model, robot.model.createData(), x["q"], x["v"], tau)
        scale = max(1.0, np.abs(a).max())
        np.testing.assert_allclose(found["acceleration"], a, atol=1e-12 * scale)
        q, v = free_base_step(robot, x["q"], x["v"], a)
        np.testing.assert_allclose(found["v"], v, atol=1e-12 * scale)
        np.testing.assert_allclose(pin.difference(robot.model, q, found["q"]), 0.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_the_kernel_computes_what_the_text_says(law, integrator):
    robot = robot_named("solo8")
    function, layout = step_function(robot, H, law, integrator, pushes=True)
    kernel = sf.compile(robot, functions={"step": (function, layout.inputs)}).step
    for seed in range(5):
        x = inputs_of(layout, seed)
        for found, (name, expected) in zip(kernel(*x.values()), stepped(function, layout, x).items(), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("name", ["block", "hexapod", "g1"])
def test_the_forces_it_reports_give_the_motion(name, law):
    """Newton and Euler, by Pinocchio: the acceleration follows from drives and contact forces as reported."""
    robot = block() if name == "block" else robot_named(name)
    free = Resistance.of(robot, H, explicit=False, stops=False, friction=False)
    function, layout = step_function(robot, H, law, resistance=free)
    for seed in range(3):
        x = inputs_of(layout, seed)
        found = stepped(function, layout, x)
        wrenches = lever_and_wrench(layout, found, x["q"])
        data = robot.model.createData()
        tau = pin.rnea(robot.model, data, x["q"], x["v"], found["acceleration"], wrenches)
        expected = np.zeros(robot.nv)
        expected[robot.driven] = found["torque"]
        assert np.abs(found["force"]).max() > 0.0
        np.testing.assert_allclose(tau, expected, atol=1e-8 * max(1.0, np.abs(found["force"]).max()))


def test_contact_forces_are_those_at_the_end_of_the_step():
    """A block that comes down flat: K d⁺ + D ḋ⁺ with depth and speed after the step."""
    robot = block()
    function, layout = step_function(robot, H, SpringDamper(3e4, 2e3))
    x = {name: np.zeros(shape) for name, shape in layout.inputs.items()}
    x["q"], x["v"][2] = np.array([0, 0, 0.1 - 5e-4, 0, 0, 0, 1.0]), -0.3
    x["ground"][:] = [0.0, 0.0, 1.0, 0.0, 0.5]
    x["memory"] = layout.rest_memory(np.vstack(list(robot.contact_corners(x["q"]).values())))
    found = stepped(function, layout, x)
    depth, rate = 0.1 - found["q"][2], -found["v"][2]
    np.testing.assert_allclose(found["force"][:, 2], 3e4 * depth + 2e3 * rate, rtol=1e-9)


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_light_foot_under_a_stiff_law_stays_calm(dt):
    """The hexapod's tibia weighs some grams; explicit steps of this law would blow up."""
    robot = robot_named("hexapod")
    function, layout = step_function(robot, dt, PenaltyPid())
    assert dt * layout.law.derivative / layout.law.friction.lightest > 2.0
    kernel = sf.compile(robot, functions={"step": (function, layout.inputs)}).step
    x = {name: np.zeros(shape) for name, shape in layout.inputs.items()}
    x["q"], x["ground"][:] = np.array(robot.home), [0.0, 0.0, 1.0, 0.0, 0.7]
    x["position"], x["kp"], x["kd"] = np.array(robot.home)[7:], np.full(18, 20.0), np.full(18, 0.5)
    x["lower"], x["upper"] = np.full(18, -9.0), np.full(18, 9.0)
    for _ in range(round(3.0 / dt)):
        x["q"], x["v"], x["memory"], *rest = kernel(*x.values())
    assert np.abs(x["v"]).max() < 1e-6
    np.testing.assert_allclose(rest[layout_index(layout, "force")][:, 2].sum(), robot.mass * 9.81, rtol=1e-6)


def layout_index(layout, name):
    return list(layout.outputs).index(name) - 3


@pytest.mark.parametrize("rounds", [1, 2, 6])
def test_rounds_keep_the_limits(rounds):
    """Limits hold after any number of rounds, also where one is not enough to find which drives are at theirs."""
    robot = robot_named("hexapod")
    (once, layout), (limited, _) = (step_function(robot, H, SpringDamper(), rounds=k) for k in (0, rounds))
    at_limit = unsettled = 0
    for seed in range(6):
        x = inputs_of(layout, seed)
        x["lower"], x["upper"] = np.full(18, -0.4), np.full(18, 0.4)
        assert stepped(once, layout, x)["tally"][7] > 1.0
        found = stepped(limited, layout, x)
        at_limit += (np.abs(found["torque"]) == 0.4).sum()
        assert np.abs(found["torque"]).max() <= 0.4 + 1e-8
        after = (x["v"] + H * found["acceleration"])[robot.driven]
        error = x["position"] - x["q"][7:] - H * after
        law = np.clip(x["torque"] + x["kp"] * error + x["kd"] * (x["velocity"] - after), -0.4, 0.4)
        unsettled += np.abs(found["torque"] - law).max() > 1e-9
    assert at_limit > 50
    assert unsettled > 0 if rounds == 1 else True
    assert unsettled == 0 if rounds == 6 else True


def test_level_ground_gives_the_same():
    robot = robot_named("hexapod")
    (any_ground, layout), (level, _) = (step_function(robot, H, SpringDamper(), level=x) for x in (False, True))
    x = inputs_of(layout, 2)
    x["ground"][:, :3] = [0.0, 0.0, 1.0]
    for expected, found in zip(any_ground(**x), level(**x), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_work_and_impulse_of_a_step():
    robot = robot_named("hexapod")
    free = Resistance.of(robot, H, explicit=False, stops=False)
    function, layout = step_function(robot, H, SpringDamper(), resistance=free)
    x = inputs_of(layout, 3)
    found = stepped(function, layout, x)
    mean = x["v"] + 0.5 * H * found["acceleration"]  # in the axes at the start of the step
    mean[:3] += 0.5 * H * np.cross(x["v"][3:6], x["v"][:3])
    assert found["tally"][0] == pytest.approx(H * found["torque"] @ mean[robot.driven], rel=1e-9)
    wrenches, data = lever_and_wrench(layout, found, x["q"]), robot.model.createData()
    rest = np.zeros(robot.nv)
    generalised = pin.rnea(robot.model, data, x["q"], rest, rest) - pin.rnea(
        robot.model, data, x["q"], rest, rest, wrenches
    )
    assert found["tally"][1] == pytest.approx(H * generalised @ mean, rel=1e-9)
    np.testing.assert_allclose(found["tally"][4:7], H * found["force"].sum(axis=0), atol=1e-12)
    assert found["tally"][8] == pytest.approx(found["v"] @ found["v"])


def test_slip_is_counted_by_load():
    robot = block()
    function, layout = step_function(robot, H, SpringDamper())
    x = {name: np.zeros(shape) for name, shape in layout.inputs.items()}
    x["q"], x["v"][0] = np.array([0, 0, 0.1 - 1e-3, 0, 0, 0, 1.0]), 0.4
    x["ground"][:] = [0.0, 0.0, 1.0, 0.0, 0.5]
    x["memory"] = layout.rest_memory(np.vstack(list(robot.contact_corners(x["q"]).values())))
    assert stepped(function, layout, x)["slip"][0] == pytest.approx(H * 0.4, rel=1e-9)
    x["q"][2] = 0.11
    assert stepped(function, layout, x)["slip"][0] == 0.0


def coupled(**options):
    links = [Link("base", mass=1.0, inertia=0.1 * np.eye(3))]
    for k in range(2):
        joint = Joint(f"j{k}", "revolute", axis=(0.0, 1.0, 0.0))
        com, inertia = np.array([0.0, 0.0, -0.2]), 0.01 * np.eye(3)
        links.append(Link(f"l{k}", links[-1].name, joint, mass=0.5, com=com, inertia=inertia))
    return Robot.from_tree("tied", links, "floating", couplings=(Coupling("j1", "j0", 2.0, 0.1),), **options)


def test_followers_move_with_their_leader():
    robot = coupled(mimic="reduce")
    free = Resistance.of(robot, H, explicit=False, stops=False, friction=False)
    function, layout = step_function(robot, H, SpringDamper(), resistance=free)
    x = inputs_of(layout, 4, gains=False)
    tau = np.zeros(robot.nv)
    tau[robot.driven] = x["torque"]
    a = stepped(function, layout, x)["acceleration"]
    data = robot.model.createData()
    M = pin.crba(robot.model, data, x["q"])
    M = np.triu(M) + np.triu(M, 1).T
    expected = np.linalg.solve(M, tau - pin.nonLinearEffects(robot.model, data, x["q"], x["v"]))
    np.testing.assert_allclose(a, expected, atol=1e-9)


def test_what_is_refused():
    with pytest.raises(NotSupportedError, match="closed chains or coupled"):
        step_function(coupled(), H, SpringDamper())
    with pytest.raises(UnknownNameError, match="rk4"):
        step_function(block(), H, SpringDamper(), "rk5")
