"""Closed chains in the x–z plane, cut into trees and tied by a loop; angles turn from x towards z (about −y).

A loop holds x and z only: in the plane y cannot open. Masses are our choice where no source is given.

A delta robot: three driven arms on a fixed base, forearms, and a platform that only translates.

Each forearm of the machine is a parallelogram: two equal rods side by side, which keep the platform from turning.
As they stay parallel, one rod of their common mass in the middle moves and weighs alike (only its spin about itself
differs), and the platform hangs on the world by three slides. That leaves three loops, one per forearm, each of three
rows, all independent: 12 degrees of freedom less 9. Clavel 1988; sizes and masses are our choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import ModelError
from surefoot.robot.build import Parts
from surefoot.robot.model import Drive, Joint, Link, Loop, NamedFrame, placement
from surefoot.robot.zoo.limbs import Plan
from surefoot.robot.zoo.solids import ball, bar, drum, link_of
from surefoot.spatial import so3

_TURN = (0.0, -1.0, 0.0)
_IN_PLANE = (True, False, True, False, False, False)
_AS_HINGE = (True, True, True, True, False, True)
_PER_METRE = 2.0  # kg/m of the bars
_THICK = 0.012  # m, radius of a bar, at most a tenth of its length
_CRANK_TORQUE, _CRANK_HOME = 20.0, float(np.deg2rad(60.0))


def four_bar(
    ground: float = 1.0, crank: float = 0.4, coupler: float = 1.1, rocker: float = 0.8, hinge: bool = False
) -> Plan:
    """Crank, coupler and rocker on a ground link along x; the crank is driven, the tips of coupler and rocker are tied.

    One degree of freedom. The home posture has the crank at 60° and the coupler's tip above.

    Args:
        ground: Distance of the two joints on the world [m].
        crank: Length of the driven bar [m].
        coupler: Length of the bar between them [m].
        rocker: Length of the bar on the other joint [m].
        hinge: Tie all but the turn, as a real hinge does: five rows of which three are redundant.

    Raises:
        ModelError: The bars cannot close at home.
    """
    coupling_angle, rocker_angle = four_bar_angles(_CRANK_HOME, ground, crank, coupler, rocker)
    links = (
        _bar("crank", None, (0.0, 0.0, 0.0), crank, effort=_CRANK_TORQUE),
        _bar("coupler", "crank", (crank, 0.0, 0.0), coupler),
        _bar("rocker", None, (ground, 0.0, 0.0), rocker),
    )
    tie = Loop(
        "closing", "rocker", "coupler", placement((rocker, 0.0, 0.0)), placement((coupler, 0.0, 0.0)),
        _AS_HINGE if hinge else _IN_PLANE,
    )  # fmt: skip
    home = {"crank_joint": _CRANK_HOME, "coupler_joint": coupling_angle - _CRANK_HOME, "rocker_joint": rocker_angle}
    parts = Parts(
        drives=(Drive("crank_joint", torque_limit=_CRANK_TORQUE),), loops=(tie,), home=home, contacts=(),
        frames=(NamedFrame("tip", "coupler", placement((coupler, 0.0, 0.0))),),
    )  # fmt: skip
    return Plan("four-bar-hinge" if hinge else "four-bar", links, "fixed", parts)


def four_bar_angles(angle: float, ground: float, crank: float, coupler: float, rocker: float) -> tuple[float, float]:
    """Angles of coupler and rocker against x, in the branch with the coupler's tip left of the diagonal [rad].

    Law of cosines in the triangle of the diagonal from the crank's tip to the rocker's joint.

    Args:
        angle: Of the crank against x [rad].
        ground: Length [m].
        crank: Length [m].
        coupler: Length [m].
        rocker: Length [m].

    Raises:
        ModelError: The bars do not reach each other, or one is too long for the other; or the crank's tip lies on the
            rocker's joint, where equal bars may point anywhere.
    """
    dx, dz = ground - crank * np.cos(angle), -crank * np.sin(angle)
    diagonal = float(np.hypot(dx, dz))
    if diagonal > coupler + rocker or diagonal < abs(coupler - rocker) or diagonal == 0.0:
        gap = max(diagonal - coupler - rocker, abs(coupler - rocker) - diagonal)
        raise ModelError(
            f"loop `closing` of the four-bar cannot close with the crank at {np.rad2deg(angle):.1f}°: {gap:.3g} m open",
            evidence={"ground": ground, "crank": crank, "coupler": coupler, "rocker": rocker, "residual": gap},
            next_step="the longest bar must be shorter than the others together",
        )
    at_crank = np.arccos(np.clip((diagonal**2 + coupler**2 - rocker**2) / (2.0 * diagonal * coupler), -1.0, 1.0))
    coupler_angle = float(np.arctan2(dz, dx) + at_crank)
    tip = (
        crank * np.cos(angle) + coupler * np.cos(coupler_angle),
        crank * np.sin(angle) + coupler * np.sin(coupler_angle),
    )
    return coupler_angle, float(np.arctan2(tip[1], tip[0] - ground))


_SHANK, _SHANK_MASS = 0.4, 3.0  # m, kg
_NUT_MASS, _SPINDLE_MASS = 0.3, 0.5  # kg
_SPRING, _SPRING_DAMPING = 1.0e5, 100.0  # N/m, N s/m: soft enough to measure forces by, as series elasticity is meant
_LEAD, _ROTOR = 0.005, 1.0e-5  # m per turn of the ball screw, kg m² of rotor and screw
_FORCE = 2000.0  # N
_KNEE_HOME = float(np.deg2rad(60.0))


def crank(l1: float = 0.3, r1: float = 0.05, l2: float = 0.06, r2: float = 0.02) -> Plan:
    """A hinge between two limbs, driven by a series-elastic spindle: the slider and crank of an exoskeleton's knee.

    The upper limb is fixed and lies along x; `shank` turns by q (joint `knee`) against it. A nut swivels on the point
    (l1, r1) of the upper limb, and a spindle slides in it by the length x(q) (joint `slide`) to the point (l2, r2) of
    the shank, where the loop ties it. The drive sits on the slide: a ball screw behind a spring (an elastic gear).
    Koch, section 12.2 with (12.2); the offsets, masses and the drive are our choice.

    Args:
        l1: Offset of the nut along the upper limb [m].
        r1: Offset across it, away from the side to which the shank turns [m].
        l2: Offset of the spindle's end along the shank [m].
        r2: Offset across it [m].

    Raises:
        ModelError: The spindle would have no length.
    """
    length = float(crank_length(_KNEE_HOME, l1, r1, l2, r2))
    if length < 1e-3:
        raise ModelError("the spindle of the crank has no length", evidence={"l1": l1, "r1": r1, "l2": l2, "r2": r2})
    knee = Joint("knee", "revolute", placement(), _TURN)
    shank = link_of("shank", None, knee, [drum(_SHANK_MASS, 0.04, (0.0, 0.0, 0.0), (_SHANK, 0.0, 0.0), touches=False)])
    swivel = Joint("swivel", "revolute", placement((l1, 0.0, -r1)), _TURN)
    nut = link_of("nut", None, swivel, [ball(_NUT_MASS, 0.02, touches=False)])
    slide = Joint("slide", "prismatic", axis=(1.0, 0.0, 0.0), lower=1e-3, effort=_FORCE)
    rod = bar(_SPINDLE_MASS, 0.006, (-length, 0.0, 0.0), (0.0, 0.0, 0.0), touches=False)
    tie = Loop("spindle_end", "shank", "spindle", placement((l2, 0.0, r2)), placement(), _IN_PLANE)
    drive = Drive(
        "slide", 2.0 * np.pi / _LEAD, _ROTOR, "elastic", _SPRING, _SPRING_DAMPING, torque_limit=_FORCE
    )  # fmt: skip
    end = (l2 * np.cos(_KNEE_HOME) - r2 * np.sin(_KNEE_HOME), l2 * np.sin(_KNEE_HOME) + r2 * np.cos(_KNEE_HOME))
    home = {"knee": _KNEE_HOME, "swivel": float(np.arctan2(end[1] + r1, end[0] - l1)), "slide": length}
    parts = Parts(drives=(drive,), loops=(tie,), home=home, contacts=())
    return Plan("crank", (shank, nut, link_of("spindle", "nut", slide, [rod])), "fixed", parts)


def crank_length(q: Any, l1: float, r1: float, l2: float, r2: float) -> Any:
    """x(q) [m] of the spindle: x² = a² + b² - 2 a b cos(q + α), a² = l1² + r1², b² = l2² + r2².

    α = atan(r1/l1) + atan(r2/l2)        [zoo.crank]   Koch, (12.2)

    Args:
        q: Angle of the hinge [rad].
        l1: Offset of the one end along its limb [m].
        r1: Offset across it [m].
        l2: Offset of the other end along its limb [m].
        r2: Offset across it [m].
    """
    a, b = np.hypot(l1, r1), np.hypot(l2, r2)
    return ops.sqrt(a**2 + b**2 - 2.0 * a * b * ops.cos(q + np.arctan2(r1, l1) + np.arctan2(r2, l2)))


def crank_lever(q: Any, l1: float, r1: float, l2: float, r2: float) -> Any:
    """∂x/∂q = a b sin(q + α) / x [m]: the torque about the hinge per force along the spindle.

    Koch, (12.2f) (erratum: -2 a b sin(q + α) / x² is printed, which is not the derivative).

    Args:
        q: Angle of the hinge [rad].
        l1: Offset of the one end along its limb [m].
        r1: Offset across it [m].
        l2: Offset of the other end along its limb [m].
        r2: Offset across it [m].
    """
    a, b, alpha = np.hypot(l1, r1), np.hypot(l2, r2), np.arctan2(r1, l1) + np.arctan2(r2, l2)
    return a * b * ops.sin(q + alpha) / crank_length(q, l1, r1, l2, r2)


def _bar(name: str, parent: str | None, at: tuple[float, float, float], length: float, effort: float = np.inf) -> Link:
    """A bar along x of its link, on a hinge at its beginning."""
    joint = Joint(f"{name}_joint", "revolute", placement(at), _TURN, effort=effort)
    radius = min(_THICK, 0.1 * length)
    rod = bar(_PER_METRE * length, radius, (0.0, 0.0, 0.0), (length, 0.0, 0.0), touches=False)
    return link_of(name, parent, joint, [rod])


ARMS = ("a", "b", "c")  # at 0°, 120° and 240° about z
_TURNS = tuple(so3.exp([0.0, 0.0, 2.0 * np.pi * k / 3.0]) for k in range(3))
_POINT = (True, True, True, False, False, False)
_ARM_HOME = float(np.deg2rad(20.0))  # below horizontal
_ARM_MASS, _CROSS_MASS, _ROD_MASS, _PLATFORM_MASS = 0.4, 0.03, 0.12, 0.25  # kg
_TORQUE, _SPEED = 15.0, 20.0  # N m, rad/s
_RANGE = float(np.deg2rad(-45.0)), float(np.deg2rad(90.0))  # of the arms
_RATIO, _ROTOR = 10.0, 2.0e-5  # motor turns per turn of an arm, kg m²


def delta(base: float = 0.12, arm: float = 0.2, forearm: float = 0.45, platform: float = 0.05) -> Plan:
    """The robot hangs below z = 0; the frame `tool` is the middle of its platform.

    Joints: `arm_a`, `arm_b`, `arm_c` (driven, from outwards horizontal at 0 downwards), `elbow_…` (along the arm's
    axis) and `swing_…` (across) of every forearm, and `platform`, the way of the platform from home (3,).

    Args:
        base: From the middle to the axes of the arms [m].
        arm: Length of an upper arm [m].
        forearm: Length of a forearm [m].
        platform: From the middle of the platform to the ends of the forearms [m].

    Raises:
        ModelError: The loops cannot close at home.
    """
    bend, height = _home_bend(base, arm, forearm, platform)
    slides = Joint("platform_slides", "translation", placement((0.0, 0.0, -height)))
    plate = drum(_PLATFORM_MASS, platform, (0.0, 0.0, -0.01), (0.0, 0.0, 0.01), touches=False)
    links, loops = [link_of("platform", None, slides, [plate])], []
    home: dict[str, float] = {}
    for name, R in zip(ARMS, _TURNS, strict=True):
        links += _leg(name, R, base, arm, forearm)
        ends = placement(platform * R[:, 0]), placement((0.0, 0.0, -forearm))
        loops.append(Loop(f"forearm_{name}", "platform", f"forearm_{name}", *ends, _POINT))
        home |= {f"arm_{name}": _ARM_HOME, f"elbow_{name}": bend - _ARM_HOME, f"swing_{name}": 0.0}
    drives = tuple(Drive(f"arm_{name}", _RATIO, _ROTOR, torque_limit=_TORQUE, speed_limit=_SPEED) for name in ARMS)
    frames = (NamedFrame("tool", "platform"),)
    parts = Parts(drives=drives, loops=tuple(loops), home=home, contacts=(), frames=frames)
    return Plan("delta", tuple(links), "fixed", parts)


def delta_arm_angles(
    position: ArrayLike, base: float = 0.12, arm: float = 0.2, forearm: float = 0.45, platform: float = 0.05
) -> Array:
    """Angles (3,) of the arms that bring the middle of the platform to a position, elbows outwards [rad].

    With X = x + platform - base in the plane of each arm, |tip - elbow| = forearm reads X cos θ - z sin θ = C, C =
    (X² + y² + z² + arm² - forearm²) / (2 arm).

    Args:
        position: (3,) in the world [m].
        base: From the middle to the axes of the arms [m].
        arm: Length of an upper arm [m].
        forearm: Length of a forearm [m].
        platform: From the middle of the platform to the ends of the forearms [m].

    Raises:
        ModelError: A forearm does not reach.
    """
    out = np.zeros(3)
    for k, R in enumerate(_TURNS):
        x, y, z = R.T @ np.asarray(position, dtype=float)
        X = x + platform - base
        share = (X**2 + y**2 + z**2 + arm**2 - forearm**2) / (2.0 * arm * np.hypot(X, z))
        if not abs(share) <= 1.0:
            near, far = (np.hypot(np.hypot(X, z) + side * arm, y) for side in (-1.0, 1.0))
            raise ModelError(
                f"loop `forearm_{ARMS[k]}` cannot close at this position of the platform",
                evidence={
                    "position": np.asarray(position).tolist(),
                    "residual": float(max(near - forearm, forearm - far)),
                },
                next_step="bring the platform nearer to the middle",
            )
        out[k] = np.arctan2(-z, X) - np.arccos(share)
    return out


def delta_posture(
    position: ArrayLike, base: float = 0.12, arm: float = 0.2, forearm: float = 0.45, platform: float = 0.05
) -> dict[str, float]:
    """Positions of all one-axis joints by name, with the platform at a position [rad].

    Args:
        position: (3,) of the platform's middle in the world [m].
        base: From the middle to the axes of the arms [m].
        arm: Length of an upper arm [m].
        forearm: Length of a forearm [m].
        platform: From the middle of the platform to the ends of the forearms [m].
    """
    out: dict[str, float] = {}
    angles = delta_arm_angles(position, base, arm, forearm, platform)
    for name, R, angle in zip(ARMS, _TURNS, angles, strict=True):
        elbow = np.array([base + arm * np.cos(angle), 0.0, -arm * np.sin(angle)])
        x, y, z = (R.T @ np.asarray(position, dtype=float) + [platform, 0.0, 0.0] - elbow) / forearm
        bend = float(np.arctan2(-x, -z))
        out |= {f"arm_{name}": float(angle), f"elbow_{name}": bend - float(angle), f"swing_{name}": float(np.arcsin(y))}
    return out


def _home_bend(base: float, arm: float, forearm: float, platform: float) -> tuple[float, float]:
    """At home: the angle of the forearms against the vertical [rad], and how far the platform hangs down [m]."""
    reach = base - platform + arm * np.cos(_ARM_HOME)
    if abs(reach) >= forearm:
        raise ModelError(
            f"loop `forearm_a` of the delta robot cannot close at home: {abs(reach) - forearm:.3g} m open",
            evidence={"base": base, "arm": arm, "forearm": forearm, "platform": platform},
            next_step="give longer forearms",
        )
    bend = float(np.arcsin(reach / forearm))
    return bend, float(arm * np.sin(_ARM_HOME) + forearm * np.cos(bend))


def _leg(name: str, R: Array, base: float, arm: float, forearm: float) -> list[Link]:
    """An arm, and its forearm on a universal joint: two hinges with a cross between them."""
    shoulder = Joint(f"arm_{name}", "revolute", placement(base * R[:, 0], R), (0.0, 1.0, 0.0), lower=_RANGE[0],
                     upper=_RANGE[1], velocity=_SPEED, effort=_TORQUE)  # fmt: skip
    elbow = Joint(f"elbow_{name}", "revolute", placement((arm, 0.0, 0.0)), (0.0, 1.0, 0.0))
    swing = Joint(f"swing_{name}", "revolute", placement(), (1.0, 0.0, 0.0))
    upper = drum(_ARM_MASS, 0.012, (0.0, 0.0, 0.0), (arm, 0.0, 0.0), touches=False)
    rod = bar(_ROD_MASS, 0.006, (0.0, 0.0, 0.0), (0.0, 0.0, -forearm), touches=False)
    return [
        link_of(f"upper_{name}", None, shoulder, [upper]),
        link_of(f"cross_{name}", f"upper_{name}", elbow, [ball(_CROSS_MASS, 0.012, touches=False)]),
        link_of(f"forearm_{name}", f"cross_{name}", swing, [rod]),
    ]
