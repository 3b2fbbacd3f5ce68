"""Standard plots of a motion: joints against their limits, contact wrenches, momentum, energy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.motion import World
from surefoot.report.evidence import Plot
from surefoot.robot import Robot

_SHOWN_TOGETHER = 6
_STRAIGHT = ("prismatic", "translation")


@dataclass(frozen=True, eq=False)
class JointSeries:
    """A quantity of one joint over time, with its limits.

    Args:
        name: Of the joint.
        unit: Of the values.
        values: (n,).
        lower: Limit from below; −∞ for none.
        upper: Limit from above; ∞ for none.
    """

    name: str
    unit: str
    values: Array
    lower: float
    upper: float

    @property
    def shares(self) -> Array:
        """(n,) −1 at the lower limit, 1 at the upper one; NaN without limits."""
        if not (np.isfinite(self.lower) and np.isfinite(self.upper) and self.upper > self.lower):
            return np.full(len(self.values), np.nan)
        return np.asarray((self.values - 0.5 * (self.lower + self.upper)) / (0.5 * (self.upper - self.lower)))

    @property
    def usage(self) -> float:
        """The largest share of its limits that it uses; −1 without limits."""
        shares = np.abs(self.shares)
        known = shares[np.isfinite(shares)]
        return float(known.max()) if len(known) else -1.0


def motion_plots(
    robot: Robot,
    q: Array,
    v: Array | None = None,
    tau: Array | None = None,
    wrenches: Mapping[str, Array] | None = None,
    world: World | None = None,
    later: Sequence[tuple[int, World]] = (),
) -> tuple[Plot, ...]:
    """All plots of this file.

    Args:
        robot: The robot.
        q: (n, nq).
        v: (n, nv), or None.
        tau: (n, nu) torques of the drives [N m] or [N], or None.
        wrenches: Contact → (n, 6), contact frame.
        world: What the contacts touch, or None.
        later: Samples from which other worlds take its place, in their order.
    """
    plots = [
        *contact_plots(robot, q, wrenches or {}, world, later),
        *joint_plots("Joint position", joint_positions(robot, q)),
    ]
    if v is not None:
        plots += joint_plots("Joint velocity", joint_velocities(robot, v))
    if tau is not None:
        plots += joint_plots("Joint torque", torque_series(robot, tau))
    if v is not None and robot.tree.n:
        plots += [*momentum_plots(robot, q, v), *energy_plots(robot, q, v)]
    return tuple(plots)


def joint_positions(robot: Robot, q: Array) -> list[JointSeries]:
    """Positions of all joints with one axis.

    Args:
        robot: The robot.
        q: (n, nq).
    """
    tree, out = robot.tree, []
    for i in _single(robot):
        row = int(tree.q_index[i])
        turns = tree.kinds[i] == "continuous"
        values = np.unwrap(np.arctan2(q[:, row + 1], q[:, row])) if turns else q[:, row]
        bounds = (-np.inf, np.inf) if turns else (float(robot.limits.lower[row]), float(robot.limits.upper[row]))
        out.append(JointSeries(tree.joint_names[i], "m" if tree.kinds[i] in _STRAIGHT else "rad", values, *bounds))
    return out


def joint_velocities(robot: Robot, v: Array) -> list[JointSeries]:
    """Velocities of all joints with one axis.

    Args:
        robot: The robot.
        v: (n, nv).
    """
    tree, out = robot.tree, []
    for i in _single(robot):
        row = int(tree.v_index[i])
        limit = float(robot.limits.velocity[row])
        unit = "m/s" if tree.kinds[i] in _STRAIGHT else "rad/s"
        out.append(JointSeries(tree.joint_names[i], unit, v[:, row], -limit, limit))
    return out


def torque_series(robot: Robot, tau: Array) -> list[JointSeries]:
    """Torques and forces of all drives.

    Args:
        robot: The robot.
        tau: (n, nu), in the order of the drives.
    """
    names: list[tuple[str, str]] = []
    for drive in robot.drives:
        i = robot.joint_index(drive.joint)
        unit = "N" if robot.tree.kinds[i] in _STRAIGHT else "N m"
        size = robot.tree.nv_of(i)
        names += [(drive.joint if size == 1 else f"{drive.joint}[{k}]", unit) for k in range(size)]
    limits = robot.limits.effort[robot.driven]
    return [
        JointSeries(name, unit, tau[:, k], -float(limits[k]), float(limits[k])) for k, (name, unit) in enumerate(names)
    ]


def joint_plots(group: str, series: Sequence[JointSeries]) -> list[Plot]:
    """One plot of the joints closest to their limits, relative to them, then a small plot per joint, worst first."""
    ordered = sorted(series, key=lambda item: (-item.usage, -float(np.ptp(item.values))))
    limited = [item for item in ordered if item.usage >= 0.0][:_SHOWN_TOGETHER]
    plots = []
    if len(limited) > 1:
        title = f"{group} relative to its limits ({len(limited)} closest)"
        lines = {item.name: item.shares for item in limited}
        plots.append(Plot(title, "1", lines, group, {"": -1.0}, {"": 1.0}, key=group == "Joint torque"))
    plots += [
        Plot(item.name, item.unit, {item.name: item.values}, group, {"": item.lower}, {"": item.upper}, small=True)
        for item in ordered
    ]
    return plots


def contact_plots(
    robot: Robot,
    q: Array,
    wrenches: Mapping[str, Array],
    world: World | None = None,
    later: Sequence[tuple[int, World]] = (),
) -> list[Plot]:
    """Normal forces, friction utilisation, then the wrench of each contact.

    Args:
        robot: The robot.
        q: (n, nq).
        wrenches: Contact → (n, 6), contact frame.
        world: What the contacts touch; without it, only their own friction counts.
        later: Samples from which other worlds take its place, in their order.
    """
    loaded = {name: w for name, w in wrenches.items() if np.any(w)}
    if not loaded:
        return []
    least = 0.02 * robot.mass * float(np.linalg.norm(robot.tree.gravity))
    worlds = [(0, world), *later]
    uses = {name: _friction_use(w, _friction(robot, name, q, worlds), least) for name, w in loaded.items()}
    plots = [
        Plot("Normal force", "N", {name: w[:, 2] for name, w in loaded.items()}, "Contacts", {"": 0.0}, key=True),
        Plot("Friction utilisation: tangential / (μ · normal)", "1", uses, "Contacts", upper={"": 1.0}),
    ]
    for name, w in loaded.items():
        plots.append(Plot(f"{name}: force", "N", dict(zip("xyz", w[:, :3].T, strict=True)), "Contacts"))
        plots.append(Plot(f"{name}: moment", "N m", dict(zip("xyz", w[:, 3:].T, strict=True)), "Contacts"))
    return plots


def momentum_plots(robot: Robot, q: Array, v: Array) -> list[Plot]:
    """Linear and angular momentum of the whole robot about its centre of mass.

    Args:
        robot: The robot.
        q: (n, nq).
        v: (n, nv).
    """
    momentum = np.asarray(compile_robot(robot).bundle(["hg"])(q, v)["hg"])
    return [
        Plot("Linear momentum", "N s", dict(zip("xyz", momentum[:, :3].T, strict=True)), "Momentum"),
        Plot(
            "Angular momentum about the centre of mass", "N m s", dict(zip("xyz", momentum[:, 3:].T, strict=True)),
            "Momentum",
        ),
    ]  # fmt: skip


def energy_plots(robot: Robot, q: Array, v: Array) -> list[Plot]:
    """Kinetic and potential energy, the latter relative to its first value.

    Args:
        robot: The robot.
        q: (n, nq).
        v: (n, nv).
    """
    energy = compile_robot(robot).bundle(["kinetic", "potential"])(q, v)
    kinetic, potential = np.asarray(energy["kinetic"]).ravel(), np.asarray(energy["potential"]).ravel()
    lines = {"kinetic": kinetic, "potential, relative to start": potential - potential[0]}
    return [Plot("Mechanical energy", "J", lines, "Energy")]


def _friction(robot: Robot, name: str, q: Array, worlds: Sequence[tuple[int, World | None]]) -> Array:
    """Friction of a contact (n,), that of the ground under it included: the smaller of both."""
    out = np.empty(len(q))
    for first, world in ((first, world) for first, world in worlds if first < len(q)):
        out[first:] = _friction_in(world, robot, name, q[first:])
    return out


def _friction_in(world: World | None, robot: Robot, name: str, q: Array) -> float | Array:
    """The same in one world: a number, or (n,) where places differ."""
    contact = robot.contacts[name]
    if world is None:
        return contact.friction
    if all(piece.friction is None for piece in world.ground):
        return min(contact.friction, world.friction)
    T = np.asarray(compile_robot(robot).bundle([f"T:{contact.frame}"])(q)[f"T:{contact.frame}"])
    places = (T @ contact.placement)[:, :2, 3]
    return np.minimum(contact.friction, [world.friction_at(float(x), float(y)) for x, y in places])


def _friction_use(wrench: Array, friction: Array, least: float) -> Array:
    """Share of the friction cone that is used (n,); NaN while the contact carries next to nothing."""
    carried = wrench[:, 2] > max(least, 1e-9)
    room = np.where(carried, np.maximum(friction, 1e-9) * wrench[:, 2], 1.0)
    return np.where(carried, np.hypot(wrench[:, 0], wrench[:, 1]) / room, np.nan)


def _single(robot: Robot) -> list[int]:
    """Joints with one degree of freedom of their own."""
    return [i for i in range(robot.tree.n) if robot.tree.nv_of(i) == 1]
