"""Walking: blocks against geometry, one structure for all objectives, the guess, the step itself and its repetition."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.control.legged import WholeBodyFollower
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.motion import State, World
from surefoot.motion.exchange import mirror_of
from surefoot.ocp import Node, Solution, SolverOptions, blocks
from surefoot.ocp.kernels import _identity
from surefoot.ocp.motions import OBJECTIVES, solve_walk, step_figures, walk_on, walk_step
from surefoot.ocp.transcription import transcribe
from surefoot.robot import Robot, load
from surefoot.sim import Settings, Simulation

FEET = ("left_foot", "right_foot")


@pytest.fixture(scope="module")
def humanoid() -> Robot:
    return load("humanoid")


def _standing(robot: Robot, forces: dict[str, np.ndarray], at: float = 0.0) -> Node:
    problem = walk_step(robot)
    y = problem.chart.coordinates(robot.home)
    y[2] += at
    return Node(robot, problem.chart, y, np.zeros(robot.nv), contact_wrenches=forces, parameters={"step_length": 0.2})


def _wrench(robot: Robot, name: str, f: float, pressure: np.ndarray) -> np.ndarray:
    """A vertical force at a place (2,) relative to the middle of the sole."""
    x, y = pressure + np.asarray(robot.contacts[name].corners).mean(axis=0)[:2]
    return np.array([0.0, 0.0, f, y * f, -x * f, 0.0])


@pytest.mark.parametrize("seed", range(5))
def test_zmp_regions_are_a_circle_and_a_capsule(humanoid: Robot, seed: int) -> None:
    """The rows tell where the point of application of the sum of forces is, found by hand."""
    random, radius = np.random.default_rng(seed), 0.02
    offset = random.uniform(-0.03, 0.03, 2)
    node = _standing(humanoid, {FEET[0]: _wrench(humanoid, FEET[0], 500.0, offset)})
    inside = blocks.zmp_rows(FEET[:1])(node, np.array([radius]))
    assert (inside.min() >= 0.0) == (np.hypot(*offset) <= radius)
    loads, offsets = random.uniform(50.0, 500.0, 2), random.uniform(-0.05, 0.05, (2, 2))
    both = {name: _wrench(humanoid, name, f, o) for name, f, o in zip(FEET, loads, offsets, strict=True)}
    node = _standing(humanoid, both)
    middles = np.array([blocks.middle_of_sole(node, name)[:2] for name in FEET])
    zmp = loads @ (middles + offsets) / loads.sum()
    way = (middles[1] - middles[0]) / np.linalg.norm(middles[1] - middles[0])
    along, across = way @ (zmp - middles[0]), np.array([-way[1], way[0]]) @ (zmp - middles[0])
    room = [radius - abs(across), radius + along, np.linalg.norm(middles[1] - middles[0]) + radius - along]
    rows = blocks.zmp_rows(FEET)(node, np.array([radius])) / (10.0 * loads.sum() / blocks._weight(node))
    np.testing.assert_allclose([min(rows[0], rows[1]), rows[2], rows[3]], room, atol=1e-12)


def test_all_objectives_and_sets_share_their_kernels(humanoid: Robot) -> None:
    """What differs is numbers only: a solution of one is a warm start for the others."""
    kinds, sizes = set(), set()
    cases = zip(OBJECTIVES, ({}, {"zmp_radius": None}, {"free_foot": True}), strict=False)
    for objective, others in cases:
        found = transcribe(walk_step(humanoid, objective, **others))  # type: ignore[arg-type]
        sizes.add(found.program.sizes)
        kinds.add(tuple(str(_identity(batch.structure)) for batch, _ in found.functions.batches))
    assert len(sizes) == len(kinds) == 1


def test_the_guess_is_a_step(humanoid: Robot) -> None:
    """Soles are flat on the ground where they stand; the end mirrors the start."""
    problem = walk_step(humanoid, step=0.2)
    total = sum(phase.duration[1] for phase in problem.phases)
    assert problem.path is not None
    first, last = (np.asarray(problem.path(t)) for t in (0.0, total))
    places = [{n: humanoid.placements(q)[humanoid.contacts[n].frame] for n in FEET} for q in (first, last)]
    np.testing.assert_allclose(places[0][FEET[0]], places[1][FEET[0]], atol=1e-3)
    step = places[1][FEET[1]][:3, 3] - places[0][FEET[1]][:3, 3]
    np.testing.assert_allclose(step, [0.4, 0.0, 0.0], atol=2e-3)
    image = mirror_of(humanoid).configuration(first)
    np.testing.assert_allclose(image[7:], last[7:], atol=2e-2)


def test_what_does_not_walk_is_refused(humanoid: Robot) -> None:
    with pytest.raises(UnknownNameError, match="objective"):
        walk_step(humanoid, "beauty")
    with pytest.raises(NotSupportedError, match="two feet"):
        walk_step(load("hexapod"))
    with pytest.raises(NotSupportedError, match="shorten"):
        walk_step(humanoid, step=3.0)


@pytest.fixture(scope="module")
def step(humanoid: Robot) -> Solution:
    return solve_walk(humanoid, "torque", options=SolverOptions(tolerance=1e-4, max_iterations=300))


@pytest.mark.slow
def test_the_step_obeys_mechanics(humanoid: Robot, step: Solution) -> None:
    """Pinocchio: forces balance at every node, momentum jumps by the impulse, feet stay, the end mirrors the start."""
    assert step.success
    model, data, nodes, stages = humanoid.model, humanoid.model.createData(), step.nodes, step.transcription.stages
    weight = humanoid.mass * 9.81
    jacobians = []
    for q in nodes["q"]:
        pin.computeJointJacobians(model, data, q)
        own = []
        for name in FEET:
            surface = humanoid.contacts[name]
            joint = model.frames[model.getFrameId(surface.frame)].parentJoint
            T = pin.SE3(humanoid.placements(q)[surface.frame] @ surface.placement)
            own.append(T.toActionMatrixInverse() @ data.oMi[joint].toActionMatrix()
                       @ pin.getJointJacobian(model, data, joint, pin.LOCAL))  # fmt: skip
        jacobians.append(own)
    for k, stage in enumerate(stages):
        push = sum(J.T @ w for J, w in zip(jacobians[k], nodes["wrenches"][k], strict=True))
        if stage.structure.kind == "interval":
            tau = pin.rnea(model, data, nodes["q"][k], nodes["v"][k], nodes["a"][k]) - push
            np.testing.assert_allclose(tau[:6], 0.0, atol=2e-4 * weight)
            np.testing.assert_allclose(tau[humanoid.driven], nodes["tau"][k], atol=1e-6 * weight)
        elif stage.structure.kind == "impact":
            before = step.problem.chart.motion(
                *np.split(step.staged.w[step.transcription.program.sizes.starts[k] :][: 2 * humanoid.nv], 2)
            )[0]
            M = pin.crba(model, data, nodes["q"][k])
            M = np.triu(M) + np.triu(M, 1).T
            np.testing.assert_allclose(M @ (nodes["v"][k] - before), push, atol=1e-4 * weight)
            np.testing.assert_allclose(jacobians[k][1] @ nodes["v"][k], 0.0, atol=1e-4)
    mirror = mirror_of(humanoid)
    np.testing.assert_allclose(mirror.configuration(nodes["q"][0])[2:], nodes["q"][-1][2:], atol=1e-4)
    np.testing.assert_allclose(mirror.velocity(nodes["v"][0]), nodes["v"][-1], atol=1e-3)
    figures = step_figures(step)
    assert figures.step_length == pytest.approx(0.15)
    assert figures.zmp_offset <= figures.zmp_radius * 1.01
    assert np.abs(nodes["tau"]).max(axis=0) == pytest.approx(
        np.minimum(np.abs(nodes["tau"]).max(axis=0), [d.torque_limit for d in humanoid.drives]), abs=1e-3
    )


@pytest.mark.slow
def test_the_walk_is_walked(humanoid: Robot, step: Solution) -> None:
    """Four steps in MuJoCo under whole-body control: it comes as far as planned, and does not fall."""
    walk = walk_on(humanoid, step.trajectory, 4)
    assert walk.q[-1, 0] - walk.q[0, 0] == pytest.approx(4 * 0.15, abs=5e-3)
    assert walk.schedule is not None
    assert [len(phase.stance) for phase in walk.schedule.phases] == [1, 2] * 4
    begin = State(0.0, walk.q[0], np.asarray(walk.v)[0])
    simulation = Simulation(
        humanoid, WholeBodyFollower(humanoid, walk), World(), Settings(duration=walk.end, dt=0.002), [], begin
    )
    log = simulation.run()
    assert simulation.fall_time is None
    assert log["q"][-1, 0] == pytest.approx(walk.q[-1, 0], abs=0.06)
