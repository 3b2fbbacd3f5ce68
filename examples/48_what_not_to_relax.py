"""What a planner of contacts must not relax.

Two shortcuts make planning easy, and its paths worthless. Planned in joint space, motions hold contacts only to a
radius: a radius that lets most of them through lets feet slide. With the ground ignored, feet go straight from foothold
to foothold: every such edge is free, and drags the foot over the ground or through a step. Wimmer 2016 tried both. In
the chart of a stance contacts hold exactly, and swings are held against the ground.
"""

import numpy as np

import surefoot as sf
from surefoot.motion import GroundBox, GroundPlane, World
from surefoot.planning import StancePlanner
from surefoot.robot import placement

robot = sf.load("hexapod")
step = GroundBox((2.0, 1.2, 0.1), placement(np.array([0.0, 0.9, 0.05])))
planner = StancePlanner(robot, World(ground=(GroundPlane(), step)))
plan = planner.plan(np.array(robot.home), goal=(0.0, 0.6, 0.0), seed=0)
chart, home = planner.model.chart, np.array(robot.home)
along = np.linspace(0.0, 1.0, 21)[:, None]


def drift(start, end):
    """How far feet leave their places on a straight line of joint angles, wherever the base is put [m]."""
    joints, feet = start[7:] + along * (end[7:] - start[7:]), []
    for row in joints:
        feet.append(chart.state_of(np.r_[np.zeros(6), 1.0, row])[6:].reshape(-1, 3))
    shapes = np.array(feet) - np.mean(feet, axis=1, keepdims=True)
    left, _, right = np.linalg.svd(np.einsum("nki,kj->nij", shapes, shapes[0]))  # the best turn: Kabsch 1976
    left[:, :, 2] *= np.linalg.det(left @ right)[:, None]
    return np.linalg.norm(shapes @ (left @ right) - shapes[0], axis=2).max()


shifts = [segment for segment in plan.segments if segment.swings is None]
drifts = np.array([drift(*chart.lift(segment.path[[0, -1]]).q) for segment in shifts])
for radius in (1e-4, 1e-3, 3e-3, 1e-2):
    passed = np.sum(drifts <= radius)
    print(f"contact radius {1e3 * radius:4.1f} mm: {passed:2d} of {len(drifts)} shifts of the base pass")

swings = [segment for segment in plan.segments if segment.swings is not None]
free, depths = 0, []
for segment in swings:
    start, end = segment.path[0], segment.path[-1]
    states = start + along * (end - start)
    free += int(segment.mode.check(states).valid.all())
    foot = states[:, 6 + 3 * segment.swings : 9 + 3 * segment.swings]
    ground = planner.model.world.height(foot[:, 0], foot[:, 1]) + planner.model.radii[segment.swings]
    depths.append(float((ground - foot[:, 2]).max()))
print(f"straight swings that are free with the ground: {free} of {len(swings)}; without it, the foot goes")
dragged = np.sum(np.abs(depths) < 1e-6)
print(f"up to {1e3 * max(depths):.0f} mm deep through the step, and {dragged} drag along the ground")
