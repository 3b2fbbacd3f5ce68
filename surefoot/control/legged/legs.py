"""How far the legs of a robot reach, and how high its centre of mass can be for a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.ik import solve
from surefoot.robot import Anatomy, Foot, Robot
from surefoot.tasks import CenterOfMass, Contact, FrameOrientation, Posture

__all__ = [
    "LegLimits",
    "LegReach",
    "com_over_soles",
    "foot_momenta",
    "leg_bodies",
    "leg_reach",
    "posture_at_height",
    "require_flat_feet",
]

_BENT, _STRAIGHT = 0.94, 0.97  # shares of its full length to which a leg is used, in usual and in long steps
_KNEE = 0.6  # share of its torque that a knee may need to carry the robot; legs with weaker knees are bent less
_USUAL = 0.35  # longest usual step, share of the leg length
_TRAILS = 0.6  # how far behind the hips the rear foot is at the end of a double support, share of the step length
_MIDDLE = 0.6  # how far the further foot is from the hips, share of the distance of the feet
_FORESIGHT = 0.03  # how far ahead a joint is looked for at its limit [s]
_MAIN = 0.7  # component of the axis of a joint from which on it turns about that axis of the foot
_AWAY, _RAISED = 0.25, 0.1  # how far from the hips and how high swinging feet are looked at, shares of the leg length
_NEWTON, _LARGEST = 20, 0.3  # steps to such a posture, and the largest change of a joint in each [rad]
_SHORT = 0.1  # share of a way of the hip that legs fall short of, if they lack a joint for it
_LOWER = 0.98  # share of the home height that is used at most: straight legs cannot push


@dataclass(frozen=True)
class LegReach:
    """Geometry of the legs at home.

    Args:
        length: From the first joint of a leg to its ankle when the knee is straight [m].
        ankle: Height of the ankle over the sole [m].
        com_over_hip: Height of the centre of mass over the first joint of the legs [m].
        home: Height of the centre of mass over the soles [m].
        apart: Distance of the feet [m].
        recoil: Moment about the centre of mass over the weight, for an acceleration of the swinging foot [m/(m/s²)].
        recoil_slope: By how much it changes with the place of the foot ahead of the hips [1/(m/s²)].
        acceleration: Largest one of a foot in the air by the torques of its leg, the trunk at rest [m/s²].
        speed: Largest one of a foot in the air by the speeds of the joints [m/s].
        aside: How far a foot can be put outward from where it is at home, flat and under a level trunk [m].
        bent: Share of its full length to which a leg is used in usual steps.
    """

    length: float
    ankle: float
    com_over_hip: float
    home: float
    apart: float
    recoil: float = 0.0
    recoil_slope: float = 0.0
    acceleration: float = np.inf
    speed: float = np.inf
    aside: float = np.inf
    bent: float = _BENT

    def swing_time(self, way: float, share: float, beside: float | None = None) -> float:
        """Time in which a foot can be swung so far, on a quintic [s].

        Args:
            way: [m].
            share: Of the largest acceleration that is used.
            beside: The way relative to the trunk [m], for the speeds of joints; the same if omitted.
        """
        beside = way if beside is None else beside
        return float(max(np.sqrt(5.77 * way / (share * self.acceleration)), 1.875 * beside / self.speed))

    def height_over(self, distance: float) -> float:
        """Height of the centre of mass over the ground at which the legs reach feet that are so far apart [m].

        Args:
            distance: Of the feet [m].
        """
        usual = hypot(_USUAL * self.length, self.apart)
        return self._reached(_MIDDLE * distance, _MIDDLE * usual)

    def com_height(self, step: float) -> float:
        """Height of the centre of mass over the ground at which the legs reach a step [m].

        Args:
            step: Its length [m].
        """
        trails, usual = (hypot(_TRAILS * x, 0.5 * self.apart) for x in (step, _USUAL * self.length))
        return min(_LOWER * self.home, self._reached(trails, usual))

    def _reached(self, away: float, usual: float) -> float:
        """Height of the centre of mass with a foot so far from the hips, on bent legs [m].

        Beyond the usual distance, legs are stretched first; only then, the robot crouches.
        """

        def height(share: float, away: float) -> float:
            reach = share * self.length
            return self.com_over_hip + self.ankle + sqrt(max(reach**2 - away**2, 0.25 * reach**2))

        return max(height(self.bent, away), min(height(self.bent, usual), height(_STRAIGHT, away)))


class LegLimits:
    """Says whether a leg is at its limits.

    Args:
        robot: The robot.
        foot: At the end of the leg.
        margin: Before the limits, in which joints are stopped [rad].
    """

    def __init__(self, robot: Robot, foot: Foot, margin: float) -> None:
        tree = robot.tree
        joints = [k for k in leg_bodies(robot, foot) if tree.nq_of(k) == tree.nv_of(k) == 1]
        self._entries, self._rows = [int(tree.q_index[k]) for k in joints], [int(tree.v_index[k]) for k in joints]
        lower, upper = robot.limits.lower[self._entries], robot.limits.upper[self._entries]
        spare = np.minimum(margin, 0.25 * (upper - lower))
        self._lower, self._upper = lower + spare, upper - spare
        data = robot.model.createData()
        pin.computeJointJacobians(robot.model, data, np.array(robot.home))
        to_foot = (robot.placements(robot.home)[foot.link] @ foot.placement)[:3, :3].T
        turns = to_foot @ np.array([data.J[3:, row] for row in self._rows]).T
        self._axes = np.where(np.abs(turns).max(axis=0) > _MAIN, np.abs(turns).argmax(axis=0), 2)

    def stop(self, q: Array, v: Array) -> bool:
        """Whether a joint is about to be stopped by its limit.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        return bool(self._stopped(q, v).any())

    def tipping_axis(self, q: Array, v: Array) -> int | None:
        """The axis of the foot, 0: ahead, 1: to the left, about which a joint is about to be stopped; None without one.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        axes = self._axes[self._stopped(q, v)]
        return next((axis for axis in (0, 1) if axis in axes), None)

    def _stopped(self, q: Array, v: Array) -> NDArray[np.bool_]:
        soon = q[self._entries] + _FORESIGHT * v[self._rows]
        return (soon < self._lower) | (soon > self._upper)


def leg_reach(robot: Robot, anatomy: Anatomy) -> LegReach:
    """The reach of the shortest leg.

    Args:
        robot: The robot.
        anatomy: Its feet.
    """
    home = np.array(robot.home)
    com = pin.centerOfMass(robot.model, robot.model.createData(), home)[2]
    legs = [_leg(robot, foot, home) for foot in anatomy.feet]
    length, knee = (min(leg[k] for leg in legs) for k in (0, 4))
    ankle, hip, sole = (float(np.mean([leg[k] for leg in legs])) for k in (1, 2, 3))
    frames = robot.placements(home)
    soles = [(frames[foot.link] @ foot.placement)[:2, 3] for foot in anatomy.feet]
    apart = max((float(np.linalg.norm(a - b)) for a in soles for b in soles), default=0.0)
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
    away = _AWAY * length
    below, behind, front = (
        -float(np.mean([momentum[1] for momentum in foot_momenta(robot, anatomy.feet, moved)])) / weight
        for moved in ((0.0, 0.0), (-away, _RAISED * length), (away, _RAISED * length))
    )
    slope = (front - behind) / (2.0 * away)
    sine = min(1.0, 2.0 * _KNEE * knee / (weight * length))  # of half the angle of a knee in the middle of the leg
    bent = min(_STRAIGHT, max(_BENT, sqrt(1.0 - sine * sine)))
    return LegReach(
        length, ankle - sole, float(com) - hip, float(com) - sole, apart, below, slope, *_swing(robot, anatomy), bent
    )


def foot_momenta(robot: Robot, feet: Sequence[Foot], moved: Sequence[float] = (0.0, 0.0)) -> list[Array]:
    """(3,) by foot: angular momentum about the centre of mass, for a foot that moves ahead under a still trunk [kg m].

    Its components are those about the axis ahead, the one to the left, and the vertical.

    Args:
        robot: The robot, at home.
        feet: Its feet.
        moved: How far the foot is ahead of its place, and over it [m].
    """
    model, data, found = robot.model, robot.model.createData(), []
    for foot in feet:
        q, leg = np.array(robot.home), leg_bodies(robot, foot)
        columns = [int(robot.tree.v_index[body]) + k for body in leg for k in range(robot.tree.nv_of(body))]
        ahead = np.append((robot.placements(q)[foot.link] @ foot.placement)[:2, 0], 0.0)
        pin.forwardKinematics(model, data, q)
        start, change = data.oMi[leg[0] + 1].copy(), moved[0] * ahead + [0.0, 0.0, moved[1]]
        for _ in range(_NEWTON if any(moved) else 1):
            pin.computeJointJacobians(model, data, q)
            at = data.oMi[leg[0] + 1]
            J = pin.getJointJacobian(model, data, leg[0] + 1, pin.LOCAL_WORLD_ALIGNED)[:, columns]
            rates = np.linalg.lstsq(J, np.append(ahead, np.zeros(3)), rcond=1e-3)[0]
            momentum = np.array(pin.computeCentroidalMap(model, data, q))[3:, columns]
            turn = at.rotation @ pin.log3(at.rotation.T @ start.rotation)
            step = np.zeros(robot.nv)
            step[columns] = np.linalg.lstsq(
                J, np.append(start.translation + change - at.translation, turn), rcond=1e-3
            )[0]
            q = pin.integrate(model, q, np.clip(step, -_LARGEST, _LARGEST))
        axes = np.array([ahead, np.cross([0.0, 0.0, 1.0], ahead), [0.0, 0.0, 1.0]])
        found.append(axes @ momentum @ rates)
    return found


def _swing(robot: Robot, anatomy: Anatomy) -> tuple[float, float, float]:
    """What a foot can do under a still trunk, at home.

    Returns:
        Largest acceleration; largest speed, ahead or to the side; way outward before a joint is at its limit.
    """
    model, data, home = robot.model, robot.model.createData(), np.array(robot.home)
    M = np.array(pin.crba(model, data, home))
    pin.computeJointJacobians(model, data, home)
    accelerations, speeds, ways = [np.inf], [np.inf], [np.inf]
    middle = np.mean([robot.placements(home)[foot.link][:3, 3] for foot in anatomy.feet], axis=0)
    for foot in anatomy.feet:
        leg = leg_bodies(robot, foot)
        columns = [int(robot.tree.v_index[body]) + k for body in leg for k in range(robot.tree.nv_of(body))]
        J = pin.getJointJacobian(model, data, leg[0] + 1, pin.LOCAL_WORLD_ALIGNED)[:, columns]
        ahead, aside = np.append((robot.placements(home)[foot.link] @ foot.placement)[:2, :2], [[0.0, 0.0]], axis=0).T
        for way in (ahead, aside):
            rates = np.linalg.lstsq(J, np.append(way, np.zeros(3)), rcond=1e-3)[0]
            torques = (np.triu(M) + np.triu(M, 1).T)[np.ix_(columns, columns)] @ rates
            accelerations.append(float(np.min(robot.limits.effort[columns] / np.maximum(np.abs(torques), 1e-9))))
            speeds.append(float(np.min(robot.limits.velocity[columns] / np.maximum(np.abs(rates), 1e-9))))
            if way is ahead:
                continue
            out = rates * np.sign(aside @ (robot.placements(home)[foot.link][:3, 3] - middle))
            entries = [int(robot.tree.q_index[body]) for body in leg if robot.tree.nv_of(body) == 1]
            if len(entries) == len(columns):
                end = np.where(out > 0.0, robot.limits.upper[entries], robot.limits.lower[entries])
                ways += [float(x) for x in (end - home[entries])[np.abs(out) > 0.1] / out[np.abs(out) > 0.1]]
    return min(accelerations), min(speeds), min(ways)


def leg_bodies(robot: Robot, foot: Foot) -> list[int]:
    """Bodies from the ankle up to the first joint of a leg.

    Args:
        robot: The robot.
        foot: At the end of the leg.
    """
    tree, ankle = robot.tree, robot.body_of(foot.link)
    path = [ankle, *tree.ancestors(ankle)]
    trunk = robot.base_joint if robot.base_joint is not None else -1
    return [body for body in path if body != trunk and body not in tree.ancestors(trunk)] if trunk >= 0 else path


def require_flat_feet(robot: Robot, anatomy: Anatomy) -> None:
    """Refuse feet without soles, and legs that cannot shift and turn the trunk over soles that rest.

    Args:
        robot: The robot.
        anatomy: Its feet.

    Raises:
        NotSupportedError: A foot is a point, or joints are missing.
    """
    for foot in anatomy.feet:
        if len(foot.sole) < 3:
            raise NotSupportedError(
                f"the foot `{foot.name}` of `{robot.name}` has no sole to stand on while the other one swings",
                next_step="give its contact surface a `size` in the side file, or walk with a robot that has soles",
            )
        if all(robot.contacts[foot.contacts[0]].tied) and (missing := _missing_ways(robot, foot)):
            count = sum(robot.tree.nv_of(body) for body in leg_bodies(robot, foot))
            raise NotSupportedError(
                f"the {count} joints of each leg of `{robot.name}` cannot {' and '.join(missing)} over a sole "
                "that rests flat, as each step asks for",
                next_step="walk with a robot whose legs have six joints, such as `g1`",
            )


def _missing_ways(robot: Robot, foot: Foot) -> list[str]:
    """What a leg cannot do with the hip over a sole that rests, the trunk level."""
    model, data, leg = robot.model, robot.model.createData(), leg_bodies(robot, foot)
    columns = [int(robot.tree.v_index[body]) + k for body in leg for k in range(robot.tree.nv_of(body))]
    pin.computeJointJacobians(model, data, np.array(robot.home))
    ankle, hip = (data.oMi[leg[k] + 1].translation for k in (0, -1))
    J = pin.getJointJacobian(model, data, leg[0] + 1, pin.LOCAL_WORLD_ALIGNED)[:, columns]
    J[3:] *= np.linalg.norm(hip - ankle)
    ahead, aside = (robot.placements(robot.home)[foot.link] @ foot.placement)[:3, :2].T
    ways = {
        "shift the hip ahead": [*ahead, 0.0, 0.0, 0.0],
        "shift the hip aside": [*aside, 0.0, 0.0, 0.0],
        "turn the hip": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    }
    fits = {word: J @ np.linalg.lstsq(J, np.array(way), rcond=1e-3)[0] - way for word, way in ways.items()}
    return [word for word, off in fits.items() if np.linalg.norm(off) > _SHORT]


def com_over_soles(robot: Robot, q: Array) -> float:
    """Height of the centre of mass over the lowest corner of all contact surfaces [m].

    Args:
        robot: The robot.
        q: (nq,) configuration.
    """
    ground = min(float(points[:, 2].min()) for points in robot.contact_corners(q).values())
    return float(pin.centerOfMass(robot.model, robot.model.createData(), np.array(q))[2]) - ground


def posture_at_height(robot: Robot, q0: Array, links: Sequence[str], height: float, over_feet: bool = True) -> Array:
    """(nq,) posture on the same feet with the centre of mass at a height over them, and links turned as before.

    Args:
        robot: The robot.
        q0: (nq,) posture to begin with.
        links: Links that keep their orientation.
        height: Of the centre of mass over the lowest sole [m].
        over_feet: Whether the centre of mass is over the middle of the feet; else it is where it was.

    Raises:
        NotSupportedError: The legs cannot do this.
    """
    frames, corners = robot.placements(q0), robot.contact_corners(q0)
    ground = min(float(points[:, 2].min()) for points in corners.values())
    feet = [Contact(robot, name, frames[surface.frame] @ surface.placement) for name, surface in robot.contacts.items()]
    middle = np.mean([points.mean(axis=0) for points in corners.values()], axis=0)
    at = middle if over_feet else pin.centerOfMass(robot.model, robot.model.createData(), np.array(q0))
    com = CenterOfMass([at[0], at[1], ground + height])
    turns = [FrameOrientation(link, frames[link][:3, :3], name=f"turn {link}") for link in links]
    found = solve(robot, [*feet, com, *turns, Posture(robot, q0)], q0)
    if not found.success:
        ends = {robot.body_of(surface.frame) for surface in robot.contacts.values()}
        legs = {robot.tree.joint_names[body] for end in ends for body in (end, *robot.tree.ancestors(end))}
        stuck = [joint for joint in found.at_limits if joint in legs]
        raise NotSupportedError(
            f"`{robot.name}` cannot stand with its centre of mass at {height:.3f} m",
            evidence={"joints of the legs at their limits": stuck} if stuck else {},
            next_step=f"give another `height`{', or check the limits of these joints' if stuck else ''}",
        )
    return found.q


def _leg(robot: Robot, foot: Foot, q: Array) -> tuple[float, float, float, float, float]:
    """Largest distance from the first joint of a leg to the ankle; heights of ankle, first joint and sole; knee torque.

    The knee is the joint that changes this distance most.
    """
    tree, leg = robot.tree, leg_bodies(robot, foot)
    ankle, hip = leg[0], leg[-1]
    data = robot.model.createData()

    def places(q: Array) -> tuple[Array, Array]:
        pin.forwardKinematics(robot.model, data, q)
        return data.oMi[hip + 1].translation.copy(), data.oMi[ankle + 1].translation.copy()

    at_hip, at_ankle = places(q)
    best, most, torque = float(np.linalg.norm(at_ankle - at_hip)), 0.0, np.inf
    for body in leg[1:-1]:
        entry = int(tree.q_index[body])
        low, high = float(robot.limits.lower[entry]), float(robot.limits.upper[entry])
        if not np.isfinite([low, high]).all():
            continue
        postures = [np.where(np.arange(robot.nq) == entry, value, q) for value in np.linspace(low, high, 41)]
        distances = [float(np.linalg.norm(np.subtract(*places(moved)))) for moved in postures]
        best, change = max(best, *distances), float(np.ptp(distances))
        if change > most:
            most, torque = change, float(robot.limits.effort[int(tree.v_index[body])])
    sole = (robot.placements(q)[foot.link] @ foot.placement)[2, 3]
    return best, float(at_ankle[2]), float(at_hip[2]), float(sole), torque
