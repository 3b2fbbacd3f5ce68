"""The compiled functions of the native engine, made once for each robot and setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.codegen import Kernel
from surefoot.compiler import compile_robot
from surefoot.dynamics import kinetic_energy, potential_energy
from surefoot.kinematics import com_velocity
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.sim.native.contact import link_touch
from surefoot.sim.native.contact_laws import ContactLaw
from surefoot.sim.native.joints import Resistance
from surefoot.sim.native.manifold import (
    ContactPoint,
    body_motions,
    carried_along,
    contact_points,
    drift,
    points_by_body,
)
from surefoot.sim.native.step import Layout, step_function

SUMMED = 7
"""Entries of `tally` that are summed up: works and impulse."""


@dataclass(frozen=True)
class Settings:
    """What the step of a robot depends on.

    Args:
        dt: Step [s].
        law: Contact law.
        integrator: Its name.
        touches: Whether there is ground.
        stops: Whether joints stop at their limits.
        friction: Whether joints have friction.
        springs: Whether actuations may have gains.
        held: Contact surfaces that constraints hold; None where there are no constraints. With constraints, contacts
            act with their force at the start of a step.
        moving: Whether some of the ground moves.
    """

    dt: float
    law: ContactLaw
    integrator: str
    touches: bool
    stops: bool
    friction: bool
    springs: bool = True
    held: Sequence[str] | None = None
    moving: bool = False

    def resistance(self, robot: Robot) -> Resistance:
        """Friction and stops of the joints."""
        explicit = self.integrator == "rk4"
        return Resistance.of(robot, self.dt, explicit=explicit, stops=self.stops, friction=self.friction)

    def points(self, robot: Robot) -> tuple[ContactPoint, ...]:
        """The points by which the robot touches the ground."""
        held = [list(robot.contacts).index(name) for name in self.held or ()]
        return tuple(point for point in contact_points(robot) if point.surface not in held) if self.touches else ()


Step = Callable[..., tuple[Array, ...]]


@lru_cache(maxsize=64)
def step_of(robot: Robot, settings: Settings, pushes: bool = False) -> tuple[Step, Layout]:
    """The step as a function over `ops`, and its layout.

    Args:
        robot: The robot.
        settings: What it depends on.
        pushes: Whether it takes pushes.
    """
    step, layout = step_function(
        robot, settings.dt, settings.law, settings.integrator, settings.points(robot),
        resistance=settings.resistance(robot), pushes=pushes, explicit_contacts=settings.held is not None,
    )  # fmt: skip
    return step, replace(layout, moving=settings.moving)


@lru_cache(maxsize=32)
def step_kernel(robot: Robot, settings: Settings, pushes: bool) -> tuple[Kernel, Layout]:
    """The compiled step, and its layout; it sums up what it books.

    A last input and output `sums` (7 + surfaces,): works and impulse of `tally`, and slip, of all steps so far.

    Args:
        robot: The robot.
        settings: What it depends on.
        pushes: Whether it takes pushes.
    """
    function, layout = step_of(robot, settings, pushes)
    shapes = {**layout.inputs, "sums": (SUMMED + len(robot.contacts),)}
    own = with_sums(function, layout, springs=settings.springs)
    return compile_robot(robot, functions={"step": (own, shapes)}).step, layout


def with_sums(function: Step, layout: Layout, *, springs: bool) -> Step:
    """A step with `sums` as last input and output.

    Args:
        function: The step.
        layout: Its outputs.
        springs: Whether gains count; if not, they are taken as zero.
    """
    names = list(layout.outputs)
    tally, slip = names.index("tally"), names.index("slip")
    none = {} if springs else {name: np.zeros(layout.robot.nu) for name in ("kp", "kd")}

    def summing(**given: Array) -> tuple[Array, ...]:
        sums = given.pop("sums")
        found = function(**{**given, **none})
        return (*found, sums + ops.concatenate([found[tally][:SUMMED], found[slip]]))

    own = [name for name in signature(function).parameters if name != "self"]
    parameters = [Parameter(name, Parameter.KEYWORD_ONLY) for name in (*own, "sums")]
    summing.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return summing


@lru_cache(maxsize=32)
def centres_kernel(robot: Robot, settings: Settings) -> Kernel:
    """Where the contact points are, or the centres of their balls: q -> (n, 3) in world [m]."""
    points = step_of(robot, settings)[1].points

    def centres(q: Array) -> Array:
        motions = body_motions(robot.tree, q, np.zeros(robot.nv), list(points_by_body(points)))
        places = [motions[point.body].p + motions[point.body].R @ point.position for point in points]
        return ops.stack(places) if places else np.zeros((0, 3))

    return compile_robot(robot, functions={"centres": centres}).centres


@lru_cache(maxsize=32)
def account_kernel(robot: Robot, settings: Settings) -> Kernel:
    """(q, v, memory, ground) -> kinetic, potential and stored energy [J], momentum in world [N s]: (6,).

    v of a semi-implicit step is that in the middle of the step before, so energy is taken half a step back, q and the
    axes of v: the leapfrog form of the Störmer–Verlet scheme, Hairer, Lubich & Wanner 2006 §I.1.4.
    """
    layout, tree = step_of(robot, settings)[1], robot.tree
    back = 0.5 * settings.dt if settings.integrator == "semi_implicit" else 0.0

    def account(q: Array, v: Array, memory: Array, ground: Array) -> Array:
        middle, speed = (drift(tree, q, v, -back), carried_along(tree, v, -back)) if back else (q, v)
        stored = _stored_energy(layout, middle, speed, memory, ground)
        potential = potential_energy(tree, middle) + (robot.spring_forces.energy(middle) if robot.springs else 0.0)
        energy = ops.array([kinetic_energy(tree, middle, speed), potential, stored])
        return ops.concatenate([energy, robot.mass * com_velocity(tree, middle, speed)])

    shapes = {name: layout.inputs[name] for name in ("memory", "ground")}
    return compile_robot(robot, functions={"account": (account, shapes)}).account


def _stored_energy(layout: Layout, q: Array, v: Array, memory: Array, ground: Array) -> Any:
    """Energy [J] in the springs of the contacts."""
    groups, stored = points_by_body(layout.points), 0.0
    motions = body_motions(layout.robot.tree, q, v, list(groups))
    anchors = memory[: 3 * len(layout.points)].reshape(-1, 3) if layout.law.friction.anchored else None
    for body, indices in groups.items():
        link = link_touch(layout.points, indices, motions[body], ground, anchors, 0.0)
        stored = stored + layout.law.stored(link.touch)
    return stored
