"""A swing foot that meets an obstacle its plan does not know, and gives way: reactive avoidance on a whole robot.

Buschmann 2014, section 5.4.3: steps of 1 s, a cycle of 2 ms; a block 16.1 cm high, 8 cm deep and 35 cm wide, and a
triangle 30 cm high, 9 cm deep and 13 cm wide at its base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.gait.swings.walker import SwingStep, SwingWalker
from surefoot.geometry import SweptVolume
from surefoot.ik.avoidance import ReactiveAvoidance, avoiding_rate
from surefoot.robot import Robot

BLOCK = SweptVolume(np.array([[0.0, -0.1645, 0.07], [0.0, 0.1645, 0.07]]), 0.10)
"""The block across x at the origin: a line of radius 10 cm, 7 cm over the floor. (Erratum: "7 cm beneath the floor"
would have its top at 3 cm; 7 cm above it contains the edges of the block, 4 cm off the middle, 0.6 mm to spare.)"""
TRIANGLE = SweptVolume(np.array([[0.0, -0.065, 0.0], [0.0, 0.065, 0.0], [0.0, 0.0, 0.30]]), 0.045)
"""The triangle across x at the origin, 4.5 cm to both sides of its middle plane."""


def shifted(volume: SweptVolume, x: float, y: float) -> SweptVolume:
    """An obstacle at another place on the floor.

    Args:
        volume: At the origin.
        x: [m].
        y: [m].
    """
    return SweptVolume(volume.vertices + np.array([x, y, 0.0]), volume.radius)


@dataclass(frozen=True, eq=False)
class SwingHistory:
    """What happened, at each of n cycles.

    Args:
        t: (n,) [s].
        q: (n, nq) configurations.
        v: (n, nv) velocities.
        plan: (n, 3) planned position of the swing foot [m].
        foot: (n, 3) where it was.
        deviation: (n, 3) from the plan, as commanded [m].
        deviation_rate: (n, 3) [m/s].
        deviation_acceleration: (n, 3) [m/s²].
        distance: (n,) of the swing leg to the nearest obstacle [m].
        legs_apart: (n,) of the swing leg to the stance leg [m].
    """

    t: Array
    q: Array
    v: Array
    plan: Array
    foot: Array
    deviation: Array
    deviation_rate: Array
    deviation_acceleration: Array
    distance: Array
    legs_apart: Array


def swing_over(robot: Robot, obstacles: Sequence[SweptVolume], step: SwingStep, avoid: bool = True) -> SwingHistory:
    """One step of a biped past obstacles, by closed-loop inverse kinematics with reactive avoidance.

    Tasks are the poses of the stance foot, of the base and of the swing foot, the centre of mass in place of the base
    in x and y where the weight is shifted; what they leave free keeps off joint limits, near home, and low in angular
    momentum. Toes are held. The position of the swing foot gives way (`ReactiveAvoidance`) while it swings.

    Args:
        robot: A floating robot with two feet.
        obstacles: In world.
        step: The plan.
        avoid: Whether it gives way; else it runs into the obstacles, for comparison.

    Raises:
        NotSupportedError: The names of the links do not identify the other foot, the robot has no sole to put its
            weight on, or it comes to a posture where it cannot do the tasks.
        ShapeError: The legs do not reach to where the step begins.
    """
    return _history(SwingWalker(robot, obstacles, step), avoid)


def swing_twice(robot: Robot, obstacles: Sequence[SweptVolume], step: SwingStep) -> tuple[SwingHistory, SwingHistory]:
    """`swing_over` with avoidance and without; what is compiled serves both.

    Args:
        robot: A floating robot with two feet.
        obstacles: In world.
        step: The plan.
    """
    walker = SwingWalker(robot, obstacles, step)
    return _history(walker, avoid=True), _history(walker, avoid=False)


def _history(walker: SwingWalker, avoid: bool) -> SwingHistory:
    """All cycles of a step."""
    step = walker.step
    reactive = ReactiveAvoidance(3, step.attraction)
    ways = np.array(step.gives_way, dtype=int)
    q, rows = walker.start(), []
    for k in range(round(step.end / step.cycle) + 1):
        t = k * step.cycle
        swung = t - step.shift
        plan, rate = walker.plan(t)
        if swung >= step.off * step.duration and not reactive.is_returning:
            reactive.begin_return(step.duration - swung)
        J = walker.jacobian(q)
        away = reactive.now
        v = walker.rates(q, J, plan, rate, away.x, away.rate)
        rows.append(walker.record(t, q, v, plan[2][:3, 3], away.x, away.rate, away.acceleration))
        push = np.zeros(3)
        if avoid and swung >= 0.0:
            push[ways] = avoiding_rate(J, walker.potential(q).gradient, 12 + ways)
        reactive.step(push, step.cycle)
        q = np.asarray(pin.integrate(walker.robot.model, q, step.cycle * v))
    return SwingHistory(*(np.array(column) for column in zip(*rows, strict=True)))


_HIGH = SwingStep(
    behind=0.30, ahead=0.20, lift=0.42, tilt=0.48, travel=(0.25, 0.85), apart=0.20, sink=-0.01, reach=0.04, slope=-1.5
)
SWINGS: dict[str, tuple[SweptVolume, SwingStep]] = {
    "block-over": (shifted(BLOCK, 0.0, 0.15), SwingStep(lift=0.15, tilt=0.25, ahead=0.25)),
    "block-around": (shifted(BLOCK, 0.0, 0.4365), SwingStep(lift=0.06, ahead=0.25)),
    "triangle-around": (
        shifted(TRIANGLE, 0.0, 0.279),
        SwingStep(lift=0.06, behind=0.30, ahead=0.25, slope=-2.5),
    ),
    "triangle-over": (shifted(TRIANGLE, 0.0, 0.10), _HIGH),
}
"""Steps of `lola` whose plans run into an obstacle. Those "over" are too low for their
hanging toes, those "around" overlap with the foot by 3.8 cm (block) and 4.1 cm (triangle)."""
